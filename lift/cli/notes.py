"""What a person is told beside the result, on standard error."""

from __future__ import annotations

import os
from contextlib import suppress

import click

from lift.errors import visible

STDERR = 2


def note(text: str) -> None:
    """Say it; that nobody listens there any more is no reason to stop."""
    try:
        click.echo(visible(text, keep="\n"), err=True)
    except (OSError, ValueError):
        with suppress(OSError):  # what is still in the buffer must not fail at exit either
            os.dup2(os.open(os.devnull, os.O_WRONLY), STDERR)
