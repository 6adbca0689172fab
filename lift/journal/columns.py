"""An experiment's trials and scores column by column: a comparison may be of a million of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from lift.journal.database import Database
from lift.journal.rows import PLANNED

NAMES = ("dataset", "item", "category", "condition", "model")
NUMBER = "coalesce(value, 'nan')"

Column = list[str] | str
"""Names as a list; numbers as one text, separated by commas, nan where there is none."""


class Columns(Database):
    """What a comparison asks.

    SQLite makes one text of a column: a Python object a row and column would take most of the time.
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
            names={**dict(zip(NAMES, NAMES, strict=True)),
                   "status": f"coalesce(status, '{PLANNED}')"},
            numbers={"id": "id", "repeat": "repeat", "attempt": "coalesce(attempt, 0)",
                     "cost_usd": "coalesce(cost_usd + kept_usd, 0.0)",
                     "ms": "coalesce(ended_ms - started_ms, 0)",
                     "input_tokens": "coalesce(input_tokens, 0)",
                     "output_tokens": "coalesce(output_tokens, 0)"},
        )  # fmt: skip

    def score_columns(self, experiment: str) -> dict[str, Column]:
        """What each check says of each attempt.

        Returns:
            Columns `id` (of the trial), `attempt`, and those of frames.SCORES that tell no trial;
            value is nan where it is not scored.
        """
        return self._columns(
            experiment,
            "FROM trials JOIN scores ON scores.trial = id WHERE experiment = :experiment",
            names={"evaluator": "evaluator"},
            numbers={"id": "id", "attempt": "attempt", "value": NUMBER, "weight": "weight"},
        )

    def judge_columns(self, experiment: str) -> dict[str, Column]:
        """What each judge says of each attempt, the mean of its votes; as `score_columns`."""
        return self._columns(
            experiment,
            """
            FROM (SELECT id, attempt, evaluator, avg(value) AS value
                FROM trials JOIN votes ON votes.trial = id WHERE experiment = :experiment
                GROUP BY id, attempt, evaluator)
            """,
            names={"evaluator": "evaluator"},
            numbers={"id": "id", "attempt": "attempt", "value": NUMBER, "weight": "1.0"},
        )

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

    def _columns(
        self, experiment: str, rows: str, *, names: Mapping[str, str], numbers: Mapping[str, str]
    ) -> dict[str, Column]:
        texts = [f"json_group_array({value})" for value in names.values()]
        texts += [f"coalesce(group_concat({value}), '')" for value in numbers.values()]
        with self._explained():
            found = self._db.execute(
                f"SELECT {', '.join(texts)} {rows}", {"experiment": experiment}
            ).fetchone()
        named = map(json.loads, found[: len(names)])
        return dict(zip([*names, *numbers], [*named, *found[len(names) :]], strict=True))
