"""A prepared plan, performed: calls made, interrupts heeded, every outcome in the journal."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lift.backends import Backend, demo
from lift.budget import Budget
from lift.errors import (
    CouldNotRun,
    Interrupted,
    JournalError,
    SettingError,
    UsageError,
    counted,
)
from lift.forecast import vote_usd, with_votes
from lift.journal import Experiment, Journal, trials_of
from lift.judging import Voted, Voting, missing, votes_on
from lift.plan import Estimate, left
from lift.prepare import Prepared, bench, clock, kept_replies, prices
from lift.pricing import Price
from lift.resolve import backend_name
from lift.runner import SECONDS_BETWEEN_LOOKS, Asking, Run, Watcher, score_stored
from lift.schema import SETTLED, Evidence, Request, Status, Trial
from lift.settings import Config, credential
from lift.worklist import Job

if TYPE_CHECKING:
    from lift.backends.messages import Messages

GRACE_S = {signal.SIGINT: 30.0, signal.SIGTERM: 5.0, signal.SIGHUP: 60.0}
"""How long calls in flight, which are paid for, may still finish after a signal.

Whoever presses Ctrl-C can press it again; what sends SIGTERM kills some seconds later; after SIGHUP
nobody waits.
"""

AT_ONCE_S = 0.2
"""A signal that comes again within this is the same one, sent to a process and to its group."""

Received = Sequence[signal.Signals]
"""Signals that the main thread received so far, where the run is on another one; it grows."""

Stopping = Callable[[float], None]
"""Told how many seconds calls in flight may still take."""


def perform(
    config: Config,
    prepared: Prepared,
    watcher: Watcher,
    *,
    meanwhile: Callable[[], None] = lambda: None,
    received: Received = (),
) -> None:
    """Do what is left of a plan; every answer is in the journal when this returns or raises.

    Args:
        config: who answers, and the ceiling.
        prepared: the plan.
        watcher: told how it goes.
        meanwhile: done in a thread of its own while answers are awaited.
        received: signals to heed beside those that this thread gets itself.

    Raises:
        CeilingReached, CouldNotRun, Interrupted: see Run.all.
    """
    plan = prepared.plan
    with Journal(config.path("journal")) as journal:
        in_flight = config.settings.concurrency
        journal.begin(plan, now_ms=clock(), in_flight=in_flight, pages=config.pages)
        with journal.running(plan.experiment, waiting=watcher.waiting):
            if prepared.judged:
                _check_judge(journal, plan.experiment, config.settings.judge_model)
            score_stored(plan, journal)
            journal.forget_waiting(plan.experiment)
            jobs = _jobs(config, prepared, journal, watcher)
            if jobs:
                names = [dataset.name for dataset in plan.datasets]
                calls = Calls(plan.experiment, plan.backend, names, prepared.prices)
                work = _perform(
                    config,
                    calls,
                    jobs,
                    journal,
                    fresh=prepared.fresh,
                    stopping=watcher.stopping,
                    meanwhile=meanwhile,
                    received=received,
                )
                asyncio.run(work)
        check_answered(plan.experiment, journal)


def judge(config: Config, experiment: Experiment, watcher: Watcher) -> None:
    """Cast the votes that an experiment's answered trials lack, whatever their dataset says.

    Raises:
        CeilingReached, CouldNotRun, Interrupted: see Run.all.
    """
    with (
        Journal(config.path("journal"), create=False) as journal,
        journal.running(experiment.name, waiting=watcher.waiting),
    ):
        _check_judge(journal, experiment.name, config.settings.judge_model)
        jobs = _lacking(config, journal, experiment, watcher.voted)
        if not jobs:
            return
        backend = "demo" if experiment.canned else real(config)
        known = prices([config.settings.judge_model], config.settings, backend)
        calls = Calls(experiment.name, backend, experiment.datasets, known)
        journal.set_aside(config.settings.concurrency)
        asyncio.run(_perform(config, calls, jobs, journal, stopping=watcher.stopping))


class Votes(NamedTuple):
    """What `judge` is about to do."""

    cast: int
    estimate: Estimate
    """Of those that no equal request was given before."""


def votes(config: Config, experiment: Experiment) -> Votes:
    """How many votes an experiment's answered trials lack, and what they will cost.

    Raises:
        UsageError: the judge has no price, or votes of another one are in a batch.
        CredentialError: there is no key.
    """
    model = config.settings.judge_model
    with Journal(config.path("journal"), create=False) as journal:
        _check_judge(journal, experiment.name, model)
        jobs = _lacking(config, journal, experiment, lambda *_: None)
        if not jobs:
            return Votes(0, Estimate())
        backend = "demo" if experiment.canned else real(config)
        price = prices([model], config.settings, backend)[model]
        replies = kept_replies(config, journal, backend)
        keys = [replies.key(job.question, job.label) for job in jobs] if replies else []
        asked = len(jobs) - (len(replies.among(keys)) if replies else 0)
        each = vote_usd(journal, experiment.datasets, model=model, price=price)
        return Votes(len(jobs), with_votes(Estimate(), asked, each))


def _lacking(
    config: Config, journal: Journal, experiment: Experiment, voted: Voted
) -> list[Voting]:
    return missing(
        journal.records(experiment.name),
        bench=bench(config.settings),
        journal=journal,
        voted=voted,
        asked=journal.in_batches(experiment.name),
    )


def _check_judge(journal: Journal, experiment: str, model: str) -> None:
    """Check that no votes of another judge are on their way: they would replace those cast now.

    Raises:
        UsageError: some are.
    """
    for waiting, votes in journal.votes_in_batches(experiment).items():
        if waiting != model:
            raise UsageError(
                f"{counted(votes, 'vote')} of {waiting} in a batch",
                where=experiment,
                fix=f"lift collect takes them in; then lift judge --judge-model {model}",
            )


@dataclass(frozen=True)
class Calls:
    """Who is asked, and on whose account."""

    experiment: str
    backend: str
    datasets: Sequence[str]
    prices: Mapping[str, Price]


def _jobs(config: Config, prepared: Prepared, journal: Journal, watcher: Watcher) -> list[Job]:
    """Votes on what is answered come before new answers."""
    plan = prepared.plan
    judges = bench(config.settings)
    in_batches = journal.in_batches(plan.experiment)

    def votes_after(trial: Trial, evidence: Evidence) -> Sequence[Job]:
        if trial.dataset not in prepared.judged:
            return []
        item = plan.item(trial)
        return votes_on(trial, evidence, item, bench=judges, journal=journal, voted=watcher.voted)

    def asks(trial: Trial) -> Request:
        cacheable = prepared.prices[trial.model].cacheable_tokens
        return plan.request(trial, cacheable_tokens=cacheable, cache_life=prepared.cache_life)

    answered = [
        record
        for record in (journal.records(plan.experiment) if prepared.judged else ())
        if plan.has(record.trial) and record.trial.dataset in prepared.judged
    ]
    votes = missing(answered, bench=judges, journal=journal, voted=watcher.voted, asked=in_batches)
    answers = [
        Asking(
            trial=trial,
            asks=asks,
            checks=plan.item(trial).checks,
            journal=journal,
            watcher=watcher,
            after=votes_after,
        )
        for trial in left(plan.trials, journal.ended(plan.experiment), trials_of(in_batches))
    ]
    return [*votes, *answers]


def real(config: Config) -> str:
    """The backend that judges real answers.

    Raises:
        CredentialError: there is no key: canned votes on real answers would be worthless.
    """
    settings = config.settings.model_copy(update={"backend": "messages"})
    return backend_name(config.model_copy(update={"settings": settings}))


def backend_of(config: Config, calls: Calls) -> Backend:
    """Who answers the calls.

    Raises:
        SettingError: the credential is gone.
    """
    if calls.backend == "demo":
        folder = config.path("datasets_dir")
        canned = {k: v for name in calls.datasets for k, v in demo.load(folder, name).items()}
        return demo.Demo(canned, clock=clock)
    return messages(config, calls.prices)


def messages(config: Config, known_prices: Mapping[str, Price]) -> Messages:
    """The Messages API, with the settings' patience.

    Args:
        config: has the credential.
        known_prices: model → price.

    Raises:
        SettingError: the credential is gone.
    """
    from lift.backends.messages import Messages

    known = credential(config)
    if known is None:
        raise SettingError("the credential is gone", where="environment", fix="set it again")
    return Messages(
        known,
        prices=known_prices,
        concurrency=config.settings.concurrency,
        deadline_s=config.settings.deadline_s,
        clock=clock,
    )


async def _perform(
    config: Config,
    calls: Calls,
    jobs: Sequence[Job],
    journal: Journal,
    *,
    stopping: Stopping,
    fresh: bool = False,
    meanwhile: Callable[[], None] = lambda: None,
    received: Received = (),
) -> None:
    journal.take_over(calls.experiment)
    spent, lost = journal.spent_usd(calls.experiment)
    budget = Budget(
        config.settings.max_cost_usd,
        spent_usd=spent,
        lost_usd=lost,
        reserve=lambda usd: journal.reserve(calls.experiment, usd),
    )
    run = Run(
        opened=lambda: backend_of(config, calls),
        budget=budget,
        clock=clock,
        replies=kept_replies(config, journal, calls.backend, fresh=fresh),
        meanwhile=meanwhile,
    )
    try:
        await interruptible(
            run,
            jobs,
            workers=config.settings.concurrency,
            received=received,
            stopping=stopping,
        )
    except Interrupted as stopped:
        if cut := budget.lost_usd - lost:
            stopped.what += f"; calls that broke off count ${cut:.4f} towards the ceiling at most"
        raise
    finally:
        with suppress(JournalError):  # what stopped the run is the error to tell of
            journal.settle(calls.experiment, budget.committed_usd)
        await run.close()


async def interruptible(
    run: Run,
    jobs: Sequence[Job],
    *,
    workers: int,
    received: Received = (),
    stopping: Stopping = lambda _seconds: None,
) -> None:
    """Run; the first signal of GRACE_S lets calls in flight finish, the second does not.

    Args:
        run: does the jobs.
        jobs: what is to be done.
        workers: how many at once.
        received: signals to heed beside those that this thread gets itself.
        stopping: told how long calls in flight may take, where some are.
    """
    check_uninterrupted(received)
    work = asyncio.ensure_future(run.all(jobs, workers=workers))
    interrupts = _Interrupts(run, work, stopping)
    with handling(interrupts.take, received):
        try:
            await work
        except asyncio.CancelledError:
            if not interrupts.heard:
                raise
            raise interrupted(next(iter(interrupts.heard))) from None


class _Interrupts:
    """What signals do to a run: the first lets calls in flight finish, another one does not."""

    def __init__(self, run: Run, work: asyncio.Future[None], stopping: Stopping) -> None:
        self.heard: dict[signal.Signals, float] = {}
        """When each was heard last, the first one first."""
        self._run, self._work, self._stopping = run, work, stopping
        self._loop = asyncio.get_running_loop()
        self._tasks: list[asyncio.Task[None]] = []
        self._ends: list[asyncio.TimerHandle] = []

    def take(self, number: signal.Signals) -> None:
        """Heed a signal."""
        first = not self.heard
        known, self.heard[number] = self.heard.get(number), self._loop.time()
        if known is not None and self._loop.time() - known < AT_ONCE_S:
            return
        if first:
            self._tasks.append(self._loop.create_task(self._run.stop(interrupted(number))))
        elif number != signal.SIGHUP:
            self._work.cancel()
            return
        for end in self._ends:
            end.cancel()
        self._ends.append(self._loop.call_later(GRACE_S[number], self._work.cancel))
        if number == signal.SIGINT and self._run.asks:
            self._stopping(GRACE_S[number])


@contextmanager
def handling(
    interrupt: Callable[[signal.Signals], None], received: Received = ()
) -> Iterator[None]:
    """Have the signals of GRACE_S call something, from the running loop, until the block ends.

    Args:
        interrupt: called with each.
        received: signals to heed beside those that this thread gets itself.
    """
    loop = asyncio.get_running_loop()
    handled = _signals()
    for number in handled:
        loop.add_signal_handler(number, interrupt, number)
    listening = loop.create_task(_listen(received, interrupt))
    try:
        yield
    finally:
        listening.cancel()
        for number in handled:
            loop.remove_signal_handler(number)


async def _listen(received: Received, interrupt: Callable[[signal.Signals], None]) -> None:
    heard = 0
    while True:
        while heard < len(received):
            interrupt(received[heard])
            heard += 1
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


def _signals() -> tuple[signal.Signals, ...]:
    """Those that a run handles; only the main thread can. Where SIGHUP is ignored it stays so."""
    if threading.current_thread() is not threading.main_thread():
        return ()
    hung_up = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return tuple(number for number in GRACE_S if number != signal.SIGHUP or not hung_up)


def check_uninterrupted(received: Received) -> None:
    """Raise where a signal came already.

    Raises:
        Interrupted: it did.
    """
    if received:
        raise interrupted(received[0])


def interrupted(number: signal.Signals) -> Interrupted:
    """The error of a run that a signal ended."""
    by = "the end of what started it" if number == signal.SIGHUP else number.name
    return Interrupted(
        f"interrupted by {by}; every answer so far is recorded",
        fix="run the same command again: it goes on from here",
        exit_code=128 + number,
    )


def check_answered(experiment: str, journal: Journal) -> None:
    """Check that there is anything to compare.

    Raises:
        CouldNotRun: not a single trial was answered.
    """
    rows = [row for row in journal.trials(experiment) if row["status"] != Status.SKIPPED]
    if not rows or any(row["status"] in SETTLED for row in rows):
        return
    reasons = Counter(
        record.evidence.why for record in journal.records(experiment) if record.evidence
    )
    if not reasons and journal.in_batches(experiment):
        raise CouldNotRun(
            "no trial was answered: they wait in a batch", where=experiment, fix="lift collect"
        )
    why = reasons.most_common(1)[0][0] if reasons else "no trial was asked"
    raise CouldNotRun(
        f"no trial was answered: {why}",
        where=experiment,
        fix="correct that and run the same command again",
    )
