"""`lift schema`."""

from __future__ import annotations

import click

DOCUMENTS = ("comparison", "baseline")


@click.command(name="schema")
@click.argument("document", type=click.Choice(DOCUMENTS), default="comparison")
def command(document: str) -> None:
    """Print the JSON schema of a comparison (what --json and --out write), or of a baseline.

    \b
    Examples:
      lift schema > comparison.schema.json
      lift schema baseline > baseline.schema.json
    """
    import json

    from lift.reports.shapes import schema

    click.echo(json.dumps(schema(document), indent=2))
