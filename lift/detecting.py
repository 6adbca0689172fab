"""The smallest change that a planned run can show, before anything is spent on it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from lift.comparing import (
    FEWEST_ITEMS,
    LEAST_COVERAGE,
    coverage,
    deltas,
    trial_scores,
    trials_of,
)
from lift.conditions import Pair, pairs
from lift.errors import counted
from lift.frames import ALL, COVERAGE_BASE, COVERAGE_OTHER, DATASET, DELTA, MODEL
from lift.journal import Journal
from lift.plan import Plan
from lift.schema import Noun
from lift.stats import (
    FEW,
    PRIOR,
    Scope,
    Split,
    detectable,
    moved,
    split_variance,
    step,
    tempered,
)
from lift.stats.power import POWER
from lift.tables import Tables, tables

LOOKED_AT = 5
"""Experiments that may tell how scores scatter."""

Trials = Sequence[Sequence[float]]
"""Per item the scores of its trials."""


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
    """What a plan can show, a sentence for each pair of conditions and model."""
    each: dict[tuple[str, ...], list[Detectable]] = {}
    for one in found:
        each.setdefault((one.base, one.other, one.model), []).append(one)
    bases, models = {one.base for one in found}, {one.model for one in found}
    said = []
    for (base, other, model), scopes in each.items():
        names = [model] * (len(models) > 1) + [f"{other} minus {base}"] * (len(bases) > 1)
        said.append(f"{', '.join(names)}: {_can_show(scopes)}" if names else _can_show(scopes))
    return said


def _can_show(scopes: Sequence[Detectable]) -> str:
    shown = [f"±{one.effect:.2f} for {one.scope}" for one in scopes if one.effect is not None]
    first = scopes[0]
    if shown:
        return (
            f"can show a change of {', '.join(shown)}, or more ({POWER:.0%} power; {first.basis})"
        )
    what = f"{counted(first.items, 'item')} × {counted(first.repeats, 'repeat')}"
    return f"{what}: too few to show any change; ask more items, or each more often"


class _Spread(NamedTuple):
    """How scores scatter."""

    split: Split
    step: float
    """Of one trial's score, at least."""
    measured_in: str | None


_ASSUMED = _Spread(PRIOR, 0.0, None)


def detectables(journal: Journal | None, plan: Plan) -> list[Detectable]:
    """The smallest change that a plan can show of each model and pair of conditions, in each scope.

    Scores are expected to scatter as in the latest other experiment of the same datasets, model,
    effort and conditions, where it was answered and enough items moved in it to tell; else as is
    usual.

    Args:
        journal: of earlier experiments; None where there is none.
        plan: what will be asked.

    Returns:
        The scope that the verdict will be in comes first. None of a plan that compares nothing.
    """
    items = sum(len(dataset.items) for dataset in plan.datasets)
    found = []
    for pair in pairs({condition.name for condition in plan.conditions}):
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
    names = [dataset.name for dataset in plan.datasets]
    latest = journal.alike(
        plan.skill.name,
        names,
        model=model,
        effort=next((one.effort for one in plan.conditions if one.model == model), None),
        conditions=pair,
        items=FEW,
    )
    for name in [name for name in latest if name != plan.experiment][:LOOKED_AT]:
        trials = _trials(tables(journal, name), names, pair, model)
        if trials is not None:
            base, other = trials
            split = split_variance(base, other).filled()
            return _Spread(tempered(split, len(base)), step(base, other), name)
    return _ASSUMED


def _trials(
    found: Tables, datasets: Collection[str], pair: Pair, model: str
) -> tuple[Trials, Trials] | None:
    """Per item of datasets the scores of its trials under either condition.

    Returns:
        None where they say too little.
    """
    rows, scores = (
        frame[(frame[MODEL] == model) & frame[DATASET].isin(list(datasets))]
        for frame in (found.trials, found.scores)
    )
    covered = coverage(rows, base=pair.base, other=pair.other)
    whole = covered.loc[covered[DATASET] == ALL, [COVERAGE_BASE, COVERAGE_OTHER]]
    if not (whole >= LEAST_COVERAGE).all(axis=None):
        return None
    scored = trial_scores(scores)
    paired = deltas(scored, base=pair.base, other=pair.other)
    if paired.empty or moved(paired[DELTA].tolist()).moved < FEW:
        return None
    return trials_of(scored, paired, pair.base), trials_of(scored, paired, pair.other)
