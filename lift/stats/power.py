"""What a run of so many items and repeats can show, and how many it takes, in dollars too."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from lift.stats.distributions import (
    Counts,
    binomial_cdf,
    noncentral_t_cdf,
    normal_cdf,
    normal_quantile,
    t_quantile,
)
from lift.stats.labelings import MOST_LABELINGS
from lift.stats.variance import Split

LEVEL = 0.05
"""Two-sided: share of false alarms."""
POWER = 0.8
"""Share of runs that show the detectable effect."""
MOST_ITEMS = 100_000
MOST_REPEATS = 1_000
_EXACT_ITEMS = 100


class Scope(StrEnum):
    """What a claim is about."""

    LIKE_THESE = "items like these"
    """The item is the unit: sign-flip test."""
    THESE_ONLY = "these items only"
    """The trial is the unit: labels permuted within items; needs 2 repeats."""


class Need(NamedTuple):
    """What it takes to show an effect."""

    items: int
    repeats: int
    trials: int
    """Of both conditions."""
    cost_usd: float


def power(
    effect: float, split: Split, *, items: int, repeats: int, scope: Scope, step: float = 0.0
) -> float:
    """The chance that a true mean delta is called HELPS or HURTS, 0 to 1.

    For items like these it is the power of the t-test, which the sign-flip test has too, at the
    level that so few labelings can reach; below 10 items the test has less. For these items only
    it is the normal approximation of the permutation test, whose labelings also mix the effect in.
    Coarse scores tie, and a tie counts against the skill: half a step of the lattice that the mean
    delta lives on is lost, and items that tie add nothing. Nor can they scatter as little as one
    likes: where a trial moves by a step or not at all, an effect below a step has some variance,
    whatever was measured. One repeat of pass or fail, up to 100
    items, is exact.

    Args:
        effect: mean delta; its sign does not matter.
        split: both parts known (see `Split.filled`).
        items: at least 1.
        repeats: trials per item and condition; at least 1.
        scope: what the claim is about.
        step: smallest step of one trial's score: 1 for pass or fail, 0.2 for 5 equal checks, 0
            where scores hardly ever tie.

    Raises:
        ValueError: a number is out of range, or a part of the variance is not known.

    Source: Fisher (1935), section 21, and Lehmann and Romano, Testing Statistical Hypotheses
    (2005), section 15.2, for the t-test as the limit; Owen (1965), noncentral t; Connor (1987),
    exact power for paired proportions.
    """
    run = _run(split, items=items, repeats=repeats, scope=scope, step=step)
    size = abs(effect)
    if not math.isfinite(size):
        raise ValueError(f"an effect is a number, not {effect}")
    if not run.level:
        return 0.0
    if scope is Scope.THESE_ONLY:
        return _label_power(size, run)
    if step == 1 and repeats == 1 and items <= _EXACT_ITEMS:
        return _sign_power(min(size, 1.0), run)
    return _t_power(size, run)


def detectable(split: Split, *, items: int, repeats: int, scope: Scope, step: float = 0.0) -> float:
    """The smallest true mean delta that is shown in 80 % of such runs, at two-sided 5 %.

    Args:
        split: as in `power`.
        items: as in `power`.
        repeats: as in `power`.
        scope: as in `power`.
        step: as in `power`.

    Returns:
        Points of a score. Above 1, the largest delta there is, nothing can be shown; inf where no
        outcome of such a run is significant (5 items in the first scope, 1 repeat in the second).

    Raises:
        ValueError: as `power`.
    """

    def enough(effect: float) -> bool:
        chance = power(effect, split, items=items, repeats=repeats, scope=scope, step=step)
        return chance >= POWER

    high = next((2.0**size for size in range(-10, 21) if enough(2.0**size)), math.inf)
    low = 0.0 if high == math.inf else high / 2
    while high - low > 1e-10 * high and high < math.inf:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def items_for(
    effect: float,
    split: Split,
    *,
    repeats: int,
    scope: Scope,
    usd_per_trial: float,
    step: float = 0.0,
) -> Need | None:
    """The fewest items that show an effect in 80 % of runs, and what they cost.

    Args:
        effect: wanted mean delta, not 0.
        split: as in `power`.
        repeats: trials per item and condition.
        scope: as in `power`.
        usd_per_trial: mean cost of one trial; at least 0.
        step: as in `power`.

    Returns:
        None where 100,000 items do not suffice.

    Raises:
        ValueError: as `power`.
    """
    items = _fewest(
        lambda n: power(effect, split, items=n, repeats=repeats, scope=scope, step=step),
        most=MOST_ITEMS,
    )
    return None if items is None else _need(items, repeats, usd_per_trial)


def repeats_for(
    effect: float,
    split: Split,
    *,
    items: int,
    scope: Scope,
    usd_per_trial: float,
    step: float = 0.0,
) -> Need | None:
    """The fewest repeats of so many items that show an effect in 80 % of runs, and their cost.

    Args:
        effect: wanted mean delta, not 0.
        split: as in `power`.
        items: how many there are.
        scope: as in `power`.
        usd_per_trial: mean cost of one trial; at least 0.
        step: as in `power`.

    Returns:
        None where 1,000 repeats do not suffice: repeats take out the noise of trials, never the
        difference between items.

    Raises:
        ValueError: as `power`.
    """
    repeats = _fewest(
        lambda n: power(effect, split, items=items, repeats=n, scope=scope, step=step),
        most=MOST_REPEATS,
    )
    return None if repeats is None else _need(items, repeats, usd_per_trial)


class _Run(NamedTuple):
    """What the power of a run depends on, besides the effect."""

    between: float
    within: float
    items: int
    repeats: int
    level: float
    """The largest p-value up to 5 % that it can have; 0 where none is."""
    lost: float
    """Half a step of the lattice of mean deltas."""

    def least(self, effect: float) -> float:
        """The least variance of an item's delta: steps that are taken or not make that effect.

        A trial's difference d is 0 or a step at least, so that E(d²) is E(|d|) steps at least.
        """
        step = self.lost * self.repeats * self.items
        return max(0.0, step * effect - effect**2) / self.repeats


def _run(split: Split, *, items: int, repeats: int, scope: Scope, step: float) -> _Run:
    if items < 1 or repeats < 1 or not 0 <= step <= 1:
        raise ValueError(f"out of range: {items} items, {repeats} repeats, a step of {step}")
    if split.between is None or split.within is None:
        raise ValueError("a part of the variance is not known; fill it in from a prior")
    if not (0 <= split.between < math.inf and 0 <= split.within < math.inf):
        raise ValueError(f"a variance is at least 0: {split.between}, {split.within}")
    lost = step / (repeats * items)
    level = _level(items, repeats, scope)
    return _Run(split.between, split.within, items, repeats, level, lost)


def _level(items: int, repeats: int, scope: Scope) -> float:
    """The largest p-value up to 5 % that a run can have, if nothing ties; 0 where none is.

    A labeling and its opposite are equally far out: p-values are multiples of two labelings.
    """
    if scope is Scope.THESE_ONLY and repeats == 1:
        return 0.0
    each = 2 if scope is Scope.LIKE_THESE else math.comb(2 * repeats, repeats)
    if items * math.log2(each) > math.log2(MOST_LABELINGS):
        return LEVEL
    pairs: int = each**items // 2
    return math.floor(LEVEL * pairs) / pairs


def _t_power(effect: float, run: _Run) -> float:
    """Of a t-test of the item deltas, with the degrees of freedom of those that do not tie."""
    size = max(0.0, effect - run.lost)
    spread = math.sqrt(max(run.between + 2 * run.within / run.repeats, run.least(effect)))
    if not spread:
        return float(size > 0)
    freedom = max(1.0, run.items * (1 - _ties(effect, spread, run.lost * run.items)) - 1)
    away = size / spread * math.sqrt(run.items)
    bar = t_quantile(1 - run.level / 2, freedom)
    if away > bar + 40:  # where the noncentral t is out of its numbers
        return 1.0
    return 1 - noncentral_t_cdf(bar, freedom, away) + noncentral_t_cdf(-bar, freedom, away)


def _ties(effect: float, spread: float, step: float) -> float:
    """Share of normal deltas that round to 0 on a lattice."""
    return normal_cdf((step / 2 - effect) / spread) - normal_cdf((-step / 2 - effect) / spread)


def _label_power(effect: float, run: _Run) -> float:
    """Of the permutation test: an effect also widens what the permuted labels give."""
    noise = max(2 * run.within / run.repeats, run.least(effect)) / run.items
    mixed = (effect**2 + run.between) / (2 * run.repeats - 1) / run.items
    bar = normal_quantile(1 - run.level / 2) * math.sqrt(noise + mixed)
    above = effect - run.lost - bar
    return normal_cdf(above / math.sqrt(noise)) if noise else float(above > 0)


def _sign_power(effect: float, run: _Run) -> float:
    """Of the sign test of deltas that are -1, 0 or 1; exact."""
    differ = min(1.0, max(effect, run.between + 2 * run.within + effect**2))
    if not differ:
        return 0.0
    gain = (differ + effect) / 2 / differ
    n, bar = _sign_bars(run.items)
    all_items = np.full(run.items + 1, run.items)
    chances = np.diff(binomial_cdf(np.arange(run.items + 1), all_items, differ), prepend=0.0)
    significant = binomial_cdf(bar, n, 1 - gain) + binomial_cdf(bar, n, gain)
    return float(chances[n] @ significant)


@functools.lru_cache(maxsize=8)
def _sign_bars(items: int) -> tuple[Counts, Counts]:
    """Per number of items that differ: the most that may go the other way; 6 and up can show."""
    bars = {}
    for n in range(1, items + 1):
        rare = 2 * binomial_cdf(np.arange(n + 1), np.full(n + 1, n), 0.5) <= LEVEL
        if rare.any():
            bars[n] = int(np.flatnonzero(rare)[-1])
    return np.array(list(bars), dtype=np.int64), np.array(list(bars.values()), dtype=np.int64)


def _fewest(chance: Callable[[int], float], *, most: int) -> int | None:
    """The smallest number whose power is enough, up to the most; power grows with the number."""
    low, high = 0, 1
    while chance(high) < POWER:
        if high == most:
            return None
        low, high = high, min(most, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= POWER else (middle, high)
    return high


def _need(items: int, repeats: int, usd_per_trial: float) -> Need:
    trials = 2 * items * repeats
    return Need(items, repeats, trials, trials * usd_per_trial)
