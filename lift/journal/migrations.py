"""The journal's tables, version by version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

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
    """
    CREATE TABLE replies (                  -- answers that an equal request need not pay for again
        key         TEXT PRIMARY KEY,       -- of the whole request and the number of the try
        kept_ms     INTEGER NOT NULL,
        used        INTEGER NOT NULL,       -- how often since
        evidence    BLOB NOT NULL           -- compressed JSON
    );
    CREATE TABLE sent_reviews (             -- static reviews that a server took
        destination TEXT NOT NULL,
        review      TEXT NOT NULL,          -- identifies its content
        sent_ms     INTEGER NOT NULL,
        PRIMARY KEY (destination, review)
    ) WITHOUT ROWID;
    """,
    """
    -- paid for, at worst, and in no attempt or vote: calls that an interrupt cut
    ALTER TABLE experiments ADD COLUMN unrecorded_usd REAL NOT NULL DEFAULT 0;
    -- what a run that goes on, or was killed, may have in flight at worst
    ALTER TABLE experiments ADD COLUMN reserved_usd REAL NOT NULL DEFAULT 0;
    """,
    """
    ALTER TABLE attempts ADD COLUMN kept_ms INTEGER;    -- when the reply was paid for, if not now
    ALTER TABLE attempts ADD COLUMN kept_usd REAL NOT NULL DEFAULT 0;   -- and what it cost then
    ALTER TABLE attempts ADD COLUMN cache_read_tokens INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE attempts ADD COLUMN cache_write_tokens INTEGER NOT NULL DEFAULT 0;
    DROP VIEW latest;
    CREATE VIEW latest AS                   -- each planned trial, as its latest attempt ended
        SELECT trials.*, attempts.attempt, attempts.status, attempts.why, attempts.started_ms,
               attempts.ended_ms, attempts.evidence, attempts.output_tokens,
               attempts.input_tokens, attempts.kept_ms, attempts.kept_usd,
               attempts.cache_read_tokens, attempts.cache_write_tokens
        FROM trials LEFT JOIN attempts ON attempts.trial = trials.id
            AND attempts.attempt = (SELECT max(attempt) FROM attempts WHERE trial = trials.id);
    """,
    """
    -- a vote that is cast again is another part: judge/number|started_ms
    UPDATE sent SET part = part || '|' || (
        SELECT started_ms FROM votes WHERE votes.trial = sent.trial
            AND votes.attempt = sent.attempt AND evaluator || '/' || number = part
    ) WHERE EXISTS (
        SELECT 1 FROM votes WHERE votes.trial = sent.trial
            AND votes.attempt = sent.attempt AND evaluator || '/' || number = part
    );
    CREATE TABLE given (                    -- traces that a server was given
        destination TEXT NOT NULL,
        trial       INTEGER NOT NULL,
        attempt     INTEGER NOT NULL,
        part        TEXT NOT NULL,
        missing_ms  INTEGER NOT NULL,       -- 0: it took it; else when to believe it did not
        PRIMARY KEY (destination, trial, attempt, part)
    ) WITHOUT ROWID;
    -- of the pull request and the job that it first ran in: JSON, key to address
    ALTER TABLE experiments ADD COLUMN pages TEXT NOT NULL DEFAULT '{}';
    """,
    """
    -- all that comparisons read of attempts and votes, without the evidence between
    CREATE INDEX attempts_facts ON attempts (trial, attempt, status, started_ms, ended_ms, cost_usd,
        lost_usd, input_tokens, output_tokens, kept_ms, kept_usd, cache_read_tokens,
        cache_write_tokens);
    CREATE INDEX attempts_kept ON attempts (trial) WHERE kept_ms NOTNULL;
    CREATE INDEX attempts_failed ON attempts (trial) WHERE status = 'failed';
    """,
    """
    CREATE TABLE agreements (               -- how far people agree with a judge
        model       TEXT NOT NULL,          -- that judges
        prompt_hash TEXT NOT NULL,          -- a trial it judged by that is among those labelled
        content     TEXT NOT NULL,          -- JSON, of all labelled trials together
        at_ms       INTEGER NOT NULL,
        PRIMARY KEY (model, prompt_hash)
    ) WITHOUT ROWID;
    CREATE INDEX votes_facts ON votes (trial, attempt, evaluator, value, model, prompt_hash,
        cost_usd, lost_usd);
    """,
    """
    CREATE TABLE orders (                   -- what was wanted of an experiment by batch, last
        experiment  TEXT PRIMARY KEY REFERENCES experiments (name),
        server      TEXT NOT NULL,          -- its address
        judged      TEXT NOT NULL,          -- JSON: names of the datasets that are judged
        judge_model TEXT NOT NULL,
        judge_votes INTEGER NOT NULL,
        price       TEXT NOT NULL,          -- IN,OUT of a model that is not in the table
        max_cost_usd REAL NOT NULL,
        cache_max_age REAL NOT NULL         -- days
    ) WITHOUT ROWID;
    CREATE TABLE batches (                  -- handed to a server, or about to be
        id          INTEGER PRIMARY KEY,
        experiment  TEXT NOT NULL REFERENCES experiments (name),
        name        TEXT,                   -- at the server; NULL: it may have it or not
        submitted_ms INTEGER NOT NULL,
        collected   INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE entries (                  -- calls that go by batch
        id          INTEGER PRIMARY KEY,
        trial       INTEGER NOT NULL REFERENCES trials (id),
        attempt     INTEGER NOT NULL,
        part        TEXT NOT NULL,          -- answer, judge
        vote        INTEGER NOT NULL,
        model       TEXT NOT NULL,          -- that is asked
        prefix      TEXT,                   -- names the prompt-cache prefix
        worst_usd   REAL NOT NULL,
        lost_usd    REAL NOT NULL DEFAULT 0,    -- worst case of tries without a usage report
        tries       INTEGER NOT NULL DEFAULT 0,
        batch       INTEGER REFERENCES batches (id),    -- NULL: waits for one
        custom_id   TEXT,                   -- in that batch
        done_ms     INTEGER,                -- NULL: no outcome is recorded yet
        UNIQUE (trial, attempt, part, vote)
    );
    CREATE INDEX entries_batch ON entries (batch);
    CREATE INDEX entries_left ON entries (trial) WHERE done_ms IS NULL;
    """,
)
"""Scripts that bring a journal from one version (its PRAGMA user_version) to the next."""


def statements(script: str) -> Iterator[str]:
    """A script's statements, one by one.

    executescript would commit the transaction around it.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
