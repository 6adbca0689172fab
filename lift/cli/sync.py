"""`lift sync`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.interrupts import told
from lift.cli.notes import note
from lift.cli.options import JSON, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="sync")
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="Only this dataset.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything would change.")
@click.option("--force", is_flag=True, help="Write over items that were edited in the UI.")
@settings()
@JSON
def command(
    config: Config, datasets: tuple[str, ...], check: bool, force: bool, as_json: bool
) -> None:
    """Make the datasets in Langfuse like the modules: only what differs is written.

    Items that vanished from a module are archived. Items that others made are not touched, and
    what was edited in the UI is reported.

    \b
    Examples:
      lift sync
      lift sync --check
    """
    import json

    from lift.errors import ThresholdMissed
    from lift.outbox.syncing import sync

    with told("what was written stays", fix="lift sync writes the rest"):
        done = sync(config, datasets, check=check, force=force)
    if as_json:
        click.echo(json.dumps({name: one._asdict() for name, one in done.items()}, indent=2))
    for name, one in done.items() if not as_json else ():
        counts = {kind: len(ids) for kind, ids in one._asdict().items() if ids}
        click.echo(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
        for item in one.edited:
            note(f"  {item} was edited in the UI; --force writes over it")
    writes = sum(one.writes for one in done.values())
    if check and writes:
        raise ThresholdMissed(f"{writes} items differ", where="lift sync", fix="run lift sync")
