"""An experiment out of the journal, as the frames that a comparison is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from lift.ahead import Reading, Said
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
    return framed(Reading(journal, name))


def framed(reading: Reading) -> Tables:
    """The frames of an experiment that is being read."""
    said = _said(reading.said())
    answered = reading.answered()
    attempts = _latest(_typed(answered.attempts, TRIALS))
    trials = _trials(_typed(reading.planned(), TRIALS), attempts)
    return Tables(
        _counted(answered.experiment, trials), shape(trials, TRIALS), _scores(said, trials)
    )


def _said(said: Said) -> pd.DataFrame:
    """What was said of each attempt, with the journal's id of its trial."""
    checks = _typed(said.checks, SCORES).assign(**{JUDGED: False})
    judges = _typed(said.judges, SCORES).assign(**{JUDGED: True})
    return pd.concat([checks, judges]) if len(judges) else checks


def _counted(bare: Experiment, trials: pd.DataFrame) -> Experiment:
    return bare._replace(
        models=tuple(sorted(trials[MODEL].unique())),
        datasets=tuple(sorted(trials[DATASET].unique())),
        conditions=tuple(sorted(trials[CONDITION].unique())),
        planned=len(trials),
        answered=int(trials[STATUS].isin(list(SETTLED)).sum()),
        errored=int((trials[STATUS] == Status.ERRORED).sum()),
    )


def _trials(planned: pd.DataFrame, attempts: pd.DataFrame) -> pd.DataFrame:
    """TRIALS, with the journal's id of each; of attempts in the order of theirs."""
    planned = _in_order(planned, [ID])
    places = np.searchsorted(planned[ID].to_numpy(), attempts[ID].to_numpy())
    trials = pd.concat([_taken(planned.drop(columns=ID), places), attempts], axis="columns")
    return trials.assign(**{SECONDS: trials[MS] / 1000.0})


def _latest(attempts: pd.DataFrame) -> pd.DataFrame:
    """The latest attempt of each trial, in the order of their ids, at what all of its cost."""
    attempts = _in_order(attempts, [ID, ATTEMPT])
    again = attempts.duplicated(ID, keep="last")
    if not again.any():
        return attempts
    paid = attempts.groupby(ID)[COST_USD].sum().to_numpy()
    return _taken(attempts, np.flatnonzero(~again)).assign(**{COST_USD: paid})


def _in_order(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The rows by the ids that they begin with, which most are already."""
    if (np.diff(rows[by[0]]) > 0).all():
        return rows
    return rows.sort_values(by).reset_index(drop=True)


def _scores(said: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """SCORES, of the latest attempts."""
    said = said[said[ID].isin(trials[ID])]
    places = np.searchsorted(trials[ID].to_numpy(), said[ID].to_numpy())
    latest = trials[ATTEMPT].to_numpy()[places] == said[ATTEMPT].to_numpy()
    of_trials = _taken(trials[TRIAL], places[latest])
    scores = _taken(said.drop(columns=[ID, ATTEMPT]), np.flatnonzero(latest))
    return shape(pd.concat([of_trials, scores], axis="columns"), SCORES)


def _taken(frame: pd.DataFrame, places: npt.NDArray[np.int64]) -> pd.DataFrame:
    """Rows of a frame by their places, without names that none of them has."""
    rows = frame.take(places).reset_index(drop=True)
    if np.bincount(places, minlength=len(frame)).all():
        return rows
    named = rows.select_dtypes("category").columns
    return rows.assign(**{str(n): rows[n].cat.remove_unused_categories() for n in named})


def _typed(columns: Mapping[str, Column], types: Columns) -> pd.DataFrame:
    """A frame of columns that are typed at once: to guess what is in them would take longer."""
    return pd.DataFrame(
        {
            name: np.fromstring(values, dtype=types.get(name, "int64"), sep=",")
            if isinstance(values, str)
            else _names(values)
            for name, values in columns.items()
        }
    )


def _names(values: Sequence[str]) -> pd.Categorical:
    """Names that are known to be text; pandas would look at each once more."""
    places, known = pd.factorize(np.array(values, dtype="object"))
    order = np.argsort(known)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return pd.Categorical.from_codes(ranks[places], pd.Index(known[order]))
