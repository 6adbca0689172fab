"""Scope "items like these": the item is the unit, and its delta may as well be negative."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lift.stats.distributions import Vector
from lift.stats.intervals import DRAWS, Change, Interval, finite, settled
from lift.stats.labelings import Table, change, drawn, every

MARGIN = 0.05
"""Deltas within ± the margin are no difference worth a verdict."""

EXACT_ITEMS = 20
"""Up to so many items all 2^n flips are gone through."""

ONE_BY_ONE = 256
"""Of more items, the signs of so many are drawn one by one: those with the largest deltas."""

_SIGNS = 1.0 - 2.0 * (np.arange(256)[:, None] >> np.arange(8) & 1)
"""Every way to flip eight items, one a row."""


class Equivalence(NamedTuple):
    """Whether the mean delta is known to be small."""

    interval: Interval
    """Of the mean delta, two pseudo-items included: wider than that of the test."""
    margin: float
    holds: bool
    """True where the interval is within ± margin: NO DIFFERENCE."""


def sign_flip(
    deltas: Sequence[float] | Vector,
    *,
    confidence: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> Change:
    """The exact sign-flip test of the mean item delta, and the interval of its inversion.

    The p-value tests "the skill changes nothing": if it does nothing, each delta is as likely to
    have come out with the opposite sign. With 5 items or fewer p is at least 0.0625 and the 95 %
    interval has no ends. The order of the items does not matter, and swapping the conditions turns
    all signs and changes nothing else.

    Of more than 256 items the largest deltas are flipped one by one, and what the flips of all
    others add up to is drawn from its normal limit. None of them is more than 1/16 of the standard
    deviation of the whole, so that the limit is off by far less than what is drawn.

    Args:
        deltas: one per item, other minus base; at least one.
        confidence: of the interval; between 0 and 1.
        draws: flips to draw where there are more than 20 items; at least 1.
        seed: of the draws.

    Raises:
        ValueError: no deltas, NaN or infinity, or a confidence that is none.

    Source: Fisher, The Design of Experiments (1935), section 21; Pitman, Significance tests which
    may be applied to samples from any populations (1937). The inversion: `lift.stats.labelings`.
    """
    values, turned = _oriented(settled(finite(deltas, "deltas")))
    exact = len(values) <= EXACT_ITEMS
    found = change(
        every(_items(values)) if exact else _sampled(values, draws=draws, seed=seed),
        actual=float(values.mean()),
        scale=float(np.abs(values).max()),
        confidence=confidence,
        labelings=2 ** len(values) if exact else draws,
        exact=exact,
    )
    return found.turned() if turned else found


def equivalent(
    deltas: Sequence[float] | Vector,
    *,
    margin: float = MARGIN,
    confidence: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> Equivalence:
    """Whether the mean delta is within ± margin, as sure as the confidence says.

    Two pseudo-items, +1 and -1, are added to the deltas before the interval is computed: without
    them a dataset of ties would have an interval of no width. Where all items tie it takes about 50
    of them. An interval that ends on the margin does not lie within it.

    Args:
        deltas: one per item, -1 to 1; at least one.
        margin: largest delta that makes no difference; above 0.
        confidence: between 0 and 1.
        draws: as in `sign_flip`.
        seed: as in `sign_flip`.

    Raises:
        ValueError: as `sign_flip`; a delta beyond ± 1; a margin of 0 or less.

    Source: Schuirmann (1987), two one-sided tests, here by one interval; Agresti and Coull (1998),
    for adding pseudo-observations of either kind.
    """
    values = finite(deltas, "deltas")
    if np.abs(values).max() > 1 + 1e-9:
        raise ValueError("deltas of scores are between -1 and 1")
    if not margin > 0:
        raise ValueError(f"a margin is above 0, not {margin}")
    padded = np.append(values, [1.0, -1.0])
    interval = sign_flip(padded, confidence=confidence, draws=draws, seed=seed).interval
    return Equivalence(interval, margin, interval.within(margin))


def _oriented(values: Vector) -> tuple[Vector, bool]:
    """The deltas in an order, and under a sign, that their order and the base do not decide."""
    up = np.sort(values)
    down = np.sort(-values)
    differ = np.flatnonzero(up != down)
    turned = bool(differ.size and down[differ[0]] > up[differ[0]])
    return (down if turned else up), turned


def _items(values: Vector) -> Iterator[Table]:
    """Both signs of each item; only one of the first, since all signs turned is the same split."""
    for index, value in enumerate(values / len(values)):
        kept = np.array([[value, 1 / len(values)]])
        yield np.vstack([kept, -kept]) if index else kept


def _sampled(values: Vector, *, draws: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    large = np.argsort(-np.abs(values), kind="stable") if len(values) > ONE_BY_ONE else slice(None)
    ordered = values[large]
    total = drawn(_eights(ordered[:ONE_BY_ONE]), draws=draws, rng=rng)
    total += _limit(ordered[ONE_BY_ONE:], draws=draws, rng=rng)
    return np.vstack([[values.mean(), 1.0], total / len(values)])


def _eights(values: Vector) -> Iterator[Table]:
    """All sign flips of eight items at a time: one look-up draws eight signs."""
    for start in range(0, len(values), 8):
        part = values[start : start + 8]
        both: Table = np.column_stack([part, np.ones(len(part))])
        yield _SIGNS[:, : len(part)] @ both


def _limit(values: Vector, *, draws: int, rng: np.random.Generator) -> Table:
    """Sums over sign flips of many items, and over the signs, from the normal they tend to."""
    if not values.size:
        return np.zeros((draws, 2))
    signs = rng.normal(scale=values.size**0.5, size=draws)
    rest = max(0.0, float(values @ values) - float(values.sum()) ** 2 / values.size)
    return np.column_stack([values.mean() * signs + rng.normal(scale=rest**0.5, size=draws), signs])
