"""What earlier experiments tell of one that is planned; canned replies tell nothing."""

from __future__ import annotations

import json
from collections.abc import Collection

from lift.conditions import Pair
from lift.journal.database import Database
from lift.plan import Asked

RECENT = 5_000
"""So many of the latest answers, or votes, are looked at."""
RECENT_EXPERIMENTS = 20


class Past(Database):
    """What a plan asks."""

    def output_tokens(
        self, datasets: Collection[str], *, effort: str | None, max_tokens: int
    ) -> dict[Asked, list[int]]:
        """How long the latest answers to the items of datasets were.

        Args:
            datasets: their names.
            effort: that the answers were asked with; another one makes other lengths.
            max_tokens: that an answer may have now. One that was cut off earlier counts as so long:
                nobody knows where it would have ended.
        """
        with self._explained():
            rows = self._db.execute(
                """
                SELECT dataset, condition, model,
                    iif(output_tokens >= json_extract(content, '$.max_tokens'),
                        max(output_tokens, :max_tokens), output_tokens)
                FROM trials JOIN experiments ON name = experiment
                    JOIN conditions ON hash = condition_hash JOIN attempts ON trial = trials.id
                WHERE trials.id >= (SELECT min(trial) FROM
                        (SELECT trial FROM attempts ORDER BY trial DESC LIMIT :recent))
                    AND dataset IN (SELECT value FROM json_each(:datasets))
                    AND NOT canned AND status IN ('ok', 'failed') AND kept_ms ISNULL
                    AND json_extract(content, '$.effort') IS :effort
                """,
                {
                    "recent": RECENT,
                    "datasets": json.dumps([*datasets]),
                    "effort": effort,
                    "max_tokens": max_tokens,
                },
            )
            found: dict[Asked, list[int]] = {}
            for *asked, tokens in rows:
                dataset, condition, model = asked
                found.setdefault((dataset, condition, model), []).append(tokens)
            return found

    def vote_costs(self, datasets: Collection[str], *, model: str) -> list[float]:
        """What the latest votes of a judge on the items of datasets cost, in US dollars.

        Those of experiments that went by batch, which halves them, are left out.

        Args:
            datasets: their names.
            model: that judged.
        """
        with self._explained():
            rows = self._db.execute(
                """
                SELECT cost_usd FROM trials JOIN experiments ON name = experiment
                    JOIN votes ON trial = trials.id
                WHERE trials.id >= (SELECT min(trial) FROM
                        (SELECT trial FROM votes ORDER BY trial DESC LIMIT :recent))
                    AND dataset IN (SELECT value FROM json_each(:datasets))
                    AND NOT canned AND votes.model = :model AND cost_usd > 0
                    AND experiment NOT IN (SELECT experiment FROM orders)
                """,
                {"recent": RECENT, "datasets": json.dumps([*datasets]), "model": model},
            )
            return [cost_usd for (cost_usd,) in rows]

    def alike(
        self,
        skill: str,
        datasets: Collection[str],
        *,
        model: str,
        effort: str | None,
        conditions: Pair,
        items: int,
    ) -> list[str]:
        """The latest experiments of a skill that asked datasets of these names, others beside them.

        Args:
            skill: its name.
            datasets: their names.
            model: that was asked.
            effort: that it was asked with.
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
                FROM experiments
                WHERE NOT canned AND skill = :skill AND :items <= (
                    SELECT min(items) FROM (
                        SELECT count(DISTINCT dataset || '/' || item)
                            FILTER (WHERE condition = value) AS items
                        FROM json_each(:conditions) LEFT JOIN trials
                            ON experiment = name AND model = :model
                            AND condition_hash IN (SELECT hash FROM conditions
                                WHERE json_extract(content, '$.effort') IS :effort)
                        GROUP BY value
                    )
                )
                ORDER BY ran_ms DESC, created_ms DESC LIMIT :recent
                """,
                {
                    "skill": skill,
                    "recent": RECENT_EXPERIMENTS,
                    "items": items,
                    "conditions": json.dumps(conditions),
                    "model": model,
                    "effort": effort,
                },
            ).fetchall()
            return [row["name"] for row in rows if {*datasets} <= {*json.loads(row["datasets"])}]
