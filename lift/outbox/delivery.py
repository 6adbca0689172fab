"""Experiments to Langfuse: what it has not taken, and whether it can be read there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lift.journal import Journal
from lift.langfuse import arrival, links, runs
from lift.langfuse.arrival import Piece
from lift.langfuse.client import Connection
from lift.langfuse.dispatch import Told, untold
from lift.langfuse.faults import LangfuseError
from lift.langfuse.publish import NOTHING, Sent, publish
from lift.outbox.project import required
from lift.prepare import clock
from lift.redact import redacted
from lift.settings import Config


class Delivery(NamedTuple):
    """What became of sending an experiment."""

    lines: tuple[str, ...]
    """What a person is told."""
    unsent: int
    """Parts that are left for `lift push`."""
    idle: bool
    """Whether there was nothing to send."""
    fails: bool
    """Whether the server failed before it took anything."""


class Readable(NamedTuple):
    """What could be read of an experiment."""

    missing: tuple[Piece, ...]
    """What could not."""
    why: str
    """Why the server could not be asked at last; empty where it could."""


def deliver(
    config: Config,
    journal: Journal,
    experiment: str,
    *,
    seconds: float,
    waiting: Callable[[], None],
    told: Told = untold,
) -> Delivery:
    """Send what Langfuse has not taken of an experiment; a server that fails is only told of.

    Args:
        config: names the project.
        journal: where the experiment is recorded.
        experiment: its name.
        seconds: after which no further trials are sent.
        waiting: called at each look while another process sends it; what it raises ends that.
        told: what takes time.

    Raises:
        SettingError: no keys are set, or they do not fit together.
    """
    with required(config) as to, journal.sending(experiment, waiting=waiting):
        sent = publish(
            journal, experiment, to, redact=redacted, now_ms=clock, seconds=seconds, told=told
        )
        return delivered(journal, experiment, to, sent)


def delivered(journal: Journal, experiment: str, to: Connection, sent: Sent) -> Delivery:
    """What became of sending an experiment, with where to look at it.

    Args:
        journal: where the experiment is recorded.
        experiment: its name.
        to: the project it was sent to.
        sent: all that was.
    """
    found = () if sent.broke_off else _links(journal, experiment, to)
    return _delivery(journal, experiment, sent, found)


def left(config: Config, journal: Journal, experiment: str, *, before: Sent = NOTHING) -> Delivery:
    """What is left of an experiment for `lift push`; asks no server.

    Args:
        config: names the project.
        journal: where the experiment is recorded.
        experiment: its name.
        before: what came of sending it.

    Raises:
        SettingError: no keys are set, or they do not fit together.
    """
    with required(config) as to:
        unsent = journal.unsent(experiment, to.destination)
    parts = sum(len(one.parts) for one in unsent)
    return _delivery(journal, experiment, before._replace(unsent=parts), ())


def _delivery(journal: Journal, experiment: str, whole: Sent, found: Sequence[str]) -> Delivery:
    told = _lines(whole, unscored=len(journal.unscored(experiment)))
    return Delivery(
        (*whole.notices, *told, *found),
        whole.unsent,
        idle=not told,
        fails=whole.broke_off and not whole.taken,
    )


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


def _lines(sent: Sent, *, unscored: int) -> Sequence[str]:
    took = f"Langfuse took {sent.answers} trials, {sent.scores} with scores, {sent.votes} votes"
    lines = []
    if sent.unsent:
        lines.append(f"{took}; {sent.unsent} parts are unsent ({sent.why}): lift push sends them")
    elif sent.taken:
        lines.append(took)
    if unscored:
        lines.append(f"{unscored} answers are not scored yet: run the experiment again, then push")
    return lines


def _links(journal: Journal, experiment: str, to: Connection) -> Sequence[str]:
    try:
        found = links.links(journal, experiment, to)
    except LangfuseError:
        return ()
    several = len({link.model for link in found}) > 1
    return [f"{link.dataset}{f' ({link.model})' if several else ''}: {link.url}" for link in found]
