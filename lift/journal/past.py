"""What earlier experiments tell of one that is planned; canned replies tell nothing."""

from __future__ import annotations

import json
from collections.abc import Collection

from lift.conditions import Pair
from lift.journal.database import Database
from lift.plan import Asked

RECENT_TRIALS = 5_000
"""So many of the latest are looked at."""
RECENT_EXPERIMENTS = 20


class Past(Database):
    """What a plan asks."""

    def output_tokens(
        self, datasets: Collection[str], *, effort: str | None
    ) -> dict[Asked, list[int]]:
        """How long the latest answers to the items of datasets were.

        Args:
            datasets: their names.
            effort: that the answers were asked with; another one makes other lengths.
        """
        with self._explained():
            rows = self._db.execute(
                """
                SELECT dataset, condition, model, output_tokens
                FROM trials JOIN experiments ON name = experiment
                    JOIN conditions ON hash = condition_hash JOIN attempts ON trial = trials.id
                WHERE trials.id > (SELECT max(id) FROM trials) - :recent
                    AND dataset IN (SELECT value FROM json_each(:datasets))
                    AND NOT canned AND status IN ('ok', 'failed') AND kept_ms ISNULL
                    AND json_extract(content, '$.effort') IS :effort
                """,
                {"recent": RECENT_TRIALS, "datasets": json.dumps([*datasets]), "effort": effort},
            )
            found: dict[Asked, list[int]] = {}
            for *asked, tokens in rows:
                dataset, condition, model = asked
                found.setdefault((dataset, condition, model), []).append(tokens)
            return found

    def alike(
        self, skill: str, datasets: Collection[str], *, model: str, conditions: Pair, items: int
    ) -> list[str]:
        """The latest experiments of a skill that asked these datasets, and no other ones.

        Args:
            skill: its name.
            datasets: their names.
            model: that was asked.
            conditions: that it was asked under.
            items: so many, at least, under either.

        Returns:
            Names, that of the one that ran last first.
        """
        with self._explained():
            rows = self._db.execute(
                """
                SELECT name, (SELECT json_group_array(DISTINCT dataset) FROM trials
                    WHERE experiment = name) AS datasets
                FROM (SELECT name, ran_ms, created_ms FROM experiments
                    WHERE NOT canned AND skill = :skill
                    ORDER BY ran_ms DESC, created_ms DESC LIMIT :recent)
                WHERE :items <= (SELECT min(items) FROM
                    (SELECT count(DISTINCT dataset || '/' || item) FILTER (WHERE condition = value)
                        AS items
                    FROM json_each(:conditions) LEFT JOIN trials
                        ON experiment = name AND model = :model
                    GROUP BY value))
                ORDER BY ran_ms DESC, created_ms DESC
                """,
                {
                    "skill": skill,
                    "recent": RECENT_EXPERIMENTS,
                    "items": items,
                    "conditions": json.dumps(conditions),
                    "model": model,
                },
            ).fetchall()
            return [row["name"] for row in rows if {*json.loads(row["datasets"])} == {*datasets}]
