"""Shares and counts: intervals, pass or fail pairs, several p-values, few items that moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lift.stats.distributions import Vector, beta_quantile, binomial_cdf, normal_quantile
from lift.stats.intervals import ROUNDING, Interval, finite, level

FEW = 6
"""Where fewer items differ, no interval of the mean is shown: say how many moved."""


class Moved(NamedTuple):
    """How many items differ between the conditions."""

    moved: int
    n: int
    bound: float
    """Largest share of items like these that can move: upper end of the 95 % interval."""

    @property
    def few(self) -> bool:
        """True where the interval of the mean says too little, and this is shown instead."""
        return self.moved < FEW

    def __str__(self) -> str:
        return f"{self.moved} of {self.n} items moved, of all such at most {self.bound:.0%}"


def wilson(hits: int, n: int, *, confidence: float = 0.95) -> Interval:
    """The interval of a share, sound for small n and for shares near 0 and 1.

    Args:
        hits: how many of the n; 0 to n.
        n: at least 1.
        confidence: between 0 and 1.

    Raises:
        ValueError: a number is out of its range.

    Source: Wilson, Probable inference (1927); Brown, Cai and DasGupta (2001).
    """
    _check_hits(hits, n)
    squared = normal_quantile(1 - level(confidence) / 2) ** 2
    middle = (hits + squared / 2) / (n + squared)
    half = (squared * (hits * (n - hits) / n + squared / 4)) ** 0.5 / (n + squared)
    low = middle - half if hits else 0.0
    return Interval(low, middle + half if hits < n else 1.0)


def clopper_pearson(hits: int, n: int, *, confidence: float = 0.95) -> Interval:
    """The interval of a share that is never too narrow, at the price of being wide.

    Args:
        hits: how many of the n; 0 to n.
        n: at least 1.
        confidence: between 0 and 1.

    Raises:
        ValueError: a number is out of its range.

    Source: Clopper and Pearson, The use of confidence or fiducial limits (1934).
    """
    _check_hits(hits, n)
    tail = level(confidence) / 2
    low = beta_quantile(tail, hits, n - hits + 1) if hits else 0.0
    high = beta_quantile(1 - tail, hits + 1, n - hits) if hits < n else 1.0
    return Interval(low, high)


def moved(deltas: Sequence[float] | Vector, *, confidence: float = 0.95) -> Moved:
    """How many items differ, and the Clopper-Pearson bound on the share that can.

    Args:
        deltas: one per item; what differs from 0 by rounding does not count.
        confidence: of the two-sided interval whose upper end is the bound.

    Raises:
        ValueError: no deltas, NaN or infinity.
    """
    values = finite(deltas, "deltas")
    count = int(np.count_nonzero(np.abs(values) >= ROUNDING))
    bound = clopper_pearson(count, len(values), confidence=confidence).high
    return Moved(count, len(values), bound)


def mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided p-value that passes and fails changed sides by chance.

    For one repeat of pass or fail it is the p-value of the sign-flip test. 3 gained, none lost:
    0.25.

    Args:
        gained: items that fail under base and pass under other; at least 0.
        lost: items that pass under base and fail under other; at least 0.

    Raises:
        ValueError: a count is below 0.

    Source: McNemar (1947), in the exact form of Liddell (1983).
    """
    if min(gained, lost) < 0:
        raise ValueError(f"counts are at least 0, not {gained} and {lost}")
    tail = binomial_cdf(np.array(min(gained, lost)), np.array(gained + lost), 0.5)
    return min(1.0, 2 * float(tail))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values corrected for being several, in the same order.

    Comparing each with 0.05 keeps the chance of any false alarm among them at 5 %.

    Args:
        p_values: 0 to 1, one per question; none give none.

    Raises:
        ValueError: one is NaN or not between 0 and 1.

    Source: Holm, A simple sequentially rejective multiple test procedure (1979).
    """
    if not len(p_values):
        return ()
    values = finite(p_values, "p-values")
    if values.min() < 0 or values.max() > 1:
        raise ValueError("p-values are between 0 and 1")
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return tuple(corrected.tolist())


def _check_hits(hits: int, n: int) -> None:
    if n < 1 or not 0 <= hits <= n:
        raise ValueError(f"0 to n of at least 1 are needed, not {hits} of {n}")
