"""The smallest change that a planned run can show, before anything is spent on it."""

from __future__ import annotations

from typing import NamedTuple

from lift.comparing import FEWEST_ITEMS, deltas, trial_scores, trials_of
from lift.conditions import Pair, pairs
from lift.errors import counted
from lift.frames import DELTA, MODEL
from lift.journal import Journal
from lift.plan import Plan
from lift.schema import Noun
from lift.stats import FEW, PRIOR, Scope, Split, detectable, moved, split_variance, step
from lift.stats.power import POWER
from lift.tables import tables

LOOKED_AT = 3
"""Experiments that may tell how scores scatter."""


class Detectable(Noun):
    """What a plan can show of one model."""

    model: str
    base: str
    other: str
    items: int
    repeats: int
    scope: Scope
    effect: float | None
    """The smallest mean delta that 80 % of such runs call HELPS or HURTS, in points of a score;
    None where no change is large enough."""
    between: float
    """Variance over items of what the skill changes."""
    within: float
    """Variance of a score over the repeats of one item and condition."""
    measured_in: str | None
    """The experiment that the variances are of; None where they are assumed."""

    def __str__(self) -> str:
        if self.effect is None:
            what = f"{counted(self.items, 'item')} × {counted(self.repeats, 'repeat')}"
            return f"{what}: too few to show any change; ask more items, or each more often"
        basis = f"scores scatter as in {self.measured_in}"
        if self.measured_in is None:
            assumed = f"{self.between:g} between items, {self.within:g} within"
            basis = f"assumed variances: {assumed}"
        change = f"a change of ±{self.effect:.2f} or more for {self.scope}"
        return f"can show {change} ({POWER:.0%} power; {basis})"


class _Spread(NamedTuple):
    """How scores scatter."""

    split: Split
    step: float
    """Of one trial's score, at least."""
    measured_in: str | None


_ASSUMED = _Spread(PRIOR, 0.0, None)


def detectables(journal: Journal | None, plan: Plan) -> list[Detectable]:
    """The smallest change that a plan can show of each model, between its first two conditions.

    Scores are expected to scatter as in the latest experiment of the same datasets, model and
    conditions, where enough items moved in it to tell; else as is usual.

    Args:
        journal: of earlier experiments; None where there is none.
        plan: what will be asked.

    Returns:
        None of a plan that compares nothing.
    """
    items = sum(len(dataset.items) for dataset in plan.datasets)
    scope = Scope.THESE_ONLY if items < FEWEST_ITEMS and plan.repeats > 1 else Scope.LIKE_THESE
    found = []
    for pair in pairs({condition.name for condition in plan.conditions})[:1]:
        for model in dict.fromkeys(condition.model for condition in plan.conditions):
            spread = _spread(journal, plan, pair, model)
            effect = detectable(
                spread.split, items=items, repeats=plan.repeats, scope=scope, step=spread.step
            )
            found.append(
                Detectable(
                    model=model,
                    base=pair.base,
                    other=pair.other,
                    items=items,
                    repeats=plan.repeats,
                    scope=scope,
                    effect=effect if effect <= 1 else None,
                    between=spread.split.between or 0.0,
                    within=spread.split.within or 0.0,
                    measured_in=spread.measured_in,
                )
            )
    return found


def _spread(journal: Journal | None, plan: Plan, pair: Pair, model: str) -> _Spread:
    if journal is None:
        return _ASSUMED
    names = {dataset.name for dataset in plan.datasets}
    latest = journal.alike(plan.skill.name, names, model=model, conditions=pair, items=FEW)
    for name in latest[:LOOKED_AT]:
        scored = trial_scores(tables(journal, name).scores)
        scored = scored[scored[MODEL] == model]
        found = deltas(scored, base=pair.base, other=pair.other)
        if found.empty or moved(found[DELTA].tolist()).moved < FEW:
            continue
        base, other = (trials_of(scored, found, condition) for condition in pair)
        return _Spread(split_variance(base, other).filled(), step(base, other), name)
    return _ASSUMED
