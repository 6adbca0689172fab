"""`lift judge`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from lift.cli.costs import YES, about, confirmed
from lift.cli.notes import note
from lift.cli.options import JSON, NO_CACHE, settings
from lift.errors import counted

if TYPE_CHECKING:
    from lift.settings import Config


@click.command(name="judge")
@click.argument("experiment", required=False)
@settings(
    "judge_model", "judge_votes", "max_cost_usd", "concurrency", "cache_max_age", "price",
    "journal",
)  # fmt: skip
@NO_CACHE
@YES
@JSON
def command(config: Config, experiment: str | None, yes: bool, as_json: bool) -> None:
    """Ask the judge for the votes that EXPERIMENT lacks; the last one by default.

    Answers are not asked again. Votes of another model or by other criteria are replaced.

    \b
    Examples:
      lift judge
      lift judge vaadin-playwright-test-1a2b3c4d --judge-votes 3
    """
    from lift.cli.outliving import outlive
    from lift.cli.printed import print_comparison
    from lift.cli.progress import VOTES, watched
    from lift.cli.sending import sending
    from lift.journal import Journal
    from lift.judged import CRITERIA
    from lift.perform import judge, votes
    from lift.results import compared

    with Journal(config.path("journal"), create=False) as journal:
        known = journal.experiment(experiment)
    lacking = votes(config, known)
    if lacking.cast:
        note(f"{known.name}: {counted(lacking.cast, 'vote')}, {about(lacking.estimate)}")
    confirmed(known.name, lacking.estimate, config, yes=yes)
    if lacking.cast and not known.canned:
        outlive()
    spent_usd = known.cost_usd + known.lost_usd
    with sending(config, known.name):
        if lacking.cast:
            with watched(Counter({VOTES: lacking.cast}), spent_usd, config) as watcher:
                judge(config, known, watcher)
        with Journal(config.path("journal"), create=False) as journal:
            result = compared(journal, known.name)
        print_comparison(result, as_json=as_json)
    if known.in_batches:
        note(f"{counted(known.in_batches, 'call')} wait in batches: lift collect")
    elif not result.recorded.judges:
        note(f"nothing is judged: {CRITERIA}")
