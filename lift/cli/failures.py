"""What a person is told where a command fails, and the exit code of that."""

from __future__ import annotations

import io
import os
import traceback
from typing import TypeVar

import click

from lift.cli import streams
from lift.cli.interrupts import INTERRUPTED
from lift.cli.notes import note
from lift.errors import CouldNotRun, LiftError

T = TypeVar("T")

TRACEBACK = "LIFT_TRACEBACK"
"""Set, it shows where in the code an error came from."""


def ended(failed: BaseException) -> int:
    """Say what failed, and return the exit code.

    Args:
        failed: whatever a command raised.
    """
    if isinstance(failed, click.Abort | KeyboardInterrupt):
        # click turns Ctrl-C into an Abort, as it does a question that is answered with no
        pressed = isinstance(failed.__cause__ or failed, KeyboardInterrupt)
        note(f"{'interrupted' if pressed else 'stopped'} before anything was asked")
        return INTERRUPTED
    try:
        streams.flush(probe=isinstance(failed, OSError) and failed.filename is None)
    except (CouldNotRun, BrokenPipeError) as unwritable:
        # what stopped the command may be just that
        failed = unwritable if isinstance(failed, OSError) else failed
    if isinstance(failed, click.ClickException):
        shown = io.StringIO()
        failed.show(file=shown)
        note(_hidden(shown.getvalue().rstrip()))
        return failed.exit_code
    return _told(failed if isinstance(failed, LiftError) else _explained(failed), failed)


def _told(error: LiftError, failed: BaseException) -> int:
    if os.environ.get(TRACEBACK):
        note(_hidden("".join(traceback.format_exception(failed))))
    # masked before its lines are cut: half of a secret would not be known for one
    what, where, fix = _hidden([error.what, error.where, error.fix])
    note(f"Error: {LiftError(what, where=where, fix=fix)}")
    return error.exit_code


def _explained(failed: BaseException) -> LiftError:
    """An error that none of the places where it may come from turned into a clear one."""
    while isinstance(failed, BaseExceptionGroup) and len(failed.exceptions) == 1:
        failed = failed.exceptions[0]
    fix = f"{TRACEBACK}=1 shows where it came from"
    if isinstance(failed, OSError):
        what = failed.strerror or str(failed)
        return CouldNotRun(what, where=os.fsdecode(failed.filename or ""), fix=fix)
    if isinstance(failed, UnicodeError):
        return CouldNotRun(f"a text cannot be encoded or decoded: {failed}", fix=fix)
    if isinstance(failed, MemoryError | RecursionError):
        short = "memory" if isinstance(failed, MemoryError) else "stack: something is nested deep"
        return CouldNotRun(f"it ran out of {short}", fix=fix)
    return CouldNotRun(
        f"a bug in lift: {type(failed).__name__}: {failed}",
        fix=f"please report it, with what {TRACEBACK}=1 shows; what was answered is recorded",
    )


def _hidden(value: T) -> T:
    from lift.redact import redacted

    return redacted(value)
