"""A skill folder, or a single command or agent file, as data."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from lift import yaml
from lift.errors import SkillError
from lift.paths import as_name, exists, expanded, inside, is_name
from lift.schema import Noun

SKILL_FILE = "SKILL.md"
LARGEST_BYTES = 256 * 1024
"""A larger file counts for the tree hash but is never put into a prompt."""

LINK = re.compile(r"\[[^\]\n]*\]\(\s*<?([^)>\s]+)>?[^)\n]*\)")
KEY_LINE = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*$")
FENCE = "---"


class Skill(Noun):
    """What is tested: the text a model is shown, and what identifies it."""

    name: str
    """What the frontmatter calls it, if that may be part of a path; else what its folder is called,
    made fit for one."""
    description: str
    body: str
    """The text after the frontmatter."""
    root: Path
    """The folder, or the single file."""
    files: tuple[str, ...]
    """Regular files inside the folder, as sorted POSIX paths."""
    outside: tuple[str, ...] = ()
    """Links that lead out of the folder; never read."""
    tree_hash: str
    """sha256 over the sorted (path, sha256 of the bytes) of the files."""

    def linked(self) -> tuple[str, ...]:
        """Files of the skill that the body links to, in order of first mention."""
        found = dict.fromkeys(
            str(PurePosixPath(os.path.normpath(target.partition("#")[0])))
            for target in LINK.findall(self.body)
        )
        return tuple(path for path in found if path in self.files)

    def text(self, path: str) -> str:
        """The text of one of the skill's files.

        Raises:
            SkillError: the file is not one of the skill's, too large, or not UTF-8.
        """
        if path not in self.files:
            raise SkillError(f"{path!r} is not a file of the skill", where=str(self.root))
        return _read_text(self.root / path if self.root.is_dir() else self.root)


class Front(NamedTuple):
    """A Markdown file split at its frontmatter."""

    block: str | None
    """Text between the fences; None where there is no frontmatter."""
    body: str


def load(path: Path) -> Skill:
    """Read a skill.

    Args:
        path: a folder with SKILL.md, that SKILL.md, or a single command or agent file.

    Raises:
        SkillError: it is missing, unreadable, not UTF-8 or has no text.
    """
    with _readable(path):
        return _loaded(expanded(path))


def _loaded(path: Path) -> Skill:
    main = _main_file(path)
    text = _read_text(main)
    root = main.parent if main.name == SKILL_FILE else main
    files, outside = _tree(root) if root.is_dir() else ({main.name: main}, [])
    made = of_text(
        text,
        where=str(main),
        root=root,
        fallback=root.resolve().name if root.is_dir() else main.stem,
        digests={name: _digest(path) for name, path in files.items()},
    )
    return made.model_copy(update={"outside": tuple(outside)})


def of_text(
    text: str, *, where: str, root: Path, fallback: str, digests: Mapping[str, str]
) -> Skill:
    """A skill, given the text of its main file.

    Args:
        text: frontmatter and body.
        where: names the file in errors.
        root: the folder, or the single file.
        fallback: its name, if the frontmatter has none.
        digests: path of each of its files → sha256 of the bytes.

    Raises:
        SkillError: it has no text.
    """
    front = split(text)
    if not front.body.strip():
        raise SkillError("the skill has no text", where=where, fix="write what it should teach")
    fields = fields_of(front.block)
    called = _text(fields.get("name"))
    return Skill(
        name=called if is_name(called) else as_name(fallback),
        description=_text(fields.get("description")),
        body=front.body,
        root=root,
        files=tuple(sorted(digests)),
        tree_hash=_hash(digests),
    )


def split(text: str) -> Front:
    """Split off YAML frontmatter: a first line `---`, closed by the next line `---`.

    A byte-order mark before it and spaces after the dashes are allowed. Text without both
    fences has no frontmatter and is all body.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != FENCE:
        return Front(None, text.removeprefix("\ufeff"))
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == FENCE:
            return Front("".join(lines[1:number]), "".join(lines[number + 1 :]).lstrip("\r\n"))
    return Front(None, text.removeprefix("\ufeff"))


def fields_of(block: str | None) -> dict[str, Any]:
    """The frontmatter's fields.

    Clients read `description: a: b` although it is no YAML; where YAML fails, top-level
    `key: value` lines are taken as they stand.
    """
    if block is None:
        return {}
    try:
        fields = yaml.load(block)
    except yaml.Malformed:
        matches = (KEY_LINE.match(line) for line in block.splitlines())
        return {match[1]: match[2] for match in matches if match}
    return fields if isinstance(fields, dict) else {}


def _main_file(path: Path) -> Path:
    if not exists(path):
        raise SkillError("no such skill", where=str(path), fix="check the path")
    main = path / SKILL_FILE if path.is_dir() else path
    if main.is_file():
        if not inside(main, main.parent):
            raise SkillError(
                f"{main.name} is a link that leads out of the skill's folder",
                where=str(main),
                fix="put the file itself into the folder",
            )
        return main
    if path.is_dir():
        raise SkillError(f"no {SKILL_FILE} in the folder", where=str(path), fix="add one")
    raise SkillError("not a folder or a regular file", where=str(path))


def _tree(root: Path) -> tuple[dict[str, Path], list[str]]:
    """Regular files whose resolved path is inside the folder, and the links that are not."""
    outside: list[str] = []
    files: dict[str, Path] = {}
    for folder, folders, names in os.walk(root, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if name != ".git")
        for path in (Path(folder) / name for name in (*folders, *names)):
            if not inside(path, root):
                outside.append(path.relative_to(root).as_posix())
            elif path.is_file():
                files[path.relative_to(root).as_posix()] = path
    return files, sorted(outside)


def _unreadable(problem: OSError) -> None:
    raise SkillError(
        f"cannot list a folder of the skill: {problem.strerror}",
        where=str(problem.filename),
        fix="make it readable",
    ) from problem


def _hash(digests: Mapping[str, str]) -> str:
    total = hashlib.sha256()
    for name, digest in sorted(digests.items()):
        raw = name.encode("utf-8", "surrogateescape")
        total.update(f"{len(raw)} {digest}\n".encode() + raw)
    return total.hexdigest()


def _digest(path: Path) -> str:
    with _readable(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_text(path: Path) -> str:
    return decoded(_read_bytes(path), where=str(path))


def decoded(data: bytes, *, where: str) -> str:
    """The text of a file of a skill.

    Args:
        data: its bytes, or the first of them and one more than a prompt takes.
        where: names the file in errors.

    Raises:
        SkillError: it is too large, or not UTF-8.
    """
    if len(data) > LARGEST_BYTES:
        raise SkillError(
            f"the file is larger than the {LARGEST_BYTES // 1024} KB that a prompt takes",
            where=where,
            fix="split it",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as bad:
        raise SkillError(
            f"not UTF-8 text (byte {bad.start})", where=where, fix="save the file as UTF-8"
        ) from bad


def _read_bytes(path: Path) -> bytes:
    with _readable(path), path.open("rb") as file:
        return file.read(LARGEST_BYTES + 1)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as bad:
        raise SkillError(
            f"cannot read the file: {bad.strerror}", where=str(path), fix="make it readable"
        ) from bad


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
