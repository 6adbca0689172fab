"""How far two raters agree beyond chance: a judge and a person, or two judges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lift.stats.distributions import normal_quantile
from lift.stats.intervals import Interval, level
from lift.stats.shares import clopper_pearson

Shares = npt.NDArray[np.float64]


class Kappa(NamedTuple):
    """Agreement of two raters: 1 is perfect, 0 is what chance gives, below 0 is worse than that."""

    value: float
    interval: Interval
    n: int
    """Things that both rated."""


def cohen_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], *, confidence: float = 0.95
) -> Kappa | None:
    """Cohen's kappa of two raters over the same things, with its large-sample interval.

    Where they agree on everything, or one of them used a single label, that interval has no width;
    it is then replaced by the Clopper-Pearson interval of their agreement, with the chance
    agreement as observed.

    Args:
        first: one label per thing; at least one.
        second: the other rater's labels of the same things in the same order.
        confidence: between 0 and 1.

    Returns:
        None where both used one and the same label only: kappa is then not defined.

    Raises:
        ValueError: the numbers of labels differ, or there are none.

    Source: Cohen, A coefficient of agreement for nominal scales (1960); the variance is that of
    Fleiss, Cohen and Everitt (1969).
    """
    shares = _shares(first, second)
    agreed = float(np.trace(shares))
    chance = float(shares.sum(axis=1) @ shares.sum(axis=0))
    if chance > 1 - 1e-12:
        return None
    n = len(first)
    value = (agreed - chance) / (1 - chance)
    variance = _variance(shares, agreed, chance)
    if variance > 1e-12:
        reach = normal_quantile(1 - level(confidence) / 2) * (variance / n) ** 0.5
        return Kappa(value, Interval(value - reach, min(1.0, value + reach)), n)
    bounds = clopper_pearson(round(agreed * n), n, confidence=confidence)
    low, high = ((bound - chance) / (1 - chance) for bound in bounds)
    return Kappa(value, Interval(low, high), n)


def _shares(first: Sequence[Hashable], second: Sequence[Hashable]) -> Shares:
    """Per pair of labels the share of things that got it; rows are of the first rater."""
    if len(first) != len(second) or not len(first):
        raise ValueError(f"as many labels are needed of either: {len(first)}, {len(second)}")
    index = {label: place for place, label in enumerate(dict.fromkeys([*first, *second]))}
    counts = np.zeros((len(index), len(index)))
    np.add.at(counts, ([index[label] for label in first], [index[label] for label in second]), 1)
    return counts / len(first)


def _variance(shares: Shares, agreed: float, chance: float) -> float:
    """Of kappa, times n."""
    both = shares.sum(axis=1)[None, :] + shares.sum(axis=0)[:, None]  # as in the source: p.i + pj.
    diagonal = np.diag(shares)
    on = diagonal @ ((1 - chance) - np.diag(both) * (1 - agreed)) ** 2
    off = (1 - agreed) ** 2 * ((shares * both**2).sum() - diagonal @ np.diag(both) ** 2)
    rest = (agreed * chance - 2 * chance + agreed) ** 2
    return float((on + off - rest) / (1 - chance) ** 4)
