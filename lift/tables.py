"""An experiment out of the journal, as the frames that a comparison is made of."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lift.frames import (
    ATTEMPT,
    CONDITION,
    COST_USD,
    DATASET,
    JUDGED,
    MODEL,
    SCORES,
    SECONDS,
    STATUS,
    TRIAL,
    TRIALS,
    Columns,
    shape,
)
from lift.journal import Experiment, Journal
from lift.journal.columns import Column
from lift.schema import SETTLED, Status

ID, MS = "id", "ms"


class Tables(NamedTuple):
    """An experiment, its trials, and what was said of them."""

    experiment: Experiment
    trials: pd.DataFrame
    """TRIALS, a reused answer at what it cost when it was paid for."""
    scores: pd.DataFrame
    """SCORES."""


def tables(journal: Journal, name: str | None = None) -> Tables:
    """The frames of an experiment.

    Args:
        journal: where it is recorded.
        name: of the experiment; None for the one that ran last.

    Raises:
        ExperimentError: there is none of that name.
    """
    with journal.snapshot(), ThreadPoolExecutor(1) as pool:
        found = journal.named(name)
        # read at the same time, and of no earlier moment than the trials
        reading = pool.submit(_said, journal.path, found)
        trials = _trials(journal, found)
    bare, said = reading.result()
    return Tables(_counted(bare, trials), shape(trials, TRIALS), _scores(said, trials))


def _said(path: Path, experiment: str) -> tuple[Experiment, pd.DataFrame]:
    """An experiment, and what was said of each attempt, with the journal's id of its trial."""
    with Journal(path, create=False) as journal:
        bare = journal.uncounted(experiment)
        checks = _typed(journal.score_columns(experiment), SCORES).assign(**{JUDGED: False})
        judges = _typed(journal.judge_columns(experiment), SCORES).assign(**{JUDGED: True})
    return bare, pd.concat([checks, judges]) if len(judges) else checks


def _counted(bare: Experiment, trials: pd.DataFrame) -> Experiment:
    return bare._replace(
        models=tuple(sorted(trials[MODEL].unique())),
        datasets=tuple(sorted(trials[DATASET].unique())),
        conditions=tuple(sorted(trials[CONDITION].unique())),
        planned=len(trials),
        answered=int(trials[STATUS].isin(list(SETTLED)).sum()),
        errored=int((trials[STATUS] == Status.ERRORED).sum()),
    )


def _trials(journal: Journal, experiment: str) -> pd.DataFrame:
    """TRIALS, with the journal's id of each."""
    attempts = _typed(journal.trial_columns(experiment), TRIALS)
    if (np.diff(attempts[ID]) <= 0).any():  # of several attempts, or in another order
        attempts = attempts.sort_values([ID, ATTEMPT])
        paid = attempts.groupby(ID)[COST_USD].sum().to_numpy()
        attempts = attempts[~attempts.duplicated(ID, keep="last")].reset_index(drop=True)
        attempts = _used(attempts.assign(**{COST_USD: paid}))
    return attempts.assign(**{SECONDS: attempts[MS] / 1000.0})


def _scores(said: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """SCORES, of the latest attempts."""
    said = said[said[ID].isin(trials[ID])]
    places = np.searchsorted(trials[ID].to_numpy(), said[ID].to_numpy())
    latest = trials[ATTEMPT].to_numpy()[places] == said[ATTEMPT].to_numpy()
    of_trials = trials[TRIAL].take(places[latest]).reset_index(drop=True)
    found = pd.concat([of_trials, said[latest].reset_index(drop=True)], axis="columns")
    return shape(_used(found), SCORES)


def _used(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without names that none of its rows has."""
    named = frame.select_dtypes("category").columns
    return frame.assign(**{str(n): frame[n].cat.remove_unused_categories() for n in named})


def _typed(columns: Mapping[str, Column], types: Columns) -> pd.DataFrame:
    """A frame of columns that are typed at once: to guess what is in them would take longer."""
    return pd.DataFrame(
        {
            name: np.fromstring(values, dtype=types.get(name, "int64"), sep=",")
            if isinstance(values, str)
            else pd.Categorical(np.array(values, dtype="object"))
            for name, values in columns.items()
        }
    )
