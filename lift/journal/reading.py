"""What the journal is asked."""

from __future__ import annotations

import difflib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lift.errors import ExperimentError
from lift.journal.columns import Columns
from lift.journal.judges import Judges
from lift.journal.past import Past
from lift.journal.rows import (
    PLANNED,
    Experiment,
    Paid,
    Record,
    Reused,
    Shelf,
    evidence_of,
    trial_of,
    unpacked,
)
from lift.plan import SMOKE
from lift.schema import Condition, Evidence, Score, Status, Trial, Vote


class Reader(Columns, Judges, Past):
    """The questions that runs, comparisons and reports put."""

    def experiments(self) -> list[Experiment]:
        """Every experiment, the one that ran last first."""
        return self._experiments(None)

    def _experiments(self, name: str | None) -> list[Experiment]:
        with self._explained():
            rows = self._db.execute(
                """
                SELECT experiments.*, count(trials.id) AS planned,
                    group_concat(DISTINCT model) AS models,
                    group_concat(DISTINCT dataset) AS datasets,
                    group_concat(DISTINCT condition) AS conditions,
                    coalesce(sum(status IN ('ok', 'failed')), 0) AS answered,
                    coalesce(sum(status = 'errored'), 0) AS errored
                FROM experiments LEFT JOIN trials ON trials.experiment = name
                    LEFT JOIN attempts ON attempts.trial = trials.id AND NOT EXISTS
                        (SELECT 1 FROM attempts AS later WHERE later.trial = trials.id
                            AND later.attempt > attempts.attempt)
                WHERE :name IS NULL OR name = :name
                GROUP BY name ORDER BY ran_ms DESC, created_ms DESC
                """,
                {"name": name},
            ).fetchall()
            return [self._experiment(row) for row in rows]

    def experiment(self, name: str | None = None) -> Experiment:
        """One experiment; where no name is given the one that ran last.

        One of `lift smoke` is the last only where there are no others.

        Raises:
            ExperimentError: there is none of that name; the nearest names are in the message.
        """
        (found,) = self._experiments(self.named(name))
        return found

    def uncounted(self, name: str, answers: Paid) -> Experiment:
        """As `experiment`, but nothing that takes going through its trials is in it.

        Args:
            name: of the experiment.
            answers: what they cost, which the trials' columns come with.
        """
        with self._explained():
            row = self._db.execute(
                """
                SELECT *, '' AS models, '' AS datasets, '' AS conditions, 0 AS planned,
                    0 AS answered, 0 AS errored
                FROM experiments WHERE name = ?
                """,
                (name,),
            ).fetchone()
            return self._experiment(row, answers)

    def named(self, name: str | None = None) -> str:
        """The name of an experiment; where none is given that of the one that ran last.

        Raises:
            ExperimentError: there is none of that name; the nearest names are in the message.
        """
        with self._explained():
            rows = self._db.execute(
                "SELECT name FROM experiments ORDER BY ran_ms DESC, created_ms DESC"
            )
            known = [known for (known,) in rows]
        if not known or name not in (None, *known):
            raise _unknown(name, known, self.path)
        return name or str(min(known, key=lambda one: SMOKE.search(one) is not None))

    def ended(self, experiment: str) -> dict[str, tuple[int, Status]]:
        """Key of each planned trial that was asked → its latest attempt and how that ended."""
        with self._explained():
            rows = self._db.execute(
                "SELECT key, attempt, status FROM latest WHERE experiment = ? AND status NOTNULL",
                (experiment,),
            )
            return {key: (attempt, Status(status)) for key, attempt, status in rows}

    def spent_usd(self, experiment: str) -> tuple[float, float]:
        """What the experiment cost, and the worst case of calls that reported no usage.

        The second counts calls that an interrupt cut, what a run in progress, or one that was
        killed, may have in flight, and what is in batches.
        """
        paid = self._paid(experiment)
        return paid.cost_usd, paid.lost_usd

    def _paid(self, experiment: str, answers: Paid | None = None) -> Paid:
        """What an experiment cost: its answers, its votes, and what may yet be billed."""
        answers = answers or self.answers_paid(experiment)
        with self._explained():
            cost_usd, lost_usd = self._db.execute(
                """
                SELECT coalesce(sum(cost_usd), 0.0),
                    coalesce(sum(lost_usd), 0.0) + coalesce((SELECT unrecorded_usd + reserved_usd
                        FROM experiments WHERE name = :experiment), 0.0)
                    + coalesce((SELECT sum(iif(batch ISNULL, 0, worst_usd) + entries.lost_usd)
                        FROM trials JOIN entries ON trial = trials.id
                        WHERE experiment = :experiment AND done_ms ISNULL), 0.0)
                FROM trials JOIN votes ON trial = id WHERE experiment = :experiment
                """,
                {"experiment": experiment},
            ).fetchone()
        return answers._replace(
            cost_usd=answers.cost_usd + cost_usd, lost_usd=answers.lost_usd + lost_usd
        )

    def _waiting(self, experiment: str) -> int:
        """Calls that a server has, or may have, in batches."""
        row = self._db.execute(
            "SELECT count(*) FROM entries JOIN trials ON trials.id = entries.trial"
            " WHERE experiment = ? AND batch NOTNULL AND done_ms IS NULL",
            (experiment,),
        ).fetchone()
        return int(row[0])

    def trials(self, experiment: str) -> list[dict[str, Any]]:
        """The rows of frames.TRIALS; a reused answer at what it cost when it was paid for."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT dataset, item, category, condition, model, repeat,
                    coalesce(attempt, 0) AS attempt, coalesce(status, :planned) AS status,
                    coalesce((SELECT sum(cost_usd + kept_usd) FROM attempts
                        WHERE trial = latest.id), 0.0) AS cost_usd,
                    coalesce(ended_ms - started_ms, 0) / 1000.0 AS seconds,
                    coalesce(input_tokens, 0) AS input_tokens,
                    coalesce(output_tokens, 0) AS output_tokens
                FROM latest WHERE experiment = :experiment ORDER BY id
                """,
                {"experiment": experiment, "planned": PLANNED},
            )
            return [dict(row) for row in rows]

    def records(self, experiment: str, *, item: str | None = None) -> list[Record]:
        """Trials in full, in the order they were planned.

        Args:
            experiment: its name.
            item: only trials of this item; all where None.
        """
        with self._explained():
            rows = self._db.execute(
                """
                SELECT latest.*, items.content, conditions.content AS condition_content
                FROM latest JOIN items ON items.hash = item_hash
                    JOIN conditions ON conditions.hash = condition_hash
                WHERE experiment = :experiment AND (:item IS NULL OR item = :item)
                ORDER BY dataset, item, model, repeat, latest.id
                """,
                {"experiment": experiment, "item": item},
            ).fetchall()
            return [self._read(row) for row in rows]

    def item_hashes(self, experiment: str) -> dict[tuple[str, str], str]:
        """Dataset and item → hash of what is asked and how it is scored."""
        with self._explained():
            rows = self._db.execute(
                "SELECT dataset, item, group_concat(DISTINCT item_hash) FROM trials"
                " WHERE experiment = ? GROUP BY dataset, item",
                (experiment,),
            )
            # an item that was edited before another model was asked has two
            return {
                (dataset, item): ",".join(sorted(hashes.split(",")))
                for dataset, item, hashes in rows
            }

    def items(self, experiment: str) -> list[tuple[tuple[str, str], dict[str, Any], Condition]]:
        """What was asked under which condition: each item with each condition, once.

        Returns:
            Dataset and item, the item's content, and the condition.
        """
        with self._explained():
            rows = self._db.execute(
                """
                SELECT DISTINCT dataset, item, items.content,
                    conditions.content AS condition_content
                FROM trials JOIN items ON items.hash = item_hash
                    JOIN conditions ON conditions.hash = condition_hash
                WHERE experiment = ? ORDER BY dataset, item_hash, condition_hash
                """,
                (experiment,),
            ).fetchall()
            return [
                (
                    (row["dataset"], row["item"]),
                    json.loads(unpacked(row["content"])),
                    Condition.model_validate_json(row["condition_content"]),
                )
                for row in rows
            ]

    def votes_cast(self, experiment: str, *, model: str, most: int) -> dict[str, int]:
        """Key of a trial's first attempt → votes of a model on the latest one, up to so many."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT key, count(*) FROM latest JOIN votes
                    ON votes.trial = latest.id AND votes.attempt = latest.attempt
                WHERE experiment = ? AND votes.value NOTNULL AND votes.model = ?
                    AND votes.number <= ?
                GROUP BY latest.id
                """,
                (experiment, model, most),
            )
            return dict(map(tuple, rows))

    def unscored(self, experiment: str) -> list[tuple[Trial, Evidence]]:
        """Answered trials that have no score."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT * FROM latest WHERE experiment = ? AND status IN ('ok', 'failed')
                    AND NOT EXISTS (SELECT 1 FROM scores
                        WHERE scores.trial = latest.id AND scores.attempt = latest.attempt)
                """,
                (experiment,),
            ).fetchall()
            return [(trial_of(row), evidence_of(row)) for row in rows]

    def replies_since(self, keys: Sequence[str], since_ms: int) -> set[str]:
        """Those of the requests that have an answer kept since a time.

        Args:
            keys: of the requests.
            since_ms: Unix time in milliseconds.
        """
        with self._explained():
            return {row["key"] for row in self._replies(keys, since_ms, whole=False)}

    def evidence_since(self, keys: Sequence[str], since_ms: int) -> dict[str, Evidence]:
        """Key → the answer kept since a time, of the requests that have one; none counts as used.

        Args:
            keys: of the requests.
            since_ms: Unix time in milliseconds.
        """
        with self._explained():
            rows = self._replies(keys, since_ms, whole=True)
            return {row["key"]: evidence_of(row) for row in rows}

    def _replies(self, keys: Sequence[str], since_ms: int, *, whole: bool) -> sqlite3.Cursor:
        return self._db.execute(
            "SELECT key, CASE WHEN ? THEN evidence END AS evidence FROM replies"
            " WHERE kept_ms >= ? AND key IN (SELECT value FROM json_each(?))",
            (whole, since_ms, json.dumps(list(keys))),
        )

    def kept_replies(self) -> Shelf:
        """How much is kept for equal requests."""
        with self._explained():
            row = self._db.execute(
                "SELECT count(*), coalesce(sum(length(evidence)), 0), min(kept_ms),"
                " coalesce(sum(used), 0) FROM replies"
            ).fetchone()
            return Shelf(*row)

    def _trial_id(self, trial: Trial) -> int:
        key = trial.first_key
        if key not in self._ids:
            (row,) = self._db.execute("SELECT id FROM trials WHERE key = ?", (key,))
            self._ids[key] = int(row["id"])
        return self._ids[key]

    def reused(self, experiment: str) -> tuple[Reused, ...]:
        """How many answers under each condition were given to equal requests before."""
        with self._explained():
            rows = self._db.execute(
                "SELECT condition, count(*), min(kept_ms)"
                " FROM attempts CROSS JOIN trials ON id = trial"
                " WHERE experiment = ? AND kept_ms NOTNULL GROUP BY condition ORDER BY condition",
                (experiment,),
            )
            return tuple(Reused(*row) for row in rows)

    def _experiment(self, row: Mapping[str, Any], answers: Paid | None = None) -> Experiment:
        return Experiment(
            name=row["name"],
            created_ms=row["created_ms"],
            skill=row["skill"],
            backend=row["backend"],
            canned=bool(row["canned"]),
            repeats=row["repeats"],
            models=tuple(sorted((row["models"] or "").split(","))),
            datasets=tuple(sorted((row["datasets"] or "").split(","))),
            planned=row["planned"],
            answered=row["answered"],
            errored=row["errored"],
            reused=self.reused(row["name"]),
            conditions=tuple(sorted((row["conditions"] or "").split(","))),
            in_batches=self._waiting(row["name"]),
            **self._paid(row["name"], answers)._asdict(),
        )

    def _read(self, row: sqlite3.Row) -> Record:
        content = json.loads(unpacked(row["content"]))
        return Record(
            trial=trial_of(row),
            status=row["status"] or PLANNED,
            condition=Condition.model_validate_json(row["condition_content"]),
            item=content["item"],
            system=content["system"],
            evidence=evidence_of(row) if row["evidence"] else None,
            scores=self._scores(row["id"], row["attempt"]),
            votes=self._votes(row["id"], row["attempt"]),
        )

    def _scores(self, trial_id: int, attempt: int | None) -> tuple[Score, ...]:
        rows = self._db.execute(
            "SELECT evaluator, value, passed, weight, why, error FROM scores"
            " WHERE trial = ? AND attempt = ? ORDER BY evaluator",
            (trial_id, attempt),
        )
        return tuple(Score.model_validate(dict(row)) for row in rows)

    def _votes(self, trial_id: int, attempt: int | None) -> tuple[Vote, ...]:
        rows = self._db.execute(
            "SELECT evaluator, number, value, why, model, prompt_hash, evidence FROM votes"
            " WHERE trial = ? AND attempt = ? ORDER BY evaluator, number",
            (trial_id, attempt),
        )
        return tuple(Vote(**{**dict(row), "evidence": evidence_of(row)}) for row in rows)


def _unknown(name: str | None, known: Sequence[str], path: Path) -> ExperimentError:
    if not known:
        return ExperimentError("no experiment yet", where=str(path), fix="run lift --quick")
    near = difflib.get_close_matches(name or "", known, n=3, cutoff=0.4) or known[:3]
    return ExperimentError(
        f"no experiment {name!r}", where=str(path), fix=f"nearest: {', '.join(near)}; lift list"
    )
