"""`lift list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.options import JSON, screen, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="list")
@settings("journal")
@JSON
def command(config: Config, as_json: bool) -> None:
    """List the experiments of the journal, the one started last first.

    JSON has the one that ran last first.

    \b
    Examples:
      lift list
      lift list --json
    """
    from lift.journal import Journal
    from lift.reports import json, listing

    with Journal(config.path("journal"), create=False) as journal:
        found = journal.experiments()
    click.echo(json.experiments(found) if as_json else listing.experiments(found, **screen()))
