"""From settings to a finished experiment: what `lift run` and `lift.run()` share."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lift import plan as planning
from lift import resolve
from lift.backends import Backend, demo
from lift.budget import Budget
from lift.dataset import Selection
from lift.errors import CouldNotRun, Interrupted, LiftError, SettingError
from lift.journal import Journal
from lift.plan import Estimate, Plan
from lift.pricing import Price, price_of
from lift.runner import Asking, Job, Run, Watcher, score_stored
from lift.schema import SETTLED, Status, Trial
from lift.settings import Config, credential

GRACE_S = 5.0
"""How long calls in flight may still finish after an interrupt."""

QUICK_REPEATS = 2
FULL_REPEATS = 1


@dataclass(frozen=True)
class Wanted:
    """What a command asks for, beside the settings."""

    selection: Selection
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    repeats: int | None = None
    experiment: str | None = None
    again: bool = False


@dataclass(frozen=True)
class Prepared:
    """A plan, and what is known before anything is asked."""

    plan: Plan
    left: tuple[Trial, ...]
    """Trials still to be asked."""
    estimate: Estimate
    """Of what is left."""
    spent_usd: float
    """By the experiment so far; calls that never reported usage count at their worst."""
    notices: tuple[str, ...]
    """What a person should know before it starts."""
    prices: Mapping[str, Price]


def clock() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def prepare(config: Config, wanted: Wanted) -> Prepared:
    """Read skill and datasets and make the plan; asks nothing and writes nothing.

    Raises:
        UsageError: a setting, the skill, a dataset or a filter is wrong.
        CredentialError: the messages backend has no key.
    """
    settings = config.settings
    backend = resolve.backend_name(config)
    skill, datasets = resolve.skill_and_datasets(config, wanted.datasets)
    models = wanted.models or (settings.model,)
    prices = {model: _price(model, settings.price, backend) for model in models}
    notices: tuple[str, ...] = ()
    selection = wanted.selection
    if backend == "demo":
        datasets, notices = resolve.canned_only(config, datasets, selection)
    repeats = wanted.repeats or (QUICK_REPEATS if selection.quick else FULL_REPEATS)
    plan = planning.make(
        skill,
        datasets,
        selection=selection,
        models=models,
        repeats=repeats,
        backend=backend,
        max_tokens=settings.max_tokens,
        effort=settings.effort or None,
        experiment=wanted.experiment,
        again=f"-{datetime.now(UTC):%Y%m%dT%H%M%SZ}" if wanted.again else "",
    )
    ended, spent = _so_far(config.path("journal"), plan.experiment)
    left = planning.left(plan.trials, ended)
    return Prepared(
        plan=plan,
        left=tuple(left),
        estimate=planning.estimate(plan, left, prices),
        spent_usd=spent,
        notices=notices,
        prices=prices,
    )


def perform(config: Config, prepared: Prepared, watcher: Watcher) -> None:
    """Ask what is left of a plan; every answer is in the journal when this returns or raises.

    Raises:
        CeilingReached, CouldNotRun, Interrupted: see Run.all.
    """
    with Journal(config.path("journal")) as journal:
        journal.begin(prepared.plan, now_ms=clock())
        score_stored(prepared.plan, journal)
        if prepared.left:
            asyncio.run(_perform(config, prepared, journal, watcher))
        _check_answered(prepared.plan, journal)


def _price(model: str, override: str, backend: str) -> Price:
    free = Price(input_usd=0, output_usd=0)
    return free if backend == "demo" else price_of(model, override)


def _so_far(path: Path, experiment: str) -> tuple[dict[str, tuple[int, Status]], float]:
    if not path.exists():
        return {}, 0.0
    with Journal(path) as journal:
        return journal.ended(experiment), sum(journal.spent_usd(experiment))


def _backend(config: Config, prepared: Prepared) -> Backend:
    if prepared.plan.backend == "demo":
        folder = config.path("datasets_dir")
        names = [dataset.name for dataset in prepared.plan.datasets]
        canned = {k: v for name in names for k, v in demo.load(folder, name).items()}
        return demo.Demo(canned, clock=clock)
    from lift.backends.messages import Messages

    known = credential(config)
    if known is None:
        raise SettingError("the credential is gone", where="environment", fix="set it again")
    return Messages(
        known,
        prices=prepared.prices,
        concurrency=config.settings.concurrency,
        deadline_s=config.settings.deadline_s,
        clock=clock,
    )


async def _perform(config: Config, prepared: Prepared, journal: Journal, watcher: Watcher) -> None:
    spent, lost = journal.spent_usd(prepared.plan.experiment)
    backend = _backend(config, prepared)
    run = Run(
        backend=backend,
        budget=Budget(config.settings.max_cost_usd, spent_usd=spent, lost_usd=lost),
        clock=clock,
    )
    jobs = [
        Asking(
            trial=trial,
            plan=prepared.plan,
            prices=prepared.prices,
            journal=journal,
            watcher=watcher,
            after=lambda _trial, _evidence: (),
        )
        for trial in prepared.left
    ]
    try:
        await _interruptible(run, jobs, workers=config.settings.concurrency)
    finally:
        await backend.close()


async def _interruptible(run: Run, jobs: Sequence[Job], *, workers: int) -> None:
    """Run; the first SIGINT or SIGTERM lets calls in flight finish, the second does not."""
    loop = asyncio.get_running_loop()
    work = asyncio.ensure_future(run.all(jobs, workers=workers))
    received: list[signal.Signals] = []
    stopping: list[asyncio.Task[None]] = []

    def interrupt(number: signal.Signals) -> None:
        received.append(number)
        if len(received) > 1:
            work.cancel()
            return
        stopping.append(loop.create_task(run.stop(_interrupted(number))))
        loop.call_later(GRACE_S, work.cancel)

    handled = _signals()
    for number in handled:
        loop.add_signal_handler(number, interrupt, number)
    try:
        await work
    except asyncio.CancelledError:
        if not received:
            raise
        raise _interrupted(received[0]) from None
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


def _signals() -> tuple[signal.Signals, ...]:
    """Those that a run handles; only the main thread can."""
    on_main = threading.current_thread() is threading.main_thread()
    return (signal.SIGINT, signal.SIGTERM) if on_main else ()


def _interrupted(number: signal.Signals) -> LiftError:
    return Interrupted(
        f"interrupted by {number.name}; every answer so far is recorded",
        fix="run the same command again: it goes on from here",
        exit_code=128 + number,
    )


def _check_answered(plan: Plan, journal: Journal) -> None:
    """Raise where not a single trial was answered."""
    rows = [row for row in journal.trials(plan.experiment) if row["status"] != Status.SKIPPED]
    if not rows or any(row["status"] in SETTLED for row in rows):
        return
    reasons = Counter(
        record.evidence.why for record in journal.records(plan.experiment) if record.evidence
    )
    why = reasons.most_common(1)[0][0] if reasons else "no trial was asked"
    raise CouldNotRun(
        f"no trial was answered: {why}",
        where=plan.experiment,
        fix="correct that and run the same command again",
    )
