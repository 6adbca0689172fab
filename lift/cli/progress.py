"""Progress of a run, on standard error."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from lift.schema import Evidence, Status, Trial

if TYPE_CHECKING:
    from rich.progress import Progress

    from lift.experiment import Prepared
    from lift.runner import Watcher
    from lift.settings import Config

SECONDS_BETWEEN_LINES = 10.0


class Tally:
    """What ended so far, in words."""

    def __init__(self, prepared: Prepared, ceiling_usd: float) -> None:
        self.total = Counter(trial.condition for trial in prepared.left)
        self.done: Counter[str] = Counter()
        self.errors = 0
        self.spent_usd = prepared.spent_usd
        self.ceiling_usd = ceiling_usd
        self.began = time.monotonic()

    def count(self, trial: Trial, evidence: Evidence) -> None:
        """One more trial ended."""
        self.done[trial.condition] += 1
        self.errors += evidence.status is Status.ERRORED
        self.spent_usd += evidence.cost_usd + evidence.lost_usd

    @property
    def all_done(self) -> int:
        """Trials that ended in this run."""
        return self.done.total()

    def line(self) -> str:
        """Done and total per condition, dollars, errors, time left."""
        shares = [f"{name} {self.done[name]}/{total}" for name, total in self.total.items()]
        parts = [*shares, f"${self.spent_usd:.3f} of ${self.ceiling_usd:.2f}"]
        if self.errors:
            parts.append(f"{self.errors} errors")
        return " · ".join(parts)

    def remaining(self) -> str:
        """About how long the rest takes."""
        if not self.all_done:
            return ""
        pace = (time.monotonic() - self.began) / self.all_done
        return f", about {pace * (self.total.total() - self.all_done):.0f} s left"


class Lines:
    """Plain lines, now and then: for logs and pipes."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self._last = time.monotonic()

    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """Print a line if the last one is a while ago, or if this was the last trial."""
        self.tally.count(trial, evidence)
        finished = self.tally.all_done == self.tally.total.total()
        if finished or time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            click.echo(f"{self.tally.line()}{'' if finished else self.tally.remaining()}", err=True)


class Bar:
    """A live bar: for a terminal."""

    def __init__(self, tally: Tally, progress: Progress) -> None:
        self.tally = tally
        self.progress = progress
        self.task = progress.add_task(tally.line(), total=tally.total.total())

    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """Move the bar."""
        self.tally.count(trial, evidence)
        self.progress.update(self.task, advance=1, description=self.tally.line())


@contextmanager
def watching(prepared: Prepared, config: Config) -> Iterator[Watcher]:
    """Who is told of each trial that ends; a bar on a terminal, lines elsewhere."""
    tally = Tally(prepared, config.settings.max_cost_usd)
    if not sys.stderr.isatty():
        yield Lines(tally)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield Bar(tally, progress)
