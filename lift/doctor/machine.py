"""This machine: versions, and the programs that lift calls."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lift import __version__
from lift.doctor import Finding, failed, noted, ok

PACKAGES = ("anthropic", "langfuse", "pydantic")
SECONDS = 10.0
"""How long a program may take to say its version."""

KEPT = ("PATH", "HOME", "LANG", "SYSTEMROOT")
"""Variables that a program gets: no key is among them."""


def versions() -> Finding:
    """Of lift, Python and the packages that talk to servers."""
    found = [f"lift {__version__}", f"Python {platform.python_version()}"]
    try:
        found += [f"{name} {version(name)}" for name in PACKAGES]
    except PackageNotFoundError as gone:
        return failed("versions", f"{gone.name} is not installed", "install lift again: make dev")
    return ok("versions", ", ".join(found))


def git(root: Path) -> Finding:
    """Whether git is there, and the project in a repository.

    Args:
        root: the project's folder.
    """
    said = _said("git", "--version", folder=root)
    if not said:
        return noted("git", "not found", "install git: it tells an old version of a skill")
    if _said("git", "rev-parse", "--show-toplevel", folder=root):
        return ok("git", said)
    return noted("git", f"{said}, but {root} is in no repository", "run lift in a repository")


def claude(root: Path) -> Finding:
    """Whether the claude command line is there.

    Args:
        root: the project's folder.
    """
    said = _said("claude", "--version", folder=root)
    if said:
        return ok("claude", said)
    return noted("claude", "not found", "nothing to do: no suite here asks it")


def _said(*command: str, folder: Path) -> str:
    """The first line that a program prints; empty where it does not work."""
    program = shutil.which(command[0])
    if program is None:
        return ""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    try:
        done = subprocess.run(
            [program, *command[1:]],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout.splitlines() or [""])[0].strip()
