"""`lift cache`: the answers that equal requests are given again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from lift.cli.options import JSON, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="cache")
@click.option("--prune", is_flag=True, help="Drop those too old to be used.")
@click.option("--clear", is_flag=True, help="Drop all.")
@settings("cache_max_age", "journal")
@JSON
def command(config: Config, prune: bool, clear: bool, as_json: bool) -> None:
    """Show how many answers are kept for equal requests, and drop them.

    An equal request, of whatever experiment, is given its answer again at no cost for
    --cache-max-age days. Experiments keep their answers, whatever is dropped here.

    \b
    Examples:
      lift cache
      lift cache --prune --cache-max-age 2
    """
    from lift.errors import counted
    from lift.journal import Journal
    from lift.prepare import clock
    from lift.replies import DAY_MS

    with Journal(config.path("journal"), create=False) as journal:
        dropped = 0
        if prune or clear:
            age_ms = 0 if clear else int(config.settings.cache_max_age * DAY_MS)
            dropped = journal.drop_replies(before_ms=clock() - age_ms + 1)
        shelf = journal.kept_replies()
    if as_json:
        click.echo(json.dumps({**shelf._asdict(), "dropped": dropped}, indent=2))
        return
    if prune or clear:
        click.echo(f"{counted(dropped, 'answer')} dropped")
    line = (
        f"{counted(shelf.replies, 'answer')} kept, {shelf.bytes / 1e6:.1f} MB,"
        f" used {counted(shelf.used, 'time')}"
    )
    if shelf.oldest_ms:
        line += f"; the oldest of {datetime.fromtimestamp(shelf.oldest_ms / 1000, UTC):%Y-%m-%d}"
    click.echo(line)
