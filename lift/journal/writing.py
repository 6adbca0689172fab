"""What the journal is told, each time in one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from lift.errors import ExperimentError, JournalError
from lift.journal.database import is_full
from lift.journal.outgoing import Outgoing
from lift.journal.queue import Queue
from lift.journal.rows import Kept, evidence_of, packed
from lift.plan import Plan
from lift.pricing import ROUNDING_USD
from lift.schema import Evidence, Score, Trial, Vote, digest


class Journal(Outgoing, Queue):
    """Experiments, trials, evidence and scores on disk, and the calls that go by batch.

    Each write is one transaction. Several processes may use one journal at once.

    Args:
        path: the SQLite file; its folder is made, readable by its owner alone.
        create: False opens an existing journal only.

    Raises:
        JournalError: it cannot be opened or written, is damaged, or of a newer version.
    """

    def begin(
        self,
        plan: Plan,
        *,
        now_ms: int,
        in_flight: int = 16,
        pages: Mapping[str, str] | None = None,
    ) -> None:
        """Write down what an experiment plans, before anything is asked.

        Trials that the experiment has already are kept.

        Args:
            plan: what is asked.
            now_ms: Unix time in milliseconds.
            in_flight: calls at most; so much room is set aside for their answers.
            pages: of the pull request and the job that it runs in; the first ones are kept.

        Raises:
            ExperimentError: the name already stands for other items, conditions or replies.
            JournalError: it cannot be written.
        """
        with self._explained(), self._transaction():
            self._check_name(plan)
            self._insert_plan(plan, now_ms)
            self._db.execute(
                "UPDATE experiments SET pages = ? WHERE name = ? AND pages = '{}'",
                (json.dumps(dict(pages or {})), plan.experiment),
            )
        self.set_aside(in_flight)

    def record(
        self,
        trial: Trial,
        evidence: Evidence,
        scores: Sequence[Score] = (),
        *,
        key: str | None = None,
    ) -> None:
        """Write down how a trial ended, in one transaction.

        Args:
            trial: with the attempt that ended.
            evidence: of it.
            scores: what is known of it already.
            key: what an equal call finds the evidence by; None does not keep it for one.

        Raises:
            JournalError: it cannot be written; or the disk is full, and this was the last that
                found room.
        """
        self._at_all_costs(lambda: self._record(trial, evidence, scores, key))

    def record_scores(self, trial: Trial, scores: Sequence[Score]) -> None:
        """Write down what the checks say of a trial that is recorded, in one transaction.

        Raises:
            JournalError: it cannot be written; nothing of it is.
        """
        with self._explained(), self._transaction():
            self._insert_scores(self._trial_id(trial), trial, scores)

    def reserve(self, experiment: str, usd: float) -> None:
        """Write down what calls in flight may cost at worst: if the run is killed, that counts."""
        with self._explained(), self._transaction():
            self._db.execute(
                "UPDATE experiments SET reserved_usd = ? WHERE name = ?", (usd, experiment)
            )

    def take_over(self, experiment: str) -> None:
        """Count what a run that was killed had in flight as paid; the lock must be held."""
        with self._explained(), self._transaction():
            self._db.execute(
                "UPDATE experiments SET unrecorded_usd = unrecorded_usd + reserved_usd,"
                " reserved_usd = 0 WHERE name = ?",
                (experiment,),
            )

    def settle(self, experiment: str, committed_usd: float) -> None:
        """A run ended: what it paid at worst, and nothing recorded says so, is kept as a sum.

        Args:
            experiment: its name.
            committed_usd: what the experiment cost at worst, over all runs.
        """
        with self._explained(), self._transaction():
            self._db.execute(
                "UPDATE experiments SET unrecorded_usd = 0, reserved_usd = 0 WHERE name = ?",
                (experiment,),
            )
            recorded = sum(self.spent_usd(experiment))
            missing = committed_usd - recorded
            self._db.execute(
                "UPDATE experiments SET unrecorded_usd = ? WHERE name = ?",
                (missing if missing > ROUNDING_USD else 0.0, experiment),
            )

    def record_vote(self, trial: Trial, vote: Vote, *, key: str | None = None) -> None:
        """Write down one vote of a judge, in a transaction of its own.

        A vote that is cast again adds its cost to that of the tries before; the same evidence
        again is no other try. Once it is cast, what another model said of the trial, or this one by
        other criteria, goes: no mean is of two judges. Its cost stays. Where it could not be cast,
        what the other one said stays too.

        Args:
            trial: that is judged.
            vote: with its evidence.
            key: what an equal call finds the evidence by; None does not keep it for one.

        Raises:
            JournalError: it cannot be written; nothing of it is.
        """
        self._at_all_costs(lambda: self._record_vote(trial, vote, key))

    def _record_vote(self, trial: Trial, vote: Vote, key: str | None) -> None:
        with self._transaction():
            row = self._trial_id(trial)
            evidence = vote.evidence
            if vote.value is None and self._charged(row, trial, vote):
                return
            self._db.execute(
                """
                INSERT INTO votes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET value = excluded.value, why = excluded.why,
                    model = excluded.model, prompt_hash = excluded.prompt_hash,
                    started_ms = excluded.started_ms, ended_ms = excluded.ended_ms,
                    cost_usd = cost_usd + iif(evidence = excluded.evidence, 0, excluded.cost_usd),
                    lost_usd = lost_usd + iif(evidence = excluded.evidence, 0, excluded.lost_usd),
                    evidence = excluded.evidence
                """,
                (
                    row, trial.attempt, vote.evaluator, vote.number, vote.value, vote.why,
                    vote.model, vote.prompt_hash,
                    evidence.started_ms, evidence.ended_ms, evidence.cost_usd, evidence.lost_usd,
                    packed(evidence.model_dump_json()),
                ),
            )  # fmt: skip
            if vote.value is not None:
                self._drop_others(row, trial, vote)
            self._keep(key, evidence)

    def _charged(self, row: int, trial: Trial, vote: Vote) -> bool:
        """Add what an uncast vote cost to one of another judge in its place, if there is one."""
        found = self._db.execute(
            """
            UPDATE votes SET cost_usd = cost_usd + ?, lost_usd = lost_usd + ?
            WHERE trial = ? AND attempt = ? AND evaluator = ? AND number = ?
                AND value NOTNULL AND (model, prompt_hash) != (?, ?)
            """,
            (
                vote.evidence.cost_usd, vote.evidence.lost_usd,
                row, trial.attempt, vote.evaluator, vote.number, vote.model, vote.prompt_hash,
            ),
        )  # fmt: skip
        return found.rowcount > 0

    def _drop_others(self, row: int, trial: Trial, vote: Vote) -> None:
        """Drop the votes of another model, or by other criteria; this one takes over their cost."""
        judged = (row, trial.attempt, vote.evaluator)
        others = self._db.execute(
            """
            SELECT number, cost_usd, lost_usd FROM votes
            WHERE trial = ? AND attempt = ? AND evaluator = ? AND (model, prompt_hash) != (?, ?)
            """,
            (*judged, vote.model, vote.prompt_hash),
        ).fetchall()
        for number, cost_usd, lost_usd in others:
            self._db.execute(
                "DELETE FROM votes"
                " WHERE trial = ? AND attempt = ? AND evaluator = ? AND number = ?",
                (*judged, number),
            )
            self._db.execute(
                """
                UPDATE votes SET cost_usd = cost_usd + ?, lost_usd = lost_usd + ?
                WHERE trial = ? AND attempt = ? AND evaluator = ? AND number = ?
                """,
                (cost_usd, lost_usd, *judged, vote.number),
            )

    def keep_reply(self, key: str, evidence: Evidence) -> None:
        """Keep an answer, which is recorded nowhere else, for equal calls to come.

        Args:
            key: what they find it by.
            evidence: of the call.
        """
        with self._explained(), self._transaction():
            self._keep(key, evidence)

    def reply(self, key: str, *, since_ms: int) -> Kept | None:
        """The answer kept for a request, counted as used; None where there is none so young.

        Args:
            key: identifies the request and the number of the try.
            since_ms: an answer kept before is too old; Unix time in milliseconds.
        """
        with self._explained():
            row = self._db.execute(
                "SELECT evidence, kept_ms FROM replies WHERE key = ? AND kept_ms >= ?",
                (key, since_ms),
            ).fetchone()
            if row is None:
                return None
            self._db.execute("UPDATE replies SET used = used + 1 WHERE key = ?", (key,))
            return Kept(evidence_of(row), row["kept_ms"])

    def drop_replies(self, *, before_ms: int) -> int:
        """Forget the answers kept before a time; experiments keep theirs.

        Args:
            before_ms: Unix time in milliseconds.

        Returns:
            How many there were.
        """
        with self._explained():
            with self._transaction():
                dropped = self._db.execute("DELETE FROM replies WHERE kept_ms < ?", (before_ms,))
            self._db.execute("VACUUM")
            return dropped.rowcount

    def _check_name(self, plan: Plan) -> None:
        name = plan.experiment
        known = self._db.execute(
            "SELECT backend, skill FROM experiments WHERE name = ?", (name,)
        ).fetchone()
        if known is None:
            return
        fix = "choose another --experiment name, or --again for a fresh one"
        if known["backend"] != plan.backend:
            raise ExperimentError(
                f"{name} holds answers of the {known['backend']} backend, not {plan.backend}",
                where=str(self.path),
                fix=fix,
            )
        rows = self._db.execute(
            "SELECT key, item_hash, condition_hash FROM trials WHERE experiment = ?", (name,)
        )
        asked = {key: (item, condition) for key, item, condition in rows}
        for trial in plan.trials:
            before = asked.get(trial.key)
            if before and before != (trial.item_hash, trial.condition_hash):
                changed = "condition" if before[0] == trial.item_hash else "item"
                raise ExperimentError(
                    f"{name} asked {trial.name} with another {changed}",
                    where=str(self.path),
                    fix=fix,
                )

    def _insert_plan(self, plan: Plan, now_ms: int) -> None:
        skill = plan.skill
        self._db.executemany(
            "INSERT OR IGNORE INTO skills VALUES (?, ?, ?, ?)",
            [
                (version.tree_hash, version.name, version.description, packed(version.body))
                for version in plan.versions.values()
            ],
        )
        self._db.execute(
            """
            INSERT INTO experiments (name, created_ms, skill, skill_hash, backend, canned,
                repeats, plan_hash, ran_ms)
            VALUES (:name, :now, :skill, :hash, :backend, :canned, :repeats, :plan, :now)
            ON CONFLICT (name) DO UPDATE SET ran_ms = :now, plan_hash = :plan
            """,
            {
                "name": plan.experiment,
                "now": now_ms,
                "skill": skill.name,
                "hash": skill.tree_hash,
                "backend": plan.backend,
                "canned": plan.backend == "demo",
                "repeats": plan.repeats,
                "plan": plan.hash,
            },
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO conditions VALUES (?, ?)",
            [(digest(c), c.model_dump_json()) for c in plan.conditions],
        )
        contents = {
            digest([dataset.system, item.hash]): json.dumps(
                {"system": dataset.system, "item": item.model_dump(mode="json")}
            )
            for dataset in plan.datasets
            for item in dataset.items
        }
        self._db.executemany(
            "INSERT OR IGNORE INTO items VALUES (?, ?)",
            [(key, packed(content)) for key, content in contents.items()],
        )
        self._db.executemany(
            """
            INSERT OR IGNORE INTO trials (key, experiment, dataset, item, category, condition,
                model, repeat, item_hash, condition_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                (t.key, t.experiment, t.dataset, t.item, t.category, t.condition, t.model,
                 t.repeat, t.item_hash, t.condition_hash)
                for t in plan.trials
            ],
        )  # fmt: skip

    def _record(
        self, trial: Trial, evidence: Evidence, scores: Sequence[Score], key: str | None
    ) -> None:
        with self._transaction():
            row = self._trial_id(trial)
            self._db.execute(
                """
                INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET status = excluded.status, why = excluded.why,
                    started_ms = excluded.started_ms, ended_ms = excluded.ended_ms,
                    cost_usd = excluded.cost_usd, lost_usd = excluded.lost_usd,
                    input_tokens = excluded.input_tokens,
                    output_tokens = excluded.output_tokens, evidence = excluded.evidence,
                    kept_ms = excluded.kept_ms, kept_usd = excluded.kept_usd,
                    cache_read_tokens = excluded.cache_read_tokens,
                    cache_write_tokens = excluded.cache_write_tokens
                """,
                (
                    row,
                    trial.attempt,
                    evidence.status,
                    evidence.why,
                    evidence.started_ms,
                    evidence.ended_ms,
                    evidence.cost_usd,
                    evidence.lost_usd,
                    evidence.usage.total_input_tokens,
                    evidence.usage.output_tokens,
                    packed(evidence.model_dump_json()),
                    evidence.kept_ms,
                    evidence.kept_usd,
                    evidence.usage.cache_read_tokens,
                    evidence.usage.cache_write_tokens,
                ),
            )
            self._insert_scores(row, trial, scores)
            self._keep(key, evidence)

    def _keep(self, key: str | None, evidence: Evidence) -> None:
        """Keep an answer for equal calls to come, as old as it is."""
        if key is not None:
            self._db.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, 0, ?)",
                (key, evidence.ended_ms, packed(evidence.model_dump_json())),
            )

    def _insert_scores(self, row: int, trial: Trial, scores: Sequence[Score]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (row, trial.attempt, s.evaluator, s.value, s.passed, s.weight, s.why, s.error)
                for s in scores
            ],
        )

    def _at_all_costs(self, write: Callable[[], None]) -> None:
        """Write, on a full disk into the room that was set aside; raises all the same then."""
        try:
            with self._explained():
                write()
        except JournalError as failed:
            if not (is_full(failed) and self._ballast.exists()):
                raise
            self._ballast.unlink()
            with self._explained():
                write()
            raise
