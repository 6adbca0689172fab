"""`lift agreement`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lift.cli.notes import note
from lift.cli.options import JSON, SINCE, screen, settings
from lift.errors import counted

if TYPE_CHECKING:
    from datetime import timedelta

    from lift.settings import Config


@click.command(name="agreement")
@click.argument("experiment", required=False)
@click.option("--labels", type=click.Path(path_type=Path), metavar="FILE", help="People's, a CSV.")
@click.option(
    "--to-label",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the judged trials there, for people to label.",
)
@click.option(
    "--from", "source", type=click.Choice(["langfuse"]), help="Take what people annotated there."
)
@SINCE
@settings("journal")
@JSON
def command(
    config: Config,
    experiment: str | None,
    labels: Path | None,
    to_label: Path | None,
    source: str | None,
    since: timedelta,
    as_json: bool,
) -> None:
    """Hold the judge of EXPERIMENT (the last one by default) against people's labels.

    Prints Cohen's kappa with its 95 % interval, what either passes, and where they differ. It is
    kept with the judge's model and prompts, and comparisons that show that judge's scores tell it.

    \b
    Examples:
      lift agreement --to-label labels.csv
      lift agreement --labels labels.csv
      lift agreement --from langfuse --since 90d
    """
    from lift.backends.demo import NOTICE
    from lift.journal import Journal
    from lift.judged import held, of_file, of_langfuse, unlabelled
    from lift.reports import agreement

    if [labels, to_label, source].count(None) != 2:
        raise click.UsageError("give one of --labels FILE, --to-label FILE and --from langfuse")
    with Journal(config.path("journal"), create=False) as journal:
        known = journal.experiment(experiment)
    if known.canned:
        note(NOTICE)
    if to_label is not None:
        count = unlabelled(config, known.name, to_label)
        trials = counted(count, "trial")
        note(f"{to_label}: {trials}; write pass or fail into the column label")
        return
    people = of_file(labels) if labels is not None else of_langfuse(config, since)
    found = held(config, known.name, people)
    click.echo(
        agreement.document(found, canned=known.canned)
        if as_json
        else agreement.terminal(found, canned=known.canned, **screen())
    )
