"""In which order trials are asked: nobody reads a prompt-cache entry before it is written."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from lift.schema import Trial


class Task(NamedTuple):
    """A trial to ask now."""

    trial: Trial
    prefix: str | None
    """Its prompt-cache prefix; None where it has none."""
    warms: bool
    """Whether it is the one that writes the prefix: others wait until its reply begins."""


class Worklist:
    """Hands out trials; of each prefix one at first, the others once its reply has begun.

    Trials of other prefixes, and those without one, go on meanwhile.

    Args:
        trials: in the order they are wanted.
        prefix: names a trial's prompt-cache prefix; None where it has none.
    """

    def __init__(self, trials: Iterable[Trial], prefix: Callable[[Trial], str | None]) -> None:
        self._ready = deque(trials)
        self._prefix = prefix
        self._held: dict[str, deque[Trial]] = {}
        self._warm: set[str] = set()
        self._closed = False
        self._changed = asyncio.Condition()

    async def take(self) -> Task | None:
        """The next trial, once there is one; None when there are no more."""
        async with self._changed:
            while not self._closed:
                if task := self._next():
                    return task
                if not any(self._held.values()):
                    return None
                await self._changed.wait()
        return None

    async def settle(self, task: Task, *, warm: bool) -> None:
        """A warming trial's reply began, or there will be none: let the others of its prefix go.

        Args:
            task: the one that was warming; settling it again changes nothing.
            warm: whether the prefix can be read now; if not, the next one writes it.
        """
        async with self._changed:
            if not task.warms or task.prefix not in self._held:
                return
            self._ready.extendleft(reversed(self._held.pop(task.prefix)))
            if warm:
                self._warm.add(task.prefix)
            self._changed.notify_all()

    async def close(self) -> list[Trial]:
        """Hand out no more; returns the trials that were not taken."""
        async with self._changed:
            self._closed = True
            rest = [*self._ready, *(trial for held in self._held.values() for trial in held)]
            self._ready.clear()
            self._held.clear()
            self._changed.notify_all()
            return rest

    def _next(self) -> Task | None:
        while self._ready:
            trial = self._ready.popleft()
            prefix = self._prefix(trial)
            if prefix is None or prefix in self._warm:
                return Task(trial, prefix, warms=False)
            if prefix not in self._held:
                self._held[prefix] = deque()
                return Task(trial, prefix, warms=True)
            self._held[prefix].append(trial)
        return None
