"""One sending of an experiment: chunk by chunk, nothing twice.

A trace is given to a server only once. Before, the journal says that it is given; after, that it
was taken, or that it was not. In between is doubt: an answer that was lost, or a process that was
killed. A trace in doubt is looked for until the server must have stored it, if it ever took it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lift.journal import Journal, Parcel, Unsent
from lift.langfuse import runs, scores
from lift.langfuse.client import Connection
from lift.langfuse.datasets import Shelves
from lift.langfuse.faults import Failed, LangfuseError, Refused, Unclear
from lift.langfuse.masking import masked
from lift.langfuse.parts import ANSWER, Part, bodies, parts_of
from lift.langfuse.present import present
from lift.langfuse.prompts import Prompt, Prompts
from lift.langfuse.runs import Facts, Run
from lift.langfuse.scores import Body
from lift.langfuse.wire import Redact, milliseconds
from lift.schema import WITH_SKILL
from lift.worklist import portions

MOST_TRIALS, MOST_BYTES = 100, 4_000_000
"""In one OTLP request, not compressed."""

UNANSWERED_MS, FAILED_MS = 120_000, 30_000
"""After so long a trace that is not there was not taken: a server that gave no answer may still be
at it, and one whose worker died stores what it took after 75 s. One that failed is done with it,
and shows what it took after 30 s at most."""

LOOKS_S = (0.5, 1.0, 2.0)
"""How long to wait before each look for spans that may have been taken."""

LONGEST_PAUSE_S = 10.0
"""Between looks for what is in doubt; each pause is twice the one before."""

NOT_THIS = (400, 413)
"""What a server says to a request because of what is in it."""

MOST_REFUSALS = 30
"""So many requests are halved to find the trial that a server refuses."""

Told = Callable[[str], None]
"""Told what takes time."""


def untold(text: str) -> None:
    """For where nobody listens."""


@dataclass(kw_only=True)
class Dispatch:
    """One sending of one experiment."""

    journal: Journal
    connection: Connection
    shelves: Shelves
    prompts: Prompts
    known: Facts
    redact: Redact
    now_ms: Callable[[], int]
    until: float
    """Monotonic time after which no further trials are sent."""
    told: Told
    sent: Counter[str] = field(default_factory=Counter)
    """Parts by their names."""
    why: str = ""
    """Why something is left; the first reason counts."""
    notices: list[str] = field(default_factory=list)
    _there: dict[str, int] = field(default_factory=dict)
    """Root that the server had at the last look → when it began, in milliseconds."""
    _going: dict[str, Unsent] = field(default_factory=dict)
    """Key of a trial → what is unsent of it."""
    _held: set[str] = field(default_factory=set)
    """Keys of the trials that were held back: the server may have taken them."""
    _scored: list[Body] = field(default_factory=list)
    """Scores that were sent."""
    _refusals: int = 0
    _is_told: bool = False

    def send(self, unsent: Sequence[Unsent], *, settles: bool) -> None:
        """Send these, some at once.

        Args:
            unsent: what to send.
            settles: whether to wait for what may have been taken before, if there is time.

        Raises:
            LangfuseError: the server failed; what it took is marked.
        """
        self.notices += filter(None, [self.connection.notice()])
        self._send_all(unsent)
        pause_s = LOOKS_S[0]
        while self._held:
            if not settles or time.monotonic() + pause_s >= self.until:
                number = len(self._held)
                self.why = self.why or f"{number} trials may have been taken: look again later"
                break
            self._tell()
            self.connection.sleep(pause_s)
            pause_s = min(LONGEST_PAUSE_S, 2 * pause_s)
            self._send_all([self._going[key] for key in self._held])
        self._check_time()
        self.notices += filter(None, [self.prompts.why])

    def _tell(self) -> None:
        """Say what is waited for, once."""
        if not self._is_told:
            ends = [ms for key in self._held for ms in self._going[key].parts.values() if ms]
            seconds = max(0, max(ends) - self.now_ms()) / 1000
            self.told(
                f"{len(self._held)} trials may have been taken already: looking for them, for up"
                f" to {seconds:.0f} s, before they are sent again"
            )
        self._is_told = True

    def note(self, failed: LangfuseError) -> None:
        """Keep why something is left."""
        self.why = self.why or f"{failed.what} ({failed.where})"

    def _send_all(self, unsent: Sequence[Unsent]) -> None:
        self._held.clear()
        for parts in self._chunks(unsent):
            if time.monotonic() >= self.until:
                self.why = self.why or "it takes too long; the rest is sent the next time"
                break
            self._send_parts(parts)

    def _chunks(self, unsent: Sequence[Unsent]) -> Iterator[list[Part]]:
        """What goes in one request, ready to be sent."""
        made = (
            parts
            for start in range(0, len(unsent), MOST_TRIALS)
            for parts in self._made(unsent[start : start + MOST_TRIALS])
        )
        for chunk in portions(made, most=MOST_TRIALS, most_bytes=MOST_BYTES, size=_size):
            yield [part for parts in chunk for part in parts]

    def _made(self, unsent: Sequence[Unsent]) -> Iterator[list[Part]]:
        """The parts of each trial; their items are there then."""
        parcels = self.journal.parcels(unsent)
        belongs = self._runs(parcels)
        known = self.known._replace(prompts=self._prompted(parcels))
        for parcel in parcels:
            record = masked(parcel.record, self.redact)
            self._going[record.trial.key] = parcel.unsent
            run = belongs.get(record.trial.key)
            yield parts_of(parcel._replace(record=record), run, known)

    def _runs(self, parcels: Sequence[Parcel]) -> dict[str, Run]:
        """Key of each trial whose answer is unsent → its run; after this, its item is there."""
        unsent = [parcel.record for parcel in parcels if ANSWER in parcel.parts]
        asked: dict[str, dict[str, dict[str, Any]]] = {}
        for record in unsent:
            asked.setdefault(record.trial.dataset, {})[record.trial.item] = record.item
        held = {
            dataset: self.shelves.hold(dataset, items.values()) for dataset, items in asked.items()
        }
        return {
            record.trial.key: runs.run_of(
                runs.parts(record.trial),
                self.known.experiment,
                project=self.connection.project(),
                dataset_id=held[record.trial.dataset],
            )
            for record in unsent
        }

    def _prompted(self, parcels: Sequence[Parcel]) -> dict[str, Prompt]:
        """Tree hash of each skill that unsent answers were made with → its prompt."""
        found: dict[str, Prompt] = {}
        for parcel in parcels:
            condition = parcel.record.condition
            newest = condition.name == WITH_SKILL
            if ANSWER in parcel.parts and condition.skill_hash:
                prompt = self.prompts.of(condition.skill_hash, newest=newest)
                found |= {condition.skill_hash: prompt} if prompt else {}
        return found

    def _send_parts(self, parts: Sequence[Part]) -> None:
        self._look([part for part in parts if part.is_new])
        mine = _without(parts, [part for part in parts if self._is_anothers(part)])
        doubtful = [part for part in mine if self._is_doubtful(part)]
        self._held |= {part.trial.key for part in doubtful}
        mine = _without(mine, doubtful)
        new = [part for part in mine if part.is_new and part.root not in self._there]
        mine = _without(mine, self._refused(new))
        self._mark([part for part in mine if not part.scores])
        scored = [part for part in mine if part.scores]
        self._scored += bodies(scored)
        taken = scores.send(self.connection, bodies(scored))
        self.why = self.why or taken.why
        self._mark([p for p in scored if all(body["id"] in taken.ids for body in p.scores)])

    def _look(self, parts: Sequence[Part]) -> None:
        """Find which of these traces are there: an earlier attempt to send may have left them."""
        if parts:
            sought = [part.sought for part in parts]
            session = runs.session(self.known.experiment)
            self._there = present(self.connection, sought, session=session)

    def _is_anothers(self, part: Part) -> bool:
        """Whether its trace is there, but began at another time: another journal's, same name."""
        if abs(self._there.get(part.root, part.start_ms) - part.start_ms) <= 1:
            return False
        name = self.known.experiment.name
        self.why = self.why or (
            f"{name} is there from another journal: run it with --again or another --experiment"
        )
        return True

    def _is_doubtful(self, part: Part) -> bool:
        """Whether its trace was given to the server, and may still show up."""
        if part.root in self._there or not part.is_new:
            return False
        return part.missing_ms is not None and self.now_ms() < part.missing_ms

    def _refused(self, parts: Sequence[Part]) -> list[Part]:
        """Send the traces of these parts; returns those that the server does not take."""
        if not parts:
            return []
        self._give(parts, self.now_ms() + UNANSWERED_MS)
        try:
            self.connection.post_spans(b"".join(part.spans for part in parts))
        except Unclear as unclear:
            if isinstance(unclear, Failed):
                self._give(parts, self.now_ms() + FAILED_MS)
            if not self._arrived(parts):
                raise
        except LangfuseError as refused:
            self._give(parts, None)
            return self._halved(parts, refused)
        self._give(parts, 0)
        return []

    def _halved(self, parts: Sequence[Part], refused: LangfuseError) -> list[Part]:
        """Send in smaller requests what was refused in a large one; returns what is refused."""
        self._refusals += 1
        because_of_it = isinstance(refused, Refused) and refused.status in NOT_THIS
        if not because_of_it or self._refusals > MOST_REFUSALS:
            raise refused
        if len(parts) == 1:
            self.note(refused)
            return list(parts)
        half = len(parts) // 2
        return self._refused(parts[:half]) + self._refused(parts[half:])

    def _arrived(self, parts: Sequence[Part]) -> bool:
        """Whether all of them are there, after a request that broke off."""
        for pause_s in LOOKS_S:
            self.connection.sleep(pause_s)
            self._look(parts)
            if all(part.root in self._there for part in parts):
                return True
        return False

    def _give(self, parts: Sequence[Part], missing_ms: int | None) -> None:
        given = [(part.trial, part.name) for part in parts]
        self.journal.mark_given(self.connection.destination, given, missing_ms=missing_ms)

    def _mark(self, parts: Sequence[Part]) -> None:
        if parts:
            taken = [(part.trial, part.name) for part in parts]
            self.journal.mark_sent(self.connection.destination, taken, now_ms=self.now_ms())
            self.sent.update(part.name for part in parts)

    def _check_time(self) -> None:
        """Read one score back: one with another time than ours is missing from exports."""
        if not self._scored:
            return
        wanted = self._scored[0]
        try:
            found = list(self.connection.listed("/api/public/v3/scores", {"id": wanted["id"]}))
        except LangfuseError:
            return
        for score in found:
            off = milliseconds(score["timestamp"]) - milliseconds(wanted["timestamp"])
            if abs(off) > 1000:
                self.notices.append("the server gives scores its own time instead of the trial's")


def _without(parts: Sequence[Part], bad: Sequence[Part]) -> list[Part]:
    """The parts of other trials than these are of."""
    keys = {part.trial.key for part in bad}
    return [part for part in parts if part.trial.key not in keys]


def _size(parts: Sequence[Part]) -> int:
    return sum(len(part.spans) for part in parts)
