"""The tests for many datasets of one shape at once, with shared labelings: for simulations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lift.stats.distributions import Vector

Rows = npt.NDArray[np.float64]
"""One row per dataset; one column per item, or per item and trial."""


class Labelings(NamedTuple):
    """Labelings of one shape of dataset; a row of it times a dataset is a mean delta."""

    actual: Vector
    others: Rows
    exact: bool
    """True where `others` are all there are, the actual one among them."""


def flips(items: int, *, draws: int, seed: int) -> Labelings:
    """Sign flips of item deltas: all of them, or `draws` of them where there are more.

    Args:
        items: columns of the datasets, one delta each.
        draws: at least 1; all 2^(items - 1) splits into two groups are taken up to this number.
        seed: of the draws.
    """
    exact = items < 40 and 2 ** (items - 1) <= draws
    if exact:
        bits = np.arange(2 ** (items - 1))[:, None] >> np.arange(items) & 1
    else:
        bits = np.random.default_rng(seed).integers(2, size=(draws, items))
    return Labelings(np.full(items, 1 / items), (1.0 - 2.0 * bits) / items, exact)


def labels(items: int, repeats: int, *, draws: int, seed: int) -> Labelings:
    """Drawn permutations of the labels within items.

    Args:
        items: items of a dataset.
        repeats: trials per item and condition; columns are item by item, `other` before base.
        draws: at least 1.
        seed: of the draws.
    """
    one = np.repeat([1.0, -1.0], repeats) / (repeats * items)
    dealt = np.tile(one, (draws * items, 1))
    np.random.default_rng(seed).permuted(dealt, axis=1, out=dealt)
    return Labelings(np.tile(one, items), dealt.reshape(draws, -1), exact=False)


def p_values(rows: Rows, labelings: Labelings, *, at_once: int = 500) -> Vector:
    """The two-sided p-value of each dataset, that its mean delta is 0.

    Args:
        rows: datasets of scores or deltas between -1 and 1.
        labelings: of the datasets' shape.
        at_once: datasets per step; bounds the memory.

    Source: as `sign_flip` and `permute_labels`, which test one dataset with labelings of its own.
    """
    parts = [rows[start : start + at_once] for start in range(0, len(rows), at_once)]
    extreme = np.concatenate([_extreme(part, labelings) for part in parts])
    drawn = 0 if labelings.exact else 1
    shares: Vector = (extreme + drawn) / (len(labelings.others) + drawn)
    return shares


def _extreme(rows: Rows, labelings: Labelings) -> Vector:
    moved = rows @ labelings.others.T
    np.abs(moved, out=moved)
    as_far: Vector = np.sum(moved >= np.abs(rows @ labelings.actual)[:, None] - 1e-10, axis=1)
    return as_far
