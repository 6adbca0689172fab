"""`lift static`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lift.cli.reviewing import asking, reviewed

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="static")
@asking
def command(config: Config, **asked: Any) -> None:
    """Review a skill: is it well formed (lint), and does it fire when it should (activation).

    Lint reads SKILL.md and its links. Activation asks a cheap model, for each trigger prompt,
    whether it would load the skill given its description.

    \b
    Examples:
      lift static
      lift static path/to/skill --min-f1 0.85
      lift static --fail-on "precision<0.9" --fail-on "recall<0.8"
    """
    reviewed(config, linted=True, activated=True, **asked)
