"""`lift report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.options import settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="report")
@click.argument("experiment", required=False)
@click.option(
    "--format", "kind", type=click.Choice(["md", "json"]), default="md", show_default=True
)
@click.option("--out", type=click.Path(), metavar="FILE", help="Write it there; else print it.")
@settings("journal")
def command(config: Config, experiment: str | None, kind: str, out: str | None) -> None:
    """Write a report of EXPERIMENT; of the last one by default. Secrets are masked.

    \b
    Examples:
      lift report > comment.md
      lift report vaadin-playwright-test-1a2b3c4d --format json --out result.json
    """
    from lift.cli.printed import check_out, write_out
    from lift.journal import Journal
    from lift.reports import json, markdown
    from lift.results import candidates, compared

    check_out(out)
    with Journal(config.path("journal"), create=False) as journal:
        result = compared(journal, experiment)
        asking = candidates(journal, result)
    text = json.comparison(result, asking) if kind == "json" else markdown.comparison(result)
    if out:
        write_out(out, text)
    else:
        click.echo(text, nl=False)
