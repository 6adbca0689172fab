"""The smallest change that a planned run can show, before anything is spent on it."""

from __future__ import annotations

from collections.abc import Sequence
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
    """What a plan can show of one model, in one scope."""

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

    @property
    def basis(self) -> str:
        """Where the variances are from; for these items only the first one does not count."""
        if self.measured_in:
            return f"scores scatter as in {self.measured_in}"
        between = f"{self.between:g} between items, " if self.scope is Scope.LIKE_THESE else ""
        return f"assumed variances: {between}{self.within:g} within"


def sentences(found: Sequence[Detectable]) -> list[str]:
    """What a plan can show, a sentence a model."""
    said = []
    for model in (models := dict.fromkeys(one.model for one in found)):
        first, *_ = each = [one for one in found if one.model == model]
        name = f"{model} " if len(models) > 1 else ""
        shown = [f"±{one.effect:.2f} for {one.scope}" for one in each if one.effect is not None]
        if shown:
            changes = ", ".join(shown)
            said.append(
                f"{name}can show a change of {changes}, or more ({POWER:.0%} power; {first.basis})"
            )
        else:
            what = f"{counted(first.items, 'item')} × {counted(first.repeats, 'repeat')}"
            said.append(
                f"{name}{what}: too few to show any change; ask more items, or each more often"
            )
    return said


class _Spread(NamedTuple):
    """How scores scatter."""

    split: Split
    step: float
    """Of one trial's score, at least."""
    measured_in: str | None


_ASSUMED = _Spread(PRIOR, 0.0, None)


def detectables(journal: Journal | None, plan: Plan) -> list[Detectable]:
    """The smallest change that a plan can show of each model, in each scope that can be claimed.

    It is of the first pair of conditions. Scores are expected to scatter as in the latest other
    experiment of the same datasets, model and conditions, where enough items moved in it to tell;
    else as is usual.

    Args:
        journal: of earlier experiments; None where there is none.
        plan: what will be asked.

    Returns:
        The scope that the verdict will be in comes first. None of a plan that compares nothing.
    """
    items = sum(len(dataset.items) for dataset in plan.datasets)
    found = []
    for pair in pairs({condition.name for condition in plan.conditions})[:1]:
        for model in dict.fromkeys(condition.model for condition in plan.conditions):
            spread = _spread(journal, plan, pair, model)
            for scope in _scopes(items, plan.repeats):
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


def _scopes(items: int, repeats: int) -> list[Scope]:
    """Those that a verdict may be in; few items say nothing of others, and one repeat of itself."""
    like_these = [Scope.LIKE_THESE] if items >= FEWEST_ITEMS or repeats == 1 else []
    return like_these + ([Scope.THESE_ONLY] if repeats > 1 else [])


def _spread(journal: Journal | None, plan: Plan, pair: Pair, model: str) -> _Spread:
    if journal is None:
        return _ASSUMED
    names = {dataset.name for dataset in plan.datasets}
    latest = journal.alike(plan.skill.name, names, model=model, conditions=pair, items=FEW)
    for name in [name for name in latest if name != plan.experiment][:LOOKED_AT]:
        scored = trial_scores(tables(journal, name).scores)
        scored = scored[scored[MODEL] == model]
        found = deltas(scored, base=pair.base, other=pair.other)
        if found.empty or moved(found[DELTA].tolist()).moved < FEW:
            continue
        base, other = (trials_of(scored, found, condition) for condition in pair)
        return _Spread(split_variance(base, other).filled(), step(base, other), name)
    return _ASSUMED
