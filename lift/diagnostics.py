"""What the items and evaluators of a comparison are worth: which tell nothing, which waver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

import numpy as np
import pandas as pd
from pydantic import Field

from lift.comparing import SAME, Comparison
from lift.frames import (
    BASE,
    CONDITION,
    DATASET,
    DELTA,
    EVALUATOR,
    HIGH,
    ITEM,
    ITEMS,
    JUDGED,
    LOW,
    MODEL,
    OTHER,
    SCORE,
    STATUS,
    VALUE,
)
from lift.grouping import Groups
from lift.schema import Many, Noun, Status, Unit

FIRST = 100
"""So many of each kind are named; all are counted."""
SEVERAL = 2
"""On a single item an evaluator need not tell the conditions apart."""

Count = Annotated[int, Field(ge=0)]


class ModelItem(Noun):
    """An item under a model."""

    model: str
    dataset: str
    item: str


class Move(ModelItem):
    """An item that differs between the conditions."""

    base: Unit
    other: Unit
    delta: float


class Flaky(ModelItem):
    """An item whose repeats under one condition do not score the same."""

    condition: str
    low: Unit
    """Lowest score of its trials."""
    high: Unit


class Undiscerning(Noun):
    """An evaluator that scores every item the same under either condition."""

    model: str
    dataset: str
    evaluator: str
    items: Count
    """It scored on both sides."""
    value: Unit
    """Its mean."""


class Failed(Noun):
    """Trials of a condition that the model answered badly: cut off, or refused. They are graded."""

    condition: str
    failed: Count
    answered: Count
    reasons: Mapping[str, Count]
    """Why → how many; empty where that is not known."""


class Diagnostics(Noun):
    """What to look at. Lists are capped at 100, the largest first; counts are of all."""

    items: Count
    """With a score on both sides, counted for each model."""
    saturated: Many[ModelItem]
    """Perfect in every trial of both sides: they cannot show what the skill adds."""
    saturated_count: Count
    dead: Many[ModelItem]
    """0 in every trial of both sides: the item or its rubric is broken, or far too hard."""
    dead_count: Count
    flaky: Many[Flaky]
    flaky_count: Count
    """Items, be it on one side or on both."""
    moved: Many[Move]
    moved_count: Count
    undiscerning: Many[Undiscerning]
    failed: Many[Failed]


def diagnosed(
    comparison: Comparison,
    trials: pd.DataFrame,
    *,
    reasons: Mapping[str, Mapping[str, int]] | None = None,
) -> Diagnostics:
    """What the items and evaluators of a comparison are worth.

    Args:
        comparison: the deltas.
        trials: TRIALS that they come from.
        reasons: condition → why trials failed → how many, where that is known.
    """
    pairs = comparison.fit(comparison.deltas)
    both = pairs[[BASE, OTHER]]
    saturated = pairs[(both >= 1 - SAME).all(axis="columns")]
    dead = pairs[(both <= SAME).all(axis="columns")]
    moved = pairs[pairs[DELTA].abs() > SAME]
    moved = moved.iloc[np.argsort(-moved[DELTA].abs().to_numpy(), kind="stable")]
    wavering = _wavering(comparison)
    return Diagnostics(
        items=len(pairs),
        saturated=_nouns(ModelItem, saturated),
        saturated_count=len(saturated),
        dead=_nouns(ModelItem, dead),
        dead_count=len(dead),
        flaky=_nouns(Flaky, wavering),
        flaky_count=len(wavering.drop_duplicates([MODEL, DATASET, ITEM])),
        moved=_nouns(Move, moved),
        moved_count=len(moved),
        undiscerning=_nouns(Undiscerning, _undiscerning(comparison)),
        failed=_failed(comparison, trials, reasons or {}),
    )


N = TypeVar("N", bound=Noun)


def _nouns(kind: type[N], rows: pd.DataFrame) -> tuple[N, ...]:
    """The first rows as nouns; a noun's fields are columns."""
    named = rows[list(kind.model_fields)].head(FIRST)
    return tuple(kind.model_validate(row) for row in named.to_dict("records"))


def _wavering(comparison: Comparison) -> pd.DataFrame:
    """Items and conditions whose trials differ, those that differ most first."""
    scored = comparison.fit(comparison.scored)
    sides = scored[scored[CONDITION].isin([comparison.base, comparison.other])]
    items = Groups(sides, [MODEL, DATASET, ITEM, CONDITION])
    low, high = items.ends(sides[SCORE])
    order = np.argsort(low - high, kind="stable")
    wide = order[(high - low)[order] > SAME]
    return items.table().assign(**{LOW: low, HIGH: high}).iloc[wide]


def _undiscerning(comparison: Comparison) -> pd.DataFrame:
    """Evaluators that scored several items, and each of them the same on both sides."""
    sides = comparison.fit(comparison.evaluated)
    sides = sides.assign(**{DELTA: sides[DELTA].abs(), VALUE: sides[BASE]})
    each = sides.groupby([MODEL, DATASET, EVALUATOR, JUDGED], observed=True)
    table = each.agg({DELTA: "max", VALUE: "mean"}).assign(**{ITEMS: each.size()}).reset_index()
    return table[(table[DELTA] <= SAME) & (table[ITEMS] >= SEVERAL)]


def _failed(
    comparison: Comparison, trials: pd.DataFrame, reasons: Mapping[str, Mapping[str, int]]
) -> tuple[Failed, ...]:
    counts = trials.groupby([CONDITION, STATUS], observed=True).size()
    found = []
    for condition in (comparison.base, comparison.other):
        failed, ok = (
            int(counts.get((condition, status), 0)) for status in (Status.FAILED, Status.OK)
        )
        if failed:
            why = dict(reasons.get(condition, {}))
            found.append(
                Failed(condition=condition, failed=failed, answered=failed + ok, reasons=why)
            )
    return tuple(found)
