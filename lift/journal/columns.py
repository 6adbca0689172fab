"""An experiment's trials and scores column by column: a comparison may be of a million of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lift.journal.database import Database
from lift.journal.rows import PLANNED

Column = list[Any]


class Columns(Database):
    """What a comparison asks.

    A column comes as one JSON text: a Python object a row and column would take most of the time.
    Numbers have 15 digits then.
    """

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Whatever is read within is of one moment, though a run may go on."""
        with self._explained():
            self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")

    def trial_columns(self, experiment: str) -> dict[str, Column]:
        """Each attempt of each planned trial.

        Returns:
            Columns `id` (of the trial) and those of frames.TRIALS, but for `ms` instead of seconds,
            and dollars of the attempt alone, whenever they were paid. A trial that was not asked
            has one row.
        """
        return self._columns(
            experiment,
            "FROM trials LEFT JOIN attempts ON attempts.trial = id WHERE experiment = :experiment",
            id="id", dataset="dataset", item="item", category="category", condition="condition",
            model="model", repeat="repeat", attempt="coalesce(attempt, 0)",
            status=f"coalesce(status, '{PLANNED}')", cost_usd="coalesce(cost_usd + kept_usd, 0.0)",
            ms="coalesce(ended_ms - started_ms, 0)", input_tokens="coalesce(input_tokens, 0)",
            output_tokens="coalesce(output_tokens, 0)",
        )  # fmt: skip

    def score_columns(self, experiment: str) -> dict[str, Column]:
        """What each check says of each attempt.

        Returns:
            Columns `id` (of the trial), `attempt`, and those of frames.SCORES that tell no trial;
            value is None where it is not scored.
        """
        return self._columns(
            experiment,
            "FROM trials JOIN scores ON scores.trial = id WHERE experiment = :experiment",
            id="id", attempt="attempt", evaluator="evaluator", value="value", weight="weight",
        )  # fmt: skip

    def judge_columns(self, experiment: str) -> dict[str, Column]:
        """What each judge says of each attempt, the mean of its votes; as `score_columns`."""
        return self._columns(
            experiment,
            """
            FROM (SELECT id, attempt, evaluator, avg(value) AS value
                FROM trials JOIN votes ON votes.trial = id WHERE experiment = :experiment
                GROUP BY id, attempt, evaluator)
            """,
            id="id", attempt="attempt", evaluator="evaluator", value="value", weight="1.0",
        )  # fmt: skip

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

    def _columns(self, experiment: str, rows: str, **columns: str) -> dict[str, Column]:
        arrays = ", ".join(f"json_group_array({value})" for value in columns.values())
        with self._explained():
            found = self._db.execute(f"SELECT {arrays} {rows}", {"experiment": experiment})
            return dict(zip(columns, map(json.loads, found.fetchone()), strict=True))
