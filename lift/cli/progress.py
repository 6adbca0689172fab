"""Progress of a run, on standard error."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from lift.cli.notes import above, note
from lift.errors import counted
from lift.schema import SETTLED, Evidence, Status, Trial, Vote

if TYPE_CHECKING:
    from rich.progress import Progress

    from lift.prepare import Prepared
    from lift.runner import Watcher
    from lift.settings import Config

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_LOOKS = 60.0
ANSWERS, VOTES = "answers", "votes"


class Tally:
    """What ended so far, in words.

    Args:
        total: condition → trials to be asked; and votes.
        spent_usd: before.
        ceiling_usd: that it must not pass.
    """

    def __init__(self, total: Counter[str], spent_usd: float, ceiling_usd: float) -> None:
        self.total = total
        self.ended: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.errors = 0
        self.reused: Counter[str] = Counter()
        self.spent_usd = spent_usd
        self.ceiling_usd = ceiling_usd
        self.began = time.monotonic()

    def count(self, kind: str, evidence: Evidence) -> None:
        """One more trial or vote ended."""
        self.ended[kind] += 1
        self.answered[kind] += evidence.status in SETTLED
        self.errors += evidence.status is Status.ERRORED
        self.reused[VOTES if kind == VOTES else ANSWERS] += evidence.cached
        self.spent_usd += evidence.cost_usd + evidence.lost_usd

    @property
    def finished(self) -> bool:
        """Whether nothing is left."""
        return self.ended.total() >= self.total.total()

    def line(self) -> str:
        """Answered and total per condition, dollars, answers reused, errors."""
        shares = [f"{name} {self.answered[name]}/{total}" for name, total in self.total.items()]
        parts = [*shares, f"${self.spent_usd:.3f} of ${self.ceiling_usd:.3g}"]
        reused = [f"{number} {what}" for what, number in self.reused.items() if number]
        if reused:
            parts.append(f"{' and '.join(reused)} reused")
        if self.errors:
            parts.append(counted(self.errors, "error"))
        return " · ".join(parts)

    def remaining(self) -> str:
        """About how long the rest takes."""
        asked = self.ended.total() - self.reused.total()
        if asked < 1:
            return ""
        pace = (time.monotonic() - self.began) / asked
        return f", about {pace * (self.total.total() - self.ended.total()):.0f} s left"


class Talking:
    """Says when something has to be waited for."""

    _said = False

    def waiting(self) -> None:
        """Say so, once."""
        if not self._said:
            note("another lift runs this experiment: waiting for it to end")
        self._said = True

    def stopping(self, seconds: float) -> None:
        """Say what is waited for, and how not to."""
        note(f"waiting up to {seconds:.0f} s for calls in flight (paid for); Ctrl-C leaves them")


class Lines(Talking):
    """Plain lines, now and then: for logs and pipes."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self._last = time.monotonic()

    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """Count the trial."""
        self._count(trial.condition, evidence)

    def voted(self, trial: Trial, vote: Vote) -> None:  # noqa: ARG002 - all votes are one kind
        """Count the vote."""
        self._count(VOTES, vote.evidence)

    def _count(self, kind: str, evidence: Evidence) -> None:
        """Print a line if the last one is a while ago, or if this was the last call."""
        self.tally.count(kind, evidence)
        if self.tally.finished:
            note(self.tally.line())
        elif time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            note(f"{self.tally.line()}{self.tally.remaining()}")


class Bar(Talking):
    """A live bar: for a terminal."""

    def __init__(self, tally: Tally, progress: Progress) -> None:
        self.tally = tally
        self.progress = progress
        self.task = progress.add_task(tally.line(), total=tally.total.total())

    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """Move the bar."""
        self._count(trial.condition, evidence)

    def voted(self, trial: Trial, vote: Vote) -> None:  # noqa: ARG002 - all votes are one kind
        """Move the bar."""
        self._count(VOTES, vote.evidence)

    def _count(self, kind: str, evidence: Evidence) -> None:
        self.tally.count(kind, evidence)
        with suppress(OSError, ValueError):
            self.progress.update(self.task, advance=1, description=self.tally.line())


class Silent(Talking):
    """For commands whose end is their only output."""

    def ended(self, trial: Trial, evidence: Evidence) -> None:
        """Nothing."""

    def voted(self, trial: Trial, vote: Vote) -> None:
        """Nothing."""


class Looks(Silent):
    """A line now and then while batches are awaited."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._lines: dict[str, tuple[float, int]] = {}

    def looked(self, experiment: str, done: int, asked: int) -> None:
        """Say it where something changed, or the last line is a while ago."""
        now = time.monotonic()
        said, before = self._lines.get(experiment, (0.0, -1))
        if not asked or (done == before and now - said < SECONDS_BETWEEN_LOOKS):
            return
        self._lines[experiment] = now, done
        minutes, seconds = divmod(round(now - self.began), 60)
        elapsed = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
        note(f"{experiment}: {done} of {asked} calls ended, {elapsed}")


def watching(prepared: Prepared, config: Config) -> AbstractContextManager[Watcher]:
    """Who is told of each trial of a run that ends."""
    total = Counter[str](trial.condition for trial in prepared.left)
    if prepared.votes_left:
        total[VOTES] = prepared.votes_left
    return watched(total, prepared.spent_usd, config)


@contextmanager
def watched(total: Counter[str], spent_usd: float, config: Config) -> Iterator[Watcher]:
    """Who is told of what ends; a bar on a terminal, lines elsewhere.

    Args:
        total: condition → trials to be asked; and votes.
        spent_usd: before.
        config: has the ceiling.
    """
    tally = Tally(total, spent_usd, config.settings.max_cost_usd)
    if not sys.stderr.isatty():
        yield Lines(tally)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    say = partial(console.print, markup=False, highlight=False, soft_wrap=True)
    with Progress(*columns, console=console) as progress, above(say):
        yield Bar(tally, progress)
