"""How far something countable is, on standard error."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lift.cli.notes import note

SECONDS_BETWEEN_LINES = 5.0

Counted = Callable[[int, int], None]
"""Told how many are done, and of how many; first of none."""


class Lines:
    """Plain lines, now and then: for logs and pipes.

    Args:
        what: is counted.
        clock: seconds since some time.
        say: prints a line.
    """

    def __init__(
        self,
        what: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], None] = note,
    ) -> None:
        self._what, self._clock, self._say = what, clock, say
        self._began = self._last = clock()

    def __call__(self, done: int, total: int) -> None:
        """Print a line, if the last one is a while ago."""
        now = self._clock()
        if not done:
            self._began = self._last = now
        elif now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            left_s = math.ceil((now - self._began) / done * (total - done))
            self._say(f"{self._what}: {done} of {total} written, about {left_s} s left")


@contextmanager
def counting(what: str) -> Iterator[Counted]:
    """Who is told how many are done; a bar on a terminal, lines elsewhere."""
    if not sys.stderr.isatty():
        yield Lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    columns = (TextColumn(what), BarColumn(bar_width=24), MofNCompleteColumn(), Left())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
