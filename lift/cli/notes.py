"""What a person is told beside the result, on standard error."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from lift.errors import visible

STDERR = 2


_above: list[Callable[[str], None]] = []


@contextmanager
def above(say: Callable[[str], None]) -> Iterator[None]:
    """In the block something live is on the screen: what is noted is said above it.

    Args:
        say: does that.
    """
    _above.append(say)
    try:
        yield
    finally:
        _above.remove(say)


def note(text: str) -> None:
    """Say it; that nobody listens there any more is no reason to stop."""
    shown = visible(text, keep="\n")
    try:
        if _above:
            _above[-1](shown)
        else:
            click.echo(shown, err=True)
    except (OSError, ValueError):
        with suppress(OSError):  # what is still in the buffer must not fail at exit either
            os.dup2(os.open(os.devnull, os.O_WRONLY), STDERR)
