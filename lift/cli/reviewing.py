"""What `lift static`, `lift lint` and `lift activation` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lift.cli.interrupts import told
from lift.cli.notes import note
from lift.cli.options import screen

if TYPE_CHECKING:
    from lift.review import Review
    from lift.settings import Config


def reviewed(
    config: Config,
    skill: str | None,
    *,
    linted: bool,
    activated: bool,
    least_f1: float | None,
    as_json: bool,
) -> None:
    """Review a skill, print what was found, send it, and hold it against what is asked for.

    Raises:
        Incomplete: too few of the trigger prompts were decided.
        ThresholdMissed: there are lint errors, or F1 is below `least_f1`.
    """
    from lift.reports import static
    from lift.review import review, target
    from lift.settings import langfuse_keys

    sends = activated and langfuse_keys(config) is not None
    path = target(config, skill)
    with told("every answer so far is kept", fix="run the same command again: it asks the rest"):
        found = review(config, path, linted=linted, activated=activated)
        click.echo(static.document(found) if as_json else static.terminal(found, **screen()))
        if sends:
            _send(config, found)
    _check(found, least_f1)


def _send(config: Config, found: Review) -> None:
    from lift.outbox.reviewing import deliver_review

    if line := deliver_review(config, found):
        note(line)


def _check(found: Review, least_f1: float | None) -> None:
    from lift.errors import Incomplete, ThresholdMissed

    if found.activation and found.activation.coverage.invalid:
        raise Incomplete(
            f"activation is invalid: {found.activation.coverage.invalid}",
            where=found.skill,
            fix="run it again: it asks what was not decided",
        )

    missed = []
    if found.lint and found.lint.errors:
        missed.append(f"{len(found.lint.errors)} lint errors")
    if least_f1 is not None and (
        found.activation is None or not found.activation.confusion.reaches(least_f1)
    ):
        missed.append(f"F1 is not {least_f1:.2f} or more")
    if missed:
        raise ThresholdMissed(" and ".join(missed), where=found.skill)
