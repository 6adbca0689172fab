"""An experiment's trials and scores column by column: a comparison may be of a million of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from lift.journal.database import Database
from lift.journal.rows import PLANNED, Paid

NAMES = ("dataset", "item", "category", "condition", "model")
NUMBER = "coalesce(value, 'nan')"

NOTHING: Mapping[str, str] = {}

Column = list[str] | str
"""Names as a list; numbers as one text, separated by commas, nan where there is none."""

PAID = {
    "cost_usd": "coalesce(sum(cost_usd), 0.0)",
    "lost_usd": "coalesce(sum(lost_usd), 0.0)",
    "cache_writes": "coalesce(sum(cache_write_tokens > 0 AND kept_ms IS NULL), 0)",
    "cache_reads": "coalesce(sum(cache_read_tokens > 0 AND kept_ms IS NULL), 0)",
}
"""Field of Paid → how attempts are summed."""


class Attempts(NamedTuple):
    """Each attempt of each planned trial; a trial that was not asked has one row."""

    columns: dict[str, Column]
    """`id` (of the trial) and those of frames.TRIALS that tell no trial, but for `ms` instead of
    seconds, and dollars of the attempt alone, whenever they were paid."""
    paid: Paid
    """What they cost together in this experiment."""


class Columns(Database):
    """What a comparison asks.

    SQLite makes one text of a column: a Python object a row and column would take most of the time.
    Numbers have 15 digits then.
    """

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Whatever is read within is of the moment it begins, though a run may go on."""
        with self._explained():
            self._db.execute("BEGIN")
            self._db.execute("SELECT name FROM experiments LIMIT 1").fetchall()
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")

    def attempts(self, experiment: str) -> Attempts:
        """Each attempt of each planned trial."""
        columns, sums = self._columns(
            experiment,
            "FROM trials LEFT JOIN attempts ON attempts.trial = id WHERE experiment = :experiment",
            names={"status": f"coalesce(status, '{PLANNED}')"},
            numbers={"id": "id", "attempt": "coalesce(attempt, 0)",
                     "cost_usd": "coalesce(cost_usd + kept_usd, 0.0)",
                     "ms": "coalesce(ended_ms - started_ms, 0)",
                     "input_tokens": "coalesce(input_tokens, 0)",
                     "output_tokens": "coalesce(output_tokens, 0)"},
            sums=PAID,
        )  # fmt: skip
        return Attempts(columns, Paid(*sums))

    def trial_columns(self, experiment: str) -> dict[str, Column]:
        """Columns `id` and frames.TRIAL of each planned trial."""
        columns, _ = self._columns(
            experiment,
            "FROM trials WHERE experiment = :experiment",
            names=dict(zip(NAMES, NAMES, strict=True)),
            numbers={"id": "id", "repeat": "repeat"},
        )
        return columns

    def score_columns(self, experiment: str) -> dict[str, Column]:
        """What each check says of each attempt.

        Returns:
            Columns `id` (of the trial), `attempt`, and those of frames.SCORES that tell no trial;
            value is nan where it is not scored.
        """
        columns, _ = self._columns(
            experiment,
            "FROM trials JOIN scores ON scores.trial = id WHERE experiment = :experiment",
            names={"evaluator": "evaluator"},
            numbers={"id": "id", "attempt": "attempt", "value": NUMBER, "weight": "weight"},
        )
        return columns

    def judge_columns(self, experiment: str) -> dict[str, Column]:
        """What each judge says of each attempt, the mean of its votes; as `score_columns`.

        It is the model with the most votes: where another one is at it, or broke off, what either
        says of different trials is not compared.
        """
        columns, _ = self._columns(
            experiment,
            """
            FROM (SELECT id, attempt, evaluator, avg(value) AS value
                FROM trials JOIN votes ON votes.trial = id
                WHERE experiment = :experiment AND votes.model = (
                    SELECT votes.model FROM trials JOIN votes ON votes.trial = id
                    WHERE experiment = :experiment
                    GROUP BY votes.model ORDER BY count(value) DESC, votes.model LIMIT 1
                )
                GROUP BY id, attempt, evaluator)
            """,
            names={"evaluator": "evaluator"},
            numbers={"id": "id", "attempt": "attempt", "value": NUMBER, "weight": "1.0"},
        )
        return columns

    def failures(self, experiment: str) -> dict[str, dict[str, int]]:
        """Condition → why trials were answered badly → how many."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT condition, attempts.why, count(*)
                FROM attempts CROSS JOIN trials ON id = trial
                WHERE experiment = ? AND status = 'failed'
                GROUP BY condition, attempts.why ORDER BY condition, count(*) DESC, attempts.why
                """,
                (experiment,),
            )
            found: dict[str, dict[str, int]] = {}
            for condition, why, count in rows:
                found.setdefault(condition, {})[why] = count
            return found

    def answers_paid(self, experiment: str) -> Paid:
        """What the answers of an experiment cost together."""
        _, sums = self._columns(
            experiment,
            "FROM trials JOIN attempts ON trial = id WHERE experiment = :experiment",
            sums=PAID,
        )
        return Paid(*sums)

    def _columns(
        self,
        experiment: str,
        rows: str,
        *,
        names: Mapping[str, str] = NOTHING,
        numbers: Mapping[str, str] = NOTHING,
        sums: Mapping[str, str] = NOTHING,
    ) -> tuple[dict[str, Column], list[Any]]:
        """The columns, and the sums over the same rows."""
        texts = [f"json_group_array({value})" for value in names.values()]
        texts += [f"coalesce(group_concat({value}), '')" for value in numbers.values()]
        texts += sums.values()
        with self._explained():
            found = self._db.execute(
                f"SELECT {', '.join(texts)} {rows}", {"experiment": experiment}
            ).fetchone()
        named = map(json.loads, found[: len(names)])
        columns = [*named, *found[len(names) : len(names) + len(numbers)]]
        return dict(zip([*names, *numbers], columns, strict=True)), list(found[len(columns) :])
