"""`lift push`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from lift.cli.interrupts import told
from lift.cli.notes import note
from lift.cli.options import JSON, Number, settings
from lift.cli.sending import elsewhere
from lift.errors import CouldNotRun, counted, visible

if TYPE_CHECKING:
    from lift.journal import Journal
    from lift.outbox.delivery import Readable
    from lift.settings import Config

SECONDS = 600.0
"""How long an experiment may take to be sent."""

MOST_FAILURES = 2
"""Of so many experiments in a row a server took nothing: it is not given the others."""

SHOWN = 20
"""So many missing things are named; --json has them all."""


@click.command(name="push")
@click.argument("experiments", nargs=-1)
@click.option("--wait", "waits", is_flag=True, help="Until all of it can be read there.")
@click.option(
    "--timeout",
    type=Number(min=0),
    metavar="SECONDS",
    help="Of --wait.  [default: 600; in Langfuse Cloud 1200]",
)
@settings("journal", "langfuse_limit")
@JSON
def command(
    config: Config,
    experiments: tuple[str, ...],
    waits: bool,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Send what Langfuse has not taken of EXPERIMENTS; of all by default.

    What was taken is not sent again, so that the command can be repeated at any time. A server
    takes things before it can show them: --wait looks until all of it can be read, and names
    what cannot.

    \b
    Examples:
      lift push
      lift push vaadin-playwright-test-1a2b3c4d --wait --timeout 120
    """
    from lift.cli.printed import print_json
    from lift.journal import Journal

    with (
        told("what Langfuse took is not sent again", fix="lift push sends the rest"),
        Journal(config.path("journal"), create=False) as journal,
    ):
        known = [journal.experiment(name) for name in experiments] or journal.experiments()
        names = [experiment.name for experiment in known]
        pushed = _pushed(config, journal, names, waits=waits, timeout=timeout, quiet=as_json)
    if as_json:
        print_json(pushed)
    if unsent := sum(one["unsent"] for one in pushed.values()):
        raise CouldNotRun(
            f"{counted(unsent, 'part')} not sent", where="Langfuse", fix="run lift push again"
        )
    if missing := sum(len(one.get("missing", ())) for one in pushed.values()):
        raise CouldNotRun(
            f"{counted(missing, 'thing')} cannot be read yet",
            where="Langfuse",
            fix="look again later with lift push --wait; the journal has them meanwhile",
        )


def _pushed(
    config: Config,
    journal: Journal,
    names: Sequence[str],
    *,
    waits: bool,
    timeout: float | None,
    quiet: bool,
) -> dict[str, dict[str, Any]]:
    """Send each experiment, then wait for those that went whole."""
    from lift.outbox.delivery import wait

    done = _sent(config, journal, names, quiet=quiet)
    until = None if timeout is None else time.monotonic() + timeout
    for name in names if waits else ():
        if not done[name]["unsent"]:
            left = None if until is None else max(0.0, until - time.monotonic())
            found = wait(config, journal, name, seconds=left)
            done[name]["missing"] = [piece._asdict() for piece in found.missing]
            for line in _told(found) if not quiet else ():
                click.echo(visible(f"{name}: {line}"))
    return done


def _sent(
    config: Config, journal: Journal, names: Sequence[str], *, quiet: bool
) -> dict[str, dict[str, Any]]:
    """Send each experiment, as long as the server takes anything."""
    from lift.outbox.delivery import deliver, left

    done: dict[str, dict[str, Any]] = {}
    idle, failures = True, 0
    for name in names:
        if failures >= MOST_FAILURES:
            break
        delivery = deliver(config, journal, name, seconds=SECONDS, waiting=elsewhere(), told=note)
        idle, failures = idle and delivery.idle, failures + 1 if delivery.fails else 0
        done[name] = {"unsent": delivery.unsent, "lines": list(delivery.lines)}
        for line in delivery.lines if not (quiet or delivery.idle) else ():
            click.echo(visible(f"{name}: {line}"))
    if rest := [name for name in names if name not in done]:
        note(f"the server takes nothing: {counted(len(rest), 'experiment')} not tried")
        done |= {name: {"unsent": left(config, journal, name).unsent, "lines": []} for name in rest}
    if idle and not quiet:
        click.echo("nothing to send")
    return done


def _told(found: Readable) -> Sequence[str]:
    if not found.missing:
        return ("all of it can be read",)
    whats: dict[str, list[str]] = {}
    for piece in found.missing:
        whats.setdefault(piece.trial, []).append(piece.what)
    lines = [f"cannot be read yet: {trial}: {', '.join(of)}" for trial, of in whats.items()]
    more = [f"and of {len(lines) - SHOWN} more trials"] if len(lines) > SHOWN else []
    why = [found.why] if found.why else []
    return [*lines[:SHOWN], *more, *why]
