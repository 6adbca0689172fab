"""The journal's file: opened, kept private, locked, and its failures explained."""

from __future__ import annotations

import contextlib
import errno
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
from lift.files import closed
from lift.journal.migrations import MIGRATIONS, statements
from lift.paths import exists

BALLAST_BYTES = 1 << 16
"""Set aside beside the journal for each call in flight, given back when the disk is full."""

LOCK = ".{}.lock"
"""What the name of the file that holds an experiment ends in."""

LOCKED_TRIES = 50

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
        if not create and not exists(path):
            raise JournalError(
                "no journal here", where=str(path), fix="run lift --quick first, or set journal"
            )
        if too_long := closed(path.parent / (path.name + LOCK.format("0" * 16))):
            raise JournalError(
                f"no journal can be there: {too_long.strerror}",
                where=str(path),
                fix="set journal to a file that can be made",
            )
        with self._explained():
            _make_private(path)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._db.row_factory = sqlite3.Row
            found = path.stat()
            self._file = (found.st_dev, found.st_ino)
            self._ids: dict[str, int] = {}
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

    def running(
        self, experiment: str, *, waiting: Callable[[], None]
    ) -> contextlib.AbstractContextManager[None]:
        """Hold an experiment: of all processes on this machine one runs it at a time.

        The lock ends with the process, however that ends.

        Args:
            experiment: its name.
            waiting: called at each look while another process holds it; what it raises ends that.
        """
        return self._held(experiment, waiting)

    @contextlib.contextmanager
    def _held(self, what: str, waiting: Callable[[], None]) -> Iterator[None]:
        name = hashlib.sha256(what.encode()).hexdigest()[:16]
        path = self.path.with_name(self.path.name + LOCK.format(name))
        with self._explained():
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with self._explained():
                _lock(file, waiting)
            yield
        finally:
            os.close(file)

    def problems(self) -> list[str]:
        """What is wrong with the file; empty where it is whole.

        Raises:
            JournalError: it cannot be read at all.
        """
        with self._explained():
            said = [str(row[0]) for row in self._db.execute("PRAGMA quick_check(5)")]
            return [] if said == ["ok"] else said

    @property
    def _ballast(self) -> Path:
        return self.path.with_name(f"{self.path.name}.ballast")

    def _migrate(self) -> None:
        self._db.execute("PRAGMA foreign_keys = ON")
        version = self._version()
        if not version:
            self._check_new()
        self._use_wal()
        # in WAL mode NORMAL keeps every transaction through a crash of the process
        self._db.execute("PRAGMA synchronous = NORMAL")
        if not 0 <= version <= len(MIGRATIONS):
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

    def _check_new(self) -> None:
        """Leave another program's file alone."""
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and not self._version():  # another process may have made it meanwhile
            raise JournalError(
                "the file is another program's database, not a journal",
                where=str(self.path),
                fix="set another journal",
            )

    def _use_wal(self) -> None:
        """Switch to WAL; SQLite does not wait for a lock here, so this does."""
        for tries in range(LOCKED_TRIES):
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as busy:
                if "locked" not in str(busy) or tries == LOCKED_TRIES - 1:
                    raise
                time.sleep(SECONDS_BETWEEN_LOOKS)
            else:
                return

    def _check_file(self) -> None:
        """Raise where the file was taken away: what is written would be gone with it."""
        try:
            there = self.path.stat()
        except FileNotFoundError:
            there = None
        if there is None or (there.st_dev, there.st_ino) != self._file:
            raise JournalError(
                "the journal was removed while it was in use",
                where=str(self.path),
                fix="put it back, or run again with a new one",
            )

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._check_file()
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

    def set_aside(self, in_flight: int) -> None:
        """Have room for so many answers on a disk that gets full.

        Raises:
            JournalError: there is none.
        """
        size = max(1, in_flight) * BALLAST_BYTES
        with self._explained():
            if self._ballast.exists() and self._ballast.stat().st_size >= size:
                return
            self._ballast.unlink(missing_ok=True)
            unready = self._ballast.with_suffix(f".{os.getpid()}")
            try:
                with os.fdopen(os.open(unready, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                    file.write(os.urandom(size))  # random: no file system can make it sparse
                unready.replace(self._ballast)
            finally:
                unready.unlink(missing_ok=True)


def is_full(failed: JournalError) -> bool:
    """Whether a write failed because there is no room left."""
    cause = failed.__cause__
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorname", "") in {"SQLITE_FULL", "SQLITE_IOERR_WRITE"}
    return isinstance(cause, OSError) and cause.errno == errno.ENOSPC


def _lock(file: int, waiting: Callable[[], None]) -> None:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            time.sleep(SECONDS_BETWEEN_LOOKS)  # a blocking flock would not heed Ctrl-C at once
        else:
            return


def _make_private(path: Path) -> None:
    """Make the journal's folder and file for their owner alone; what they hold is raw text."""
    folder = path.parent
    if not folder.exists():
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", "utf-8")
    if not path.exists():
        path.touch(mode=0o600, exist_ok=True)


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
