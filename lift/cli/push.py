"""`lift push`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.interrupts import told
from lift.cli.options import settings

if TYPE_CHECKING:
    from lift.settings import Config

SECONDS = 600.0
"""How long an experiment may take to be sent."""


@click.command(name="push")
@click.argument("experiments", nargs=-1)
@settings("journal")
def command(config: Config, experiments: tuple[str, ...]) -> None:
    """Send what Langfuse has not taken of EXPERIMENTS; of all by default.

    What was taken is not sent again, so that the command can be repeated at any time.

    \b
    Examples:
      lift push
      lift push vaadin-playwright-test-1a2b3c4d
    """
    from lift.errors import CouldNotRun
    from lift.journal import Journal
    from lift.outbox import deliver

    unsent, idle = 0, True
    with (
        told("what Langfuse took is not sent again", fix="lift push sends the rest"),
        Journal(config.path("journal"), create=False) as journal,
    ):
        known = [journal.experiment(name) for name in experiments] or journal.experiments()
        for experiment in known:
            delivery = deliver(config, journal, experiment.name, seconds=SECONDS)
            unsent, idle = unsent + delivery.unsent, idle and delivery.idle
            for line in delivery.lines if not delivery.idle else ():
                click.echo(f"{experiment.name}: {line}")
    if idle:
        click.echo("nothing to send")
    if unsent:
        raise CouldNotRun(f"{unsent} parts are unsent", where="Langfuse", fix="run lift push again")
