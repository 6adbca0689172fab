"""One place that decides how long to wait: shared by all calls of a run."""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

LONGEST_PAUSE_S = 20.0
SHORTEST_PAUSE_S = 0.25

BUCKET_S = 60.0
"""Of calls that a server's bucket holds at most: limits are told by the minute."""

FIRST_PROBE_S, LAST_PROBE_S = 30.0, 600.0
"""After so long one call more is tried than the server allowed at once; doubled each time."""


class Pace:
    """How many calls of one model may be in flight, and from when on the next one may go.

    Where a server says how many calls it takes in a time, it is taken for a bucket that one call
    empties by one and that fills steadily. It was empty when it refused, so how much is in it is
    known from then on.

    Args:
        concurrency: calls in flight at most; at least 1.
    """

    def __init__(self, concurrency: int) -> None:
        self.limit = float(concurrency)
        self.in_flight = 0
        self._resume_at = 0.0
        self._refused_at = 0.0
        self._per_s: float | None = None
        self._level = 0.0
        """Calls in the bucket at `_filled_at`."""
        self._filled_at = 0.0

    def pause(self) -> float:
        """Seconds until the next call may go; 0 or less where it may."""
        now = time.monotonic()
        if now < self._resume_at or self._per_s is None:
            return self._resume_at - now
        return (1 - self._fill(now, self._per_s)) / self._per_s

    def _fill(self, now: float, per_s: float) -> float:
        filled = self._level + (now - self._filled_at) * per_s
        self._level, self._filled_at = min(filled, per_s * BUCKET_S), now
        return self._level

    def has_room(self) -> bool:
        """Whether the next call may go now."""
        return self.in_flight < max(1, int(self.limit)) and self.pause() <= 0

    def grant(self) -> None:
        """A call goes."""
        self.in_flight += 1
        self._level -= 1

    def refuse(self, seconds: float, *, began: float, per_s: float | None) -> None:
        """The server refused a call; see Patience.limited."""
        now = time.monotonic()
        self._resume_at = max(self._resume_at, now + seconds)
        if began < self._refused_at:
            return
        if per_s is None or self._per_s is not None:
            self.limit = max(1.0, min(self.limit, self.in_flight) / 2)
        self._refused_at = now
        if per_s is not None:  # else it was not the number of calls
            self._per_s, self._level, self._filled_at = per_s, 0.0, now


class Patience:
    """How many calls may be in flight, and from when on.

    A rate limit (calls in a time) makes every caller of that model wait, and of no other one. Where
    the server says how many calls it takes in a time, they go at that pace from then on; where it
    does not, or refuses one at that pace, the calls in flight of the model are halved, and each
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
        self.paces: defaultdict[str, Pace] = defaultdict(lambda: Pace(concurrency))
        self._crowd = concurrency + 1
        self._probe_at = 0.0
        self._probe_s = FIRST_PROBE_S
        self._changed = asyncio.Condition()
        self._random = random.Random(seed)

    async def take(self, model: str) -> None:
        """Wait for a place among the calls in flight, and take it.

        Args:
            model: that is asked, or another thing that servers limit by itself.
        """
        pace = self.paces[model]
        while True:
            # others may be told to wait while this one waits, so look again
            while (pause := pace.pause()) > 0:  # noqa: ASYNC110
                await asyncio.sleep(pause)
            async with self._changed:
                await self._changed.wait_for(lambda: self._has_room() and self._is_free(pace))
                if pace.has_room():
                    self.in_flight += 1
                    pace.grant()
                    return

    async def leave(self, model: str) -> None:
        """Give a place back."""
        self.in_flight -= 1
        self.paces[model].in_flight -= 1
        async with self._changed:
            self._changed.notify_all()

    @asynccontextmanager
    async def turn(self, model: str) -> AsyncIterator[None]:
        """Hold a place among the calls in flight; see `take`."""
        await self.take(model)
        try:
            yield
        finally:
            await self.leave(model)

    def _has_room(self) -> bool:
        return self.in_flight < max(1, int(self.limit))

    def _is_free(self, pace: Pace) -> bool:
        """Whether no more of a model's calls are in flight than may be; or none may go now."""
        return pace.has_room() or pace.pause() > 0

    def crowded(self) -> None:
        """The server refused a call because too many are in flight."""
        now = time.monotonic()
        self.limit = max(1.0, float(int(self.limit) - 1))
        self._crowd = int(self.limit) + 1
        if now >= self._probe_at:  # not of the same crowd
            self._probe_at = now + self._probe_s
            self._probe_s = min(LAST_PROBE_S, self._probe_s * 2)

    def limited(
        self, model: str, seconds: float, *, began: float, per_s: float | None = None
    ) -> None:
        """The server asked for fewer calls of a model in a time.

        Args:
            model: that was asked.
            seconds: to wait before its next call, whoever's; at least 0.
            began: monotonic time at which the refused call was sent. Calls sent before the last
                refusal that counted say nothing new.
            per_s: calls a second that the server says it takes, above 0; None where it does not,
                or where it is not the number of calls that was too high.
        """
        self.paces[model].refuse(seconds, began=began, per_s=per_s)

    def answered(self, model: str) -> None:
        """A call was answered: let a little more through."""
        pace = self.paces[model]
        pace.limit = min(self.most, pace.limit + 1 / pace.limit)
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
