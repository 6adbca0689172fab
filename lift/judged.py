"""The judge of an experiment and people, given the settings: what is labelled, what that says."""

from __future__ import annotations

from pathlib import Path

from lift import labels
from lift.agreement import Agreement, TrialId, agreements
from lift.errors import LabelError
from lift.journal import Journal
from lift.langfuse.masking import masked
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
    if not records:
        raise _unjudged(experiment)
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(labels.blank(records))
    except OSError as bad:
        raise LabelError(
            f"cannot write: {bad.strerror}", where=str(path), fix="name a file that is not there"
        ) from bad
    return len(records)


def held(config: Config, name: str | None, path: Path) -> list[Agreement]:
    """Hold the judge of an experiment against the labels in a file, and keep what that says.

    Args:
        config: names the journal.
        name: of the experiment; None for the one that ran last.
        path: of the CSV.

    Raises:
        LabelError: the file is none, or none of its trials was judged.
    """
    with Journal(config.path("journal"), create=False) as journal:
        experiment = journal.experiment(name).name
        known = [TrialId(*(row[n] for n in TrialId._fields)) for row in journal.trials(experiment)]
        said = labels.read(path, known)
        found = agreements(said, journal.judgements(experiment), experiment=experiment)
        if not found:
            raise _unjudged(experiment)
        journal.keep_agreements(found, now_ms=clock())
    return [one.agreement for one in found]


def _unjudged(experiment: str) -> LabelError:
    return LabelError("no labelled trial was judged", where=experiment, fix="run lift judge first")
