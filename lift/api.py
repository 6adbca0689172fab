"""What a notebook calls: run a skill's datasets, compare an experiment."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lift.comparing import Comparison
from lift.dataset import Selection
from lift.journal import Journal
from lift.perform import perform
from lift.prepare import Wanted, prepare
from lift.results import compared
from lift.schema import WITH_SKILL, WITHOUT_SKILL, Evidence, Trial, Vote
from lift.settings import Config, read


def run(
    skill: str | Path | None = None,
    *,
    quick: bool = False,
    datasets: Sequence[str] = (),
    model: str | None = None,
    repeats: int | None = None,
    backend: str | None = None,
    max_cost_usd: float | None = None,
    folder: Path | None = None,
) -> Comparison:
    """Ask a skill's datasets with and without the skill, score and compare.

    What is answered already is not asked again.

    Args:
        skill: its name or a path; None for the only one there is.
        quick: ask the quick items, each twice, instead of all once.
        datasets: names; empty for all of the skill's.
        model: id of the model that answers.
        repeats: how often each item is asked under each condition.
        backend: messages, demo or auto.
        max_cost_usd: cost ceiling of the experiment in US dollars; above 0.
        folder: the project; None for the current one.

    Returns:
        Pandas frames: one row per item in `deltas`, one per category in `categories`.

    Raises:
        LiftError: it cannot be run; what was answered is in the journal.
    """
    flags = {
        "skill": None if skill is None else str(skill),
        "model": model,
        "backend": backend,
        "max_cost_usd": max_cost_usd,
    }
    config = read(folder or Path.cwd(), os.environ, flags)
    wanted = Wanted(Selection(quick=quick), datasets=tuple(datasets), repeats=repeats)
    return _outside_a_loop(config, wanted)


def compare(
    experiment: str | None = None,
    *,
    base: str = WITHOUT_SKILL,
    other: str = WITH_SKILL,
    folder: Path | None = None,
) -> Comparison:
    """Compare two conditions of an experiment, from the journal.

    Args:
        experiment: its name; None for the one that ran last.
        base: condition to measure from.
        other: condition to measure.
        folder: the project; None for the current one.

    Raises:
        LiftError: there is no such experiment or condition.
    """
    config = read(folder or Path.cwd(), os.environ, {})
    with Journal(config.path("journal"), create=False) as journal:
        return compared(journal, experiment, base=base, other=other).comparison


class _Unwatched:
    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """Nobody watches."""

    def waiting(self) -> None:
        """Nobody watches."""

    def voted(self, trial: Trial, vote: Vote) -> None:
        """Nobody watches."""


def _outside_a_loop(config: Config, wanted: Wanted) -> Comparison:
    """Run it here, or in a thread where this one has an event loop already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(config, wanted)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_run, config, wanted).result()


def _run(config: Config, wanted: Wanted) -> Comparison:
    prepared = prepare(config, wanted)
    perform(config, prepared, _Unwatched())
    with Journal(config.path("journal"), create=False) as journal:
        return compared(journal, prepared.plan.experiment).comparison
