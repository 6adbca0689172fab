"""What calls will cost, and whether a person wants that."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lift.plan import Estimate
    from lift.settings import Config

YES = click.option("--yes", is_flag=True, help="Do not ask, whatever the expected cost.")


def about(estimate: Estimate) -> str:
    """The expected cost, in words."""
    return f"about ${estimate.usd:.2f} (${estimate.low_usd:.2f} to ${estimate.high_usd:.2f})"


def confirmed(
    experiment: str,
    estimate: Estimate,
    config: Config,
    *,
    yes: bool,
    tell: Callable[[], None] = lambda: None,
) -> bool:
    """Ask where it is dear; whether it was.

    Args:
        experiment: its name.
        estimate: of the calls.
        config: above which cost a yes is needed.
        yes: whether it was given beforehand.
        tell: says what the money buys, before the question.

    Raises:
        UsageError: nobody is there to ask.
    """
    from lift.prepare import unconfirmed

    fix = "add --yes, or raise confirm_above_usd"
    problem = unconfirmed(experiment, estimate, config.settings, fix=fix)
    if yes or problem is None:
        return False
    tell()
    if not sys.stdin.isatty():
        raise problem
    click.confirm("Go on?", abort=True, err=True)
    return True
