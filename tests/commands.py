"""Runs `lift` to its end in a process of its own that has the large libraries loaded already.

Loading them takes longer than most of what is tested. So one server of `multiprocessing` loads them
once and forks for each command: its own process, folder, environment and streams, and the whole way
from `__main__` to the exit code. What is about starting, streams or signals starts Python itself.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess

LOADED = [
    "anthropic", "httpx", "httpx2", "markdown_it", "pandas", "phonenumbers", "rich.console",
    "rich.panel", "rich.progress", "rich.table", "scipy.special", "sqlite3", "yaml",
]  # fmt: skip
SECONDS = 120

READ_AT_START = ("PYTHON", "LANG", "LC_", "TZ")
"""Variables that Python reads when it starts."""

_server = multiprocessing.get_context("forkserver")
_server.set_forkserver_preload(LOADED)


def can_fork(variables: Mapping[str, str]) -> bool:
    """Whether a command with these variables can do without a Python of its own."""
    return not any(name.startswith(READ_AT_START) for name in variables)


def run(args: Sequence[str], cwd: Path, env: Mapping[str, str]) -> CompletedProcess[str]:
    """Run the command.

    Args:
        args: what follows `lift`.
        cwd: the folder it runs in.
        env: its whole environment.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = _server.Process(target=_lift, args=(args, cwd, dict(env), out, err))
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
        texts = [path.read_text("utf-8") for path in (out, err)]
    return CompletedProcess(args, process.exitcode or 0, *texts)


def _lift(args: Sequence[str], cwd: Path, env: Mapping[str, str], out: Path, err: Path) -> None:
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    tests = str(Path(__file__).parent)
    sys.path[:] = [str(cwd), *(path for path in sys.path if path not in ("", tests))]
    sys.argv = ["lift", *args]
    runpy.run_module("lift", run_name="__main__", alter_sys=True)
