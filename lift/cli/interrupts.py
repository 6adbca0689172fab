"""Ctrl-C, wherever it comes, says what state things are in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lift.errors import Interrupted

INTERRUPTED = 130


@contextmanager
def told(what: str, *, fix: str) -> Iterator[None]:
    """Make Ctrl-C in the block an error that says what state things are in.

    Args:
        what: that state.
        fix: how it goes on from there.

    Raises:
        Interrupted: Ctrl-C came.
    """
    try:
        yield
    except KeyboardInterrupt as pressed:
        raise Interrupted(f"interrupted; {what}", fix=fix, exit_code=INTERRUPTED) from pressed
