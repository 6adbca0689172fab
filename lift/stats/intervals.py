"""What a test hands out, and what it refuses to take in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lift.stats.distributions import Vector

DRAWS = 10_000
"""Labelings or resamples that are drawn where there are too many to go through."""

ROUNDING = 1e-12
"""Scores are 0 to 1: what differs by less differs by rounding."""


class Interval(NamedTuple):
    """A range of values that the data do not rule out; its ends belong to it."""

    low: float
    """-inf where the data set no limit."""
    high: float
    """inf where the data set no limit."""

    def covers(self, value: float) -> bool:
        """True where the value is not ruled out."""
        return self.low <= value <= self.high

    def within(self, margin: float) -> bool:
        """True where both -margin and +margin, and all beyond them, are ruled out."""
        return -margin + 1e-9 < self.low and self.high < margin - 1e-9

    def clipped(self, low: float, high: float) -> Interval:
        """The part between two limits, as -1 and 1 are those of a delta of scores."""
        return Interval(min(max(self.low, low), high), max(min(self.high, high), low))


class Change(NamedTuple):
    """The mean delta, other minus base, and how sure it is; one test gives all of it."""

    delta: float
    """Mean of the item deltas."""
    p: float
    """Two-sided, above 0, at most 1: how often chance alone moves the mean at least as far."""
    interval: Interval
    """Every shift that the same test does not reject; 0 is outside exactly where p says so."""
    labelings: int
    """How many ways to label the trials were gone through, or drawn."""
    exact: bool
    """True where these are all there are."""

    def turned(self) -> Change:
        """The same with the conditions swapped."""
        low, high = self.interval
        return self._replace(delta=0.0 - self.delta, interval=Interval(0.0 - high, 0.0 - low))


def level(confidence: float) -> float:
    """The share of false alarms that goes with a confidence.

    Raises:
        ValueError: the confidence is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence is between 0 and 1, not {confidence}")
    return round(1 - confidence, 12)


def finite(values: Sequence[float] | Vector, what: str) -> Vector:
    """The values as an array, a copy.

    Raises:
        ValueError: there are none, one is NaN or infinite, or they are nested.
    """
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{what}: a flat, non-empty list of numbers is needed")
    if not np.isfinite(array).all():
        raise ValueError(f"{what}: NaN and infinity are no scores")
    return array


def settled(values: Vector) -> Vector:
    """The values with what is zero but for rounding set to zero, in place."""
    values[np.abs(values) < ROUNDING] = 0.0
    return values
