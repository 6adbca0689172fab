"""Judges in the journal: what they said of trials, and how far people agree with them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from lift.agreement import Agreement, Found, Judgement, Judging, TrialId
from lift.journal.database import Database
from lift.journal.rows import unpacked


class Judges(Database):
    """What is asked, and told, of judges."""

    def judgements(self, experiment: str) -> list[Judgement]:
        """What each judge says of each trial's latest attempt; one without a vote is left out."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT dataset, item, condition, trials.model, repeat, evaluator,
                    votes.model AS judge_model, prompt_hash, avg(value) AS value
                FROM trials JOIN votes ON trial = id
                WHERE experiment = ? AND value NOTNULL
                    AND attempt = (SELECT max(attempt) FROM attempts WHERE trial = id)
                GROUP BY id, evaluator, votes.model, prompt_hash
                ORDER BY id, evaluator
                """,
                (experiment,),
            )
            return [Judgement(TrialId(*row[:5]), *row[5:]) for row in map(tuple, rows)]

    def judges(self, experiment: str) -> list[Judging]:
        """Who judged an experiment, with the latest agreement by any of their prompts."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT * FROM (
                    SELECT evaluator, votes.model, prompt_hash, sum(value NOTNULL) AS cast,
                        sum(value ISNULL) AS uncast
                    FROM trials JOIN votes ON trial = id WHERE experiment = ?
                    GROUP BY evaluator, votes.model, prompt_hash
                ) LEFT JOIN agreements USING (model, prompt_hash)
                ORDER BY evaluator, model, at_ms
                """,
                (experiment,),
            ).fetchall()
            judges: dict[tuple[str, str], list[sqlite3.Row]] = {}
            for row in rows:
                judges.setdefault((row["evaluator"], row["model"]), []).append(row)
            return [_judging(*names, prompts) for names, prompts in judges.items()]

    def unjudged(self, experiment: str) -> int:
        """Answers that lack every vote, of items with criteria.

        Only of datasets some of whose answers have one: others may not be judged at all.
        """
        with self._explained():
            lacking = dict(
                self._db.execute(
                    """
                    SELECT item_hash, count(*) FROM trials JOIN attempts ON attempts.trial = id
                    WHERE experiment = :experiment AND status IN ('ok', 'failed')
                        AND attempt = (SELECT max(attempt) FROM attempts WHERE trial = id)
                        AND NOT EXISTS (SELECT 1 FROM votes WHERE trial = id)
                        AND dataset IN (
                            SELECT dataset FROM trials JOIN votes ON trial = id
                            WHERE experiment = :experiment
                        )
                    GROUP BY item_hash
                    """,
                    {"experiment": experiment},
                ).fetchall()
            )
            items = self._db.execute(
                "SELECT hash, content FROM items WHERE hash IN (SELECT value FROM json_each(?))",
                (json.dumps(list(lacking)),),
            )
            return sum(
                lacking[row["hash"]]
                for row in items
                if json.loads(unpacked(row["content"]))["item"].get("judge_criteria")
            )

    def keep_agreements(self, found: Iterable[Found], *, now_ms: int) -> None:
        """Keep what people's labels say of judges, in the place of what they said of these prompts.

        Args:
            found: of the judges of one experiment.
            now_ms: Unix time in milliseconds.
        """
        with self._explained(), self._transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO agreements VALUES (?, ?, ?, ?)",
                [
                    (one.agreement.model, prompt, one.agreement.model_dump_json(), now_ms)
                    for one in found
                    for prompt in sorted(one.prompt_hashes)
                ],
            )


def _judging(judge: str, model: str, prompts: Sequence[sqlite3.Row]) -> Judging:
    told = [row["content"] for row in prompts if row["content"]]
    return Judging(
        judge,
        model,
        votes=sum(row["cast"] for row in prompts),
        uncast=sum(row["uncast"] for row in prompts),
        prompts=len(prompts),
        validated=len(told),
        agreement=Agreement.model_validate_json(told[-1]) if told else None,
    )
