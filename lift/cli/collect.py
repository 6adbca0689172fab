"""`lift collect`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from lift.cli.notes import note
from lift.cli.options import JSON, NO_WAIT, settings

if TYPE_CHECKING:
    from lift.batching import Collected
    from lift.settings import Config


@click.command(name="collect")
@click.argument("experiment", required=False)
@NO_WAIT
@click.option("--give-up", is_flag=True, help="Give up batches that the server has no more.")
@settings("max_cost_usd", "journal")
@JSON
def command(
    config: Config, experiment: str | None, no_wait: bool, give_up: bool, as_json: bool
) -> None:
    """Take in what the batches of EXPERIMENT have answered; of every experiment by default.

    Hands over what is left, votes too, and waits until all is there. It goes on from the journal:
    after Ctrl-C, a crash or a reboot, and without the dataset modules.

    \b
    Examples:
      lift collect
      lift collect vaadin-playwright-test-1a2b3c4d --no-wait
    """
    from lift.batching import collect
    from lift.cli.progress import Looks
    from lift.cli.sending import sending

    names = _names(config, experiment)
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(sending(config, name))
        found = collect(config, names, Looks(), wait=not no_wait, give_up=give_up) if names else []
        if as_json and not names:
            from lift.cli.printed import print_json

            print_json({"experiment": experiment, "in_batches": 0})
        _print(config, found, as_json=as_json)


def _names(config: Config, experiment: str | None) -> list[str]:
    """The experiments that something goes by batch of."""
    from lift.journal import Journal

    with Journal(config.path("journal"), create=False) as journal:
        known = [journal.experiment(experiment).name] if experiment else journal.with_batches()
        names = [name for name in known if journal.ordered(name)]
    if not names:
        note(f"nothing of {experiment or 'any experiment'} goes by batch")
    return names


def _print(config: Config, found: list[Collected], *, as_json: bool) -> None:
    from lift.cli.printed import print_comparison, print_left
    from lift.errors import Incomplete
    from lift.journal import Journal
    from lift.results import compared

    problems = [one.stopped for one in found if one.stopped]
    for one in found:
        if one.stopped:
            continue
        if one.left:
            print_left(one.experiment, one.left, as_json=as_json)
            continue
        with Journal(config.path("journal"), create=False) as journal:
            result = compared(journal, one.experiment)
        try:
            print_comparison(result, as_json=as_json)
        except Incomplete as problem:
            problems.append(problem)
    for other in problems[1:]:
        note(str(other))
    if problems:
        raise problems[0]
