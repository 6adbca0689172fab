"""Trials to evidence to scores, recorded one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from lift.backends import Backend
from lift.budget import Budget
from lift.errors import BackendError, CeilingReached, LiftError
from lift.journal import Journal
from lift.plan import Plan
from lift.pricing import Price
from lift.schema import SETTLED, Evidence, Request, Score, Status, Trial
from lift.worklist import Task, Worklist


class Watcher(Protocol):
    """Who is told how the run goes."""

    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """A trial ended and is on disk."""
        ...


def checked(plan: Plan, trial: Trial, evidence: Evidence) -> list[Score]:
    """What the item's checks say of the evidence; nothing where the trial was not answered."""
    if evidence.status not in SETTLED:
        return []
    return [check.score(evidence) for check in plan.item(trial).checks]


def score_stored(plan: Plan, journal: Journal) -> None:
    """Score evidence that is stored without scores, as a crash between the two leaves it."""
    for trial, evidence in journal.unscored(plan.experiment):
        if plan.has(trial):
            journal.record(trial, evidence, checked(plan, trial, evidence))


class Run:
    """One run of a plan's trials.

    Args:
        plan: what is asked.
        backend: who answers.
        journal: where every outcome goes before anything else happens with it.
        budget: the ceiling.
        prices: model → price.
        watcher: told of every outcome.
        clock: the time, in milliseconds.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        backend: Backend,
        journal: Journal,
        budget: Budget,
        prices: Mapping[str, Price],
        watcher: Watcher,
        clock: Callable[[], int],
    ) -> None:
        self.plan = plan
        self.backend = backend
        self.journal = journal
        self.budget = budget
        self.prices = prices
        self.watcher = watcher
        self.clock = clock
        self._stopped: LiftError | None = None
        self._rest: list[Trial] = []

    async def all(self, trials: Sequence[Trial], *, workers: int) -> None:
        """Ask every trial, and record how each ended.

        Raises:
            CeilingReached: some trials did not fit; they are recorded as skipped.
            CouldNotRun: key, model, server or journal failed; what was answered is recorded.
            Interrupted: `stop` was called with it.
        """
        self.work = Worklist(trials, lambda trial: self._request(trial).prefix)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(workers, len(trials))):
                group.create_task(self._worker())
        if isinstance(self._stopped, CeilingReached):
            self._skip(self._rest)
        if self._stopped:
            raise self._stopped

    async def stop(self, reason: LiftError) -> None:
        """Take no more trials; calls in flight go on. The first reason counts."""
        self._stopped = self._stopped or reason
        self._rest += await self.work.close()

    async def _worker(self) -> None:
        while task := await self.work.take():
            try:
                await self._one(task)
            except LiftError as stopped:
                await self.stop(stopped)
            finally:
                await self.work.settle(task, warm=False)

    async def _one(self, task: Task) -> None:
        trial = task.trial
        started = self.clock()
        try:
            evidence = await self._answer(task)
        except BackendError as failed:
            evidence = self._unanswered(Status.ERRORED, failed.what, failed.lost_usd, started)
        except CeilingReached as reached:
            evidence = self._unanswered(Status.SKIPPED, reached.what, 0.0, started)
            await self.stop(reached)
        scores: list[Score] = []
        try:
            scores = checked(self.plan, trial, evidence)
        finally:  # whatever an evaluator does, the answer is paid for
            self.journal.record(trial, evidence, scores)
        self.watcher.ended(trial, evidence)

    async def _answer(self, task: Task) -> Evidence:
        request = self._request(task.trial)
        if not task.warms:
            return await self.backend.answer(task.trial, request, meter=self.budget)
        settling: list[asyncio.Task[None]] = []

        def began() -> None:
            if not settling:
                settling.append(asyncio.create_task(self.work.settle(task, warm=True)))

        evidence = await self.backend.answer(task.trial, request, meter=self.budget, began=began)
        await asyncio.gather(*settling)
        return evidence

    def _request(self, trial: Trial) -> Request:
        cacheable = self.prices[trial.model].cacheable_tokens
        return self.plan.request(trial, cacheable_tokens=cacheable)

    def _unanswered(self, status: Status, why: str, lost_usd: float, started: int) -> Evidence:
        return Evidence(
            status=status, why=why, lost_usd=lost_usd, started_ms=started, ended_ms=self.clock()
        )

    def _skip(self, trials: Sequence[Trial]) -> None:
        for trial in trials:
            evidence = self._unanswered(Status.SKIPPED, "the ceiling", 0.0, self.clock())
            self.journal.record(trial, evidence, [])
            self.watcher.ended(trial, evidence)
