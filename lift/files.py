"""Files that lie where a person or a setting says: read whole, and never waited for."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

LARGEST_BYTES = 64 * 1024 * 1024
"""No file that is read whole is larger."""

MARK = "\ufeff"
"""The byte-order mark that some editors put before a text."""


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file.

    Raises:
        OSError: there is none, it cannot be read, it is larger than LARGEST_BYTES, or it is a
            folder, a FIFO or a device; `strerror` says which.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    with path.open("rb") as file:
        data = file.read(LARGEST_BYTES + 1)
    if len(data) > LARGEST_BYTES:
        what = f"it is larger than {LARGEST_BYTES // (1024 * 1024)} MB"
        raise OSError(errno.EFBIG, what, str(path))
    return data


def read_text(path: Path) -> str:
    """The text of a regular file, without a byte-order mark.

    Raises:
        OSError: see `read_bytes`; or it is not UTF-8.
    """
    try:
        return read_bytes(path).decode("utf-8").removeprefix(MARK)
    except UnicodeDecodeError as bad:
        what = f"it is not UTF-8 text (byte {bad.start})"
        raise OSError(errno.EILSEQ, what, str(path)) from bad


def read_json(path: Path) -> Any:
    """What a JSON file says.

    Raises:
        OSError: see `read_text`.
        ValueError: it is no JSON, is nested too deep, or has half of a surrogate pair in it, which
            nothing can be written with.
    """
    try:
        content = json.loads(read_text(path))
        json.dumps(content, ensure_ascii=False).encode()
    except RecursionError as bad:
        raise ValueError("it is nested too deep") from bad
    return content


def closed(path: Path) -> OSError | None:
    """Why nothing can be found out about a path; None where it can, or where nothing is there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as bad:
        return bad
    return None


def check_target(path: Path) -> None:
    """Check, without making anything, that a file can be written.

    Raises:
        OSError: it is a folder, a FIFO or a socket, or it or its folder is not writable.
    """
    path = Path(os.path.realpath(path))  # what a dangling link leads to would be made
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        _check_folder(path.parent)
        return
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _check_folder(folder: Path) -> None:
    if not stat.S_ISDIR(folder.stat().st_mode):
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OSError(errno.EACCES, "its folder is not writable", str(folder))
