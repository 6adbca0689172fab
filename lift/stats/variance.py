"""Where the spread of item deltas comes from: the items, or the noise of their trials."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lift.stats.distributions import Vector
from lift.stats.intervals import finite

PRIOR_BETWEEN = 0.122
"""Variance over items of what a skill truly changes, where nothing is known of a dataset."""
PRIOR_WITHIN = 0.08
"""Variance of a score over the repeats of one item and condition, where nothing is known."""


class Split(NamedTuple):
    """The variance of item deltas in two parts; None is what the data cannot tell."""

    between: float | None
    """Variance over items of the true delta (sigma²); at least 0."""
    within: float | None
    """Variance of one trial's score around the mean of its item and condition (omega²)."""
    total: float | None
    """Variance of the item deltas as they are: between + within / repeats of either side."""

    @property
    def known(self) -> bool:
        """True where both parts are known, as they are from 2 items and 2 repeats on."""
        return self.between is not None and self.within is not None

    def filled(self, prior: Split | None = None) -> Split:
        """The same with what is not known taken from the prior.

        With one repeat only the sum, between + 2 within, is known: the prior's within is taken, up
        to half of the sum, and between is the rest.
        """
        prior = prior or PRIOR
        within, between = self.within, self.between
        if within is None:
            within = prior.within or 0.0
            if self.total is not None:
                within = min(within, self.total / 2)
                between = self.total - 2 * within
        return Split(prior.between if between is None else between, within, self.total)


PRIOR_ITEMS = 5
"""What is assumed counts as much as so many items that were measured."""

PRIOR = Split(PRIOR_BETWEEN, PRIOR_WITHIN, None)
"""What is assumed before anything is measured; a plan that uses it says so."""


def split_variance(base: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> Split:
    """Split the variance of item deltas, by the method of moments.

    Within is the pooled variance of repeats of one item and condition; between is what is left of
    the variance of the item deltas when the noise of their means is taken off, or 0.

    Args:
        base: per item the scores of its trials under base; at least one each.
        other: the same items in the same order under other; the numbers of trials may differ.

    Returns:
        All three with 2 items and 2 repeats or more. With one repeat throughout, the total alone.
        With one item, within alone.

    Raises:
        ValueError: no items, unequal numbers of items, no trials on a side, NaN or infinity.

    Source: Searle, Casella and McCulloch, Variance Components (1992), chapter 3; Miller, Adding
    error bars to evals (2024), for this use of it.
    """
    if len(base) != len(other) or not len(base):
        raise ValueError(f"the same items are needed on both sides: {len(base)}, {len(other)}")
    ours, theirs = _cells(base, "base"), _cells(other, "other")
    freedom = sum(int((cells.sizes - 1).sum()) for cells in (ours, theirs))
    within = (ours.squares + theirs.squares) / freedom if freedom else None
    deltas = theirs.means - ours.means
    total = float(deltas.var(ddof=1)) if len(deltas) > 1 else None
    if within is None or total is None:
        return Split(None, within, total)
    noise = within * float((1 / ours.sizes + 1 / theirs.sizes).mean())
    return Split(max(0.0, total - noise), within, total)


def tempered(split: Split, items: int) -> Split:
    """A measured split and what is assumed, each by its weight.

    Few items that happen to agree do not show that nothing scatters: the next change may.

    Args:
        split: both parts known.
        items: that it is measured on.

    Source: Gelman et al., Bayesian Data Analysis (2013), section 2.6, a scaled inverse chi-squared
    prior of the variance of a normal distribution.
    """
    both = zip((split.between, split.within), (PRIOR_BETWEEN, PRIOR_WITHIN), strict=True)
    between, within = (
        (items * (known or 0.0) + PRIOR_ITEMS * prior) / (items + PRIOR_ITEMS)
        for known, prior in both
    )
    return Split(between, within, None)


def step(base: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> float:
    """The smallest step of one trial's score: 1 where all are pass or fail, else 0.

    Args:
        base: as in `split_variance`.
        other: as in `split_variance`.
    """
    return float({score for trials in (*base, *other) for score in trials} <= {0.0, 1.0})


class _Cells(NamedTuple):
    """The trials of each item under one condition."""

    sizes: npt.NDArray[np.intp]
    means: Vector
    squares: float
    """Sum over all trials of the squared distance from their item's mean."""


def _cells(trials: Sequence[Sequence[float]], what: str) -> _Cells:
    sizes = np.fromiter(map(len, trials), dtype=np.intp, count=len(trials))
    if not sizes.all():
        raise ValueError(f"{what}: a non-empty list of trials is needed of each item")
    scores = finite(list(chain.from_iterable(trials)), what)
    means = np.add.reduceat(scores, np.cumsum(sizes) - sizes) / sizes
    return _Cells(sizes, means, float(((scores - np.repeat(means, sizes)) ** 2).sum()))
