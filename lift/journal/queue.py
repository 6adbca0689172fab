"""Calls that go by batch: what waits, what is at a server, and what became of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from lift.journal.reading import Reader
from lift.journal.rows import trial_of
from lift.schema import ANSWER, Trial


class Order(NamedTuple):
    """What a command wants from an experiment's batches: whoever collects them keeps to it."""

    server: str
    """Its address."""
    judged: Sequence[str]
    """Names of the datasets whose answers are judged."""
    judge_model: str
    judge_votes: int
    price: str
    """Of a model that is not in the table, as IN,OUT."""
    max_cost_usd: float
    cache_max_age: float
    """Days for which an answer to an equal request is used again."""


class Call(NamedTuple):
    """One call of an experiment, whatever its attempt."""

    trial: str
    """Key of the trial's first attempt."""
    part: str
    vote: int


class Queued(NamedTuple):
    """A call that is to go by batch."""

    trial: Trial
    part: str
    vote: int
    model: str
    """That is asked."""
    prefix: str | None
    """Names its prompt-cache prefix; None where it has none."""
    worst_usd: float


class Entry(NamedTuple):
    """A call that goes by batch, as the journal knows it."""

    id: int
    call: Call
    trial: Trial
    """With the attempt that is asked."""
    model: str
    prefix: str | None
    worst_usd: float
    lost_usd: float
    """Worst case of earlier tries that never reported usage."""
    tries: int
    """How often it was submitted."""
    batch: int | None
    """None: it waits to be submitted."""
    custom_id: str
    done_ms: int | None
    """When it ended; None while it has not."""


class Batch(NamedTuple):
    """A batch that was handed to a server, or was about to be."""

    id: int
    name: str | None
    """Its id at the server; None where nobody knows whether the server took it."""
    submitted_ms: int


