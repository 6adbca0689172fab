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
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--against", metavar="EXPERIMENT", help="Start from another experiment instead.")
@click.option("--out", type=click.Path(), metavar="FILE", help="Write it there; else print it.")
@settings("journal")
def command(
    config: Config,
    experiment: str | None,
    kind: str,
    as_json: bool,
    against: str | None,
    out: str | None,
) -> None:
    """Write a report of EXPERIMENT; of the last one by default. Secrets are masked.

    With --against it is what changed since another experiment, both with_skill.

    \b
    Examples:
      lift report > comment.md
      lift report --against vaadin-playwright-test-5e6f7a8b > comment.md
      lift report vaadin-playwright-test-1a2b3c4d --format json --out result.json
    """
    from lift.cli.printed import check_out, write_out
    from lift.journal import Journal
    from lift.reports import json, markdown
    from lift.results import candidates, compared, held_against, recorded

    check_out(out)
    with Journal(config.path("journal"), create=False) as journal:
        if against:
            both = (recorded(journal, name, hashed=True) for name in (experiment, against))
            result = held_against(*both)
        else:
            result = compared(journal, experiment)
        asking = candidates(journal, result)
    if as_json or kind == "json":
        text = json.comparison(result, asking)
    else:
        text = markdown.comparison(result)
    if out:
        write_out(out, text)
    else:
        click.echo(text, nl=False)
