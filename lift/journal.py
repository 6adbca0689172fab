"""The journal: one SQLite file that every answer is written to before anything else happens."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from lift.errors import ExperimentError, JournalError
from lift.plan import Plan
from lift.schema import Condition, Evidence, Score, Status, Trial, Vote, digest

PLANNED = "planned"
"""What a trial's status reads while it has not been asked."""

BALLAST_BYTES = 1 << 20
"""Set aside beside the journal, given back when the disk is full: room for answers in flight."""

SECONDS_BETWEEN_LOOKS = 0.1

MIGRATIONS = (
    """
    CREATE TABLE experiments (
        name        TEXT PRIMARY KEY,
        created_ms  INTEGER NOT NULL,
        skill       TEXT NOT NULL,          -- its name
        skill_hash  TEXT NOT NULL REFERENCES skills (hash),
        backend     TEXT NOT NULL,
        canned      INTEGER NOT NULL,       -- 1: demo replies, which prove nothing
        repeats     INTEGER NOT NULL,
        plan_hash   TEXT NOT NULL,          -- of the latest plan under this name
        ran_ms      INTEGER NOT NULL        -- when a run last began
    );
    CREATE TABLE skills (                   -- each version of a skill that was asked with
        hash        TEXT PRIMARY KEY,
        name        TEXT NOT NULL,
        description TEXT NOT NULL,
        body        BLOB NOT NULL           -- compressed
    );
    CREATE TABLE items (                    -- each version of an item that was asked
        hash        TEXT PRIMARY KEY,
        content     BLOB NOT NULL           -- compressed JSON: {system, item}
    );
    CREATE TABLE conditions (
        hash        TEXT PRIMARY KEY,
        content     TEXT NOT NULL           -- JSON
    );
    CREATE TABLE trials (                   -- what is planned
        id          INTEGER PRIMARY KEY,
        key         TEXT NOT NULL UNIQUE,   -- Trial.key of the first attempt
        experiment  TEXT NOT NULL REFERENCES experiments (name),
        dataset     TEXT NOT NULL,
        item        TEXT NOT NULL,
        category    TEXT NOT NULL,
        condition   TEXT NOT NULL,
        model       TEXT NOT NULL,
        repeat      INTEGER NOT NULL,
        item_hash   TEXT NOT NULL REFERENCES items (hash),
        condition_hash TEXT NOT NULL REFERENCES conditions (hash)
    );
    CREATE INDEX trials_experiment ON trials (experiment);
    CREATE TABLE attempts (                 -- what was asked, and how it ended
        trial       INTEGER NOT NULL REFERENCES trials (id),
        attempt     INTEGER NOT NULL,
        status      TEXT NOT NULL,          -- ok, failed, errored, skipped
        why         TEXT NOT NULL,
        started_ms  INTEGER NOT NULL,
        ended_ms    INTEGER NOT NULL,
        cost_usd    REAL NOT NULL,
        lost_usd    REAL NOT NULL,          -- worst case of calls without a usage report
        input_tokens INTEGER NOT NULL,      -- everything the model read
        output_tokens INTEGER NOT NULL,
        evidence    BLOB NOT NULL,          -- compressed JSON
        PRIMARY KEY (trial, attempt)
    ) WITHOUT ROWID;
    CREATE TABLE scores (
        trial       INTEGER NOT NULL,
        attempt     INTEGER NOT NULL,
        evaluator   TEXT NOT NULL,
        value       REAL,                   -- NULL: not scored
        passed      INTEGER,
        weight      REAL NOT NULL,
        why         TEXT NOT NULL,
        error       TEXT,
        PRIMARY KEY (trial, attempt, evaluator),
        FOREIGN KEY (trial, attempt) REFERENCES attempts (trial, attempt) ON DELETE CASCADE
    ) WITHOUT ROWID;
    CREATE VIEW latest AS                   -- each planned trial, as its latest attempt ended
        SELECT trials.*, attempts.attempt, attempts.status, attempts.why, attempts.started_ms,
               attempts.ended_ms, attempts.evidence, attempts.output_tokens,
               attempts.input_tokens
        FROM trials LEFT JOIN attempts ON attempts.trial = trials.id
            AND attempts.attempt = (SELECT max(attempt) FROM attempts WHERE trial = trials.id);
    """,
    """
    CREATE TABLE votes (                    -- each judgement of a trial by a model
        trial       INTEGER NOT NULL,
        attempt     INTEGER NOT NULL,
        evaluator   TEXT NOT NULL,          -- the judge's name
        number      INTEGER NOT NULL,
        value       REAL,                   -- NULL: not cast, asked for again
        why         TEXT NOT NULL,
        model       TEXT NOT NULL,          -- that was asked to judge
        prompt_hash TEXT NOT NULL,
        started_ms  INTEGER NOT NULL,
        ended_ms    INTEGER NOT NULL,
        cost_usd    REAL NOT NULL,          -- of every try
        lost_usd    REAL NOT NULL,
        evidence    BLOB NOT NULL,          -- compressed JSON, of the judge's call
        PRIMARY KEY (trial, attempt, evaluator, number),
        FOREIGN KEY (trial, attempt) REFERENCES attempts (trial, attempt) ON DELETE CASCADE
    ) WITHOUT ROWID;
    CREATE TABLE sent (                     -- what a server said it took
        destination TEXT NOT NULL,          -- address and project
        trial       INTEGER NOT NULL,
        attempt     INTEGER NOT NULL,
        part        TEXT NOT NULL,          -- answer, scores, or judge/number
        sent_ms     INTEGER NOT NULL,
        PRIMARY KEY (destination, trial, attempt, part)
    ) WITHOUT ROWID;
    """,
)
"""Scripts that bring a journal from one version (its PRAGMA user_version) to the next."""


