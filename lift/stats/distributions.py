"""The distribution functions the tests need, typed.

scipy.stats takes half a second to import; scipy.special a quarter, so it waits until it is needed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@cache
def special() -> Any:
    """Import scipy.special."""
    from scipy import special  # type: ignore[import-untyped]  # scipy ships no types

    return special


def normal_cdf(value: float) -> float:
    """The share of a standard normal distribution at or below the value."""
    return float(special().ndtr(value))


def normal_quantile(share: float) -> float:
    """The value that this share of a standard normal distribution does not exceed."""
    return float(special().ndtri(share))


def beta_quantile(share: float, first: float, second: float) -> float:
    """The value that this share of a beta distribution does not exceed."""
    return float(special().betaincinv(first, second, share))


def binomial_cdf(hits: Counts, n: Counts, chance: float) -> Vector:
    """The chance of at most so many hits in n tries, for each pair."""
    return np.asarray(special().bdtr(hits, n, chance), dtype=np.float64)


def t_quantile(share: float, freedom: float) -> float:
    """The value that this share of Student's t distribution does not exceed."""
    return float(special().stdtrit(freedom, share))


def noncentral_t_cdf(value: float, freedom: float, noncentrality: float) -> float:
    """The share of a noncentral t distribution at or below the value."""
    return float(special().nctdtr(freedom, noncentrality, value))
