"""`lift smoke`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.notes import note
from lift.cli.options import JSON, screen, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="smoke")
@click.argument("item", required=False)
@settings("skill", "backend", "model", "max_cost_usd", "max_tokens", "effort", "price", "journal")
@JSON
def command(config: Config, item: str | None, as_json: bool) -> None:
    """Ask one prompt with and without the skill, and show both answers side by side.

    The prompt is that of ITEM; the first quick item by default. It is an experiment of its own,
    and always asks: no answer that was given before is used.

    \b
    Examples:
      lift smoke
      lift smoke textfield-set-value --model claude-haiku-5-5
    """
    from lift.cli.printed import masked_record
    from lift.cli.progress import Silent
    from lift.cli.sending import sending
    from lift.journal import Journal
    from lift.perform import perform
    from lift.prepare import prepare, smoke
    from lift.reports import json, listing
    from lift.results import found_records

    prepared = prepare(config, smoke(config, item))
    for notice in prepared.notices:
        note(notice)
    with sending(config, prepared.plan.experiment):
        perform(config, prepared, Silent())
        with Journal(config.path("journal"), create=False) as journal:
            known = journal.experiment(prepared.plan.experiment)
            found = found_records(journal, known.name)
        if as_json:
            click.echo(json.records(found, known))
        else:
            click.echo(listing.beside([*map(masked_record, found)], known, **screen()))
