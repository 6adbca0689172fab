"""`lift static`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.options import FAIL_ON, JSON, NO_CACHE, Number, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="static")
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
    """Review a skill: is it well formed (lint), and does it fire when it should (activation).

    Lint reads SKILL.md and its links. Activation asks a cheap model, for each trigger prompt,
    whether it would load the skill given its description.

    \b
    Examples:
      lift static
      lift static path/to/skill --min-f1 0.85
      lift static --fail-on "precision<0.9" --fail-on "recall<0.8"
    """
    from lift.cli.reviewing import reviewed

    reviewed(
        config,
        skill,
        linted=True,
        activated=True,
        least_f1=min_f1,
        fail_on=fail_on,
        as_json=as_json,
    )
