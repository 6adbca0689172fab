"""Standard input, output and error, made fit for whatever they lead to."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

from lift.errors import CouldNotRun

ESCAPES = "lift-escapes"
"""Name of the error handler of `_escaped`."""


def ready() -> None:
    """Make the standard streams usable: none is missing, and none fails on a character.

    Raises:
        CouldNotRun: standard output is closed.
    """
    _open_missing()
    closed = sys.stdout is None
    sys.stdin = sys.stdin or _nowhere("r")
    sys.stdout = sys.stdout or _nowhere("w")
    sys.stderr = sys.stderr or _nowhere("w")
    codecs.register_error(ESCAPES, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ESCAPES)
    if closed:
        raise CouldNotRun(
            "standard output is closed", fix="open it: send it to a file, or to /dev/null"
        )


def flush(*, probe: bool = False) -> None:
    """Write what is still in standard output's buffer.

    Args:
        probe: write a line end, too: a text that was longer than the buffer left nothing in it.

    Raises:
        CouldNotRun: it cannot be written.
        BrokenPipeError: what reads it is gone.
    """
    try:
        sys.stdout.write("\n" if probe else "")
        sys.stdout.flush()
    except OSError as bad:
        give_up()
        if isinstance(bad, BrokenPipeError):
            raise
        raise CouldNotRun(
            f"standard output cannot be written: {bad.strerror}",
            fix="send it elsewhere; what was recorded stays in the journal",
        ) from bad


def give_up() -> None:
    """Write nothing more to standard output: what is in its buffer must not fail at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_missing() -> None:
    """Open what is closed of 0, 1 and 2: the next file would get that number, and the output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number: this one


def _nowhere(mode: str) -> Any:
    return Path(os.devnull).open(mode, encoding="utf-8")


def _escaped(failed: UnicodeError) -> tuple[str, int]:
    r"""What a stream cannot show, as `\u00e9`: in JSON it still says the same."""
    if not isinstance(failed, UnicodeEncodeError):
        raise failed
    return json.dumps(failed.object[failed.start : failed.end])[1:-1], failed.end
