"""The journal's file: opened, kept private, locked, and its failures explained."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from lift.errors import JournalError
from lift.journal.migrations import MIGRATIONS, statements

BALLAST_BYTES = 1 << 20
"""Set aside beside the journal, given back when the disk is full: room for answers in flight."""

SECONDS_BETWEEN_LOOKS = 0.1


class Database:
    """An SQLite file with the journal's tables.

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

    def __enter__(self) -> Self:
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
                for statement in statements(MIGRATIONS[number]):
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
