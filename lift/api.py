"""What a notebook calls: run a skill's datasets, compare an experiment."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lift.comparing import Comparison
from lift.conditions import parse
from lift.daemons import begun
from lift.dataset import Selection
from lift.journal import Journal
from lift.perform import Received, check_uninterrupted, perform
from lift.prepare import Wanted, prepare, unconfirmed
from lift.results import compared, held_against, recorded, result
from lift.runner import SECONDS_BETWEEN_LOOKS
from lift.schema import WITH_SKILL, Evidence, Trial, Vote
from lift.settings import Config, read

if TYPE_CHECKING:
    from lift.outbox.pulling import Frames

MOST_SIGNALS = 2
"""The first stops a run, the second cuts its calls; one more leaves it behind."""


Names = str | Sequence[str]
"""One name, or several."""


def run(
    skill: str | Path | None = None,
    *,
    quick: bool = False,
    datasets: Names = (),
    only: Names = (),
    category: Names = (),
    tag: Names = (),
    model: Names = (),
    repeats: int | None = None,
    experiment: str | None = None,
    again: bool = False,
    judge: bool | None = None,
    yes: bool = False,
    max_cost_usd: float | None = None,
    conditions: str = "with_skill,without_skill",
    backend: str | None = None,
    max_tokens: int | None = None,
    effort: str | None = None,
    judge_model: str | None = None,
    judge_votes: int | None = None,
    concurrency: int | None = None,
    deadline_s: float | None = None,
    cache_max_age: float | None = None,
    price: str | None = None,
    journal: str | Path | None = None,
    folder: Path | None = None,
) -> Comparison:
    """Ask a skill's datasets with and without the skill, score and compare.

    What is answered already is not asked again. In a notebook, interrupting the kernel stops it as
    Ctrl-C stops the command: calls in flight have half a minute, and every answer is kept.

    Args:
        skill: its name or a path; None for the only one there is.
        quick: ask the quick items, each twice, instead of all once.
        datasets: names; empty for all of the skill's.
        only: ids of the items to ask; `*` is a wildcard.
        category: ask only items of these categories.
        tag: ask only items with one of these tags.
        model: ids of the models that answer; empty for the one in the settings.
        repeats: how often each item is asked under each condition; at least 1.
        experiment: its name; None for one that follows from what is asked.
        again: make it a fresh experiment, though one like it is answered.
        judge: judge all, or none; None judges where the datasets ask for it.
        yes: spend more than `confirm_above_usd` without a question.
        max_cost_usd: cost ceiling of the experiment in US dollars; above 0.
        conditions: what is compared, as --conditions takes it: "old_skill=main,with_skill".
        backend: messages, demo or auto.
        max_tokens: of an answer; at least 1.
        effort: passed to the model.
        judge_model: id of the model that judges.
        judge_votes: of the judge on each trial; 1 to 9.
        concurrency: calls in flight at most; 1 to 512.
        deadline_s: seconds after which a trial without an answer is errored.
        cache_max_age: days for which an answer to an equal request is used again; 0 uses none.
        price: `IN,OUT` in US dollars per million tokens, for a model not in the table.
        journal: its file.
        folder: the project; None for the current one.

        A setting that is None is read as the command reads it: environment, `.env`,
        pyproject.toml, default.

    Returns:
        Pandas frames: one row per item in `deltas`, one per category in `categories`.

    Raises:
        UsageError: a setting, the skill, a dataset or a filter is wrong; or it is expected to cost
            more than `confirm_above_usd`, and `yes` is not given.
        Interrupted: SIGINT or SIGTERM came.
        LiftError: it cannot be run; what was answered is in the journal.
    """
    flags = {
        "skill": None if skill is None else str(skill),
        "max_cost_usd": max_cost_usd,
        "backend": backend,
        "max_tokens": max_tokens,
        "effort": effort,
        "judge_model": judge_model,
        "judge_votes": judge_votes,
        "concurrency": concurrency,
        "deadline_s": deadline_s,
        "cache_max_age": cache_max_age,
        "price": price,
        "journal": None if journal is None else str(journal),
    }
    config = read(folder or Path.cwd(), os.environ, flags)
    wanted = Wanted(
        Selection(quick=quick, only=_named(only), categories=_named(category), tags=_named(tag)),
        datasets=_named(datasets),
        models=_named(model),
        repeats=repeats,
        conditions=parse(conditions),
        experiment=experiment,
        again=again,
        judge=judge,
    )
    return _outside_a_loop(lambda received: _run(config, wanted, received, yes=yes))


def compare(
    experiment: str | None = None,
    *,
    base: str | None = None,
    other: str | None = None,
    against: str | None = None,
    folder: Path | None = None,
) -> Comparison:
    """Compare two conditions of an experiment, from the journal; or two experiments.

    Args:
        experiment: its name; None for the one that ran last.
        base: condition to measure from; None for `without_skill`, or else `old_skill`.
        other: condition to measure; None for `with_skill`, or else `old_skill`.
        against: an experiment to measure from, both under the condition `other`.
        folder: the project; None for the current one.

    Raises:
        LiftError: there is no such experiment or condition.
    """
    config = read(folder or Path.cwd(), os.environ, {})
    with Journal(config.path("journal"), create=False) as journal:
        found = recorded(journal, experiment, hashed=against is not None)
        if against is None:
            return result(found, base=base, other=other).comparison
        theirs = recorded(journal, against, hashed=True)
        return held_against(found, theirs, condition=other or WITH_SKILL).comparison


def pull(experiment: str, *, days: float = 90, folder: Path | None = None) -> Frames:
    """An experiment out of Langfuse: trials, scores, and what people annotated.

    Args:
        experiment: its name.
        days: how far back its first trial may lie.
        folder: the project, whose settings name the Langfuse project; None for the current one.

    Raises:
        LiftError: no keys are set, there is no such experiment, or it cannot be read.
    """
    from lift.outbox import pulling

    config = read(folder or Path.cwd(), os.environ, {})
    return pulling.pull(config, experiment, since=timedelta(days=days))


class _Unwatched:
    """Nobody watches; a signal ends the waiting for another process."""

    def __init__(self, received: Received) -> None:
        self.received = received

    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """Nothing."""

    def waiting(self) -> None:
        """Raise where a signal came."""
        check_uninterrupted(self.received)

    def voted(self, trial: Trial, vote: Vote) -> None:
        """Nothing."""

    def stopping(self, seconds: float) -> None:
        """Nothing."""


def _named(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _run(config: Config, wanted: Wanted, received: Received, *, yes: bool) -> Comparison:
    prepared = prepare(config, wanted)
    fix = "pass yes=True, or raise confirm_above_usd"
    problem = unconfirmed(prepared.plan.experiment, prepared.estimate, config.settings, fix=fix)
    if problem and not yes:
        raise problem
    perform(config, prepared, _Unwatched(received), received=received)
    with Journal(config.path("journal"), create=False) as journal:
        return compared(journal, prepared.plan.experiment, plan=prepared.plan).comparison


def _outside_a_loop(work: Callable[[Received], Comparison]) -> Comparison:
    """Do it here, or in a thread where this one has an event loop already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work(())
    with _receiving() as received:
        done = begun(lambda: work(received))
        while not done.done():
            wait([done], SECONDS_BETWEEN_LOOKS)
    if received and (signal.SIGTERM in received or not done.exception()):
        signal.raise_signal(received[0])  # it came too late for the run, or was not meant for it
    return done.result()


@contextmanager
def _receiving() -> Iterator[Received]:
    """The signals that arrive in the block; those after the second do not wait for it to end."""
    received: list[signal.Signals] = []

    def receive(number: int, _frame: object) -> None:
        received.append(signal.Signals(number))
        if len(received) > MOST_SIGNALS:
            raise KeyboardInterrupt

    on_main = threading.current_thread() is threading.main_thread()
    handled = (signal.SIGINT, signal.SIGTERM) if on_main else ()
    before = {number: signal.signal(number, receive) for number in handled}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
