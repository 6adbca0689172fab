"""The percentile bootstrap, for display where it is asked for: no verdict rests on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lift.stats.distributions import Vector
from lift.stats.intervals import DRAWS, Interval, finite, level

_AT_ONCE = 2_000_000
"""Resampled deltas per step; bounds the memory."""


def bootstrap(
    deltas: Sequence[float] | Vector,
    *,
    confidence: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> Interval:
    """The percentile interval of the mean of resampled item deltas; too narrow for few items.

    Args:
        deltas: one per item; at least one.
        confidence: between 0 and 1.
        draws: resamples; at least 1.
        seed: of the draws.

    Raises:
        ValueError: no deltas, NaN or infinity.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    values = np.sort(finite(deltas, "deltas"))
    tail = level(confidence) / 2
    rng = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // len(values))
    sizes = [min(step, draws - start) for start in range(0, draws, step)]
    means = [values[rng.integers(len(values), size=(n, len(values)))].mean(axis=1) for n in sizes]
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return Interval(float(low), float(high))
