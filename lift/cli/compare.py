"""`lift compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.options import JSON, settings

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="compare")
@click.argument("experiment", required=False)
@click.option("--base", default="without_skill", show_default=True, help="Condition to start from.")
@click.option("--other", default="with_skill", show_default=True, help="Condition to measure.")
@click.option(
    "--max-drop",
    metavar="DROP",
    help="Exit 1 if a category falls by more: 10% of base, or 0.10 points.",
)
@settings("journal")
@JSON
def command(
    config: Config,
    experiment: str | None,
    base: str,
    other: str,
    max_drop: str | None,
    as_json: bool,
) -> None:
    """Show what the skill changed in EXPERIMENT, per category; the last one by default.

    Items are paired with themselves: the mean over repeats under either condition, and the
    other's minus base's. Errored trials are never scored.

    \b
    Examples:
      lift compare
      lift compare vaadin-playwright-test-1a2b3c4d --max-drop 10%
      lift compare --json
    """
    from lift.cli.printed import print_comparison
    from lift.compare import parse_drop
    from lift.journal import Journal
    from lift.results import check_drop, compared

    drop = parse_drop(max_drop) if max_drop is not None else None
    with Journal(config.path("journal"), create=False) as journal:
        result = compared(journal, experiment, base=base, other=other)
    print_comparison(result, as_json=as_json)
    if drop:
        check_drop(result, drop)
