"""Paired deltas: the same items under two conditions, per category."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from lift.frames import (
    ALL,
    ANSWERED,
    BASE,
    CATEGORIES,
    CATEGORY,
    CONDITION,
    COVERAGE_BASE,
    COVERAGE_OTHER,
    DATASET,
    DELTA,
    DELTAS,
    EVALUATED,
    EVALUATOR,
    EVALUATORS,
    FAILED,
    FAILED_BASE,
    FAILED_OTHER,
    HIGH,
    ITEM,
    ITEMS,
    JUDGED,
    LOSSES,
    LOW,
    MODEL,
    OTHER,
    PLANNED,
    REPEAT,
    SCORE,
    STATUS,
    TIES,
    TRIAL,
    TRIAL_SCORES,
    VALUE,
    WEIGHT,
    WINS,
    P,
    shape,
)
from lift.grouping import Groups
from lift.schema import SETTLED, WITH_SKILL, WITHOUT_SKILL, Status
from lift.stats import Change, holm, permute_labels, sign_flip
from lift.thresholds import Drop

LEAST_COVERAGE = 0.95
"""Share of the planned trials that must be answered under either condition."""
COVERAGE_GAP = 0.05
"""Largest difference between the conditions' coverage."""
FEWEST_ITEMS = 6
"""With fewer items the sign-flip test cannot reach 5 %: five items one way have p = 0.0625."""
SAME = 1e-12
"""Deltas that differ from 0 by less differ by rounding."""
GROUP = [MODEL, DATASET, CATEGORY]
PAIRED = [MODEL, DATASET, ITEM]
COUNTS = [ITEMS, WINS, TIES, LOSSES]

Trials = Mapping[Hashable, tuple[tuple[float, ...], tuple[float, ...]]]
"""Row of an item in DELTAS → the scores of its trials under either condition, by repeat."""


