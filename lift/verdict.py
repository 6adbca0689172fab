"""What a comparison means: one verdict a model, the sentence a person needs, what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial

import pandas as pd

from lift.comparing import FEWEST_ITEMS, Comparison, trials_of
from lift.errors import counted
from lift.frames import DELTA, ITEM, MODEL
from lift.schema import WITHOUT_SKILL, Noun
from lift.stats import (
    FEW,
    MARGIN,
    PRIOR_BETWEEN,
    PRIOR_WITHIN,
    Change,
    Moved,
    Need,
    Scope,
    Split,
    equivalent,
    items_for,
    moved,
    permute_labels,
    repeats_for,
    sign_flip,
    split_variance,
    step,
)

LEVEL = 0.05
MOST_ITEMS = 500
"""Up to so many items the labels within each of them are permuted too."""
LEAST_TRIGGERED = 0.5
"""Share of with-skill trials that must have loaded the skill."""
WORTHWHILE = 0.10
"""The change to plan for, where the one that was seen is smaller."""


class Verdict(StrEnum):
    """What a comparison says of the skill."""

    HELPS = "HELPS"
    HURTS = "HURTS"
    NO_DIFFERENCE = "NO DIFFERENCE"
    """The delta is known to be within the margin."""
    UNDERPOWERED = "UNDERPOWERED"
    """Neither a difference nor its absence is shown."""
    NOT_ACTIVATED = "NOT ACTIVATED"
    """The skill did not load in most trials."""
    INVALID = "INVALID"
    """The run is incomplete: the numbers may not be compared."""


class Claim(Noun):
    """The verdict on one model, with all it rests on."""

    model: str
    verdict: Verdict
    scope: Scope | None
    """What it is about; None where nothing is claimed."""
    delta: float | None
    """Mean of the item deltas, other minus base, in points of a score."""
    low: float | None
    """Lower end of the 95 % interval in that scope; None where the data set no limit."""
    high: float | None
    p: float | None
    """Two-sided, of that scope's test of "the skill changes nothing"."""
    items: int
    repeats: int
    """The fewest that an item has on a side."""
    moved: int
    """Items whose delta is not 0."""
    says: str
    """One sentence: what, in which scope, how sure."""
    then: str
    """One sentence: what to do next."""
    beside: str = ""
    """What the other scope says, where it says something."""


def claims(
    comparison: Comparison,
    scored: pd.DataFrame,
    *,
    margin: float = MARGIN,
    usd_per_trial: Mapping[str, float] | None = None,
    triggered: float | None = None,
    in_batches: int = 0,
    skipped: int = 0,
) -> list[Claim]:
    """The verdict on each model of a comparison.

    Args:
        comparison: the deltas.
        scored: TRIAL_SCORES of the same experiment.
        margin: a delta within ± this is no difference; above 0.
        usd_per_trial: model → mean cost of an answer, for what more of them would cost.
        triggered: share of with-skill trials that loaded the skill; None where it cannot but be
            loaded.
        in_batches: calls that are not answered yet.
        skipped: trials that the ceiling left out.
    """
    models = sorted(comparison.categories[MODEL].unique())
    return [
        _claim(
            model,
            comparison,
            scored[scored[MODEL] == model],
            margin=margin,
            usd_per_trial=(usd_per_trial or {}).get(model, 0.0),
            triggered=triggered,
            completes=_completes(in_batches, skipped),
        )
        for model in models
    ]


def _claim(
    model: str,
    comparison: Comparison,
    scored: pd.DataFrame,
    *,
    margin: float,
    usd_per_trial: float,
    triggered: float | None,
    completes: str,
) -> Claim:
    pairs = comparison.deltas[comparison.deltas[MODEL] == model]
    if why := comparison.unfit.get(model):
        return _nothing(model, Verdict.INVALID, pairs, f"{why}; the numbers may not be compared",
                        completes)  # fmt: skip
    if triggered is not None and triggered < LEAST_TRIGGERED:
        return _nothing(model, Verdict.NOT_ACTIVATED, pairs,
                        f"the skill loaded in {triggered:.0%} of the trials only",
                        "work on its description: lift activation")  # fmt: skip
    base, other = (trials_of(scored, pairs, name) for name in (comparison.base, comparison.other))
    return _measured(model, comparison, pairs, base, other, margin, usd_per_trial)


