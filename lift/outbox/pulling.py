"""An experiment back from Langfuse: its frames, and its comparison."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pandas as pd

from lift import frames
from lift.against import ItemKey, Recorded
from lift.journal import Experiment
from lift.langfuse.pull import pulled
from lift.outbox.project import required
from lift.settings import Config


class Frames(NamedTuple):
    """An experiment as Langfuse knows it."""

    trials: pd.DataFrame
    """Shape: frames.TRIALS."""
    scores: pd.DataFrame
    """Shape: frames.SCORES."""
    annotations: pd.DataFrame
    """What people made of the trials; shape: frames.ANNOTATIONS."""
    experiment: Experiment
    items: Mapping[ItemKey, str]
    """Dataset and item → hash of what is asked and how it is scored."""

    @property
    def recorded(self) -> Recorded:
        """What a comparison is made of."""
        return Recorded(self.experiment, self.trials, self.scores, self.items)


def pull(config: Config, experiment: str, *, since: timedelta) -> Frames:
    """An experiment out of Langfuse.

    Args:
        config: names the project.
        experiment: its name.
        since: how far back its first trial may lie.

    Raises:
        SettingError: no keys are set.
        ExperimentError: there is no such experiment.
        LangfuseError: it cannot be asked, or lacks some of it.
    """
    with required(config) as source:
        found = pulled(source, experiment, since=datetime.now(UTC) - since)
    return Frames(
        frames.of(found.trials, frames.TRIALS),
        frames.of(found.scores, frames.SCORES),
        frames.of(found.annotations, frames.ANNOTATIONS),
        found.experiment,
        found.items,
    )


def opinions(annotations: pd.DataFrame) -> list[str]:
    """What people made of the trials, one line a score: ANNOTATIONS in."""
    lines = []
    for name, given in annotations.groupby(frames.NAME):
        sides = []
        for condition, rows in given.groupby(frames.CONDITION):
            labels = rows[frames.LABEL].loc[rows[frames.LABEL] != ""].value_counts()
            mean = rows[frames.VALUE].mean()
            said = [f"{count} {label}" for label, count in labels.items()]
            said += [f"{mean:.2f}"] if mean == mean else []
            sides.append(f"{condition} {', '.join(said)} (n = {len(rows)})")
        lines.append(f"people say {name}: {'; '.join(sides)}")
    return lines
