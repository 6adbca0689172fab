"""An experiment read out of the journal while what it is compared with is imported."""

from __future__ import annotations

from threading import Event
from typing import NamedTuple

from lift.daemons import begun
from lift.journal import Experiment, Journal
from lift.journal.columns import Column


class Answered(NamedTuple):
    """An experiment and how its trials ended."""

    experiment: Experiment
    """Its models, datasets, conditions and counts are left to whoever has the columns."""
    attempts: dict[str, Column]
    """As `Journal.attempts` gives them."""


class Said(NamedTuple):
    """What was said of each attempt."""

    checks: dict[str, Column]
    """As `Journal.score_columns` gives them."""
    judges: dict[str, Column]
    """As `Journal.judge_columns` gives them."""


class Reading:
    """An experiment that is being read, on several connections at once.

    SQLite needs no Python for it: the caller can go on. Scores are of no earlier moment than the
    attempts, and so are trials, though a run may go on.

    Args:
        journal: where it is recorded.
        name: of the experiment; None for the one that ran last.

    Raises:
        ExperimentError: there is none of that name.
    """

    def __init__(self, journal: Journal, name: str | None = None) -> None:
        self._path = journal.path
        self._name = journal.named(name)
        self._begun = Event()
        self._attempts = begun(self._answered)
        self._scores = begun(self._said)
        self._trials = begun(self._planned)

    def answered(self) -> Answered:
        """Wait for the attempts: they take longest."""
        return self._attempts.result()

    def said(self) -> Said:
        """Wait for the scores: they are there first."""
        return self._scores.result()

    def planned(self) -> dict[str, Column]:
        """Wait for the trials, as `Journal.trial_columns` gives them."""
        return self._trials.result()

    def _answered(self) -> Answered:
        try:
            with Journal(self._path, create=False) as journal, journal.snapshot():
                self._begun.set()
                attempts = journal.attempts(self._name)
                return Answered(journal.uncounted(self._name, attempts.paid), attempts.columns)
        finally:
            self._begun.set()

    def _said(self) -> Said:
        self._begun.wait()
        with Journal(self._path, create=False) as journal:
            return Said(journal.score_columns(self._name), journal.judge_columns(self._name))

    def _planned(self) -> dict[str, Column]:
        self._begun.wait()
        with Journal(self._path, create=False) as journal:
            return journal.trial_columns(self._name)
