"""What stands beside the categories: each metric of a comparison over everything."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from lift.comparing import Comparison
from lift.frames import (
    ALL,
    BASE,
    CONDITION,
    COST_USD,
    DATASET,
    DELTA,
    MEASURES,
    METRIC,
    MODEL,
    OTHER,
    SECONDS,
    STATUS,
    of,
)
from lift.schema import SETTLED
from lift.thresholds import Measured, Metric

Sides = Mapping[str, Measured]
"""Model → its two means."""


def measures(comparison: Comparison, trials: pd.DataFrame) -> pd.DataFrame:
    """The means of a comparison's metrics.

    Args:
        comparison: has the scores.
        trials: TRIALS, with what they cost and took.

    Returns:
        MEASURES.
    """
    answered = trials[trials[STATUS].isin(list(SETTLED))]
    sides = {
        Metric.RUBRIC: _scored(comparison.categories),
        Metric.JUDGE: _scored(comparison.judged),
        Metric.COST: _paid(answered, comparison),
        Metric.LATENCY: _means(answered, SECONDS, comparison),
    }
    return of(_rows(sides, sorted(trials[MODEL].unique())), MEASURES)


def of_model(table: pd.DataFrame, model: str) -> dict[Metric, Measured]:
    """What was measured of a model: MEASURES in."""
    rows = table[table[MODEL] == model].to_dict("records")
    return {Metric(row[METRIC]): Measured(row[BASE], row[OTHER]) for row in rows}


def _rows(sides: Mapping[Metric, Sides], models: Iterable[str]) -> Iterable[dict[str, object]]:
    nothing = Measured(math.nan, math.nan)
    for model in models:
        for metric, found in sides.items():
            base, other = found.get(model, nothing)
            yield {
                MODEL: model, METRIC: str(metric), BASE: base, OTHER: other, DELTA: other - base
            }  # fmt: skip


def _scored(categories: pd.DataFrame) -> Sides:
    rows = categories[categories[DATASET] == ALL].to_dict("records")
    return {row[MODEL]: Measured(row[BASE], row[OTHER]) for row in rows}


def _means(trials: pd.DataFrame, column: str, comparison: Comparison) -> Sides:
    means = trials.groupby([MODEL, CONDITION], observed=True)[column].mean().unstack()
    sides = means.reindex(columns=[comparison.base, comparison.other]).itertuples()
    return {model: Measured(base, other) for model, base, other in sides}


def _paid(trials: pd.DataFrame, comparison: Comparison) -> Sides:
    """Dollars of a trial. Where some were paid, one that cost nothing says nothing of the price."""
    paid = trials[trials[COST_USD] > 0]
    return _means(trials if paid.empty else paid, COST_USD, comparison)
