"""Scope "these items only": the trial is the unit, and its condition might have been the other."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lift.stats.distributions import Vector
from lift.stats.intervals import DRAWS, Change, finite, settled
from lift.stats.labelings import MOST_LABELINGS, Table, change, drawn, every

Trials = Sequence[Sequence[float]]
"""Per item the scores of its repeats under one condition."""

Picks = npt.NDArray[np.intp]
"""Per labeling of an item the positions of the trials that count as `other`."""


class _Item(NamedTuple):
    other: tuple[float, ...]
    base: tuple[float, ...]

    @property
    def labelings(self) -> int:
        return math.comb(len(self.other) + len(self.base), len(self.other))

    @property
    def deviations(self) -> Vector:
        """Of all trials from their common mean, those of `other` first."""
        pooled = np.array(self.other + self.base)
        return settled(pooled - pooled.mean())


def permute_labels(
    base: Trials,
    other: Trials,
    *,
    confidence: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> Change:
    """The permutation test of the mean item delta within items, and its inverted interval.

    The p-value tests "the skill changes nothing on these items": if it does nothing, the labels of
    an item's trials might be dealt out in any way. The interval is that of one shift for all trials
    of `other`. 5 items with 2 repeats have 6^5 = 7,776 labelings; up to 2^20 all are gone through.
    The order of items and trials does not matter, and swapping the conditions turns all signs and
    changes nothing else.

    Args:
        base: per item the scores of its trials under base; at least one trial each.
        other: the same items in the same order under other; the numbers of trials may differ.
        confidence: of the interval; between 0 and 1.
        draws: labelings to draw where there are more than 2^20; at least 1.
        seed: of the draws.

    Raises:
        ValueError: no items, unequal numbers of items, an item without trials on a side, NaN or
            infinity, or no item with a second trial on either side.

    Source: Fisher (1935); Edgington and Onghena, Randomization Tests (2007), on blocks. The
    inversion: `lift.stats.labelings`.
    """
    items, turned = _oriented(_checked(base, other))
    actual = np.vstack([_table(item, _as_labeled(item)) for item in items]).sum(axis=0) / len(items)
    exact = sum(math.log2(item.labelings) for item in items) <= math.log2(MOST_LABELINGS)
    found = change(
        every(_every(items)) if exact else _sampled(items, actual, draws=draws, seed=seed),
        actual=float(actual[0]),
        scale=max(float(np.abs(item.deviations).max()) for item in items),
        confidence=confidence,
        labelings=math.prod(item.labelings for item in items) if exact else draws,
        exact=exact,
    )
    return found.turned() if turned else found


def _checked(base: Trials, other: Trials) -> list[_Item]:
    if len(base) != len(other) or not len(base):
        raise ValueError(f"the same items are needed on both sides: {len(base)}, {len(other)}")
    items = [
        _Item(_scores(theirs, "other"), _scores(ours, "base"))
        for ours, theirs in zip(base, other, strict=True)
    ]
    if all(item.labelings == 2 for item in items):
        raise ValueError("labels can only be permuted where an item has a second repeat")
    return items


def _scores(trials: Sequence[float], what: str) -> tuple[float, ...]:
    return tuple(sorted(finite(trials, what).tolist()))


def _oriented(items: list[_Item]) -> tuple[list[_Item], bool]:
    """The items in an order, and the sides in one, that the caller's order does not decide."""
    there = sorted(items)
    back = sorted(_Item(item.base, item.other) for item in items)
    return (back, True) if back > there else (there, False)


def _every(items: list[_Item]) -> Iterator[Table]:
    for item in items:
        yield _table(item, _subsets(len(item.other) + len(item.base), len(item.other))) / len(items)


def _sampled(items: list[_Item], actual: Vector, *, draws: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    few = [item for item in items if item.labelings <= draws]
    total = drawn((part * len(few) / len(items) for part in _every(few)), draws=draws, rng=rng)
    for item in (item for item in items if item.labelings > draws):
        shuffled = rng.random((draws, len(item.other) + len(item.base))).argsort(axis=1)
        total += _table(item, shuffled[:, : len(item.other)]) / len(items)
    return np.vstack([actual, total])


def _table(item: _Item, picks: Picks) -> Table:
    """Delta, and what remains of a shift of `other`, where the picked trials count as `other`."""
    shifted = np.repeat([1.0, 0.0], [len(item.other), len(item.base)])
    return np.column_stack([_delta(values, picks) for values in (item.deviations, shifted)])


def _delta(values: Vector, picks: Picks) -> Vector:
    picked = values[picks].sum(axis=1)
    size = picks.shape[1]
    means: Vector = picked / size - (values.sum() - picked) / (len(values) - size)
    return means


def _as_labeled(item: _Item) -> Picks:
    return np.arange(len(item.other))[None, :]


@functools.lru_cache(maxsize=16)
def _subsets(trials: int, size: int) -> Picks:
    """Every choice of so many of the trials, one a row."""
    chosen = itertools.chain.from_iterable(itertools.combinations(range(trials), size))
    return np.fromiter(chosen, dtype=np.intp).reshape(-1, size)
