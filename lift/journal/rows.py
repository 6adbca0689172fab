"""Rows of the journal to nouns."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from lift.schema import Condition, Evidence, Score, Trial, Vote

PLANNED = "planned"
"""What a trial's status reads while it has not been asked."""


class Experiment(NamedTuple):
    """One experiment, as the journal knows it."""

    name: str
    created_ms: int
    skill: str
    backend: str
    canned: bool
    repeats: int
    models: tuple[str, ...]
    datasets: tuple[str, ...]
    planned: int
    answered: int
    errored: int
    cost_usd: float
    lost_usd: float
    reused: tuple[Reused, ...] = ()
    cache_writes: int = 0
    """Paid answers whose prefix was written to the prompt cache."""
    cache_reads: int = 0
    """Paid answers whose prefix was read from it."""
    conditions: tuple[str, ...] = ()
    in_batches: int = 0
    """Calls that wait in batches."""


class Paid(NamedTuple):
    """What answers of an experiment cost together; a reused one cost nothing."""

    cost_usd: float
    lost_usd: float
    """Worst case of calls that reported no usage."""
    cache_writes: int
    cache_reads: int


class Kept(NamedTuple):
    """An answer kept for equal requests."""

    evidence: Evidence
    kept_ms: int


class Shelf(NamedTuple):
    """All answers kept for equal requests."""

    replies: int
    bytes: int
    """Compressed."""
    oldest_ms: int | None
    """None where there is none."""
    used: int
    """How often one was given."""


class Reused(NamedTuple):
    """Answers of a condition that equal requests had been given before."""

    condition: str
    answers: int
    since_ms: int
    """When the oldest of them was given."""


class Record(NamedTuple):
    """One trial in full, as its latest attempt ended."""

    trial: Trial
    status: str
    condition: Condition
    item: dict[str, Any]
    """The item's content, as Item.model_dump(mode="json") gives it."""
    system: str
    """First block of the system prompt."""
    evidence: Evidence | None
    """None where it has not been asked yet."""
    scores: tuple[Score, ...]
    """Of the checks."""
    votes: tuple[Vote, ...]
    """Of the judges, in order of their numbers."""


class SkillText(NamedTuple):
    """One version of a skill that was asked with."""

    name: str
    description: str
    body: str
    """Its text after the frontmatter."""


class Unsent(NamedTuple):
    """What a server has not taken of one trial."""

    trial: int
    """Number of its row in the journal."""
    attempt: int
    parts: Mapping[str, int | None]
    """`answer` (its trace), `scores` (of its checks), and `part_of` each vote cast (the vote's
    trace and score) → None where its trace was never given to the server, 0 where the server
    took the trace, else when to believe that it did not, in Unix milliseconds."""


class Parcel(NamedTuple):
    """One trial with what a server has not taken of it."""

    record: Record
    unsent: Unsent

    @property
    def parts(self) -> Mapping[str, int | None]:
        """As in Unsent."""
        return self.unsent.parts


def part_of(vote: Vote) -> str:
    """Names a vote among the parts of its trial; one that is cast again has another name."""
    return f"{vote.evaluator}/{vote.number}|{vote.evidence.started_ms}"


def trial_of(row: sqlite3.Row) -> Trial:
    """The trial of a row of `latest`."""
    fields = {name: row[name] for name in Trial.model_fields if name != "attempt"}
    return Trial(**fields, attempt=row["attempt"] or 1)


def evidence_of(row: sqlite3.Row) -> Evidence:
    """The evidence that a row holds."""
    return Evidence.model_validate_json(unpacked(row["evidence"]))


@lru_cache(maxsize=1)
def packed(text: str) -> bytes:
    """Compressed; an answer is recorded, and kept for equal requests right after."""
    return zlib.compress(text.encode(), 6)


def unpacked(blob: bytes) -> str:
    """What was packed; raises zlib.error or ValueError where the file is damaged."""
    return zlib.decompress(blob).decode()
