"""`lift show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.options import JSON, screen, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="show")
@click.argument("item", required=False)
@click.option("--experiment", metavar="NAME", help="Of this experiment; the last by default.")
@click.option("--condition", metavar="NAME", help="Only under this condition.")
@click.option("--repeat", type=click.IntRange(min=1), metavar="N", help="Only this repeat.")
@settings("journal")
@JSON
def command(
    config: Config,
    item: str | None,
    experiment: str | None,
    condition: str | None,
    repeat: int | None,
    as_json: bool,
) -> None:
    """Show an experiment's trials, one a line; or every trial of ITEM in full.

    \b
    Examples:
      lift show
      lift show textfield-set-value
      lift show textfield-set-value --condition with_skill --repeat 1
    """
    from lift.cli.printed import masked_record
    from lift.journal import Journal
    from lift.reports import json, listing
    from lift.results import found_records, no_trial, trial_rows

    with Journal(config.path("journal"), create=False) as journal:
        known = journal.experiment(experiment)
        if item is None:
            rows = trial_rows(journal, known.name, condition=condition, repeat=repeat)
            if not rows:
                raise no_trial(journal, known.name, what="the experiment")
            text = json.trials(rows, known) if as_json else listing.trials(rows, known, **screen())
        else:
            found = found_records(
                journal, known.name, item=item, condition=condition, repeat=repeat
            )
            if as_json:
                text = json.records(found, known)
            else:
                shown = [listing.record(masked_record(one), **screen()) for one in found]
                text = "\n\n".join(shown)
    click.echo(text)
