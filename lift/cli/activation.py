"""`lift activation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.options import FAIL_ON, JSON, NO_CACHE, Number, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="activation")
@click.argument("skill", required=False)
@click.option("--min-f1", type=Number(0, 1), metavar="F1", help="Exit 1 below it.")
@FAIL_ON
@settings(
    "backend", "judge_model", "max_cost_usd", "concurrency", "price", "cache_max_age", "journal"
)
@NO_CACHE
@JSON
def command(
    config: Config,
    skill: str | None,
    min_f1: float | None,
    fail_on: tuple[str, ...],
    as_json: bool,
) -> None:
    """Ask whether a skill fires when it should: precision, recall and F1.

    A cheap model decides, for each trigger prompt, whether it would load the skill given its
    description. Answers to unchanged questions are kept for a week.

    \b
    Examples:
      lift activation
      lift activation path/to/skill --min-f1 0.85
      lift activation --fail-on "precision<0.9" --fail-on "recall<0.8"
    """
    from lift.cli.reviewing import reviewed

    reviewed(
        config,
        skill,
        linted=False,
        activated=True,
        least_f1=min_f1,
        fail_on=fail_on,
        as_json=as_json,
    )
