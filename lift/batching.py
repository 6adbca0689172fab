"""Batches handed over and taken in: what goes between the journal and the server."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Protocol, TypeVar

from lift.backends.batches import Batches, Outcome, Seen, Unsure
from lift.dataset import Item
from lift.errors import BatchUnknown, CouldNotRun, Interrupted, LiftError, UsageError
from lift.journal import Batch, Entry, Journal, trials_of
from lift.ordered import Chunk, Ordered, order_of
from lift.perform import check_answered, handling, messages, real
from lift.plan import Plan, left
from lift.prepare import Prepared, clock
from lift.runner import Watcher, score_stored
from lift.schema import Request, digest
from lift.settings import Config

SKEW_MS = 600_000
"""So far the clocks of this machine and of the server may differ."""

ARRIVING_S = 1.0
"""A batch that the server may have taken is looked for after this, not at once."""

SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 60.0
PAUSE_SHARE = 0.1
"""Between two looks lies this share of the time since something last changed."""

NO_RESULT = Outcome("", why="the batch has no result for it", again=True, billed=True)
GIVEN_UP = Outcome("", why="the server does not have the batch any more", billed=True)

T = TypeVar("T")


class Onlooker(Watcher, Protocol):
    """Who is told how batches go."""

    def looked(self, experiment: str, done: int, asked: int) -> None:
        """The server was asked; so many of the experiment's calls are done."""
        ...


class Collected(NamedTuple):
    """What became of an experiment."""

    experiment: str
    left: int
    """Calls that have not ended."""
    stopped: LiftError | None
    """Why they will not; None where they may."""


def order(config: Config, prepared: Prepared, watcher: Watcher) -> None:
    """Write down what of a plan is to go by batch; nothing is asked yet.

    Answers that were given to equal requests are used at once.

    Args:
        config: server, judge and ceiling.
        prepared: the plan.
        watcher: told of the trials that end.

    Raises:
        UsageError: an item has an evaluator that a journal cannot hold.
        CouldNotRun: the experiment has batches at another server.
    """
    plan = prepared.plan
    name = plan.experiment
    _check_evaluators(plan)
    with Journal(config.path("journal")) as journal:
        journal.begin(plan, now_ms=clock(), in_flight=1, pages=config.pages)
        with journal.running(name, waiting=watcher.waiting):
            if journal.in_batches(name):
                Ordered(name, config, journal, watcher).check_server()
            journal.take_over(name)
            score_stored(plan, journal)
            journal.forget_waiting(name)
            journal.order(name, order_of(config, prepared.judged, fresh=prepared.fresh))
            ordered = Ordered(name, config, journal, watcher)
            asked = trials_of(journal.in_batches(name))
            trials = left(plan.trials, journal.ended(name), asked)
            ordered.queue(ordered.asking(trial) for trial in trials)


def collect(
    config: Config,
    experiments: Sequence[str],
    watcher: Onlooker,
    *,
    wait: bool,
    give_up: bool = False,
) -> list[Collected]:
    """Take in what batches have answered, and hand over what is left.

    Args:
        config: the journal and the credential.
        experiments: names of those that were ordered.
        watcher: told how it goes.
        wait: look until everything is there; else look once.
        give_up: whether batches that the server does not have any more are given up.

    Returns:
        What became of each, in the same order.

    Raises:
        CredentialError: there is no key.
        Interrupted: SIGINT or SIGTERM; what was handed over stays at the server.
    """
    real(config)
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(config.path("journal"), create=False))
        for name in experiments:
            stack.enter_context(journal.running(name, waiting=watcher.waiting))
        ordered = [Ordered(name, config, journal, watcher) for name in experiments]
        stopped = asyncio.run(
            _heeding(_collect(config, ordered, watcher, wait=wait, give_up=give_up))
        )
        return [_collected(one, stopped.get(one.name)) for one in ordered]


async def _collect(
    config: Config, ordered: Sequence[Ordered], watcher: Onlooker, *, wait: bool, give_up: bool
) -> dict[str, LiftError]:
    batches = Batches(messages(config, {}))
    going = {one.name: Courier(one, batches, give_up=give_up) for one in ordered}
    stopped: dict[str, LiftError] = {}
    changed_at = time.monotonic()
    try:
        while going:
            for name, courier in list(going.items()):
                try:
                    if await courier.step():
                        changed_at = time.monotonic()
                    done, asked = courier.ordered.progress
                    watcher.looked(name, done, asked)
                    ended = done == asked
                except LiftError as problem:
                    stopped[name], ended = problem, True
                if ended:
                    del going[name]
            if not wait:
                break
            if going:
                await asyncio.sleep(_pause_s(time.monotonic() - changed_at))
    finally:
        await batches.close()
    return stopped


def _collected(ordered: Ordered, stopped: LiftError | None) -> Collected:
    if not stopped and not ordered.left:
        try:
            check_answered(ordered.name, ordered.journal)
        except CouldNotRun as problem:
            stopped = problem
    return Collected(ordered.name, ordered.left, stopped)


