"""`lift lint`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.options import JSON, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="lint")
@click.argument("skill", required=False)
@settings()
@JSON
def command(
    config: Config,
    skill: str | None,
    as_json: bool,
) -> None:
    """Lint a skill: frontmatter, description, headings, links.

    Every finding names its line. Errors exit with 1.

    \b
    Examples:
      lift lint
      lift lint path/to/skill --json
    """
    from lift.cli.reviewing import reviewed

    reviewed(config, skill=skill, linted=True, activated=False, as_json=as_json)
