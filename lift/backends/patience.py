"""One place that decides how long to wait: shared by all calls of a run."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

LONGEST_PAUSE_S = 20.0
SHORTEST_PAUSE_S = 0.25

FIRST_PROBE_S, LAST_PROBE_S = 30.0, 600.0
"""After so long one call more is tried than the server allowed at once; doubled each time."""


class Patience:
    """How many calls may be in flight, and from when on.

    A rate limit (calls in a time) makes every caller wait and halves the calls in flight; each
    answer lets them grow again, by one for every full round (additive increase, multiplicative
    decrease). A limit of calls at once takes one place away for each call it refuses, which finds
    the limit; beyond it is only probed now and then.

    Args:
        concurrency: calls in flight at most; at least 1.
        seed: of the jitter.
    """

    def __init__(self, concurrency: int, *, seed: int = 0) -> None:
        self.most = concurrency
        self.limit = float(concurrency)
        self.in_flight = 0
        self._resume_at = 0.0
        self._shrunk_at = 0.0
        self._crowd = concurrency + 1
        self._probe_at = 0.0
        self._probe_s = FIRST_PROBE_S
        self._changed = asyncio.Condition()
        self._random = random.Random(seed)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a place among the calls in flight."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.in_flight < max(1, int(self.limit)))
            self.in_flight += 1
        try:
            # others may be told to wait while this one waits, so look again
            while (pause := self._resume_at - time.monotonic()) > 0:  # noqa: ASYNC110
                await asyncio.sleep(pause)
            yield
        finally:
            async with self._changed:
                self.in_flight -= 1
                self._changed.notify_all()

    def crowded(self) -> None:
        """The server refused a call because too many are in flight."""
        now = time.monotonic()
        self.limit = max(1.0, float(int(self.limit) - 1))
        self._crowd = int(self.limit) + 1
        if now >= self._probe_at:  # not of the same crowd
            self._probe_at = now + self._probe_s
            self._probe_s = min(LAST_PROBE_S, self._probe_s * 2)

    def limited(self, seconds: float, *, began: float) -> None:
        """The server asked for fewer calls in a time.

        Args:
            seconds: to wait before the next call of anyone; at least 0.
            began: monotonic time at which the refused call was sent. Calls sent before the last
                halving say nothing new, so they do not halve again.
        """
        now = time.monotonic()
        self._resume_at = max(self._resume_at, now + seconds)
        if began >= self._shrunk_at:
            self._shrunk_at = now
            self.limit = max(1.0, min(self.limit, self.in_flight) / 2)

    def answered(self) -> None:
        """A call was answered: let a little more through."""
        grown = min(self.most, self.limit + 1 / self.limit)
        if grown < self._crowd or time.monotonic() >= self._probe_at:
            self.limit = grown

    def backoff(self, failures: int) -> float:
        """Seconds to wait after a number of failures: exponential, with full jitter.

        Args:
            failures: of this call so far; at least 1.

        Source: Brooker, Exponential backoff and jitter (AWS Architecture Blog, 2015).
        """
        return self._random.uniform(0, min(LONGEST_PAUSE_S, SHORTEST_PAUSE_S * 2**failures))