class Courier:
    """Carries an experiment's batches to the server and back.

    Args:
        ordered: the experiment's calls.
        batches: the server's.
        give_up: whether batches that the server does not have any more are given up.
    """

    def __init__(self, ordered: Ordered, batches: Batches, *, give_up: bool) -> None:
        self.ordered = ordered
        self.batches = batches
        self.give_up = give_up
        self._journal = ordered.journal
        self._changed = True
        self._look_at = 0.0
        self._unsure_since: float | None = None

    async def step(self) -> bool:
        """Look once: take in what has ended, and hand over what may go.

        Returns:
            Whether anything changed.

        Raises:
            CeilingReached: the calls left do not fit; they are finished as skipped.
            CouldNotRun: key, server or journal failed; what was answered is recorded.
        """
        self.ordered.check_server()
        for batch in self._journal.batches(self.ordered.name):
            await self._advance(batch)
        changed, self._changed = self._changed, False
        if changed:
            self.ordered.queue_votes()
            for chunk in self.ordered.chunks():
                await self._submit(chunk)
            self.ordered.check_ceiling()
        return changed

    async def _advance(self, batch: Batch) -> None:
        name = batch.name or await self._found(batch)
        if name is None:
            return
        missing, ended_ms = NO_RESULT, clock()
        outcomes: Sequence[Outcome] = ()
        try:
            seen = await self.batches.retrieve(name)
            if seen.ended_ms is None:
                return
            ended_ms = seen.ended_ms
            outcomes = await self.batches.results(seen)
        except BatchUnknown:
            if not self.give_up:
                raise
            missing = GIVEN_UP
        await self._take_in(batch, outcomes, missing, ended_ms)

    async def _take_in(
        self, batch: Batch, outcomes: Sequence[Outcome], missing: Outcome, ended_ms: int
    ) -> None:
        """Record every outcome; what is recorded stays so wherever this breaks off."""
        found = {outcome.custom_id: outcome for outcome in outcomes}
        for custom_id, entry in self._entries(batch).items():
            outcome = found.get(custom_id, missing)
            self.ordered.end(entry, outcome, started_ms=batch.submitted_ms, ended_ms=ended_ms)
            await asyncio.sleep(0)  # interrupts are heeded here too
        self._journal.collected(batch)
        self._changed = True

    async def _found(self, batch: Batch) -> str | None:
        """The server's name of a batch that it may have taken; handed over again if it has not.

        A batch that is worked on does not tell whose calls are in it: while there is one that may
        be ours, nothing is handed over.
        """
        if time.monotonic() < self._look_at:
            return None
        entries, known = self._entries(batch), self._journal.batch_names()
        may_be_ours = False
        for seen in await self.batches.since(batch.submitted_ms - SKEW_MS):
            if seen.name in known or seen.entries != len(entries):
                continue
            if seen.ended_ms is None:
                may_be_ours = True
            elif await self._has(seen, entries):
                self._journal.submitted(batch, seen.name)
                return seen.name
        if not may_be_ours:
            jobs = {custom_id: self.ordered.job(entry) for custom_id, entry in entries.items()}
            await self._hand_over(batch, [(name, job.request) for name, job in jobs.items()])
        return None

    async def _has(self, seen: Seen, entries: Mapping[str, Entry]) -> bool:
        try:
            outcomes = await self.batches.results(seen)
        except BatchUnknown:
            return False
        return any(outcome.custom_id in entries for outcome in outcomes)

    async def _submit(self, chunk: Chunk) -> None:
        named = [(custom_id(entry, request), entry, request) for entry, request in chunk]
        batch = self._journal.submit(
            self.ordered.name, [(entry.id, name) for name, entry, _ in named], now_ms=clock()
        )
        await self._hand_over(batch, [(name, request) for name, _, request in named])

    async def _hand_over(self, batch: Batch, sent: Sequence[tuple[str, Request]]) -> None:
        try:
            name = await self.batches.submit(sent)
        except Unsure as unsure:
            now = time.monotonic()
            self._unsure_since = self._unsure_since or now
            self._look_at = now + ARRIVING_S
            if now - self._unsure_since > self.batches.messages.deadline_s:
                raise unsure.problem from unsure
        except LiftError:
            self._journal.withdraw(batch)
            raise
        else:
            self._journal.submitted(batch, name)
            self._unsure_since = None

    def _entries(self, batch: Batch) -> dict[str, Entry]:
        """The entries of a batch that are not done, by custom_id."""
        entries = self.ordered.entries
        return {e.custom_id: e for e in entries if e.batch == batch.id and e.done_ms is None}


def custom_id(entry: Entry, request: Request) -> str:
    """Names an entry in a batch; no other call, and no other try of this one, has the name."""
    named = (entry.trial.key, entry.call.part, entry.call.vote, entry.tries)
    return digest([*named, request.question])


async def _heeding(work: Coroutine[Any, Any, T]) -> T:
    """What the work returns; SIGINT or SIGTERM ends it."""
    task = asyncio.ensure_future(work)
    received: list[signal.Signals] = []

    def interrupt(number: signal.Signals) -> None:
        received.append(number)
        task.cancel()

    with handling(interrupt):
        try:
            return await task
        except asyncio.CancelledError:
            if not received:
                raise
            raise Interrupted(
                f"interrupted by {received[0].name}; the batches go on at the server",
                fix="lift collect gets their answers",
                exit_code=128 + received[0],
            ) from None


def _pause_s(idle_s: float) -> float:
    """Seconds until the next look, after so many in which nothing changed."""
    return min(LONGEST_PAUSE_S, max(SHORTEST_PAUSE_S, PAUSE_SHARE * idle_s))


def _check_evaluators(plan: Plan) -> None:
    """Check that answers can be scored without the dataset modules."""
    for dataset in plan.datasets:
        for item in dataset.items:
            if Item.model_validate(item.model_dump(mode="json")).checks != item.checks:
                raise UsageError(
                    "an evaluator of a class of its own cannot score answers that come by batch",
                    where=f"{dataset.name}/{item.id}",
                    fix="leave --batch out",
                )
