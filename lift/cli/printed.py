"""What several commands print at their end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lift.cli.notes import note
from lift.cli.options import screen
from lift.errors import counted

if TYPE_CHECKING:
    from lift.journal import Record
    from lift.results import Result
    from lift.suggesting import Suggestion


def print_json(value: Any) -> None:
    """Print a value as JSON, masked: it may be kept or passed on."""
    from lift.redact import redacted

    click.echo(json.dumps(redacted(value), indent=2, ensure_ascii=False))


def masked_record(record: Record) -> Record:
    """A trial as a terminal may show it; reports mask what they are given themselves."""
    from lift.langfuse.masking import masked
    from lift.redact import redacted

    return masked(record, redacted, whole=True)


def print_left(experiment: str, calls: int, *, as_json: bool) -> None:
    """Say that an experiment waits for batches, where its comparison would be printed."""
    if as_json:
        print_json({"experiment": experiment, "in_batches": calls})
    note(f"{experiment}: {counted(calls, 'call')} left for batches; lift collect goes on with them")


def check_out(out: str | None) -> None:
    """Check that --out can be written, before anything is done for it.

    Raises:
        UsageError: it cannot.
    """
    from lift.errors import UsageError
    from lift.files import check_target

    try:
        if out is not None:
            check_target(Path(out))
    except OSError as bad:
        raise UsageError(
            f"--out cannot be written: {bad.strerror}", where=out or "--out", fix="name a file"
        ) from bad


def write_out(out: str, text: str) -> None:
    """Write a report into the file that --out names.

    Raises:
        CouldNotRun: it cannot be written.
    """
    from lift.errors import CouldNotRun

    try:
        Path(out).write_text(text, "utf-8")
    except OSError as bad:
        raise CouldNotRun(
            f"--out cannot be written: {bad.strerror}",
            where=out,
            fix="lift report --format json --out FILE writes it again",
        ) from bad


def print_comparison(
    result: Result, *, as_json: bool, suggestions: Sequence[Suggestion] | None = None
) -> None:
    """Print a comparison, and what to do about it.

    Raises:
        Incomplete: it may not be compared; what is known is printed all the same.
    """
    from lift.errors import Incomplete
    from lift.reports import json as written
    from lift.reports import terminal

    if as_json:
        click.echo(written.comparison(result, suggestions=suggestions))
    else:
        click.echo(terminal.comparison(result, suggestions=suggestions, **screen()))
    reasons = dict.fromkeys(one.comparison.invalid for one in result.every)
    if any(reasons):
        raise Incomplete(
            f"not compared: {'; '.join(filter(None, reasons))}",
            where=result.experiment.name,
            fix="lift collect, until no call waits in a batch"
            if result.experiment.in_batches
            else "run the experiment again: it asks what is missing",
        )