class Experiment(NamedTuple):
    """One experiment, as the journal knows it."""

    name: str
    created_ms: int
    skill: str
    backend: str
    canned: bool
    repeats: int
    models: tuple[str, ...]
    datasets: tuple[str, ...]
    planned: int
    answered: int
    errored: int
    cost_usd: float
    lost_usd: float


class Record(NamedTuple):
    """One trial in full, as its latest attempt ended."""

    trial: Trial
    status: str
    condition: Condition
    item: dict[str, Any]
    """The item's content, as Item.model_dump(mode="json") gives it."""
    system: str
    """First block of the system prompt."""
    evidence: Evidence | None
    """None where it has not been asked yet."""
    scores: tuple[Score, ...]
    """Of the checks."""
    votes: tuple[Vote, ...]
    """Of the judges, in order of their numbers."""


class Parcel(NamedTuple):
    """One trial with what a server has not taken of it."""

    record: Record
    parts: frozenset[str]
    """`answer` (its trace), `scores` (of its checks), and `judge/NUMBER` for each vote cast (the
    vote's trace and score)."""


def part_of(vote: Vote) -> str:
    """Names a vote among the parts of its trial."""
    return f"{vote.evaluator}/{vote.number}"


def _parts(record: Record) -> list[str]:
    votes = [part_of(vote) for vote in record.votes if vote.value is not None]
    return ["answer", *(["scores"] if record.scores else []), *votes]


