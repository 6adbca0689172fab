"""The judge of an experiment and people, given the settings: what is labelled, what that says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from lift import labels
from lift.agreement import Agreement, TrialId, agreements
from lift.errors import LabelError
from lift.journal import Journal
from lift.langfuse.masking import masked
from lift.outbox.pulling import pull
from lift.prepare import clock
from lift.redact import redacted
from lift.settings import Config


def unlabelled(config: Config, name: str | None, path: Path) -> int:
    """Write the judged trials of an experiment for people to label; returns how many.

    Args:
        config: names the journal.
        name: of the experiment; None for the one that ran last.
        path: of the file; one that is there is left alone.

    Raises:
        LabelError: nothing was judged, or the file is there or cannot be written.
    """
    with Journal(config.path("journal"), create=False) as journal:
        experiment = journal.experiment(name).name
        judged = {one.trial for one in journal.judgements(experiment)}
        records = [
            masked(record, redacted)
            for record in journal.records(experiment)
            if labels.trial_id(record.trial) in judged
        ]
        criteria = any(
            item["item"].get("judge_criteria") for _, item, _ in journal.items(experiment)
        )
    if not records:
        raise LabelError(
            "nothing is judged yet, so there is nothing to label",
            where=experiment,
            fix="run lift judge first" if criteria else CRITERIA,
        )
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(labels.blank(records))
    except OSError as bad:
        raise LabelError(
            f"cannot write: {bad.strerror}", where=str(path), fix="name a file that is not there"
        ) from bad
    return len(records)


CRITERIA = "give items judge_criteria, and run them again"


class Labels(Protocol):
    """What people say of an experiment's trials."""

    def __call__(self, experiment: str, known: Sequence[TrialId], /) -> Mapping[TrialId, bool]:
        """Trial → whether it passes.

        Args:
            experiment: its name.
            known: its trials.

        Raises:
            LiftError: there are none, or they cannot be read.
        """


def of_file(path: Path) -> Labels:
    """The labels in a CSV, see `labels.read`."""
    return lambda _experiment, known: labels.read(path, known)


def of_langfuse(config: Config, since: timedelta) -> Labels:
    """What people annotated in Langfuse, see `labels.of_annotations`.

    Args:
        config: names the project.
        since: how far back the experiment's first trial may lie.
    """

    def annotated(experiment: str, _known: Sequence[TrialId]) -> Mapping[TrialId, bool]:
        found = pull(config, experiment, since=since).annotations
        return labels.of_annotations(found.to_dict("records"))

    return annotated


def held(config: Config, name: str | None, people: Labels) -> list[Agreement]:
    """Hold the judge of an experiment against people's labels, and keep what that says.

    Args:
        config: names the journal.
        name: of the experiment; None for the one that ran last.
        people: what they say.

    Raises:
        LabelError: they cannot be read, or none of the labelled trials was judged.
    """
    with Journal(config.path("journal"), create=False) as journal:
        experiment = journal.experiment(name).name
        known = [TrialId(*(row[n] for n in TrialId._fields)) for row in journal.trials(experiment)]
        said = people(experiment, known)
        found = agreements(said, journal.judgements(experiment), experiment=experiment)
        if not found:
            raise _unjudged(experiment)
        journal.keep_agreements(found, now_ms=clock())
    return [one.agreement for one in found]


def _unjudged(experiment: str) -> LabelError:
    return LabelError("no labelled trial was judged", where=experiment, fix="run lift judge first")
