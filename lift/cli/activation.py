"""`lift activation`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lift.cli.reviewing import asking, reviewed

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="activation")
@asking
def command(config: Config, **asked: Any) -> None:
    """Ask whether a skill fires when it should: precision, recall and F1.

    A cheap model decides, for each trigger prompt, whether it would load the skill given its
    description. Answers to unchanged questions are kept for a week.

    \b
    Examples:
      lift activation
      lift activation path/to/skill --min-f1 0.85
      lift activation --fail-on "precision<0.9" --fail-on "recall<0.8"
    """
    reviewed(config, linted=False, activated=True, **asked)
