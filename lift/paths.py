"""Which names and paths may be used: those that stay where they belong."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def inside(path: Path, folder: Path) -> bool:
    """Whether a path, all its links followed, is in a folder."""
    # realpath, not resolve(): a loop of links must not raise
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def exists(path: Path) -> bool:
    """Whether there is something at a path."""
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises on long names


def is_folder(path: Path) -> bool:
    """Whether there is a folder at a path."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises on long names


def expanded(path: Path) -> Path:
    """The path with `~` as a home; as it stands where that is nobody's."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def is_name(text: str) -> bool:
    """Whether a text may be part of a path or of an id as it is."""
    return NAME.fullmatch(text) is not None and ".." not in text


def as_name(text: str) -> str:
    """The name that is nearest to a text: the text itself where it is one."""
    if is_name(text):
        return text
    plain = re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9._-]+", "-", text)).lstrip("._-")[:64]
    return plain.rstrip("._-") or f"skill-{hashlib.sha256(os.fsencode(text)).hexdigest()[:8]}"