class Journal:
    """Experiments, trials, evidence and scores on disk.

    Each write is one transaction. Several processes may use one journal at once.

    Args:
        path: the SQLite file; its folder is made, readable by its owner alone.
        create: False opens an existing journal only.

    Raises:
        JournalError: it cannot be opened or written, is damaged, or of a newer version.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        if not create and not path.exists():
            raise JournalError(
                "no journal here", where=str(path), fix="run lift --quick first, or set journal"
            )
        with self._explained():
            _make_private(path)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._db.row_factory = sqlite3.Row
            self._migrate()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was recorded is on disk already."""
        self._db.close()

    @contextlib.contextmanager
    def running(self, experiment: str, *, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold an experiment: of all processes on this machine one runs it at a time.

        The lock ends with the process, however that ends.

        Args:
            experiment: its name.
            waiting: called once if another process holds it.
        """
        name = hashlib.sha256(experiment.encode()).hexdigest()[:16]
        path = self.path.with_name(f"{self.path.name}.{name}.lock")
        with self._explained():
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with self._explained():
                _lock(file, waiting)
            yield
        finally:
            os.close(file)

    # ---- writing

    def begin(self, plan: Plan, *, now_ms: int) -> None:
        """Write down what an experiment plans, before anything is asked.

        Trials that the experiment has already are kept.

        Raises:
            ExperimentError: the name already stands for other items, conditions or replies.
            JournalError: it cannot be written.
        """
        with self._explained(), self._transaction():
            self._check_name(plan)
            self._insert_plan(plan, now_ms)
        self._set_aside()

    def record(self, trial: Trial, evidence: Evidence, scores: Sequence[Score]) -> None:
        """Write down how a trial ended and what its checks say, in one transaction.

        Raises:
            JournalError: it cannot be written; nothing of it is.
        """
        try:
            with self._explained():
                self._record(trial, evidence, scores)
        except JournalError:
            if not self._ballast.exists():
                raise
            self._ballast.unlink()
            with self._explained():
                self._record(trial, evidence, scores)
            raise

    def record_vote(self, trial: Trial, vote: Vote) -> None:
        """Write down one vote of a judge, in a transaction of its own.

        A vote that is cast again adds its cost to that of the tries before.

        Raises:
            JournalError: it cannot be written; nothing of it is.
        """
        with self._explained(), self._transaction():
            row = self._trial_id(trial)
            evidence = vote.evidence
            self._db.execute(
                """
                INSERT INTO votes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET value = excluded.value, why = excluded.why,
                    model = excluded.model, prompt_hash = excluded.prompt_hash,
                    started_ms = excluded.started_ms, ended_ms = excluded.ended_ms,
                    cost_usd = cost_usd + excluded.cost_usd,
                    lost_usd = lost_usd + excluded.lost_usd, evidence = excluded.evidence
                """,
                (
                    row, trial.attempt, vote.evaluator, vote.number, vote.value, vote.why,
                    vote.model, vote.prompt_hash,
                    evidence.started_ms, evidence.ended_ms, evidence.cost_usd, evidence.lost_usd,
                    _packed(evidence.model_dump_json()),
                ),
            )  # fmt: skip
            self._db.execute(
                "DELETE FROM sent WHERE trial = ? AND attempt = ? AND part = ?",
                (row, trial.attempt, part_of(vote)),
            )

    # ---- reading

    def experiments(self) -> list[Experiment]:
        """Every experiment, the one that ran last first."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT experiments.*, count(latest.id) AS planned,
                    group_concat(DISTINCT latest.model) AS models,
                    group_concat(DISTINCT latest.dataset) AS datasets,
                    coalesce(sum(latest.status IN ('ok', 'failed')), 0) AS answered,
                    coalesce(sum(latest.status = 'errored'), 0) AS errored
                FROM experiments LEFT JOIN latest ON latest.experiment = experiments.name
                GROUP BY experiments.name ORDER BY ran_ms DESC, created_ms DESC
                """
            ).fetchall()
            return [self._experiment(row) for row in rows]

    def experiment(self, name: str | None = None) -> Experiment:
        """One experiment; the one that ran last where no name is given.

        Raises:
            ExperimentError: there is none of that name; the nearest names are in the message.
        """
        known = self.experiments()
        for experiment in known:
            if name in (None, experiment.name):
                return experiment
        raise _unknown(name, [experiment.name for experiment in known], self.path)

    def ended(self, experiment: str) -> dict[str, tuple[int, Status]]:
        """Key of each planned trial that was asked → its latest attempt and how that ended."""
        with self._explained():
            rows = self._db.execute(
                "SELECT key, attempt, status FROM latest WHERE experiment = ? AND status NOTNULL",
                (experiment,),
            )
            return {key: (attempt, Status(status)) for key, attempt, status in rows}

    def spent_usd(self, experiment: str) -> tuple[float, float]:
        """What the experiment cost, and the worst case of calls that reported no usage."""
        with self._explained():
            row = self._db.execute(
                """
                SELECT coalesce(sum(cost_usd), 0.0), coalesce(sum(lost_usd), 0.0)
                FROM (SELECT trial, cost_usd, lost_usd FROM attempts
                      UNION ALL SELECT trial, cost_usd, lost_usd FROM votes) AS calls
                    JOIN trials ON trials.id = calls.trial WHERE experiment = ?
                """,
                (experiment,),
            ).fetchone()
            return float(row[0]), float(row[1])

    def trials(self, experiment: str) -> list[dict[str, Any]]:
        """The rows of frames.TRIALS."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT dataset, item, category, condition, model, repeat,
                    coalesce(attempt, 0) AS attempt, coalesce(status, :planned) AS status,
                    coalesce((SELECT sum(cost_usd) FROM attempts WHERE trial = latest.id), 0.0)
                        AS cost_usd,
                    coalesce(ended_ms - started_ms, 0) / 1000.0 AS seconds,
                    coalesce(input_tokens, 0) AS input_tokens,
                    coalesce(output_tokens, 0) AS output_tokens
                FROM latest WHERE experiment = :experiment ORDER BY id
                """,
                {"experiment": experiment, "planned": PLANNED},
            )
            return [dict(row) for row in rows]

    def scores(self, experiment: str) -> list[dict[str, Any]]:
        """The rows of frames.SCORES."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT dataset, item, category, condition, model, repeat, evaluator, value, weight,
                    judged
                FROM latest JOIN (
                    SELECT trial, attempt, evaluator, value, weight, 0 AS judged FROM scores
                    UNION ALL
                    SELECT trial, attempt, evaluator, avg(value), 1.0, 1 FROM votes
                    GROUP BY trial, attempt, evaluator
                ) AS every ON every.trial = latest.id AND every.attempt = latest.attempt
                WHERE experiment = ? ORDER BY latest.id, judged, evaluator
                """,
                (experiment,),
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

    def votes_cast(self, experiment: str, *, model: str) -> int:
        """How many votes of a model the latest attempts have."""
        with self._explained():
            row = self._db.execute(
                """
                SELECT count(*) FROM latest JOIN votes
                    ON votes.trial = latest.id AND votes.attempt = latest.attempt
                WHERE experiment = ? AND votes.value NOTNULL AND votes.model = ?
                """,
                (experiment, model),
            ).fetchone()
            return int(row[0])

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
            return [(_trial(row), _evidence(row)) for row in rows]

    # ---- the outbox

    def unsent(self, experiment: str, destination: str) -> list[Parcel]:
        """What a server has not taken yet: every ended attempt with parts that are unsent.

        Args:
            experiment: its name.
            destination: address and project, as given to `mark_sent`.

        Returns:
            In the order the trials were planned, latest attempts only.
        """
        with self._explained():
            taken = self._db.execute(
                "SELECT trial, attempt, part FROM sent WHERE destination = ?", (destination,)
            )
            sent = {(trial, attempt, part) for trial, attempt, part in taken}
            rows = self._db.execute(
                """
                SELECT latest.*, items.content, conditions.content AS condition_content
                FROM latest JOIN items ON items.hash = item_hash
                    JOIN conditions ON conditions.hash = condition_hash
                WHERE experiment = ? AND status NOTNULL AND status != 'skipped'
                ORDER BY latest.id
                """,
                (experiment,),
            ).fetchall()
            parcels = []
            for row in rows:
                record = self._read(row)
                parts = {
                    part
                    for part in _parts(record)
                    if (row["id"], record.trial.attempt, part) not in sent
                }
                if parts:
                    parcels.append(Parcel(record, frozenset(parts)))
            return parcels

    def mark_sent(
        self, destination: str, sent: Sequence[tuple[Trial, str]], *, now_ms: int
    ) -> None:
        """Write down that a server took these parts, in one transaction.

        Args:
            destination: address and project.
            sent: trial, with its attempt, and part.
            now_ms: Unix time in milliseconds.
        """
        with self._explained(), self._transaction():
            rows = [
                (destination, self._trial_id(trial), trial.attempt, part, now_ms)
                for trial, part in sent
            ]
            self._db.executemany("INSERT OR REPLACE INTO sent VALUES (?, ?, ?, ?, ?)", rows)

    # ---- inside

    @property
    def _ballast(self) -> Path:
        return self.path.with_name(f"{self.path.name}.ballast")

    def _migrate(self) -> None:
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.execute("PRAGMA journal_mode = WAL")
        # in WAL mode NORMAL keeps every transaction through a crash of the process
        self._db.execute("PRAGMA synchronous = NORMAL")
        version = self._version()
        if version > len(MIGRATIONS):
            raise JournalError(
                f"the journal has version {version}, this lift knows up to {len(MIGRATIONS)}",
                where=str(self.path),
                fix="update lift, or set another journal",
            )
        if version == len(MIGRATIONS):
            return
        with self._transaction():
            for number in range(self._version(), len(MIGRATIONS)):
                for statement in _statements(MIGRATIONS[number]):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {number + 1}")

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as bad:
            raise JournalError(
                f"the journal does not work: {bad}", where=str(self.path), fix=_remedy(str(bad))
            ) from bad
        except (zlib.error, ValueError) as bad:
            raise JournalError(
                f"the journal is damaged: {bad}", where=str(self.path), fix=_remedy("malformed")
            ) from bad
        except OSError as bad:
            raise JournalError(
                f"the journal does not work: {bad.strerror}",
                where=str(bad.filename or self.path),
                fix=_remedy(str(bad)),
            ) from bad

    def _set_aside(self) -> None:
        if self._ballast.exists():
            return
        with self._explained(), self._ballast.open("wb") as file:
            self._ballast.chmod(0o600)
            file.write(os.urandom(BALLAST_BYTES))  # random: no file system can make it sparse

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
        self._db.execute(
            "INSERT OR IGNORE INTO skills VALUES (?, ?, ?, ?)",
            (skill.tree_hash, skill.name, skill.description, _packed(skill.body)),
        )
        self._db.execute(
            """
            INSERT INTO experiments VALUES (:name, :now, :skill, :hash, :backend, :canned,
                :repeats, :plan, :now)
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
            [(key, _packed(content)) for key, content in contents.items()],
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

    def _record(self, trial: Trial, evidence: Evidence, scores: Sequence[Score]) -> None:
        with self._transaction():
            row = self._trial_id(trial)
            self._db.execute(
                """
                INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET status = excluded.status, why = excluded.why,
                    started_ms = excluded.started_ms, ended_ms = excluded.ended_ms,
                    cost_usd = excluded.cost_usd, lost_usd = excluded.lost_usd,
                    input_tokens = excluded.input_tokens,
                    output_tokens = excluded.output_tokens, evidence = excluded.evidence
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
                    _packed(evidence.model_dump_json()),
                ),
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (row, trial.attempt, s.evaluator, s.value, s.passed, s.weight, s.why,
                     s.error)
                    for s in scores
                ],
            )  # fmt: skip

    def _trial_id(self, trial: Trial) -> int:
        first = trial.model_copy(update={"attempt": 1})
        (row,) = self._db.execute("SELECT id FROM trials WHERE key = ?", (first.key,))
        return int(row["id"])

    def _experiment(self, row: Mapping[str, Any]) -> Experiment:
        cost, lost = self.spent_usd(row["name"])
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
            cost_usd=cost,
            lost_usd=lost,
        )

    def _read(self, row: sqlite3.Row) -> Record:
        content = json.loads(_unpacked(row["content"]))
        return Record(
            trial=_trial(row),
            status=row["status"] or PLANNED,
            condition=Condition.model_validate_json(row["condition_content"]),
            item=content["item"],
            system=content["system"],
            evidence=_evidence(row) if row["evidence"] else None,
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
        return tuple(Vote(**{**dict(row), "evidence": _evidence(row)}) for row in rows)


def _lock(file: int, waiting: Callable[[], None]) -> None:
    told = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not told:
                waiting()
            told = True
            time.sleep(SECONDS_BETWEEN_LOOKS)  # a blocking flock would not heed Ctrl-C at once
        else:
            return


def _make_private(path: Path) -> None:
    """Make the journal's folder and file for their owner alone; what they hold is raw text."""
    folder = path.parent
    if not folder.exists():
        folder.mkdir(parents=True, mode=0o700)
        (folder / ".gitignore").write_text("*\n", "utf-8")
    if not path.exists():
        path.touch(mode=0o600)


def _statements(script: str) -> Iterator[str]:
    """Its statements one by one: executescript would commit the transaction around it."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _trial(row: sqlite3.Row) -> Trial:
    fields = {name: row[name] for name in Trial.model_fields if name != "attempt"}
    return Trial(**fields, attempt=row["attempt"] or 1)


def _evidence(row: sqlite3.Row) -> Evidence:
    return Evidence.model_validate_json(_unpacked(row["evidence"]))


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode(), 6)


def _unpacked(blob: bytes) -> str:
    return zlib.decompress(blob).decode()


def _remedy(problem: str) -> str:
    causes = {
        "full": "free some disk space and run the same command again: nothing recorded is lost",
        "No space": "free some disk space and run the same command again: nothing recorded is lost",
        "readonly": "make the file and its folder writable, or set another journal",
        "locked": "another process holds the journal for long: wait for it, then run again",
        "not a database": "the file is no journal: set another one with journal",
        "malformed": "the file is damaged: restore a copy, or set another journal",
        "Permission": "make the file and its folder writable, or set another journal",
    }
    for sign, remedy in causes.items():
        if sign in problem:
            return remedy
    return "check the file and the disk, or set another journal"


def _unknown(name: str | None, known: Sequence[str], path: Path) -> ExperimentError:
    import difflib

    if not known:
        return ExperimentError("no experiment yet", where=str(path), fix="run lift --quick")
    near = difflib.get_close_matches(name or "", known, n=3, cutoff=0.4) or known[:3]
    return ExperimentError(
        f"no experiment {name!r}", where=str(path), fix=f"nearest: {', '.join(near)}; lift list"
    )
