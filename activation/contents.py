"""A skill on disk, as far as the lint looks at it: whatever is there, nothing is raised."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lift.paths import exists, expanded, inside
from lift.skill import LARGEST_BYTES, SKILL_FILE


@dataclass(frozen=True)
class Contents:
    """A skill's main file, and what its links can reach.

    Args:
        root: the folder.
        file: name of the main file in it.
        name: the folder's name; a single file's name without its suffix.
        data: of the main file, at most LARGEST_BYTES; None where it cannot be read.
        problem: why it cannot be read; empty where it can.
        fix: what to do about that.
        near: a file in the main one's place, whose name differs in case; empty if there is none.
        cut: whether the file is larger than LARGEST_BYTES.
        outside: paths in the folder that lead out of it.
    """

    root: Path
    file: str
    name: str
    data: bytes | None = None
    problem: str = ""
    fix: str = ""
    near: str = ""
    cut: bool = False
    outside: tuple[str, ...] = ()

    def holds(self, path: str) -> bool:
        """Whether there is a file or folder at a path in the skill's folder."""
        return exists(self.root / path)

    def leaves(self, path: str) -> bool:
        """Whether a path in the skill's folder leads out of it."""
        return not _inside(self.root / path, self.root)

    def read(self, path: str) -> bytes | None:
        """The bytes of a file of the skill; None where there is none that may be read."""
        if self.leaves(path):
            return None
        data, _ = _bytes(self.root / path)
        return data


def look(path: Path) -> Contents:
    """What there is at a path.

    Args:
        path: a folder with SKILL.md, that SKILL.md, or a single command or agent file.
    """
    path = expanded(path)
    found = exists(path)
    folder = found and path.is_dir()
    root = path if folder else path.parent
    file = SKILL_FILE if folder else path.name
    whole = file == SKILL_FILE
    name = Path(os.path.abspath(root)).name if whole else path.stem  # noqa: PTH100 - keeps links
    data, problem, fix = _main(root, file, found=found)
    near = "" if data is not None else _near(root, file)
    return Contents(
        root=root,
        file=file,
        name=name,
        data=data[:LARGEST_BYTES] if data is not None else None,
        problem=problem,
        fix=f"rename {near} to {file}" if near else fix,
        near=near,
        cut=data is not None and len(data) > LARGEST_BYTES,
        # a folder without the file is no skill, and may be as large as the disk
        outside=tuple(sorted(_outside(root))) if whole and data is not None else (),
    )


def _main(root: Path, file: str, *, found: bool) -> tuple[bytes | None, str, str]:
    """The main file's bytes, or what is wrong with it and what to do."""
    path = root / file
    if not found:
        return None, "there is no such file or folder", "check the path"
    if not _inside(path, root):
        return None, f"{file} is a link that leads out of the folder", "put the file itself here"
    if not os.path.lexists(path):
        return None, f"there is no {file} in the folder", "add one"
    if not path.is_file():
        return None, f"{file} is not a regular file", "put a text file in its place"
    data, problem = _bytes(path)
    return data, problem, "make it readable" if problem else ""


def _near(root: Path, file: str) -> str:
    """A file whose name differs in case only; empty where there is none, or the right one too."""
    try:
        names = sorted(name for name in os.listdir(root) if name.lower() == file.lower())  # noqa: PTH208
    except (OSError, ValueError):
        return ""
    return "" if file in names or not names else names[0]


def _bytes(path: Path) -> tuple[bytes | None, str]:
    try:
        if not path.is_file():
            return None, f"{path.name} is not a regular file"
        with path.open("rb") as file:
            return file.read(LARGEST_BYTES + 1), ""
    except (OSError, ValueError) as bad:
        return None, f"{path.name} cannot be read: {getattr(bad, 'strerror', None) or bad}"


def _outside(root: Path) -> Iterator[str]:
    """Links in the folder that lead out of it."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for path in (Path(folder) / name for name in (*folders, *names)):
            if path.is_symlink() and not _inside(path, root):
                yield path.relative_to(root).as_posix()


def _inside(path: Path, root: Path) -> bool:
    try:
        return inside(path, root)
    except (OSError, ValueError):
        return False
