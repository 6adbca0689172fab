"""The journal: one SQLite file that every answer is written to before anything else happens."""

from __future__ import annotations

from lift.journal.migrations import MIGRATIONS
from lift.journal.queue import Batch, Call, Entry, Order, Queued, trials_of
from lift.journal.rows import (
    PLANNED,
    Experiment,
    Parcel,
    Record,
    Reused,
    SkillText,
    Unsent,
    part_of,
)
from lift.journal.writing import Journal

__all__ = [
    "MIGRATIONS", "PLANNED", "Batch", "Call", "Entry", "Experiment", "Journal", "Order", "Parcel",
    "Queued", "Record", "Reused", "SkillText", "Unsent", "part_of", "trials_of",
]  # fmt: skip
