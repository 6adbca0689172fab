"""The old version of a skill: out of git, without touching the work tree, or another folder."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from lift.errors import SkillError
from lift.paths import exists, expanded
from lift.skill import SKILL_FILE, Skill, decoded, load, of_text

REGULAR = frozenset({"100644", "100755", "100664"})
"""Modes of files in git; links and submodules have others, and are not followed."""

HERE = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
     "GIT_NAMESPACE", "GIT_PREFIX"}
)  # fmt: skip
"""Variables that a git hook has: they would name its repository instead of the skill's."""


class Old(NamedTuple):
    """The old version of a skill."""

    skill: Skill
    source: str
    """Where it comes from, in words."""


def old(now: Skill, wanted: str) -> Old:
    """The old version of a skill.

    Args:
        now: the skill as it is; its place tells the repository, and the path in it.
        wanted: a git revision; `REV:PATH` where the skill was at another path then; or the path
            of a folder or file. What could be both is a revision, unless it begins with `.`, `/`
            or `~`.

    Raises:
        SkillError: it is neither, there is no skill there, or git cannot be asked.
    """
    path = expanded(Path(wanted))
    if wanted.startswith((".", "/", "~")):
        return Old(load(path), str(path))
    place = now.root.resolve()
    folder, name = (place, "") if place.is_dir() else (place.parent, place.name)
    prefix, problem = _asked(folder, "rev-parse", "--show-prefix")
    revision, moved, elsewhere = wanted.partition(":")
    if not problem and (commit := _commit(folder, revision)):
        inside = PurePosixPath(elsewhere if moved else f"{prefix}{name}")
        return Old(_at(folder, commit, inside, revision), f"{now.root.name} at {commit[:12]}")
    if exists(path):
        return Old(load(path), str(path))
    raise SkillError(
        f"{wanted!r} is neither a revision nor a path{problem and f' (git: {problem})'}",
        where=str(now.root),
        fix="correct it; in a shallow clone, fetch the revision first",
    )


def _commit(folder: Path, revision: str) -> str:
    """The id of a revision's commit; empty where there is none."""
    if not revision or revision.startswith("-"):
        return ""
    return _asked(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")[0]


def _at(folder: Path, commit: str, path: PurePosixPath, revision: str) -> Skill:
    """The skill at a path of a commit."""
    path = path.parent if path.name == SKILL_FILE else path
    files = _files(folder, commit, path)
    single = path in files
    main = path if single else path / SKILL_FILE
    where = f"{revision}:{main}"
    if main not in files:
        raise SkillError(
            "the skill is not in that revision, as a regular file",
            where=where,
            fix="name a revision that has it; old_skill=REV:PATH if it was at another path then",
        )
    text, digests = "", {}
    for file, content in zip(files, _contents(folder, [*files.values()], where), strict=True):
        digests[str(file.relative_to(path.parent if single else path))] = _sha256(content)
        if file == main:
            text = decoded(content, where=where)
    return of_text(
        text,
        where=where,
        root=Path(f"{revision}:{path}"),  # a label: what is only in git is not read again
        fallback=main.stem if single else path.name or folder.name,
        digests=digests,
    )


def _files(folder: Path, commit: str, path: PurePosixPath) -> dict[PurePosixPath, str]:
    """The regular files at a path of a commit and below it, by their paths in it → their ids."""
    below = ["--", str(path)] if path.name else []
    listed, _ = _asked(folder, "ls-tree", "-r", "-z", "--full-tree", commit, *below)
    entries = [line.partition("\t") for line in listed.split("\0") if line]
    return {
        PurePosixPath(name): about.split()[2]
        for about, _, name in entries
        if about.split()[0] in REGULAR
    }


def _contents(folder: Path, ids: Sequence[str], where: str) -> Iterator[bytes]:
    """The bytes of each file, one file at a time."""
    with _git(folder, "cat-file", "--batch", stdin=subprocess.PIPE) as git:
        assert git.stdin is not None
        assert git.stdout is not None
        for id in ids:
            git.stdin.write(f"{id}\n".encode())
            git.stdin.flush()
            told = git.stdout.readline().split()
            if len(told) != 3:
                raise SkillError(
                    "git does not have all files of that revision",
                    where=where,
                    fix="fetch them: the clone is not whole",
                )
            yield git.stdout.read(int(told[2]))
            git.stdout.read(1)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _asked(folder: Path, *args: str) -> tuple[str, str]:
    """What git answers, without the line end, and what went wrong; one of them is empty."""
    with _git(folder, *args) as git:
        out, error = git.communicate()
    if git.returncode:
        told = error.decode("utf-8", "replace").strip().splitlines()
        return "", told[-1] if told else "no answer"
    return os.fsdecode(out).removesuffix("\n"), ""


def _git(folder: Path, *args: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    variables = {name: value for name, value in os.environ.items() if name not in HERE}
    try:
        return subprocess.Popen(
            ["git", "--literal-pathspecs", "-C", folder, *args],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )
    except FileNotFoundError as missing:
        raise SkillError(
            "git is not installed", where="PATH", fix="install it, or name a folder"
        ) from missing
