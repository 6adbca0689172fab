"""Trials to evidence to scores, recorded one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from lift.backends import Backend
from lift.budget import Budget
from lift.errors import BackendError, CeilingReached, LiftError
from lift.evaluators import Check
from lift.journal import Journal
from lift.plan import Plan
from lift.pricing import Price
from lift.schema import SETTLED, Evidence, Label, Request, Score, Status, Trial, Vote
from lift.worklist import Job, Task, Worklist


class Watcher(Protocol):
    """Who is told how the run goes."""

    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """A trial ended and is on disk."""
        ...

    def waiting(self) -> None:
        """Another process runs the experiment; this one waits for it."""
        ...

    def voted(self, trial: Trial, vote: Vote) -> None:
        """A judge's vote on a trial is on disk."""
        ...


def checked(plan: Plan, trial: Trial, evidence: Evidence) -> list[Score]:
    """What the item's checks say of the evidence; nothing where the trial was not answered."""
    if evidence.status not in SETTLED:
        return []
    return [_scored(check, evidence) for check in plan.item(trial).checks]


def _scored(check: Check, evidence: Evidence) -> Score:
    try:
        return check.score(evidence)
    except Exception as broken:  # noqa: BLE001 - a dataset may bring evaluators of its own
        why = f"the evaluator raised {type(broken).__name__}"
        return Score(evaluator=check.name, value=None, why=why, error=why, weight=check.weight)


def score_stored(plan: Plan, journal: Journal) -> None:
    """Score evidence that is stored without scores, as a crash between the two leaves it."""
    for trial, evidence in journal.unscored(plan.experiment):
        if plan.has(trial):
            journal.record_scores(trial, checked(plan, trial, evidence))


@dataclass(frozen=True)
class Asking:
    """The job of a trial.

    Args:
        trial: what is asked.
        plan: the trial's.
        prices: model → price.
        journal: where the outcome goes.
        watcher: told of the outcome.
        after: the jobs that follow from an answer.
    """

    trial: Trial
    plan: Plan
    prices: Mapping[str, Price]
    journal: Journal
    watcher: Watcher
    after: Callable[[Trial, Evidence], Sequence[Job]]

    @cached_property
    def request(self) -> Request:
        """What the trial sends."""
        cacheable = self.prices[self.trial.model].cacheable_tokens
        return self.plan.request(self.trial, cacheable_tokens=cacheable)

    @property
    def label(self) -> Label:
        """Names the trial."""
        return self.trial.label

    def finish(self, evidence: Evidence) -> Sequence[Job]:
        """Record the evidence, before anything else happens with it; then what the checks say."""
        self.journal.record(self.trial, evidence)
        if evidence.status in SETTLED:
            self.journal.record_scores(self.trial, checked(self.plan, self.trial, evidence))
        self.watcher.ended(self.trial, evidence)
        return self.after(self.trial, evidence) if evidence.status in SETTLED else ()


class Run:
    """Does jobs, some at once.

    Args:
        backend: who answers.
        budget: the ceiling.
        clock: the time, in milliseconds.
    """

    def __init__(self, *, backend: Backend, budget: Budget, clock: Callable[[], int]) -> None:
        self.backend = backend
        self.budget = budget
        self.clock = clock
        self._stopped: LiftError | None = None
        self._bug: Exception | None = None
        self._rest: list[Job] = []

    async def all(self, jobs: Sequence[Job], *, workers: int) -> None:
        """Do every job, and those that follow from it.

        Raises:
            CeilingReached: some jobs did not fit; they are finished as skipped.
            CouldNotRun: key, model, server or journal failed; what was answered is recorded.
            Interrupted: `stop` was called with it.
        """
        self.work = Worklist(jobs, lambda job: job.request.prefix)
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._worker())
        if isinstance(self._stopped, CeilingReached):
            for job in self._rest:
                job.finish(self._unanswered(Status.SKIPPED, "the ceiling came first"))
        if self._bug:
            raise self._bug
        if self._stopped:
            raise self._stopped

    async def stop(self, reason: LiftError) -> None:
        """Do no more jobs; calls in flight go on. The first reason counts."""
        self._stopped = self._stopped or reason
        self._rest += await self.work.close()

    async def _worker(self) -> None:
        while task := await self.work.take():
            more: Sequence[Job] = ()
            try:
                more = task.job.finish(await self._answered(task))
            except LiftError as stopped:
                await self.stop(stopped)
            except Exception as bug:  # noqa: BLE001 - raised again once calls in flight are on disk
                self._bug = self._bug or bug
                self._rest += await self.work.close()
            finally:
                await self.work.done(task, more=more)

    async def _answered(self, task: Task[Job]) -> Evidence:
        started = self.clock()
        try:
            return await self._answer(task)
        except BackendError as failed:
            return self._unanswered(Status.ERRORED, failed.what, failed.lost_usd, started)
        except CeilingReached as reached:
            await self.stop(reached)
            # a call that broke off before the ceiling was an attempt, and may have cost
            status = Status.ERRORED if reached.lost_usd else Status.SKIPPED
            return self._unanswered(status, reached.what, reached.lost_usd, started)

    async def _answer(self, task: Task[Job]) -> Evidence:
        request, label = task.job.request, task.job.label
        if not task.warms:
            return await self.backend.answer(request, label=label, meter=self.budget)
        releasing: list[asyncio.Task[None]] = []

        def began() -> None:
            if not releasing:
                releasing.append(asyncio.create_task(self.work.began(task)))

        evidence = await self.backend.answer(request, label=label, meter=self.budget, began=began)
        await asyncio.gather(*releasing)
        return evidence

    def _unanswered(
        self, status: Status, why: str, lost_usd: float = 0.0, started_ms: int | None = None
    ) -> Evidence:
        now = self.clock()
        started = now if started_ms is None else started_ms
        return Evidence(status=status, why=why, lost_usd=lost_usd, started_ms=started, ended_ms=now)
