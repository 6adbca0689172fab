"""The journal: one SQLite file that every answer is written to before anything else happens."""

from __future__ import annotations

from lift.journal.migrations import MIGRATIONS
from lift.journal.rows import PLANNED, Experiment, Parcel, Record, SkillText, Unsent, part_of
from lift.journal.writing import Journal

__all__ = [
    "MIGRATIONS", "PLANNED", "Experiment", "Journal", "Parcel", "Record", "SkillText", "Unsent",
    "part_of",
]  # fmt: skip
