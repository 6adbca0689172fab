"""One test and its inverse for every design: relabel the trials, see how far the mean moves.

A labeling says which trials count as `other` and which as `base`. Its two numbers are `delta`, the
mean delta under it, and `kept`, from -1 to 1: how much of a shift that is added to all trials of
the actual `other` remains in that mean. If the skill shifts every trial by theta, then taking theta
off makes the labels exchangeable, and a labeling L is at least as far out as the actual one where

    |delta_L - theta * kept_L| >= |delta - theta|

which holds exactly for theta between (delta - delta_L) / (1 - kept_L) and
(delta + delta_L) / (1 + kept_L). For sign flips these are the mean deltas of the items that L flips
and of those that it does not: the p-value of theta is the share of the splits into two groups that
have theta between the group means, or an empty group. All these spans hold delta itself, so what is
not rejected is an interval, and its ends are order statistics of the spans' ends.

Source: Fisher, The Design of Experiments (1935); Garthwaite, Confidence intervals from
randomization tests (Biometrics, 1996), for the inversion; Phipson and Smyth, Permutation p-values
should never be zero (2010), for counting the actual labeling among those drawn.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from lift.stats.distributions import Vector
from lift.stats.intervals import Change, Interval, level

Table = npt.NDArray[np.float64]
"""One row per labeling of a part of the trials; columns delta and kept, both sums over the part."""

MOST_LABELINGS = 2**20
"""Up to so many labelings are all gone through."""


def every(parts: Iterable[Table]) -> Table:
    """All labelings of the whole, from all labelings of each part."""
    return functools.reduce(_crossed, parts)


def drawn(parts: Iterable[Table], *, draws: int, rng: np.random.Generator) -> Table:
    """Labelings of the whole that are drawn at random, from all labelings of each part."""
    total = np.zeros((draws, 2))
    for part in parts:
        total += part.take(rng.integers(len(part), size=draws), axis=0)
    return total


def change(
    table: Table,
    *,
    actual: float,
    scale: float,
    confidence: float,
    labelings: int,
    exact: bool,
) -> Change:
    """The p-value of no change, and the interval of all shifts that are not rejected.

    Args:
        table: labelings of the whole, the actual one among them.
        actual: mean delta under the actual labeling.
        scale: largest deviation among the trials; what differs by 1e-10 of it is a tie.
        confidence: of the interval; between 0 and 1.
        labelings: how many there are, or were drawn.
        exact: whether these are all.
    """
    tie = 1e-10 * scale
    delta = 0.0 if abs(actual) <= tie else actual
    low, high = _spans(table, delta)
    p = float(np.mean((low <= tie) & (high >= -tie)))
    rarely = math.floor(level(confidence) * len(table) + 1e-9)
    left = _settled(np.partition(low, rarely)[rarely], tie)
    right = _settled(-np.partition(-high, rarely)[rarely], tie)
    interval = Interval(min(left, delta), max(right, delta))
    return Change(delta, p, interval, labelings, exact)


def _crossed(first: Table, second: Table) -> Table:
    return (first[:, None, :] + second[None, :, :]).reshape(-1, 2)


def _spans(table: Table, delta: float) -> tuple[Vector, Vector]:
    """From where to where each labeling is at least as far out as the actual one."""
    moved, kept = table[:, 0], table[:, 1]
    always = np.abs(kept) > 1 - 1e-9  # nothing or everything is relabeled
    first = (delta - moved) / np.where(always, 1.0, 1.0 - kept)
    second = (delta + moved) / np.where(always, 1.0, 1.0 + kept)
    low = np.where(always, -np.inf, np.minimum(first, second))
    return low, np.where(always, np.inf, np.maximum(first, second))


def _settled(bound: np.float64, tie: float) -> float:
    return 0.0 if abs(bound) <= tie else float(bound)
