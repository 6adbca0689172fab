"""An experiment back from Langfuse, compared."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from lift import frames
from lift.langfuse.pull import pulled
from lift.outbox.project import required
from lift.results import Result, check_conditions, result
from lift.settings import Config


def compared_in_langfuse(
    config: Config, experiment: str, *, base: str, other: str, since: timedelta
) -> Result:
    """Compare two conditions of an experiment, from Langfuse alone.

    Args:
        config: names the project.
        experiment: its name.
        base: condition to measure from.
        other: condition to measure.
        since: how far back its first trial may lie.

    Raises:
        SettingError: no keys are set.
        ExperimentError: there is no such experiment, or it has no such condition.
        LangfuseError: it cannot be asked.
    """
    with required(config) as source:
        found = pulled(source, experiment, since=datetime.now(UTC) - since)
    trials = frames.of(found.trials, frames.TRIALS)
    check_conditions(trials, experiment, (base, other))
    scores = frames.of(found.scores, frames.SCORES)
    return result(found.experiment, trials, scores, base=base, other=other)
