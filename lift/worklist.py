"""In which order calls are made: nobody reads a prompt-cache entry before it is written."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from lift.schema import Evidence, Label, Request

T = TypeVar("T")


def portions(
    things: Iterable[T], *, most: int, most_bytes: int, size: Callable[[T], int]
) -> Iterator[list[T]]:
    """The things in order, in lists that fit in a request; one that is too large stands alone.

    Args:
        things: to send.
        most: in a list; at least 1.
        most_bytes: of a list.
        size: of one, in bytes.
    """
    portion: list[T] = []
    total = 0
    for thing in things:
        weight = size(thing)
        if portion and (len(portion) == most or total + weight > most_bytes):
            yield portion
            portion, total = [], 0
        portion.append(thing)
        total += weight
    if portion:
        yield portion


class Job(Protocol):
    """One call to the model, and what happens with its evidence."""

    @property
    def request(self) -> Request:
        """What is sent."""
        ...

    @cached_property
    def question(self) -> str:
        """Identifies what is asked; see Request.question."""
        return self.request.question

    @property
    def label(self) -> Label:
        """Names what is asked."""
        ...

    def finish(self, evidence: Evidence, *, key: str | None = None) -> Sequence[Job]:
        """Put the evidence on disk; returns the jobs that follow from it.

        Args:
            evidence: of the call.
            key: what an equal call finds it by, where it is worth that; None where it is not kept.
        """
        ...


@dataclass(frozen=True)
class Task(Generic[T]):
    """A job to do now."""

    job: T
    prefix: str | None
    """Its prompt-cache prefix; None where it has none."""
    warms: bool
    """Whether it is the one that writes the prefix: others wait until its reply begins."""


class Worklist(Generic[T]):
    """Hands out jobs; of each prefix one at first, the others once its reply has begun.

    Jobs of other prefixes, and those without one, go on meanwhile. A job may bring others:
    nobody is sent home while one is being done.

    Args:
        jobs: in the order they are wanted.
        prefix: names a job's prompt-cache prefix; None where it has none.
    """

    def __init__(self, jobs: Iterable[T], prefix: Callable[[T], str | None]) -> None:
        self._ready = deque(jobs)
        self._prefix = prefix
        self._held: dict[str, deque[T]] = {}
        self._warm: set[str] = set()
        self._in_hand = 0
        self._closed = False
        self._changed = asyncio.Condition()

    async def take(self) -> Task[T] | None:
        """The next job, once there is one; None when there are no more."""
        async with self._changed:
            while not self._closed:
                if task := self._next():
                    self._in_hand += 1
                    return task
                if not self._in_hand:
                    break
                await self._changed.wait()
        return None

    async def began(self, task: Task[T]) -> None:
        """The task's reply began, so its prefix can be read: let the others go."""
        async with self._changed:
            self._release(task, warm=True)

    async def done(self, task: Task[T], *, more: Iterable[T] = ()) -> None:
        """The task is over. Where its reply never began, the next of its prefix writes it.

        Args:
            task: as taken.
            more: jobs that it brings; they come before those that wait.
        """
        async with self._changed:
            self._in_hand -= 1
            self._release(task, warm=False)
            if not self._closed:
                self._ready.extendleft(reversed(list(more)))
            self._changed.notify_all()

    async def close(self) -> list[T]:
        """Hand out no more; returns the jobs that were not taken."""
        async with self._changed:
            self._closed = True
            rest = [*self._ready, *(job for held in self._held.values() for job in held)]
            self._ready.clear()
            self._held.clear()
            self._changed.notify_all()
            return rest

    def _release(self, task: Task[T], *, warm: bool) -> None:
        if not task.warms or task.prefix not in self._held:
            return
        self._ready.extendleft(reversed(self._held.pop(task.prefix)))
        if warm:
            self._warm.add(task.prefix)
        self._changed.notify_all()

    def _next(self) -> Task[T] | None:
        while self._ready:
            job = self._ready.popleft()
            prefix = self._prefix(job)
            if prefix is None or prefix in self._warm:
                return Task(job, prefix, warms=False)
            if prefix not in self._held:
                self._held[prefix] = deque()
                return Task(job, prefix, warms=True)
            self._held[prefix].append(job)
        return None