def _completes(in_batches: int, skipped: int) -> str:
    """What to do about an incomplete run."""
    if in_batches:
        return f"lift collect fetches {counted(in_batches, 'call')} that wait in batches"
    if skipped:
        return "run the same command again with a higher --max-cost-usd: it asks what is missing"
    return "run the same command again: it asks what is missing"


def _measured(
    model: str,
    comparison: Comparison,
    pairs: pd.DataFrame,
    base: Sequence[Sequence[float]],
    other: Sequence[Sequence[float]],
    margin: float,
    usd_per_trial: float,
) -> Claim:
    deltas = pairs[DELTA].tolist()
    repeats = min(map(len, (*base, *other)))
    like_these = sign_flip(deltas)
    these_only = _these_only(base, other)
    scope = Scope.LIKE_THESE
    if len(deltas) < FEWEST_ITEMS and these_only is not None:
        scope = Scope.THESE_ONLY
    tested = like_these if scope is Scope.LIKE_THESE else (these_only or like_these)
    movers = moved(deltas)
    claim = Claim(
        model=model,
        verdict=_decided(tested, deltas, margin),
        scope=scope,
        delta=tested.delta,
        low=_finite(tested.interval.clipped(-1, 1).low, tested.interval.low),
        high=_finite(tested.interval.clipped(-1, 1).high, tested.interval.high),
        p=tested.p,
        items=len(deltas),
        repeats=repeats,
        moved=movers.moved,
        says="",
        then="",
    )
    needed = (
        _need(claim, base, other, usd_per_trial) if claim.verdict is Verdict.UNDERPOWERED else None
    )
    return claim.model_copy(
        update={
            "says": _says(claim, comparison, movers, margin),
            "then": _then(claim, pairs, needed, base=comparison.base),
            "beside": _beside(scope, like_these, these_only),
        }
    )