class Comparison(NamedTuple):
    """What changes from one condition to the other."""

    base: str
    other: str
    scored: pd.DataFrame
    """TRIAL_SCORES, of any condition."""
    deltas: pd.DataFrame
    """DELTAS."""
    categories: pd.DataFrame
    """CATEGORIES."""
    judged: pd.DataFrame
    """CATEGORIES of the judge's scores, beside the trials' own; no row where nothing was judged."""
    evaluated: pd.DataFrame
    """EVALUATED."""
    unfit: Mapping[str, str]
    """Model → why its numbers may not be compared; those that may are not in it."""

    @property
    def evaluators(self) -> pd.DataFrame:
        """EVALUATORS: what each of them says of the change, those of an item's score."""
        own = self.evaluated[~self.evaluated[JUDGED]]
        groups = own.groupby([MODEL, DATASET, EVALUATOR], observed=True)
        means = groups[[BASE, OTHER, DELTA]].mean().assign(**{ITEMS: groups.size()})
        return shape(means.reset_index(), EVALUATORS)

    @property
    def invalid(self) -> str:
        """Why numbers may not be compared; empty where all may."""
        if self.categories[MODEL].nunique() == 1:
            return "".join(self.unfit.values())
        return "; ".join(f"{model}: {why}" for model, why in self.unfit.items())

    def fit(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of the models whose numbers may be compared: any frame with models in it."""
        return frame[~frame[MODEL].isin(list(self.unfit))]


def trial_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Each trial's score, the weighted mean of its evaluators: SCORES in, TRIAL_SCORES out.

    Evaluators that did not score a trial stay out of its mean; a trial that none scored is left
    out.
    """
    scored = scores[~scores[JUDGED]].dropna(subset=[VALUE])
    trials = Groups(scored, TRIAL)
    means = trials.sum(scored[VALUE] * scored[WEIGHT]) / trials.sum(scored[WEIGHT])
    return shape(trials.table().assign(**{SCORE: means}), TRIAL_SCORES)


def judge_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """What the judge gave each trial, the mean of its votes: SCORES in, TRIAL_SCORES out."""
    judged = scores[scores[JUDGED]].dropna(subset=[VALUE])
    trials = Groups(judged, TRIAL)
    return shape(trials.table().assign(**{SCORE: trials.mean(judged[VALUE])}), TRIAL_SCORES)


def deltas(scored: pd.DataFrame, *, base: str, other: str) -> pd.DataFrame:
    """Pair each item with itself under two conditions: TRIAL_SCORES in, DELTAS out.

    The mean over repeats comes first. An item that is scored on one side only is left out.
    """
    items = Groups(scored, [MODEL, DATASET, ITEM, CATEGORY])
    sides = {
        side: items.mean(scored[SCORE], where=scored[CONDITION] == condition)
        for side, condition in ((BASE, base), (OTHER, other))
    }
    return shape(_with_delta(items.table().assign(**sides).dropna()), DELTAS)


def _with_delta(paired: pd.DataFrame) -> pd.DataFrame:
    """Base and other, with their difference; rounding is none."""
    delta = paired[OTHER] - paired[BASE]
    return paired.assign(**{DELTA: delta.where(delta.abs() > SAME, 0.0)})


def evaluated(scores: pd.DataFrame, *, base: str, other: str) -> pd.DataFrame:
    """What each evaluator says of each item under two conditions: SCORES in, EVALUATED out.

    The mean over repeats comes first. What is scored on one side only is left out.
    """
    scored = scores.dropna(subset=[VALUE])
    items = Groups(scored, [MODEL, DATASET, EVALUATOR, JUDGED, ITEM])
    sides = {
        side: items.mean(scored[VALUE], where=scored[CONDITION] == condition)
        for side, condition in ((BASE, base), (OTHER, other))
    }
    return shape(_with_delta(items.table().assign(**sides).dropna()), EVALUATED)


def coverage(trials: pd.DataFrame, *, base: str, other: str) -> pd.DataFrame:
    """How the planned trials of either condition ended: TRIALS in.

    Returns:
        One row per (model, dataset, category) with planned trials, and one per model over all.
        Columns coverage_base and coverage_other: the share that was answered, 0 to 1, NaN where
        nothing was planned; failed_base and failed_other: how many were answered badly.
    """
    status = trials[STATUS]
    ended = {ANSWERED: status.isin(list(SETTLED)), FAILED: status == Status.FAILED}
    counted = trials[[*GROUP, CONDITION]].assign(
        **{PLANNED: 1}, **{name: those.astype("int64") for name, those in ended.items()}
    )
    sums = counted.groupby([*GROUP, CONDITION], observed=True).sum().reset_index()
    sums = pd.concat([sums, _over_all(sums)]).pivot_table(
        index=GROUP,
        columns=CONDITION,
        values=[PLANNED, ANSWERED, FAILED],
        aggfunc="sum",
        observed=True,
    )
    shares = pd.DataFrame(sums[ANSWERED] / sums[PLANNED]).reindex(columns=[base, other])
    failed = pd.DataFrame(sums[FAILED]).reindex(columns=[base, other]).fillna(0)
    found = pd.concat([shares, failed], axis="columns")
    return found.set_axis(
        [COVERAGE_BASE, COVERAGE_OTHER, FAILED_BASE, FAILED_OTHER], axis="columns"
    ).reset_index()


def categories(
    pairs: pd.DataFrame, covered: pd.DataFrame, scored: pd.DataFrame, *, base: str, other: str
) -> pd.DataFrame:
    """Means, intervals and tests per category; the rows over all come last.

    Args:
        pairs: DELTAS.
        covered: as `coverage` gives it.
        scored: TRIAL_SCORES that the pairs come from.
        base: condition to measure from.
        other: condition to measure.

    Returns:
        CATEGORIES.
    """
    groups = [
        *pairs.groupby(GROUP, observed=True),
        *(((model, ALL, ALL), group) for model, group in pairs.groupby(MODEL, observed=True)),
    ]
    few = {row for _, group in groups if len(group) < FEWEST_ITEMS for row in group.index}
    trials = _trials_of_both(scored, pairs.loc[sorted(few)], base=base, other=other)
    rows = [dict(zip(GROUP, key, strict=True)) | _measured(group, trials) for key, group in groups]
    measures = [BASE, OTHER, DELTA, LOW, HIGH, P]
    means = pd.DataFrame(rows, columns=[*GROUP, *measures, *COUNTS])
    means = means.astype(dict.fromkeys(measures, "float64"))
    table = covered.merge(means, on=GROUP, how="left").fillna(dict.fromkeys(COUNTS, 0))
    corrected = table.assign(**{P: _corrected(table)})
    last = corrected[DATASET] == ALL
    return shape(
        corrected.assign(last=last).sort_values([MODEL, "last", DATASET, CATEGORY]), CATEGORIES
    )


def trials_of(scored: pd.DataFrame, pairs: pd.DataFrame, condition: str) -> list[tuple[float, ...]]:
    """Per paired item, in the order of the pairs, the scores of its trials: TRIAL_SCORES in."""
    of_condition = scored[scored[CONDITION] == condition].sort_values([*PAIRED, REPEAT])
    firsts = ~of_condition.duplicated(PAIRED)
    starts = firsts.to_numpy().nonzero()[0].tolist()
    scores = tuple(of_condition[SCORE].tolist())
    slices = zip(starts, [*starts[1:], len(scores)], strict=True)
    items = pd.MultiIndex.from_frame(of_condition.loc[firsts, PAIRED])
    trials = pd.Series([scores[start:end] for start, end in slices], items, dtype="object")
    return trials.reindex(pd.MultiIndex.from_frame(pairs[PAIRED])).tolist()


def _trials_of_both(scored: pd.DataFrame, pairs: pd.DataFrame, *, base: str, other: str) -> Trials:
    if pairs.empty:
        return {}
    sides = (trials_of(scored, pairs, condition) for condition in (base, other))
    return dict(zip(pairs.index, zip(*sides, strict=True), strict=True))


def tested(pairs: pd.DataFrame, trials: Trials) -> Change:
    """The test of the mean delta of some items.

    From 6 items on it is for items like these. With fewer it is for these items only, where an item
    has a second repeat: the other scope could not be settled.

    Args:
        pairs: DELTAS, at least one.
        trials: of those items, where they are fewer than 6.
    """
    if len(pairs) < FEWEST_ITEMS:
        ours, theirs = zip(*(trials[row] for row in pairs.index), strict=True)
        if any(len(scores) > 1 for scores in (*ours, *theirs)):
            return permute_labels(ours, theirs)
    return sign_flip(pairs[DELTA].tolist())


def _measured(group: pd.DataFrame, trials: Trials) -> dict[str, float]:
    delta = group[DELTA]
    change = tested(group, trials)
    low, high = change.interval
    return {
        BASE: group[BASE].mean(),
        OTHER: group[OTHER].mean(),
        DELTA: delta.mean(),
        LOW: max(low, -1.0) if math.isfinite(low) else math.nan,
        HIGH: min(high, 1.0) if math.isfinite(high) else math.nan,
        P: change.p,
        ITEMS: len(group),
        WINS: int((delta > SAME).sum()),
        TIES: int((delta.abs() <= SAME).sum()),
        LOSSES: int((delta < -SAME).sum()),
    }


def _corrected(table: pd.DataFrame) -> pd.Series:
    """The p-values, those of a model's categories corrected for being several."""
    categories_only = table[table[DATASET] != ALL].dropna(subset=[P])
    groups = categories_only.groupby(MODEL, observed=True)[P]
    found = groups.transform(lambda values: pd.Series(holm(values.tolist()), values.index))
    return found.astype("float64").reindex(table.index).combine_first(table[P])


def compare(
    trials: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    base: str = WITHOUT_SKILL,
    other: str = WITH_SKILL,
) -> Comparison:
    """What changes from base to other: TRIALS and SCORES in."""
    covered = coverage(trials, base=base, other=other)
    scored, by_judge = trial_scores(scores), judge_scores(scores)
    pairs = deltas(scored, base=base, other=other)
    table = categories(pairs, covered, scored, base=base, other=other)
    judged = deltas(by_judge, base=base, other=other)
    return Comparison(
        base=base,
        other=other,
        scored=scored,
        deltas=pairs,
        categories=table,
        judged=categories(
            judged, covered if len(judged) else covered.iloc[:0], by_judge, base=base, other=other
        ),
        evaluated=evaluated(scores, base=base, other=other),
        unfit=_unfit(table, base=base, other=other),
    )


def dropped(comparison: Comparison, drop: Drop) -> pd.DataFrame:
    """The rows that fell further than allowed, or have no measurement: CATEGORIES."""
    table = comparison.categories
    # rounding noise of means is no drop; what nothing is known of holds nothing
    return table[~(table[DELTA] >= -drop.allowed(table[BASE]) - 1e-9)]


def _over_all(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(**{DATASET: ALL, CATEGORY: ALL})


def _unfit(table: pd.DataFrame, *, base: str, other: str) -> dict[str, str]:
    rows = table[table[DATASET] == ALL].to_dict("records")
    reasons = {row[MODEL]: _invalid(row, base=base, other=other) for row in rows}
    return {model: why for model, why in reasons.items() if why}


def _invalid(row: Mapping[Hashable, Any], *, base: str, other: str) -> str:
    shares = {base: row[COVERAGE_BASE], other: row[COVERAGE_OTHER]}
    for condition, share in shares.items():
        if not share >= LEAST_COVERAGE:  # NaN: nothing was planned
            known = 0.0 if share != share else share
            return f"only {known:.0%} of the {condition} trials were answered"
    if abs(shares[base] - shares[other]) > COVERAGE_GAP + SAME:
        return f"{base} and {other} differ by more than 5 points in answered trials"
    return "" if row[ITEMS] else "no item has a score on both sides"
