"""The outbox: what a server has not taken yet goes there, and is marked once it says it took it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lift.journal import Journal, Parcel
from lift.langfuse import datasets, runs, scores
from lift.langfuse.client import Connection
from lift.langfuse.faults import LangfuseError, Refused, Unclear
from lift.langfuse.masking import masked
from lift.langfuse.parts import ANSWER, SCORES, Part, bodies, parts_of
from lift.langfuse.present import present
from lift.langfuse.runs import Facts, Run
from lift.langfuse.scores import Body
from lift.langfuse.wire import Redact, batches, milliseconds

MOST_TRIALS, MOST_BYTES = 100, 4_000_000
"""In one OTLP request, not compressed."""

LOOKS_S = (0.5, 1.0, 2.0)
"""How long to wait before each look for spans that may have been taken."""

NOT_THIS = (400, 413)
"""What a server says to a request because of what is in it."""

MOST_REFUSALS = 30
"""So many requests are halved to find the trial that a server refuses."""


class Sent(NamedTuple):
    """What a server took, and what is left."""

    answers: int
    """Trials whose trace was taken."""
    scores: int
    """Trials whose checks' scores were taken."""
    votes: int
    unsent: int
    """Answers, scores and votes that are left for the next time."""
    why: str
    """Why they are left, on one line; empty where none is."""
    notices: tuple[str, ...] = ()
    """What a person should know about the server."""


def publish(
    journal: Journal,
    experiment: str,
    connection: Connection,
    *,
    redact: Redact,
    now_ms: Callable[[], int],
    seconds: float = 60.0,
) -> Sent:
    """Send what the server has not taken of an experiment. Doing it again sends only what is left.

    Args:
        journal: where it is recorded.
        experiment: its name.
        connection: where to.
        redact: masks strings; called once for each trial and each item, with all its texts.
        now_ms: the time, in Unix milliseconds, for the journal's marks.
        seconds: after which no further trials are sent.

    Returns:
        How much was sent and is left. A server that fails is no error here: what it did not
        take is left, and why is said.

    Raises:
        ExperimentError: the journal has no such experiment.
        JournalError: it cannot be read or written.
    """
    about = journal.experiment(experiment)
    parcels = journal.unsent(experiment, connection.destination)
    if not parcels:
        return Sent(0, 0, 0, 0, "")
    known = runs.facts(about, journal.trials(experiment))
    outbox = _Outbox(journal, connection, known, redact, now_ms, time.monotonic() + seconds)
    try:
        outbox.send(parcels)
    except LangfuseError as failed:
        outbox.note(failed)
    return outbox.report(sum(len(parcel.parts) for parcel in parcels))