class Queue(Reader):
    """Orders, batches and their entries. Each write is one transaction."""

    def order(self, experiment: str, order: Order) -> None:
        """Write down what is wanted; what ended before may be asked for again."""
        row = order._replace(judged=json.dumps(list(order.judged)))
        with self._explained(), self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (experiment, *row)
            )
            self._forget(experiment, "done_ms NOTNULL")

    def ordered(self, experiment: str) -> Order | None:
        """What was wanted last; None where nothing ever went by batch."""
        with self._explained():
            row = self._db.execute(
                "SELECT * FROM orders WHERE experiment = ?", (experiment,)
            ).fetchone()
            if row is None:
                return None
            _, server, judged, *rest = row
            return Order(server, tuple(json.loads(judged)), *rest)

    def enqueue(self, calls: Sequence[Queued]) -> None:
        """Have calls wait for a batch; one that is known already is left as it is."""
        with self._explained(), self._transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO entries (trial, attempt, part, vote, model, prefix,"
                " worst_usd) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (self._trial_id(c.trial), c.trial.attempt, c.part, c.vote, c.model, c.prefix,
                     c.worst_usd)
                    for c in calls
                ],
            )  # fmt: skip

    def entries(self, experiment: str) -> list[Entry]:
        """Every call that goes by batch, or went since the last order; votes come first."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT trials.*, entries.*, entries.id AS entry, entries.model AS asked
                FROM trials JOIN entries ON entries.trial = trials.id
                WHERE experiment = ? ORDER BY part = 'answer', entries.id
                """,
                (experiment,),
            )
            return [_entry(row) for row in rows]

    def batch_progress(self, experiment: str) -> tuple[int, int]:
        """How many of the calls that go by batch are done, of how many."""
        with self._explained():
            row = self._db.execute(
                "SELECT count(done_ms), count(*) FROM entries"
                " JOIN trials ON trials.id = entries.trial WHERE experiment = ?",
                (experiment,),
            ).fetchone()
            return int(row[0]), int(row[1])

    def in_batches(self, experiment: str) -> set[Call]:
        """The calls that a server has, or may have, and that have not ended."""
        with self._explained():
            rows = self._db.execute(
                "SELECT key, part, vote FROM entries JOIN trials ON trials.id = entries.trial"
                " WHERE experiment = ? AND batch NOTNULL AND done_ms IS NULL",
                (experiment,),
            )
            return {Call(*row) for row in rows}

    def waiting(self, experiment: str) -> int:
        """How many calls wait for a batch: no server has them."""
        with self._explained():
            row = self._db.execute(
                "SELECT count(*) FROM entries JOIN trials ON trials.id = trial"
                " WHERE experiment = ? AND batch IS NULL AND done_ms IS NULL",
                (experiment,),
            ).fetchone()
            return int(row[0])

    def votes_in_batches(self, experiment: str) -> dict[str, int]:
        """Model → how many votes of it a server has, or may have, that have not ended."""
        with self._explained():
            rows = self._db.execute(
                "SELECT entries.model, count(*) FROM entries JOIN trials ON trials.id = trial"
                " WHERE experiment = ? AND batch NOTNULL AND done_ms IS NULL AND part != ?"
                " GROUP BY entries.model",
                (experiment, ANSWER),
            )
            return dict(map(tuple, rows))

    def batches(self, experiment: str) -> list[Batch]:
        """Those that are not collected, the oldest first."""
        with self._explained():
            rows = self._db.execute(
                "SELECT id, name, submitted_ms FROM batches"
                " WHERE experiment = ? AND NOT collected ORDER BY id",
                (experiment,),
            )
            return [Batch(*row) for row in rows]

    def batch_names(self) -> set[str]:
        """Every batch that a server was ever known to have."""
        with self._explained():
            rows = self._db.execute("SELECT name FROM batches WHERE name NOTNULL")
            return {name for (name,) in rows}

    def with_batches(self) -> list[str]:
        """The experiments with calls that have not ended."""
        with self._explained():
            rows = self._db.execute(
                "SELECT DISTINCT experiment FROM entries JOIN trials ON trials.id = entries.trial"
                " WHERE done_ms IS NULL ORDER BY experiment"
            )
            return [experiment for (experiment,) in rows]

    def submit(self, experiment: str, entries: Sequence[tuple[int, str]], *, now_ms: int) -> Batch:
        """Write down a batch that is about to be handed to the server.

        From here on its entries count at their worst case until they are done.

        Args:
            experiment: its name.
            entries: id of each entry, with the custom_id of this try.
            now_ms: Unix time in milliseconds.
        """
        with self._explained(), self._transaction():
            row = self._db.execute(
                "INSERT INTO batches (experiment, submitted_ms) VALUES (?, ?)", (experiment, now_ms)
            )
            self._db.executemany(
                "UPDATE entries SET batch = ?, custom_id = ?, tries = tries + 1 WHERE id = ?",
                [(row.lastrowid, custom_id, entry) for entry, custom_id in entries],
            )
            return Batch(int(row.lastrowid or 0), None, now_ms)

    def submitted(self, batch: Batch, name: str) -> None:
        """The server has the batch, by that name."""
        self._write("UPDATE batches SET name = ? WHERE id = ?", name, batch.id)

    def withdraw(self, batch: Batch) -> None:
        """The server did not take the batch: its entries wait again."""
        with self._explained(), self._transaction():
            self._db.execute(
                "UPDATE entries SET batch = NULL, tries = tries - 1 WHERE batch = ?", (batch.id,)
            )
            self._db.execute("DELETE FROM batches WHERE id = ?", (batch.id,))

    def collected(self, batch: Batch) -> None:
        """Every entry of the batch is dealt with."""
        self._write("UPDATE batches SET collected = 1 WHERE id = ?", batch.id)

    def requeue(self, entry: Entry, *, lost_usd: float) -> None:
        """An entry has no answer: it waits for another batch.

        Args:
            entry: of a batch that ended.
            lost_usd: what that try may have cost at worst.
        """
        self._write(
            "UPDATE entries SET batch = NULL, lost_usd = lost_usd + ? WHERE id = ?",
            lost_usd,
            entry.id,
        )

    def close_entry(self, entry: Entry, *, now_ms: int) -> None:
        """What became of an entry is recorded with its trial."""
        self._write("UPDATE entries SET done_ms = ? WHERE id = ?", now_ms, entry.id)

    def forget_waiting(self, experiment: str) -> None:
        """Drop the calls that no server has; what earlier tries of them may have cost stays."""
        with self._explained(), self._transaction():
            self._db.execute(
                """
                UPDATE experiments SET unrecorded_usd = unrecorded_usd + (
                    SELECT coalesce(sum(lost_usd), 0.0)
                    FROM entries JOIN trials ON trials.id = entries.trial
                    WHERE experiment = experiments.name AND batch IS NULL AND done_ms IS NULL
                ) WHERE name = ?
                """,
                (experiment,),
            )
            self._forget(experiment, "batch IS NULL AND done_ms IS NULL")

    def _forget(self, experiment: str, which: str) -> None:
        self._db.execute(
            f"DELETE FROM entries WHERE {which}"  # noqa: S608 - a condition of this module
            " AND trial IN (SELECT id FROM trials WHERE experiment = ?)",
            (experiment,),
        )

    def _write(self, statement: str, *values: object) -> None:
        with self._explained(), self._transaction():
            self._db.execute(statement, values)


def trials_of(calls: Collection[Call]) -> set[str]:
    """Keys of the planned trials whose own call is among these."""
    return {call.trial for call in calls if call.part == ANSWER}


def _entry(row: sqlite3.Row) -> Entry:
    return Entry(
        id=row["entry"],
        call=Call(row["key"], row["part"], row["vote"]),
        trial=trial_of(row),
        model=row["asked"],
        prefix=row["prefix"],
        worst_usd=row["worst_usd"],
        lost_usd=row["lost_usd"],
        tries=row["tries"],
        batch=row["batch"],
        custom_id=row["custom_id"] or "",
        done_ms=row["done_ms"],
    )
