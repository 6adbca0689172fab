"""`lift compare`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lift.cli.notes import note
from lift.cli.options import FAIL_ON, JSON, SINCE, settings

if TYPE_CHECKING:
    from datetime import timedelta

    from lift.against import Recorded
    from lift.results import Result
    from lift.settings import Config
    from lift.suggesting import Suggestion


@click.command(name="compare")
@click.argument("experiment", required=False)
@click.option("--base", metavar="NAME", help="Condition to start from.")
@click.option("--other", metavar="NAME", help="Condition to measure.")
@click.option("--against", metavar="EXPERIMENT", help="Start from another experiment instead.")
@click.option(
    "--max-drop",
    metavar="DROP",
    help="Exit 1 if a category falls by more: 10% of base, or 0.10 points.",
)
@FAIL_ON
@click.option("--suggest", is_flag=True, help="Say what to do about failing checks and odd items.")
@click.option(
    "--from",
    "source",
    type=click.Choice(["journal", "langfuse"]),
    default="journal",
    show_default=True,
    help="Where the scores are read.",
)
@SINCE
@settings("journal")
@JSON
def command(
    config: Config,
    experiment: str | None,
    base: str | None,
    other: str | None,
    against: str | None,
    max_drop: str | None,
    fail_on: tuple[str, ...],
    suggest: bool,
    source: str,
    since: timedelta,
    as_json: bool,
) -> None:
    """Show what the skill changed in EXPERIMENT, per category; the last one by default.

    Items are paired with themselves: the mean over repeats under either condition, and the
    other's minus base's. Errored trials are never scored. The base is without_skill or old_skill;
    with --against it is another experiment, both with_skill unless --other says otherwise, and
    only items that are the same in both are compared.

    Thresholds of rubric, judge, cost (US dollars a trial) and latency (seconds a trial): without a
    sign the number is the value with --other, with one the change from --base.

    \b
    Examples:
      lift compare
      lift compare --suggest
      lift compare --fail-on "rubric<0.8" --fail-on "judge<-0.05" --fail-on "cost>+50%"
      lift compare vaadin-playwright-test-1a2b3c4d --max-drop 10%
      lift compare vaadin-playwright-test-1a2b3c4d --against vaadin-playwright-test-5e6f7a8b
      lift compare vaadin-playwright-test-1a2b3c4d --from langfuse --since 90d --json
    """
    from lift.cli.printed import print_comparison
    from lift.schema import WITH_SKILL
    from lift.thresholds import asked, parse_drop

    thresholds = asked(config, fail_on)
    drop = parse_drop(max_drop) if max_drop is not None else None
    if against and base:
        raise click.UsageError("--against is a base: --base names another")
    if suggest and source == "langfuse":
        raise click.UsageError("--suggest reads the answers in the journal, not --from langfuse")
    read = _from_langfuse if source == "langfuse" else _from_journal
    found = read(config, experiment, since, hashed=against is not None)
    from lift.results import check, held_against, result

    if against:
        base_of = read(config, against, since, hashed=True)
        compared = held_against(found, base_of, condition=other or WITH_SKILL)
    else:
        compared = result(found, base=base, other=other)
    told = _suggestions(config, compared) if suggest else None
    print_comparison(compared, as_json=as_json, suggestions=told)
    check(compared, thresholds, drop)


def _from_journal(
    config: Config, experiment: str | None, _since: timedelta, *, hashed: bool
) -> Recorded:
    from lift.ahead import Reading
    from lift.cli.printed import print_left
    from lift.journal import Journal

    with Journal(config.path("journal"), create=False) as journal:
        reading = Reading(journal, experiment)
        from lift.results import recorded  # takes a moment, in which SQLite reads

        found = recorded(journal, experiment, hashed=hashed, reading=reading)
        if calls := found.experiment.in_batches:
            print_left(found.experiment.name, calls, as_json=False)
        return found


def _from_langfuse(
    config: Config,
    experiment: str | None,
    since: timedelta,
    *,
    hashed: bool,  # noqa: ARG001 - it has all
) -> Recorded:
    from lift.outbox.pulling import opinions, pull

    if experiment is None:
        raise click.UsageError("--from langfuse needs the experiment's name")
    found = pull(config, experiment, since=since)
    for line in opinions(found.annotations):
        note(line)
    return found.recorded


def _suggestions(config: Config, compared: Result) -> Sequence[Suggestion]:
    from lift.advice import advice
    from lift.journal import Journal

    with Journal(config.path("journal"), create=False) as journal:
        return advice(journal, compared)
