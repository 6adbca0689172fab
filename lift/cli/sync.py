"""`lift sync`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from lift.cli.interrupts import told
from lift.cli.notes import note
from lift.cli.options import JSON, settings

if TYPE_CHECKING:
    from lift.langfuse.datasets import Synced
    from lift.settings import Config

SHOWN = 20
"""So many changes are named; --json has them all."""


@click.command(name="sync")
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="Only this dataset.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything would change.")
@click.option("--force", is_flag=True, help="Write over items that were edited in the UI.")
@settings("langfuse_limit")
@JSON
def command(
    config: Config, datasets: tuple[str, ...], check: bool, force: bool, as_json: bool
) -> None:
    """Make the datasets in Langfuse like the modules: only what differs is written.

    Items that vanished from a module are archived. Items that others made are not touched, and
    what was edited in the UI is reported. A sync that broke off goes on from there.

    \b
    Examples:
      lift sync
      lift sync --check
      lift sync --langfuse-limit core
    """
    from lift.cli.counting import counting
    from lift.cli.printed import print_json
    from lift.errors import ThresholdMissed, counted
    from lift.outbox.syncing import sync

    with told("what was written stays", fix="lift sync writes the rest"):
        done = sync(config, datasets, check=check, force=force, counting=counting)
    if as_json:
        print_json({name: one._asdict() for name, one in done.items()})
    for name, one in done.items() if not as_json else ():
        counts = {kind: len(ids) for kind, ids in one._asdict().items() if ids}
        click.echo(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
        for line in _named(one, check=check):
            note(f"  {line}")
    writes = sum(one.writes for one in done.values())
    if check and writes:
        differ = "differs" if writes == 1 else "differ"
        raise ThresholdMissed(
            f"{counted(writes, 'item')} {differ}", where="lift sync", fix="run lift sync"
        )


def _named(one: Synced, *, check: bool) -> Iterator[str]:
    for item in one.edited:
        yield f"{item} was edited in the UI; --force writes over it"
    if check:
        kinds = {"created": one.created, "updated": one.updated, "archived": one.archived}
        lines = [f"{item} would be {kind}" for kind, items in kinds.items() for item in items]
        yield from lines[:SHOWN]
        if len(lines) > SHOWN:
            yield f"and {len(lines) - SHOWN} more"