@dataclass
class _Outbox:
    """One publishing of one experiment."""

    journal: Journal
    connection: Connection
    known: Facts
    redact: Redact
    now_ms: Callable[[], int]
    until: float
    """Monotonic time."""
    sent: Counter[str] = field(default_factory=Counter)
    """Parts by their names."""
    why: str = ""
    notices: list[str] = field(default_factory=list)
    look: Callable[[], dict[str, int]] = dict
    """Root that the server has → when it began, in milliseconds."""
    there: dict[str, int] = field(default_factory=dict)
    """What the last look saw."""
    scored: list[Body] = field(default_factory=list)
    """Scores that were sent."""
    refusals: int = 0

    def send(self, parcels: Sequence[Parcel]) -> None:
        """Send the parcels, some at once.

        Raises:
            LangfuseError: the server failed; what it took is marked.
        """
        self.notices += filter(None, [self.connection.notice()])
        belongs = self._runs(parcels)
        self._look_first(parcels, belongs)
        made = self._made(parcels, belongs)
        for chunk in batches(made, most=MOST_TRIALS, most_bytes=MOST_BYTES, size=_size):
            if time.monotonic() >= self.until:
                self.why = self.why or "it takes too long; the rest is sent the next time"
                break
            self._send_parts([part for parts in chunk for part in parts])
        self._check_time()

    def note(self, failed: LangfuseError) -> None:
        """Keep why something is left; the first reason counts."""
        self.why = self.why or f"{failed.what} ({failed.where})"

    def report(self, total: int) -> Sent:
        """What came of it.

        Args:
            total: how many parts were unsent before.
        """
        left = total - self.sent.total()
        return Sent(
            answers=self.sent[ANSWER],
            scores=self.sent[SCORES],
            votes=self.sent.total() - self.sent[ANSWER] - self.sent[SCORES],
            unsent=left,
            why=self.why if left else "",
            notices=tuple(self.notices),
        )

    def _runs(self, parcels: Sequence[Parcel]) -> dict[str, Run]:
        """Key of each trial whose answer is unsent → its run; after this, its item is there."""
        unsent = [parcel.record for parcel in parcels if ANSWER in parcel.parts]
        asked: dict[str, dict[str, dict[str, Any]]] = {}
        for record in unsent:
            asked.setdefault(record.trial.dataset, {})[record.trial.item] = record.item
        known = {
            dataset: datasets.ensure(self.connection, dataset, items.values(), redact=self.redact)
            for dataset, items in asked.items()
        }
        return {
            record.trial.key: runs.run_of(
                runs.parts(record.trial),
                self.known.experiment,
                project=self.connection.project(),
                dataset_id=known[record.trial.dataset],
            )
            for record in unsent
        }

    def _look_first(self, parcels: Sequence[Parcel], belongs: dict[str, Run]) -> None:
        """Find what an earlier attempt to send has left there, if the server has it."""
        traced = [parcel.record for parcel in parcels if parcel.parts - {SCORES}]
        if not traced:
            return
        since = min(runs.ended(record).started_ms for record in traced)
        run_ids = sorted({run.id for run in belongs.values()})
        session = runs.session(self.known.experiment)
        self.look = lambda: present(
            self.connection, run_ids=run_ids, session=session, since_ms=since
        )
        self.there = self.look()

    def _made(self, parcels: Sequence[Parcel], belongs: dict[str, Run]) -> Iterator[list[Part]]:
        for parcel in parcels:
            record = masked(parcel.record, self.redact)
            run = belongs.get(record.trial.key)
            yield parts_of(parcel._replace(record=record), run, self.known)

    def _send_parts(self, parts: Sequence[Part]) -> None:
        mine = self._without(parts, [part for part in parts if self._is_anothers(part)])
        new = [part for part in mine if part.spans and part.root not in self.there]
        mine = self._without(mine, self._refused(new))
        self._mark([part for part in mine if not part.scores])
        scored = [part for part in mine if part.scores]
        self.scored += bodies(scored)
        taken = scores.send(self.connection, bodies(scored))
        self.why = self.why or taken.why
        self._mark([p for p in scored if all(body["id"] in taken.ids for body in p.scores)])

    def _without(self, parts: Sequence[Part], bad: Sequence[Part]) -> list[Part]:
        """The parts of other trials than these are of."""
        keys = {part.trial.key for part in bad}
        return [part for part in parts if part.trial.key not in keys]

    def _is_anothers(self, part: Part) -> bool:
        """Whether its trace is there, but began at another time: another journal's, same name."""
        if abs(self.there.get(part.root, part.start_ms) - part.start_ms) <= 1:
            return False
        name = self.known.experiment.name
        self.why = self.why or (
            f"{name} is there from another journal: run it with --again or another --experiment"
        )
        return True

    def _refused(self, parts: Sequence[Part]) -> list[Part]:
        """Send the traces of these parts; returns those that the server does not take."""
        if not parts:
            return []
        try:
            self.connection.post_spans(b"".join(part.spans for part in parts))
        except Unclear:
            if not self._arrived(parts):
                raise
        except Refused as refused:
            self.refusals += 1
            if refused.status not in NOT_THIS or self.refusals > MOST_REFUSALS:
                raise
            if len(parts) == 1:
                self.note(refused)
                return list(parts)
            half = len(parts) // 2
            return self._refused(parts[:half]) + self._refused(parts[half:])
        return []

    def _arrived(self, parts: Sequence[Part]) -> bool:
        """Whether all of them are there, after a request that broke off."""
        for pause_s in LOOKS_S:
            self.connection.sleep(pause_s)
            self.there = self.look()
            if all(part.root in self.there for part in parts):
                return True
        return False

    def _mark(self, parts: Sequence[Part]) -> None:
        if parts:
            taken = [(part.trial, part.name) for part in parts]
            self.journal.mark_sent(self.connection.destination, taken, now_ms=self.now_ms())
            self.sent.update(part.name for part in parts)

    def _check_time(self) -> None:
        """Read one score back: one with another time than ours is missing from exports."""
        if not self.scored:
            return
        wanted = self.scored[0]
        try:
            found = list(self.connection.listed("/api/public/v3/scores", {"id": wanted["id"]}))
        except LangfuseError:
            return
        for score in found:
            off = milliseconds(score["timestamp"]) - milliseconds(wanted["timestamp"])
            if abs(off) > 1000:
                self.notices.append("the server gives scores its own time instead of the trial's")


def _size(parts: Sequence[Part]) -> int:
    return sum(len(part.spans) for part in parts)
