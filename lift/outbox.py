"""Experiments to Langfuse and back, given the settings: what commands share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from lift import frames
from lift.dataset import discover
from lift.errors import SettingError
from lift.journal import Journal
from lift.langfuse import arrival, datasets, links, reviews, runs
from lift.langfuse.arrival import Piece
from lift.langfuse.client import Connection, LangfuseCredential
from lift.langfuse.faults import LangfuseError
from lift.langfuse.publish import Sent, publish
from lift.langfuse.pull import pulled
from lift.prepare import clock
from lift.redact import redacted
from lift.resolve import named
from lift.results import Result, check_conditions, result
from lift.review import Review
from lift.settings import Config, langfuse_keys

SECONDS_AFTER_A_RUN = 30.0
"""How long a run that is over waits for Langfuse at most."""


class Delivery(NamedTuple):
    """What became of sending an experiment."""

    lines: tuple[str, ...]
    """What a person is told."""
    unsent: int
    """Parts that are left for `lift push`."""
    idle: bool
    """Whether there was nothing to send."""


class Readable(NamedTuple):
    """What could be read of an experiment."""

    missing: tuple[Piece, ...]
    """What could not."""
    why: str
    """Why the server could not be asked at last; empty where it could."""


def connection(config: Config) -> Connection | None:
    """The Langfuse project of the settings; None where no keys are set.

    Raises:
        SettingError: the keys do not fit together, or one is malformed.
    """
    keys = langfuse_keys(config)
    if keys is None:
        return None
    return Connection(LangfuseCredential(**dict(keys)))


def required(config: Config) -> Connection:
    """The Langfuse project of the settings.

    Raises:
        SettingError: no keys are set, or they do not fit together.
    """
    found = connection(config)
    if found is None:
        raise SettingError(
            "no Langfuse keys are set",
            where="environment and .env",
            fix="set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY",
        )
    return found


def sync(
    config: Config, names: Sequence[str], *, check: bool, force: bool
) -> dict[str, datasets.Synced]:
    """Make the datasets in Langfuse like the modules; dataset name → what was done.

    Args:
        config: names the project and the modules' folder.
        names: of datasets; all where empty.
        check: only say what would be written.
        force: write over what was edited in the UI.

    Raises:
        SettingError: no keys are set.
        DatasetError: a module does not load, or a name is unknown.
        LangfuseError: it cannot be read or written.
    """
    folder = config.path("datasets_dir")
    found = discover(folder)
    chosen = named(found, names, str(folder)) if names else found
    with required(config) as to:
        return {
            one.name: datasets.sync(to, one, redact=redacted, check=check, force=force)
            for one in chosen
        }


def deliver(
    config: Config, journal: Journal, experiment: str, *, seconds: float = SECONDS_AFTER_A_RUN
) -> Delivery:
    """Send what Langfuse has not taken of an experiment; a server that fails is only told of.

    Args:
        config: names the project.
        journal: where the experiment is recorded.
        experiment: its name.
        seconds: after which no further trials are sent.

    Raises:
        SettingError: no keys are set, or they do not fit together.
    """
    # one process at a time: two that send the same would double it
    with required(config) as to, journal.running(experiment, waiting=lambda: None):
        sent = publish(journal, experiment, to, redact=redacted, now_ms=clock, seconds=seconds)
        told = _told(sent)
        lines = (*sent.notices, *told, *_links(journal, experiment, to))
        return Delivery(lines, sent.unsent, idle=not told)


def wait(config: Config, journal: Journal, experiment: str, *, seconds: float | None) -> Readable:
    """Look until all of an experiment can be read in Langfuse, or the time is up.

    Args:
        config: names the project.
        journal: where the experiment is recorded.
        experiment: its name.
        seconds: how long at most; None for what its server may take.

    Raises:
        SettingError: no keys are set, or they do not fit together.
        LangfuseError: it cannot be asked.
    """
    about = journal.experiment(experiment)
    known = runs.facts(about, journal.trials(experiment))
    with required(config) as source:
        wanted = arrival.awaited(source, journal.records(experiment), known)
        most = arrival.patience_s(source.base_url) if seconds is None else seconds
        why = arrival.wait(source, wanted, seconds=most)
    return Readable(tuple(wanted.missing), why)


def deliver_review(config: Config, review: Review) -> str:
    """Send a static review, unless Langfuse has it; returns what a person is told.

    Raises:
        SettingError: no keys are set, or they do not fit together.
    """
    with required(config) as to, Journal(config.path("journal")) as journal:
        try:
            where = to.destination
            if journal.has_sent_review(where, review.hash):
                return ""
            why = reviews.send(to, _as_sent(review), redact=redacted)
        except LangfuseError as failed:
            why = failed.what
        if why:
            return f"the review was not sent to Langfuse: {why}"
        journal.mark_review(where, review.hash, now_ms=clock())
        return "Langfuse took the review"


def _as_sent(review: Review) -> reviews.Reviewed:
    scored: dict[str, float] = {}
    if review.lint:
        scored["lint_score"] = review.lint.score
    found = review.activation
    if found and found.confusion.f1 and not found.coverage.invalid:
        scored["activation_f1"] = found.confusion.f1.value
    return reviews.Reviewed(
        hash=review.hash,
        skill=review.skill,
        tree_hash=review.tree_hash,
        model=found.model if found else "",
        canned=bool(found and found.canned),
        at_ms=review.at_ms,
        input={"skill": review.skill, "description": review.description},
        output={
            "findings": [one.model_dump(mode="json") for one in review.lint.findings]
            if review.lint
            else [],
            "confusion": found.confusion.model_dump(mode="json") if found else None,
            "misses": [one.model_dump(mode="json") for one in found.misses] if found else [],
        },
        scores=scored,
    )


def compared_in_langfuse(
    config: Config, experiment: str, *, base: str, other: str, since: timedelta
) -> Result:
    """Compare two conditions of an experiment, from Langfuse alone.

    Args:
        config: names the project.
        experiment: its name.
        base: condition to measure from.
        other: condition to measure.
        since: how far back its first trial may lie.

    Raises:
        SettingError: no keys are set.
        ExperimentError: there is no such experiment, or it has no such condition.
        LangfuseError: it cannot be asked.
    """
    with required(config) as source:
        found = pulled(source, experiment, since=datetime.now(UTC) - since)
    trials = frames.of(found.trials, frames.TRIALS)
    check_conditions(trials, experiment, (base, other))
    scores = frames.of(found.scores, frames.SCORES)
    return result(found.experiment, trials, scores, base=base, other=other)


def _told(sent: Sent) -> Sequence[str]:
    took = f"Langfuse took {sent.answers} trials, {sent.scores} with scores, {sent.votes} votes"
    if sent.unsent:
        return (f"{took}; {sent.unsent} parts are unsent ({sent.why}): lift push sends them",)
    return (took,) if sent.answers or sent.scores or sent.votes else ()


def _links(journal: Journal, experiment: str, to: Connection) -> Sequence[str]:
    try:
        found = links.links(journal, experiment, to)
    except LangfuseError:
        return ()
    several = len({link.model for link in found}) > 1
    return [f"{link.dataset}{f' ({link.model})' if several else ''}: {link.url}" for link in found]
