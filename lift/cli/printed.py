"""What several commands print at their end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from lift.cli.notes import note
from lift.cli.options import screen

if TYPE_CHECKING:
    from lift.results import Result


def print_left(experiment: str, calls: int, *, as_json: bool) -> None:
    """Say that an experiment waits for batches, where its comparison would be printed."""
    if as_json:
        click.echo(json.dumps({"experiment": experiment, "in_batches": calls}))
    note(f"{experiment}: {calls} calls wait for batches; lift collect gets their answers")


def print_comparison(result: Result, *, as_json: bool) -> None:
    """Print a comparison.

    Raises:
        Incomplete: it may not be compared; what is known is printed all the same.
    """
    from lift.errors import Incomplete
    from lift.reports import json as written
    from lift.reports import terminal

    click.echo(written.comparison(result) if as_json else terminal.comparison(result, **screen()))
    reasons = dict.fromkeys(one.comparison.invalid for one in result.every)
    if any(reasons):
        raise Incomplete(
            f"not compared: {'; '.join(filter(None, reasons))}",
            where=result.experiment.name,
            fix="run the experiment again: it asks what is missing",
        )
