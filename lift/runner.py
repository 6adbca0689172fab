"""Trials to evidence to scores, recorded one by one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from lift.backends import Backend
from lift.budget import Budget
from lift.errors import BackendError, CeilingReached, Interrupted, LiftError
from lift.evaluators import Check
from lift.journal import Journal
from lift.plan import Plan
from lift.replies import Replies
from lift.schema import SETTLED, Evidence, Label, Request, Score, Status, Trial, Vote
from lift.worklist import Job, Task, Worklist

SECONDS_BETWEEN_LOOKS = 0.05


class Watcher(Protocol):
    """Who is told how the run goes."""

    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """A trial ended and is on disk."""
        ...

    def waiting(self) -> None:
        """Another process runs the experiment; this one waits for it. Told again and again."""
        ...

    def voted(self, trial: Trial, vote: Vote) -> None:
        """A judge's vote on a trial is on disk."""
        ...

    def stopping(self, seconds: float) -> None:
        """The run is interrupted; calls in flight may still take so long."""
        ...


def checked(checks: Sequence[Check], evidence: Evidence) -> list[Score]:
    """What an item's checks say of the evidence; nothing where the trial was not answered."""
    if evidence.status not in SETTLED:
        return []
    return [_scored(check, evidence) for check in checks]


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
            journal.record_scores(trial, checked(plan.item(trial).checks, evidence))


@dataclass(frozen=True)
class Asking(Job):
    """The job of a trial.

    Args:
        trial: what is asked.
        asks: makes what the trial sends.
        checks: of its item.
        journal: where the outcome goes.
        watcher: told of the outcome.
        after: the jobs that follow from an answer.
    """

    trial: Trial
    asks: Callable[[Trial], Request]
    checks: Sequence[Check]
    journal: Journal
    watcher: Watcher
    after: Callable[[Trial, Evidence], Sequence[Job]] = lambda _trial, _evidence: ()

    @cached_property
    def request(self) -> Request:
        """What the trial sends."""
        return self.asks(self.trial)

    @property
    def label(self) -> Label:
        """Names the trial."""
        return self.trial.label

    def finish(self, evidence: Evidence, *, key: str | None = None) -> Sequence[Job]:
        """Record the evidence, before anything else happens with it; then what the checks say.

        Whatever the model answered, well or badly, is kept for equal calls.
        """
        answered = evidence.status in SETTLED
        self.journal.record(self.trial, evidence, key=key if answered else None)
        if answered:
            self.journal.record_scores(self.trial, checked(self.checks, evidence))
        self.watcher.ended(self.trial, evidence)
        return self.after(self.trial, evidence) if answered else ()


class Run:
    """Does jobs, some at once.

    Args:
        opened: makes the backend; called once a job has to be asked.
        budget: the ceiling.
        clock: the time, in milliseconds.
        replies: answers given before; None to ask for every one.
        meanwhile: done in a thread of its own once the first calls are made.
    """

    def __init__(
        self,
        *,
        opened: Callable[[], Backend],
        budget: Budget,
        clock: Callable[[], int],
        replies: Replies | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        self.meanwhile = meanwhile
        self.opened = opened
        self.budget = budget
        self.clock = clock
        self.replies = replies
        self._backend: Backend | None = None
        self._stopped: LiftError | None = None
        self._bug: Exception | None = None
        self._rest: list[Job] = []
        self._asking: set[asyncio.Task[Any]] = set()

    async def all(self, jobs: Sequence[Job], *, workers: int) -> None:
        """Do every job, and those that follow from it.

        Raises:
            CeilingReached: some jobs did not fit; they are finished as skipped.
            CouldNotRun: key, model, server or journal failed; what was answered is recorded.
            Interrupted: `stop` was called with it.
        """
        left = await self._unknown(jobs)
        if left and not self._stopped:
            self._backend = self.opened()
            self.work = Worklist(left, lambda job: job.request.prefix)
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._worker())
                group.create_task(self._beside())
        if isinstance(self._stopped, CeilingReached):
            for job in self._rest:
                job.finish(self._unanswered(Status.SKIPPED, "the ceiling came first"))
        if self._bug:
            raise self._bug
        if self._stopped:
            raise self._stopped

    async def _beside(self) -> None:
        """Do what is done meanwhile; what is wrong with it is told when all calls have ended."""
        try:
            await asyncio.to_thread(self.meanwhile)
        except Exception as bug:  # noqa: BLE001 - raised by `all`, once nothing is in flight
            self._bug = self._bug or bug

    @property
    def asks(self) -> bool:
        """Whether calls were begun."""
        return self._backend is not None

    async def stop(self, reason: LiftError) -> None:
        """Do no more jobs; calls in flight go on. The first reason counts.

        After an interrupt what waits for its turn, or for another try, is left.
        """
        self._stopped = self._stopped or reason
        if self._backend:
            self._rest += await self.work.close()
            if isinstance(reason, Interrupted):
                await self._leave(self._backend)

    async def _leave(self, backend: Backend) -> None:
        left = set[asyncio.Task[Any]]()
        while self._asking - left:
            waiting = {task for task in self._asking - left if not backend.is_calling(task)}
            for task in waiting:
                task.cancel()
            left |= waiting
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)

    async def close(self) -> None:
        """Let go of what the backend holds."""
        if self._backend:
            await self._backend.close()

    async def _unknown(self, jobs: Sequence[Job]) -> list[Job]:
        """Finish the jobs whose answer is kept, and those that follow; returns the others."""
        if self.replies is None:
            return list(jobs)
        pending, left = deque(jobs), list[Job]()
        while pending and not self._stopped:
            job = pending.popleft()
            if known := self.replies.known(job):
                pending.extendleft(reversed(job.finish(known)))
            else:
                left.append(job)
            await asyncio.sleep(0)  # interrupts are heeded here too
        return left

    async def _worker(self) -> None:
        while task := await self.work.take():
            more: Sequence[Job] = ()
            try:
                evidence = await self._answered(task)
                job = task.job
                key = self.replies.key(job.question, job.label) if self.replies else None
                more = await self._unknown(job.finish(evidence, key=key))
            except LiftError as stopped:
                await self.stop(stopped)
            except Exception as bug:  # noqa: BLE001 - raised again once calls in flight are on disk
                self._bug = self._bug or bug
                self._rest += await self.work.close()
            finally:
                await self.work.done(task, more=more)
            # canned replies wait for nothing, and interrupts are heeded in between
            await asyncio.sleep(0)

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
        backend, request, label = self._backend, task.job.request, task.job.label
        assert backend is not None
        if not task.warms:
            return await self._asked(backend.answer(request, label=label, meter=self.budget))
        releasing: list[asyncio.Task[None]] = []

        def began() -> None:
            if not releasing:
                releasing.append(asyncio.create_task(self.work.began(task)))

        evidence = await self._asked(
            backend.answer(request, label=label, meter=self.budget, began=began)
        )
        await asyncio.gather(*releasing)
        return evidence

    async def _asked(self, answering: Awaitable[Evidence]) -> Evidence:
        task = asyncio.current_task()
        assert task is not None
        self._asking.add(task)
        try:
            return await answering
        finally:
            self._asking.discard(task)

    def _unanswered(
        self, status: Status, why: str, lost_usd: float = 0.0, started_ms: int | None = None
    ) -> Evidence:
        now = self.clock()
        started = now if started_ms is None else started_ms
        return Evidence(status=status, why=why, lost_usd=lost_usd, started_ms=started, ended_ms=now)