def _these_only(base: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> Change | None:
    several = any(len(trials) > 1 for trials in (*base, *other))
    return permute_labels(base, other) if several and len(base) <= MOST_ITEMS else None


def _decided(tested: Change, deltas: Sequence[float], margin: float) -> Verdict:
    if tested.p <= LEVEL and tested.delta:
        return Verdict.HELPS if tested.delta > 0 else Verdict.HURTS
    if equivalent(deltas, margin=margin).holds:
        return Verdict.NO_DIFFERENCE
    return Verdict.UNDERPOWERED


def _finite(clipped: float, end: float) -> float | None:
    return None if abs(end) == float("inf") else clipped


def _need(
    claim: Claim,
    base: Sequence[Sequence[float]],
    other: Sequence[Sequence[float]],
    usd_per_trial: float,
) -> tuple[Scope, Need] | None:
    """The cheapest way to settle it, where there is one."""
    effect = max(abs(claim.delta or 0.0), WORTHWHILE)
    split = split_variance(base, other).filled()
    if claim.moved < FEW:  # what hardly moved tells too little of how much it can
        split = Split(
            max(split.between or 0.0, PRIOR_BETWEEN), max(split.within or 0.0, PRIOR_WITHIN), None
        )
    finest = step(base, other)
    repeats = partial(repeats_for, effect, split, usd_per_trial=usd_per_trial, step=finest)
    items = partial(items_for, effect, split, usd_per_trial=usd_per_trial, step=finest)
    ways = [
        (Scope.THESE_ONLY, repeats(items=claim.items, scope=Scope.THESE_ONLY)),
        (Scope.LIKE_THESE, items(repeats=claim.repeats, scope=Scope.LIKE_THESE)),
    ]
    more = [
        (scope, need)
        for scope, need in ways
        if need and (need.repeats > claim.repeats or need.items > claim.items)
    ]
    return min(more, key=lambda way: way[1].trials) if more else None


def _says(claim: Claim, comparison: Comparison, movers: Moved, margin: float) -> str:
    size = f"{comparison.other} minus {comparison.base} is {claim.delta:+.2f}"
    how = counted(claim.items, "item") + (
        f" × {claim.repeats} repeats" if claim.repeats > 1 else ""
    )
    if claim.verdict is Verdict.NO_DIFFERENCE:
        return f"{size}, within ±{margin:g} for {claim.scope} ({how})"
    if movers.few and claim.scope is Scope.LIKE_THESE:
        return f"{size} for {claim.scope}: {movers} ({how}, {_p(claim.p)})"
    sure = span(claim)
    if claim.scope is Scope.THESE_ONLY and claim.low is not None and claim.low == claim.high:
        sure = f"({movers.moved} of {movers.n} moved)"  # a width of 0 would say that it is certain
    return f"{size} {sure} for {claim.scope} ({how}, {_p(claim.p)})"


def span(claim: Claim) -> str:
    """The 95 % interval, as people write it."""
    if claim.low is None or claim.high is None:
        return "[no limits]"
    return f"[{claim.low:+.2f}, {claim.high:+.2f}]"


def _p(p: float | None) -> str:
    return "no test" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _then(claim: Claim, pairs: pd.DataFrame, need: tuple[Scope, Need] | None, *, base: str) -> str:
    if claim.verdict is Verdict.HURTS:
        first, *others = pairs.nsmallest(3, DELTA)[ITEM]
        return f"look at what fell most: lift show {first}" + (
            f" (and {', '.join(others)})" if others else ""
        )
    if claim.verdict is Verdict.HELPS:
        if claim.scope is Scope.THESE_ONLY:
            return "says nothing of other items yet: lift --full asks them all"
        if base != WITHOUT_SKILL:
            return "keep it"
        return "lift gate says whether it may be recorded, for later edits to be held against"
    if claim.verdict is Verdict.NO_DIFFERENCE and base != WITHOUT_SKILL:
        return "keep the simpler of the two, or the cheaper"
    if claim.verdict is Verdict.NO_DIFFERENCE:
        return "the skill costs tokens for nothing here: look at items that both sides solve"
    return _settles(claim, pairs, need)


def _settles(claim: Claim, pairs: pd.DataFrame, need: tuple[Scope, Need] | None) -> str:
    ups, downs = int((pairs[DELTA] > 0).sum()), int((pairs[DELTA] < 0).sum())
    went = f"{counted(ups, 'item')} went up, {downs} down, {claim.items - ups - downs} did not move"
    if need is None:
        return f"{went}; no affordable number of trials settles it: widen the rubric or the items"
    scope, what = need
    more = what.trials - 2 * claim.items * claim.repeats  # the others are answered already
    usd = what.cost_usd * more / what.trials
    cost = f", about ${usd:.2f}" if usd else ""
    how = f"--repeats {what.repeats}" if scope is Scope.THESE_ONLY else counted(what.items, "item")
    change = f"a change of ±{max(abs(claim.delta or 0.0), WORTHWHILE):.2f} or more for {scope}"
    return f"{went}; {how} ({counted(more, 'more trial')}{cost}) can show {change}"


def _beside(scope: Scope, like_these: Change, these_only: Change | None) -> str:
    """What the scope that does not decide says, where it is sure of something."""
    if these_only is None:
        return ""
    other = these_only if scope is Scope.LIKE_THESE else like_these
    if other.p > LEVEL or not other.delta:
        return ""
    word = Verdict.HELPS if other.delta > 0 else Verdict.HURTS
    name = Scope.THESE_ONLY if scope is Scope.LIKE_THESE else Scope.LIKE_THESE
    return f"{word} for {name} ({_p(other.p)})"


def _nothing(model: str, verdict: Verdict, pairs: pd.DataFrame, says: str, then: str) -> Claim:
    return Claim(
        model=model, verdict=verdict, scope=None, delta=None, low=None, high=None, p=None,
        items=len(pairs), repeats=0, moved=0, says=says, then=then,
    )  # fmt: skip
