"""Rows that belong together: groupby of several names, where a million of them must not take long.

pandas goes through the rows of each name several times to find out which groups there are. Names in
the frames of a comparison are categories, so a group is a number made of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

Values = npt.NDArray[np.float64]

MOST = 2**62
"""Groups that a number can tell apart."""


class Groups:
    """The rows of a frame that have the same values in some columns.

    Groups are in the order of these columns, names in that of their categories.

    Args:
        frame: any.
        by: its columns to go by: categories or whole numbers.
    """

    def __init__(self, frame: pd.DataFrame, by: Sequence[str]) -> None:
        self._columns = frame[list(by)]
        found = np.unique(_numbers(frame, by), return_index=True, return_inverse=True)
        _, self._firsts, self._group = found

    def __len__(self) -> int:
        return len(self._firsts)

    def table(self) -> pd.DataFrame:
        """A row of each group: the columns it goes by."""
        return self._columns.iloc[self._firsts].reset_index(drop=True)

    def sum(self, values: pd.Series) -> Values:
        """Per group, the sum of its rows' values, which are numbers."""
        return self._sums(self._group, values.to_numpy(dtype=np.float64))

    def mean(self, values: pd.Series, where: pd.Series | None = None) -> Values:
        """Per group, the mean of its rows' values; NaN where it has none.

        Args:
            values: of the rows, numbers.
            where: rows that count; None for all.
        """
        rows = slice(None) if where is None else where.to_numpy()
        group, counted = self._group[rows], values.to_numpy(dtype=np.float64)[rows]
        counts = np.bincount(group, minlength=len(self))
        means = np.full(len(self), np.nan)
        np.divide(self._sums(group, counted), counts, out=means, where=counts > 0)
        return means

    def ends(self, values: pd.Series) -> tuple[Values, Values]:
        """Per group, the least and the greatest of its rows' values, which are numbers."""
        low, high = np.full(len(self), np.inf), np.full(len(self), -np.inf)
        np.minimum.at(low, self._group, values.to_numpy())
        np.maximum.at(high, self._group, values.to_numpy())
        return low, high

    def _sums(self, group: npt.NDArray[np.intp], values: Values) -> Values:
        return np.bincount(group, weights=values, minlength=len(self)).astype(np.float64)


def _numbers(frame: pd.DataFrame, by: Sequence[str]) -> npt.NDArray[np.int64]:
    """A number per row, the same where all columns are, in their order."""
    numbers, most = np.zeros(len(frame), dtype=np.int64), 1
    for name in by:
        codes, size = _codes(frame[name])
        if most * size > MOST:
            known, numbers = np.unique(numbers, return_inverse=True)
            most = len(known)
        numbers, most = numbers * size + codes, most * size
    return numbers


def _codes(column: pd.Series) -> tuple[npt.NDArray[np.int64], int]:
    """The place of each value among all of them, and how many there are."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.int64), len(column.dtype.categories)
    known, places = np.unique(column.to_numpy(), return_inverse=True)
    return places.astype(np.int64), len(known)
