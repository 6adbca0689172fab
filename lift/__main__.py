"""What the command `lift` and `python -m lift` run."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

COLLECT_AFTER = 200_000
"""Objects made, less those gone, before garbage is looked for. Imports make a million that stay,
and each search would look through them again."""

INTERRUPTED = "interrupted before anything was asked\n"


def main() -> None:
    """Run the command; Ctrl-C before it is there is no traceback."""
    gc.set_threshold(COLLECT_AFTER)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        from lift.cli import main as command
    except KeyboardInterrupt:
        sys.stderr.write(INTERRUPTED)
        sys.exit(130)
    try:
        command()
    except SystemExit as left:
        _leave(left.code)


def _leave(code: str | int | None) -> NoReturn:
    """End the process, and take nothing apart that ends with it: that takes a tenth of a second.

    Whatever must reach a disk or a server has by now.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader is gone
            stream.flush()
    os._exit(code if isinstance(code, int) else bool(code))


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End the process where a module is being imported: the exception could get lost there.

    Whatever is on disk stays; a run has handlers of its own.
    """
    within = frame
    while within:
        if within.f_globals.get("__name__") == "importlib._bootstrap":
            os.write(2, INTERRUPTED.encode())
            os._exit(130)
        within = within.f_back
    signal.default_int_handler(number, frame)


if __name__ == "__main__":
    main()
