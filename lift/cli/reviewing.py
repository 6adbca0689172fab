"""What `lift static`, `lift lint` and `lift activation` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lift.cli.interrupts import told
from lift.cli.notes import note
from lift.cli.options import FAIL_ON, JSON, NO_CACHE, Command, Number, screen, settings

if TYPE_CHECKING:
    from lift.review import Review
    from lift.settings import Config
    from lift.thresholds import Threshold


def asking(command: Command) -> Command:
    """The options of a review that asks the trigger prompts, as `reviewed` takes them."""
    options = (
        click.argument("skill", required=False),
        click.option("--min-f1", type=Number(0, 1), metavar="F1", help="Exit 1 below it."),
        FAIL_ON,
        settings(
            "backend", "judge_model", "max_cost_usd", "concurrency", "price", "cache_max_age",
            "journal",
        ),
        NO_CACHE,
        JSON,
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def reviewed(
    config: Config,
    *,
    skill: str | None,
    linted: bool,
    activated: bool,
    min_f1: float | None = None,
    fail_on: Sequence[str] = (),
    as_json: bool,
) -> None:
    """Review a skill, print what was found, send it, and hold it against what is asked for.

    Raises:
        Incomplete: too few of the trigger prompts were decided.
        ThresholdMissed: there are lint errors, F1 is below `min_f1`, or a threshold that was
            given with `fail_on` or is set does not hold.
    """
    from lift.reports import static
    from lift.review import review, target
    from lift.settings import langfuse_keys
    from lift.thresholds import REVIEWED, Metric, asked, least

    thresholds = asked(config, fail_on, REVIEWED) if activated else []
    if min_f1 is not None:
        thresholds.append(least(Metric.F1, min_f1))
    sends = activated and langfuse_keys(config) is not None
    path = target(config, skill)
    with told("every answer so far is kept", fix="run the same command again: it asks the rest"):
        found = review(config, path, linted=linted, activated=activated)
        click.echo(static.document(found) if as_json else static.terminal(found, **screen()))
        if sends:
            _send(config, found)
    _check(found, thresholds)


def _send(config: Config, found: Review) -> None:
    from lift.outbox.reviewing import deliver_review

    if line := deliver_review(config, found):
        note(line)


def _check(found: Review, thresholds: Sequence[Threshold]) -> None:
    from lift.errors import Incomplete, ThresholdMissed, counted
    from lift.review import measured
    from lift.thresholds import missed

    if found.activation and found.activation.coverage.invalid:
        raise Incomplete(
            f"activation is invalid: {found.activation.coverage.invalid}",
            where=found.skill,
            fix="set ANTHROPIC_API_KEY, or write the replies that are missing"
            if found.activation.canned
            else "run it again: it asks what was not decided",
        )

    errors = len(found.lint.errors) if found.lint else 0
    lines = [counted(errors, "lint error")] if errors else []
    lines += missed(thresholds, measured(found))
    if lines:
        raise ThresholdMissed("; ".join(lines), where=found.skill)
