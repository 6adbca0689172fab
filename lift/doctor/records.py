"""The journal: whole, private, with room, and what of it is unsent."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from lift.doctor import Finding, failed, noted, ok
from lift.errors import LiftError, counted
from lift.journal import Journal
from lift.outbox.project import connection
from lift.paths import exists
from lift.settings import Config

NAME = "journal"

LEAST_BYTES = 100_000_000
"""Of room on its disk."""

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def journal(config: Config) -> Iterator[Finding]:
    """What can be said of the journal."""
    path = config.path("journal")
    if not exists(path):
        yield _none(path)
        return
    try:
        with Journal(path, create=False) as opened:
            yield _whole(opened, path)
            yield _unsent(opened, config)
    except LiftError as broken:
        yield failed(NAME, f"{broken.what} ({path})", broken.fix)
        return
    yield _private(path)
    yield _room(path)


def _none(path: Path) -> Finding:
    above = next(folder for folder in path.absolute().parents if exists(folder))
    if os.access(above, os.W_OK | os.X_OK):
        return noted(NAME, f"none yet at {path}", "the first run makes it")
    return failed(NAME, f"none yet, and {above} cannot be written", "make it writable for you")


def _whole(opened: Journal, path: Path) -> Finding:
    if problems := opened.problems():
        fix = "restore a copy, or set another journal; what Langfuse took is there"
        return failed(NAME, f"damaged: {problems[0]} ({path})", fix)
    megabytes = path.stat().st_size / 1e6
    return ok(
        NAME, f"{counted(len(opened.experiments()), 'experiment')}, {megabytes:.1f} MB at {path}"
    )


def _unsent(opened: Journal, config: Config) -> Finding:
    name = "unsent"
    to = connection(config)
    if to is None:
        return ok(name, "nothing is sent: no Langfuse keys are set")
    with to:
        experiments = [experiment.name for experiment in opened.experiments()]
        left = [one for name in experiments for one in opened.unsent(name, to.destination)]
    if not left:
        return ok(name, "nothing: Langfuse took every trial")
    parts = sum(len(one.parts) for one in left)
    return noted(name, f"{parts} parts of {len(left)} trials", "run lift push")


def _private(path: Path) -> Finding:
    name = "private"
    for found, wanted in ((path, "600"), (path.parent, "700")):
        if found.stat().st_mode & OTHERS:
            what = f"others on this machine can read {found}, which holds prompts and replies"
            return failed(name, what, f"chmod {wanted} {found}")
    return ok(name, "for you alone")


def _room(path: Path) -> Finding:
    free = shutil.disk_usage(path.parent).free
    what = f"{free / 1e9:.1f} GB on its disk"
    if not os.access(path, os.W_OK):
        return failed("room", f"{path} cannot be written", "make it writable for you")
    if free < LEAST_BYTES:
        return failed(
            "room", what, "free some space: answers are paid for before they are recorded"
        )
    return ok("room", what)
