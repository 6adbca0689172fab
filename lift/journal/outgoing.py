"""What servers have taken of experiments, and what not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from lift.journal.reading import Reader
from lift.journal.rows import Parcel, SkillText, Unsent, unpacked
from lift.schema import Trial

NOT_GIVEN = "DELETE FROM given WHERE destination = ? AND trial = ? AND attempt = ? AND part = ?"


class Outgoing(Reader):
    """The questions and marks of sending."""

    def sending(
        self, experiment: str, *, waiting: Callable[[], None]
    ) -> AbstractContextManager[None]:
        """Hold the sending of an experiment: two processes that send the same would double it.

        The lock ends with the process, however that ends; running the experiment is another.

        Args:
            experiment: its name.
            waiting: called at each look while another process holds it; what it raises ends that.
        """
        return self._held(f"sending {experiment}", waiting)

    def has_attempts(self, experiment: str) -> bool:
        """Whether a trial of an experiment was asked, if there is one of that name."""
        with self._explained():
            row = self._db.execute(
                "SELECT EXISTS (SELECT 1 FROM trials JOIN attempts ON trial = id"
                " WHERE experiment = ?)",
                (experiment,),
            ).fetchone()
            return bool(row[0])

    def unsent(self, experiment: str, destination: str) -> list[Unsent]:
        """What a server has not taken yet of the latest attempts, those that began first first.

        An answer whose checks have not scored it yet is not among it: its trace says how many do.

        Args:
            experiment: its name.
            destination: address and project, as given to `mark_sent`.
        """
        with self._explained():
            rows = self._db.execute(
                """
                WITH ended AS MATERIALIZED (
                    SELECT id, attempt, status, started_ms,
                        EXISTS (SELECT 1 FROM scores
                            WHERE trial = latest.id AND attempt = latest.attempt) AS scored
                    FROM latest
                    WHERE experiment = :experiment AND status NOTNULL AND status != 'skipped'
                ), parts AS (
                    SELECT id, attempt, started_ms, 'answer' AS name FROM ended
                        WHERE scored OR status = 'errored'
                    UNION ALL SELECT id, attempt, started_ms, 'scores' FROM ended WHERE scored
                    UNION ALL SELECT id, ended.attempt, ended.started_ms,
                        evaluator || '/' || number || '|' || votes.started_ms
                    FROM ended JOIN votes ON trial = id AND votes.attempt = ended.attempt
                    WHERE scored AND value NOTNULL
                )
                SELECT id, parts.attempt, name, missing_ms FROM parts
                LEFT JOIN given ON destination = :destination AND trial = id
                    AND given.attempt = parts.attempt AND part = name
                WHERE NOT EXISTS (SELECT 1 FROM sent
                    WHERE destination = :destination AND trial = id
                        AND sent.attempt = parts.attempt AND part = name)
                ORDER BY started_ms, id
                """,
                {"experiment": experiment, "destination": destination},
            )
            found: dict[tuple[int, int], dict[str, int | None]] = {}
            for id, attempt, name, missing_ms in rows:
                found.setdefault((id, attempt), {})[name] = missing_ms
            return [Unsent(id, attempt, parts) for (id, attempt), parts in found.items()]

    def pages(self, experiment: str) -> dict[str, str]:
        """Addresses of the pull request and the job that an experiment ran in, by their keys."""
        with self._explained():
            row = self._db.execute(
                "SELECT pages FROM experiments WHERE name = ?", (experiment,)
            ).fetchone()
            return dict(json.loads(row["pages"])) if row else {}

    def skills(self, experiment: str) -> dict[str, SkillText]:
        """Tree hash → skill, of the skills that an experiment asks with."""
        with self._explained():
            rows = self._db.execute(
                """
                SELECT DISTINCT skills.* FROM trials
                    JOIN conditions ON conditions.hash = condition_hash
                    JOIN skills ON skills.hash = json_extract(conditions.content, '$.skill_hash')
                WHERE experiment = ?
                """,
                (experiment,),
            )
            return {
                hash: SkillText(name, description, unpacked(body))
                for hash, name, description, body in rows
            }

    def parcels(self, unsent: Sequence[Unsent]) -> list[Parcel]:
        """The trials of what is unsent, in its order; one that has a newer attempt is left out."""
        with self._explained():
            found = {}
            marks = ",".join("?" * len(unsent))
            rows = self._db.execute(
                f"""
                SELECT latest.*, items.content, conditions.content AS condition_content
                FROM latest JOIN items ON items.hash = item_hash
                    JOIN conditions ON conditions.hash = condition_hash
                WHERE latest.id IN ({marks})
                """,  # noqa: S608 - question marks alone
                [one.trial for one in unsent],
            ).fetchall()
            for row in rows:
                found[row["id"], row["attempt"]] = self._read(row)
            return [
                Parcel(found[one.trial, one.attempt], one)
                for one in unsent
                if (one.trial, one.attempt) in found
            ]

    def mark_given(
        self, destination: str, given: Sequence[tuple[Trial, str]], *, missing_ms: int | None
    ) -> None:
        """Write down that a server is given the traces of these parts, in one transaction.

        Args:
            destination: address and project.
            given: trial, with its attempt, and part.
            missing_ms: as in Unsent; None where it turned out that it was not given them.
        """
        with self._explained(), self._transaction():
            rows = [(destination, self._trial_id(t), t.attempt, part) for t, part in given]
            if missing_ms is None:
                self._db.executemany(NOT_GIVEN, rows)
            else:
                self._db.executemany(
                    "INSERT OR REPLACE INTO given VALUES (?, ?, ?, ?, ?)",
                    [(*row, missing_ms) for row in rows],
                )

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
            self._db.executemany(NOT_GIVEN, [row[:-1] for row in rows])

    def has_sent_review(self, destination: str, review: str) -> bool:
        """Whether a server took a static review of this content."""
        with self._explained():
            row = self._db.execute(
                "SELECT 1 FROM sent_reviews WHERE destination = ? AND review = ?",
                (destination, review),
            ).fetchone()
            return row is not None

    def mark_review(self, destination: str, review: str, *, now_ms: int) -> None:
        """Write down that a server took a static review.

        Args:
            destination: address and project.
            review: identifies its content.
            now_ms: Unix time in milliseconds.
        """
        with self._explained(), self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO sent_reviews VALUES (?, ?, ?)",
                (destination, review, now_ms),
            )
