"""No more requests than a plan allows, and none while a server says to wait."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

CLOUD = "langfuse.com"

SHARE = 0.9
"""Of a limit that is used: others may use the same project."""

BURST = 10
"""Requests at once after a pause, at most; and at most a tenth of a minute's."""


class Limits(NamedTuple):
    """Requests a minute, for each group of the API; infinite where there is no limit."""

    tracing: float = math.inf
    datasets: float = math.inf
    general: float = math.inf


PLANS = {
    "none": Limits(),
    "hobby": Limits(tracing=1_000, datasets=100, general=30),
    "core": Limits(tracing=4_000, datasets=200, general=100),
    "pro": Limits(tracing=20_000, datasets=1_000, general=1_000),
}
"""Of Langfuse Cloud, as documented in November 2026."""

GROUPS = {
    "/api/public/otel": "tracing",
    "/api/public/ingestion": "tracing",
    "/api/public/v2/datasets": "datasets",
    "/api/public/dataset-items": "datasets",
}
"""Beginning of a path → its group; everything else is general."""


def is_cloud(base_url: str) -> bool:
    """Whether a server is Langfuse Cloud's."""
    return f".{urlsplit(base_url).hostname or ''}".endswith(f".{CLOUD}")


def limits(plan: str, base_url: str) -> Limits:
    """What a plan allows.

    Args:
        plan: its name; a number of requests a minute, for each group; or `auto`: the smallest
            plan in Langfuse Cloud, none on a server of one's own.
        base_url: the server's address.
    """
    if plan.isdecimal():
        return Limits(*[float(plan)] * len(Limits._fields))
    if plan == "auto":
        plan = "hobby" if is_cloud(base_url) else "none"
    return PLANS[plan]


class Pace:
    """When the next request may go.

    Args:
        limits: requests a minute.
        sleep: waits so many seconds.
        clock: seconds since some time.
    """

    def __init__(
        self,
        limits: Limits = PLANS["none"],
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sleep, self._clock = sleep, clock
        self._lock = threading.Lock()
        self._turns = {
            group: _Turns(limit) for group, limit in zip(Limits._fields, limits, strict=True)
        }

    def wait(self, path: str) -> float:
        """Wait for a request's turn; returns how long that took, in seconds."""
        with self._lock:
            now = self._clock()
            seconds = max(0.0, self._group(path).next(now) - now)
        if seconds > 0:
            self._sleep(seconds)
        return seconds

    def hold(self, path: str, seconds: float) -> None:
        """Let nothing of the path's group go for so long: the server says so to one for all."""
        with self._lock:
            turns = self._group(path)
            turns.held = max(turns.held, self._clock() + seconds)

    def _group(self, path: str) -> _Turns:
        names = (group for start, group in GROUPS.items() if path.startswith(start))
        return self._turns[next(names, "general")]


class _Turns:
    """Of one group: evenly spaced, but for a few at once after a pause.

    Source: the generic cell rate algorithm, ITU-T I.371 (virtual scheduling).
    """

    def __init__(self, limit: float) -> None:
        self.every = 60 / (SHARE * limit)
        self.early = (max(1.0, min(BURST, limit / 10)) - 1) * self.every
        self.due = -math.inf
        self.held = -math.inf

    def next(self, now: float) -> float:
        """When the next request may go; it is counted."""
        start = max(now, self.held, self.due - self.early)
        self.due = max(self.due, start) + self.every
        return start
