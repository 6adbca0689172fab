"""Tests, intervals, shares, power and agreement; scipy.stats and statsmodels are the oracles."""

from __future__ import annotations

import itertools
import math
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from lift.stats import (
    PRIOR,
    Change,
    Interval,
    Scope,
    Split,
    bootstrap,
    clopper_pearson,
    cohen_kappa,
    detectable,
    equivalent,
    holm,
    items_for,
    mcnemar,
    moved,
    permute_labels,
    power,
    repeats_for,
    sign_flip,
    split_variance,
    tempered,
    wilson,
)
from lift.stats.shared import flips, labels, p_values

with warnings.catch_warnings():  # what a test oracle deprecates at import is not ours
    warnings.simplefilter("ignore")
    from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
    from statsmodels.stats.inter_rater import cohens_kappa
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import TTestPower
    from statsmodels.stats.proportion import proportion_confint

PAGE = (Path(__file__).parent.parent / "docs" / "statistics.md").read_text("utf-8")
LIKE, ONLY = Scope.LIKE_THESE, Scope.THESE_ONLY

twelfths = st.integers(-12, 12).map(lambda n: n / 12)
scores = st.integers(0, 6).map(lambda n: n / 6)
few = st.lists(twelfths | st.floats(-1, 1), min_size=1, max_size=12)
many = st.lists(twelfths, min_size=21, max_size=40)
items = st.lists(
    st.tuples(st.lists(scores, min_size=1, max_size=3), st.lists(scores, min_size=2, max_size=3)),
    min_size=1,
    max_size=5,
)
tables = st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=4), min_size=2, max_size=6)

close = pytest.approx


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def same(one: Change, other: Change) -> bool:
    ends = zip(one.interval, other.interval, strict=True)
    return (
        one.delta == close(other.delta, abs=1e-12)
        and one.p == other.p
        and all(a == close(b, abs=1e-12) for a, b in ends)
    )


def consistent(change: Change) -> bool:
    """The p-value and the interval are of one test."""
    return (
        0 < change.p <= 1
        and change.interval.covers(change.delta)
        and (change.p <= 0.05) is not change.interval.covers(0.0)
    )


# --- sign flips


@pytest.mark.parametrize("n", [2, 5, 6, 9, 12])
@pytest.mark.parametrize("grid", [None, 4])
def test_the_sign_flip_test_is_that_of_scipy(n: int, grid: int | None):
    for seed in range(8):
        deltas = rng(seed).normal(0.2, 0.4, n)
        deltas = deltas if grid is None else np.round(deltas * grid) / grid
        oracle = scipy.stats.permutation_test(
            (deltas,), np.mean, permutation_type="samples", n_resamples=2**n, vectorized=True
        )

        assert sign_flip(deltas).p == close(oracle.pvalue, abs=1e-9)


@pytest.mark.parametrize("n", [6, 8, 11])
def test_beyond_the_interval_scipy_rejects_and_within_it_it_does_not(n: int):
    for seed in range(6):
        deltas = rng(seed).normal(0.1, 0.3, n)
        low, high = sign_flip(deltas).interval

        def p(theta: float, deltas: np.ndarray = deltas) -> float:
            return scipy.stats.permutation_test(
                (deltas - theta,), np.mean, permutation_type="samples", n_resamples=2**n
            ).pvalue

        assert p(low - 1e-7) <= 0.05 < p(low + 1e-7)
        assert p(high + 1e-7) <= 0.05 < p(high - 1e-7)


def splits_that_hold(theta: Fraction, deltas: list[Fraction]) -> Fraction:
    """Share of the splits into two groups that have theta between the means, or an empty group."""
    held = 0
    for sides in itertools.product((0, 1), repeat=len(deltas)):
        groups = [[d for d, s in zip(deltas, sides, strict=True) if s == side] for side in (0, 1)]
        if all(groups):
            means = sorted(sum(group, Fraction()) / len(group) for group in groups)
            held += means[0] <= theta <= means[1]
        else:
            held += 1
    return Fraction(held, 2 ** len(deltas))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-12, 12), min_size=1, max_size=7))
def test_theta_is_in_the_interval_if_it_splits_more_than_5_percent(twelfth: list[int]):
    exact = [Fraction(n, 12) for n in twelfth]
    interval = sign_flip([n / 12 for n in twelfth]).interval

    for end, outwards in zip(interval, (-1, 1), strict=True):
        if math.isfinite(end):
            at = Fraction(end).limit_denominator(10_000)
            assert splits_that_hold(at, exact) > Fraction(1, 20)
            assert splits_that_hold(at + outwards * Fraction(1, 10**6), exact) <= Fraction(1, 20)


def test_five_items_one_way_settle_nothing_and_six_do():
    five, six = sign_flip([0.2, 0.4, 0.1, 0.3, 0.5]), sign_flip([0.2, 0.4, 0.1, 0.3, 0.5, 0.3])

    assert (five.p, five.interval) == (0.0625, Interval(-math.inf, math.inf))
    assert (six.p, six.labelings, six.exact) == (2 / 64, 64, True)
    assert six.interval.low > 0


def test_one_item_says_nothing():
    change = sign_flip([0.7])

    assert (change.delta, change.p) == (0.7, 1.0)
    assert change.interval == Interval(-math.inf, math.inf)


@pytest.mark.parametrize("n", [6, 30])
def test_where_all_tie_p_is_1_and_the_interval_has_no_width(n: int):
    assert sign_flip([0.0] * n)[:3] == (0.0, 1.0, Interval(0.0, 0.0))


def test_what_differs_by_rounding_alone_is_a_tie():
    rounded = sign_flip([(0.1 + 0.2 + 0.3) - (0.3 + 0.2 + 0.1)] * 8)

    assert rounded[:3] == (0.0, 1.0, Interval(0.0, 0.0))
    assert sign_flip([0.1 + 0.2] * 3 + [0.3] * 4).p == sign_flip([0.3] * 7).p


def test_twenty_items_are_enumerated_and_more_are_drawn_close_to_it():
    deltas = rng(3).normal(0.1, 0.3, 21).clip(-1, 1)

    assert sign_flip(deltas[:20]).labelings == 2**20
    drawn = sign_flip(deltas, draws=40_000)
    assert (drawn.labelings, drawn.exact) == (40_000, False)
    assert drawn.p == close(scipy.stats.ttest_1samp(deltas, 0).pvalue, abs=0.01)
    t = scipy.stats.ttest_1samp(deltas, 0).confidence_interval()
    assert drawn.interval == close((t.low, t.high), abs=0.01)


def test_a_seed_draws_the_same_again():
    deltas = rng(1).normal(0.05, 0.3, 30)

    assert sign_flip(deltas, seed=4) == sign_flip(deltas, seed=4)
    assert sign_flip(deltas, seed=4) != sign_flip(deltas, seed=5)


def test_more_confidence_is_a_wider_interval():
    deltas = rng(1).normal(0.1, 0.3, 12)
    narrow, wide = (sign_flip(deltas, confidence=c).interval for c in (0.8, 0.99))

    assert wide.low < narrow.low < narrow.high < wide.high


@settings(deadline=None)
@given(few | many)
def test_swapping_the_conditions_turns_the_deltas_and_nothing_else(deltas: list[float]):
    assert same(sign_flip([-d for d in deltas]), sign_flip(deltas).turned())


@settings(deadline=None)
@given((few | many).flatmap(lambda d: st.tuples(st.just(d), st.permutations(d))))
def test_the_order_of_the_items_does_not_matter(orders: tuple[list[float], list[float]]):
    assert same(sign_flip(orders[0]), sign_flip(orders[1]))


@settings(deadline=None)
@given(st.lists(twelfths, min_size=1, max_size=10), st.sampled_from([0.01, 0.3, 2, 1000]))
def test_scaling_the_deltas_scales_the_interval_and_leaves_p(deltas: list[float], factor: float):
    once, scaled = sign_flip(deltas), sign_flip([d * factor for d in deltas])

    assert scaled.p == once.p
    assert scaled.interval == close(tuple(end * factor for end in once.interval), abs=1e-12)


@settings(deadline=None)
@given(few | many)
def test_p_says_what_the_interval_says(deltas: list[float]):
    change = sign_flip(deltas)

    assert consistent(change)
    assert change.delta == close(float(np.mean(deltas)), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-1, 1), min_size=1, max_size=14))
def test_for_pass_or_fail_it_is_mcnemars_test(deltas: list[int]):
    assert sign_flip(deltas).p == close(mcnemar(deltas.count(1), deltas.count(-1)), abs=1e-12)


def test_of_very_many_items_the_large_deltas_decide_as_in_the_exact_test():
    deltas = [1.0] * 7 + [0.0] * 3000

    assert sign_flip(deltas).p == close(mcnemar(7, 0), abs=0.004)


@pytest.mark.parametrize("n", [257, 5000])
def test_of_very_many_items_the_interval_is_that_of_the_normal_limit(n: int):
    deltas = rng(n).normal(0.02, 0.3, n).clip(-1, 1)
    change = sign_flip(deltas, draws=40_000)

    t = scipy.stats.ttest_1samp(deltas, 0)
    assert change.p == close(t.pvalue, abs=0.01)
    assert change.interval == close(tuple(t.confidence_interval()), abs=0.06 * n**-0.5)


@settings(max_examples=10)
@given(st.integers(0, 99), st.booleans())
def test_of_very_many_items_swapping_and_order_do_not_matter_either(seed: int, tied: bool):
    deltas = rng(seed).normal(0.01, 0.3, 700)
    deltas = np.round(deltas * 4) / 4 if tied else deltas

    assert same(sign_flip(rng(1).permutation(-deltas)), sign_flip(deltas).turned())


# --- permuted labels


def every_labeling(base: list[list[float]], other: list[list[float]]) -> Iterator[float]:
    """The mean delta under each labeling of trials within items, the long way round."""
    choices = [
        [
            (sum(pooled[i] for i in pick) / len(theirs))
            - sum(pooled[i] for i in range(len(pooled)) if i not in pick) / len(ours)
            for pick in itertools.combinations(range(len(pooled)), len(theirs))
        ]
        for ours, theirs in zip(base, other, strict=True)
        for pooled in [ours + theirs]
    ]
    return (sum(each) / len(base) for each in itertools.product(*choices))


def by_hand(base: list[list[float]], other: list[list[float]]) -> float:
    deltas = [np.mean(b) - np.mean(a) for a, b in zip(base, other, strict=True)]
    extreme = abs(float(np.mean(deltas))) - 1e-9
    found = list(every_labeling(base, other))
    return sum(abs(delta) >= extreme for delta in found) / len(found)


@settings(max_examples=40, deadline=None)
@given(items.filter(lambda sides: math.prod(math.comb(len(a) + len(b), 2) for a, b in sides) < 9e3))
def test_permuting_labels_is_what_it_says(sides: list[tuple[list[float], list[float]]]):
    base, other = [a for a, _ in sides], [b for _, b in sides]

    assert permute_labels(base, other).p == close(by_hand(base, other), abs=1e-9)


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_one_item_is_the_permutation_test_of_scipy(repeats: int):
    for seed in range(6):
        base, other = rng(seed).random((2, repeats))
        oracle = scipy.stats.permutation_test(
            (other, base), lambda x, y: np.mean(x) - np.mean(y), n_resamples=10**5
        )

        assert permute_labels([base], [other]).p == close(oracle.pvalue, abs=1e-9)


def test_unequal_repeats_are_the_permutation_test_of_scipy_too():
    for seed in range(6):
        base, other = rng(seed).random(3), rng(seed + 50).random(5)
        oracle = scipy.stats.permutation_test(
            (other, base),
            lambda x, y: abs(np.mean(x) - np.mean(y)),
            n_resamples=10**5,
            alternative="greater",
        )

        assert permute_labels([base], [other]).p == close(oracle.pvalue, abs=1e-9)


@pytest.mark.parametrize("shape", [(5, 2, 2), (3, 3, 3), (4, 2, 3), (3, 1, 4)])
def test_the_interval_of_permuted_labels_is_its_inversion(shape: tuple[int, int, int]):
    n, ours, theirs = shape
    for seed in range(4):
        base = rng(seed).random((n, ours)).tolist()
        other = (rng(seed + 9).random((n, theirs)) + 0.2).tolist()
        low, high = permute_labels(base, other).interval

        def p(theta: float, base: Any = base, other: Any = other) -> float:
            return permute_labels(base, [[s - theta for s in trials] for trials in other]).p

        assert p(low - 1e-6) <= 0.05 < p(low + 1e-6)
        assert p(high + 1e-6) <= 0.05 < p(high - 1e-6)


def test_with_one_and_two_repeats_the_labelings_are_those_of_either():
    base, other = [[0.0, 0.2]] * 3, [[0.5]] * 3

    assert permute_labels(base, other).labelings == 3**3
    assert permute_labels(base, other).delta == close(0.4)


def test_five_items_with_two_repeats_have_7776_labelings_and_can_be_settled():
    base, other = [[0.1, 0.2]] * 5, [[0.6, 0.7]] * 5
    change = permute_labels(base, other)

    assert (change.labelings, change.exact) == (7776, True)
    assert change.p == close(2 / 7776)
    assert change.interval.low > 0
    assert sign_flip([0.5] * 5).p == 0.0625


def test_too_many_labelings_are_drawn_close_to_the_exact_test():
    base, other = rng(0).random((8, 3)), rng(1).random((8, 3)) + 0.1
    drawn = permute_labels(base.tolist(), other.tolist(), draws=40_000)
    tables = labels(8, 3, draws=40_000, seed=7)
    rows = np.concatenate([other, base], axis=1).reshape(1, -1)

    assert (drawn.labelings, drawn.exact) == (40_000, False)
    assert drawn.p == close(float(p_values(rows, tables)[0]), abs=0.01)
    assert consistent(drawn)


def test_items_with_many_repeats_are_drawn_trial_by_trial():
    base, other = rng(0).random((3, 14)), rng(1).random((3, 12)) + 0.1
    drawn = permute_labels(base.tolist(), other.tolist())
    pooled = scipy.stats.ttest_ind(other.ravel(), base.ravel())

    assert not drawn.exact
    assert drawn.p == close(pooled.pvalue, abs=0.03)
    assert consistent(drawn)


def test_permuted_labels_that_all_tie_have_p_1():
    assert permute_labels([[0.1] * 3] * 4, [[0.1] * 3] * 4)[:3] == (0.0, 1.0, Interval(0.0, 0.0))


@settings(max_examples=40, deadline=None)
@given(items)
def test_p_of_permuted_labels_says_what_their_interval_says(
    sides: list[tuple[list[float], list[float]]],
):
    assert consistent(permute_labels([a for a, _ in sides], [b for _, b in sides], draws=500))


@settings(max_examples=40, deadline=None)
@given(items, st.integers(0, 20))
def test_labels_know_no_order_and_no_side(sides: list[tuple[list[float], list[float]]], turn: int):
    base, other = [a for a, _ in sides], [b for _, b in sides]
    cut = turn % len(sides)
    change = permute_labels(base, other, draws=500)
    moved_on = permute_labels(
        [a[::-1] for a in base[cut:] + base[:cut]], other[cut:] + other[:cut], draws=500
    )

    assert same(moved_on, change)
    assert same(permute_labels(other, base, draws=500), change.turned())


# --- what is refused


@pytest.mark.parametrize("function", [sign_flip, equivalent, moved, bootstrap])
@pytest.mark.parametrize("deltas", [[], [math.nan, 0.1], [math.inf], [[0.1, 0.2]]])
def test_deltas_that_are_none_are_refused(function: Callable[..., Any], deltas: list[Any]):
    with pytest.raises(ValueError, match="deltas"):
        function(deltas)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1, 95, math.nan])
def test_a_confidence_that_is_none_is_refused(confidence: float):
    with pytest.raises(ValueError, match="between 0 and 1"):
        sign_flip([0.1], confidence=confidence)


@pytest.mark.parametrize(
    ("base", "other", "why"),
    [
        ([], [], "the same items"),
        ([[0.1, 0.2]], [], "the same items"),
        ([[0.1, 0.2]], [[]], "non-empty"),
        ([[0.1, math.nan]], [[0.3, 0.4]], "NaN"),
    ],
)
@pytest.mark.parametrize("function", [permute_labels, split_variance])
def test_trials_that_do_not_pair_are_refused(
    function: Callable[..., Any], base: Any, other: Any, why: str
):
    with pytest.raises(ValueError, match=why):
        function(base, other)


def test_labels_are_not_permuted_without_a_second_repeat():
    with pytest.raises(ValueError, match="second repeat"):
        permute_labels([[0.1], [0.2]], [[0.3], [0.4]])


# --- shares, pairs, several p-values


def test_shares_have_the_intervals_of_scipy_and_statsmodels():
    for n, confidence in itertools.product((1, 3, 17, 250), (0.9, 0.95, 0.99)):
        for hits in sorted({0, 1, n // 3, n}):
            binomial = scipy.stats.binomtest(hits, n)
            exact = binomial.proportion_ci(confidence, method="exact")
            score = binomial.proportion_ci(confidence, method="wilson")
            beta = proportion_confint(hits, n, alpha=1 - confidence, method="beta")

            found = clopper_pearson(hits, n, confidence=confidence)
            assert found == close((exact.low, exact.high), abs=1e-9)
            assert found == close(beta, abs=1e-9)
            assert wilson(hits, n, confidence=confidence) == close(
                (score.low, score.high), abs=1e-9
            )


@pytest.mark.parametrize("function", [wilson, clopper_pearson])
@pytest.mark.parametrize(("hits", "n"), [(0, 0), (-1, 3), (4, 3)])
def test_a_share_of_nothing_is_refused(function: Callable[..., Any], hits: int, n: int):
    with pytest.raises(ValueError, match="at least 1"):
        function(hits, n)


@pytest.mark.parametrize(("gained", "lost"), [(3, 0), (0, 6), (4, 4), (10, 3), (200, 150)])
def test_mcnemar_is_that_of_statsmodels(gained: int, lost: int):
    oracle = statsmodels_mcnemar([[5, gained], [lost, 7]], exact=True).pvalue

    assert mcnemar(gained, lost) == close(oracle, abs=1e-9)


def test_three_pairs_of_pass_or_fail_cannot_settle_anything():
    assert (mcnemar(3, 0), mcnemar(0, 0)) == (0.25, 1.0)
    with pytest.raises(ValueError, match="at least 0"):
        mcnemar(-1, 2)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_holm_is_that_of_statsmodels(p: list[float]):
    assert holm(p) == close(tuple(multipletests(p, method="holm")[1]), abs=1e-9)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == close((0.03, 0.06, 0.06))
    assert holm([]) == ()


@pytest.mark.parametrize("p", [[1.1], [-0.1], [math.nan]])
def test_holm_refuses_what_is_no_p_value(p: list[float]):
    with pytest.raises(ValueError, match="p-values"):
        holm(p)


def test_how_many_items_moved_and_how_many_can():
    found = moved([0.0, 0.25, 0.0, 1e-17, -0.5])

    assert (found.moved, found.n, found.few) == (2, 5, True)
    assert found.bound == close(scipy.stats.binomtest(2, 5).proportion_ci().high, abs=1e-9)
    assert str(moved([0.0] * 5)) == "0 of 5 items moved, of all such at most 52%"
    assert not moved([0.1] * 6).few


# --- no difference


def test_a_dataset_of_ties_takes_about_fifty_items_to_be_no_difference():
    settled = [n for n in range(30, 70) if equivalent([0.0] * n).holds]

    assert settled == list(range(settled[0], 70))
    assert 45 <= settled[0] <= 55


def test_the_pseudo_items_are_in_the_interval():
    deltas = [0.01, -0.02, 0.0, 0.03, 0.01, -0.01, 0.02, 0.0]

    assert equivalent(deltas).interval == sign_flip([*deltas, 1.0, -1.0]).interval


def test_an_interval_that_ends_on_the_margin_is_not_within_it():
    interval = equivalent([0.0] * 18).interval

    assert interval.high == close(1 / 6, abs=0.1)
    assert not equivalent([0.0] * 18, margin=interval.high).holds
    assert equivalent([0.0] * 18, margin=interval.high + 0.001).holds


@settings(max_examples=30, deadline=None)
@given(st.lists(twelfths, min_size=1, max_size=12), st.floats(0.01, 0.9))
def test_what_helps_beyond_the_margin_is_never_no_difference(deltas: list[float], margin: float):
    holds = equivalent(deltas, margin=margin).holds

    assert not (holds and abs(sign_flip(deltas).delta) >= margin * (1 + 2 / len(deltas)))
    assert holds == equivalent([-d for d in deltas], margin=margin).holds


@pytest.mark.parametrize(
    ("deltas", "margin", "why"), [([1.5], 0.05, "between"), ([0.1], 0.0, "above 0")]
)
def test_equivalence_is_of_scores(deltas: list[float], margin: float, why: str):
    with pytest.raises(ValueError, match=why):
        equivalent(deltas, margin=margin)


def test_an_interval_can_be_clipped_to_what_a_delta_can_be():
    assert Interval(-math.inf, 0.3).clipped(-1, 1) == Interval(-1, 0.3)
    assert Interval(0.2, math.inf).clipped(-1, 1) == Interval(0.2, 1)


# --- variance


def test_the_variance_of_deltas_is_split_by_repeats():
    base = [[0.0, 0.4], [0.2, 0.2], [0.1, 0.3]]
    other = [[0.9, 0.9], [0.2, 0.4], [0.5, 0.7]]
    # within: 0.08 + 0 + 0.02 + 0 + 0.02 + 0.02 over 6; deltas: 0.7, 0.1, 0.4
    found = split_variance(base, other)

    assert found == close((0.09 - 0.14 / 6, 0.14 / 6, 0.09))
    assert found.known


def test_one_repeat_tells_the_sum_and_one_item_the_noise():
    sum_only = split_variance([[0.0], [0.2]], [[0.4], [0.2]])
    noise_only = split_variance([[0.0, 0.2]], [[0.4, 0.4]])

    assert sum_only == (None, None, close(0.08))
    assert not sum_only.known
    assert noise_only == (None, close(0.01), None)


def test_what_is_not_known_is_filled_from_the_prior():
    assert Split(None, None, 0.3).filled() == close((0.14, 0.08, 0.3))
    assert Split(None, None, 0.1).filled() == close((0.0, 0.05, 0.1))
    assert Split(None, 0.01, None).filled() == (0.122, 0.01, None)
    assert Split(None, None, None).filled() == (0.122, 0.08, None)
    assert Split(0.1, 0.2, 0.3).filled() == (0.1, 0.2, 0.3)


@settings(deadline=None)
@given(tables, tables)
def test_no_part_of_the_variance_is_negative(ours: list[list[float]], theirs: list[list[float]]):
    n = min(len(ours), len(theirs))
    found = split_variance(ours[:n], theirs[:n])

    assert found.between is not None
    assert found.between >= 0
    assert found.within is not None
    assert found.within >= 0


def test_the_split_finds_the_variances_it_was_made_from():
    true = rng(1).normal(0.1, 0.3, 4000)
    base = rng(2).normal(0.3, 0.2, (4000, 3))
    other = rng(3).normal(0.3 + true[:, None], 0.2, (4000, 3))

    assert split_variance(base.tolist(), other.tolist())[:2] == close((0.09, 0.04), abs=0.006)


# --- power


@pytest.mark.parametrize("n", [21, 30, 60, 400])
@pytest.mark.parametrize("effect", [0.02, 0.1, 0.3])
def test_power_for_items_like_these_is_that_of_statsmodels(n: int, effect: float):
    split = Split(0.1, 0.05, None)
    oracle = TTestPower().power(effect / (0.1 + 0.05) ** 0.5, n, 0.05)

    assert power(effect, split, items=n, repeats=2, scope=LIKE) == close(oracle, abs=1e-9)
    assert power(-effect, split, items=n, repeats=2, scope=LIKE) == close(oracle, abs=1e-9)


def test_few_items_have_the_level_that_their_labelings_reach():
    split, n = Split(0.05, 0.0, None), 8
    reached = 12 / 256  # 6 of 128 splits are 4.7 %, 7 are 5.5 %
    oracle = TTestPower().power(0.3 / 0.05**0.5, n, reached)

    assert power(0.3, split, items=n, repeats=1, scope=LIKE) == close(oracle, abs=1e-9)


def by_multinomial(effect: float, variance: float, n: int) -> float:
    """Power of McNemar's test, outcome by outcome."""
    differ = variance + effect**2
    chances = [(differ + effect) / 2, (differ - effect) / 2, 1 - differ]
    outcomes = [(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)]
    likely = scipy.stats.multinomial(n, chances).pmf(outcomes)
    return sum(p for p, (a, b, _) in zip(likely, outcomes, strict=True) if mcnemar(a, b) <= 0.05)


@pytest.mark.parametrize("n", [5, 6, 10, 25])
def test_power_of_one_repeat_of_pass_or_fail_is_exact(n: int):
    split = Split(0.1, 0.1, None)
    found = power(0.5, split, items=n, repeats=1, scope=LIKE, step=1.0)

    assert found == close(by_multinomial(0.5, 0.3, n), abs=1e-9)


@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize(("n", "step"), [(6, 0.0), (10, 0.2), (50, 1.0), (2000, 0.0)])
def test_the_detectable_effect_has_80_percent_power(scope: Scope, n: int, step: float):
    effect = detectable(PRIOR, items=n, repeats=2, scope=scope, step=step)
    found = power(effect, PRIOR, items=n, repeats=2, scope=scope, step=step)

    assert found == close(0.8, abs=1e-6)


def test_the_detectable_effect_is_that_of_statsmodels():
    oracle = TTestPower().solve_power(nobs=40, alpha=0.05, power=0.8)
    found = detectable(Split(0.1, 0.05, None), items=40, repeats=2, scope=LIKE)

    assert found == close(oracle * 0.15**0.5, rel=1e-6)


def test_what_cannot_be_significant_cannot_be_detected():
    assert detectable(PRIOR, items=5, repeats=9, scope=LIKE) == math.inf
    assert detectable(PRIOR, items=50, repeats=1, scope=ONLY) == math.inf
    assert detectable(PRIOR, items=1, repeats=2, scope=ONLY) == math.inf
    assert detectable(PRIOR, items=5, repeats=2, scope=ONLY) == close(0.50, abs=0.01)


def test_more_items_and_more_repeats_detect_smaller_effects():
    for scope, step in itertools.product(Scope, (0.0, 0.2, 1.0)):
        by_items = [
            detectable(PRIOR, items=n, repeats=2, scope=scope, step=step)
            for n in (6, 7, 10, 20, 50, 200)
        ]
        by_repeats = [
            detectable(PRIOR, items=12, repeats=n, scope=scope, step=step) for n in (2, 3, 5, 50)
        ]

        assert by_items == sorted(by_items, reverse=True)
        assert by_repeats == sorted(by_repeats, reverse=True)


def test_without_variance_any_effect_is_shown():
    for scope in Scope:
        assert power(0.01, Split(0.0, 0.0, None), items=10, repeats=2, scope=scope) == 1.0
        assert power(0.0, Split(0.0, 0.0, None), items=10, repeats=2, scope=scope) == 0.0
    assert power(0.0, Split(0.0, 0.0, None), items=9, repeats=1, scope=LIKE, step=1.0) == 0.0
    assert power(1e3, PRIOR, items=9, repeats=1, scope=LIKE) == 1.0


def test_the_docs_have_the_detectable_effects_of_the_code():
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", PAGE.split("## Smallest effect")[1], re.MULTILINE)
    designs = [(1, LIKE), (2, LIKE), (3, LIKE), (2, ONLY)]

    assert [int(n) for n, _ in rows] == [5, 10, 20, 50]
    for n, cells in rows:
        for cell, (repeats, scope) in zip(cells.split("|"), designs, strict=True):
            effect = detectable(PRIOR, items=int(n), repeats=repeats, scope=scope)
            assert cell.strip() == ("–" if effect == math.inf else f"{effect:.2f}")


@pytest.mark.parametrize("scope", list(Scope))
def test_the_fewest_items_that_show_an_effect_and_what_they_cost(scope: Scope):
    need = items_for(0.2, PRIOR, repeats=2, scope=scope, usd_per_trial=0.01)

    assert need is not None
    assert (need.trials, need.cost_usd) == (need.items * 4, close(need.items * 0.04))
    assert detectable(PRIOR, items=need.items, repeats=2, scope=scope) <= 0.2
    assert detectable(PRIOR, items=need.items - 1, repeats=2, scope=scope) > 0.2


@pytest.mark.parametrize(
    ("n", "repeats", "scope"), [(10, 2, LIKE), (10, 3, LIKE), (100, 1, LIKE), (3, 2, ONLY)]
)
def test_what_nothing_scattered_in_promises_no_more_than_can_be_shown(
    n: int, repeats: int, scope: Scope
):
    """A skill that fixed all of ten items, measured; then one that fixes a share of the trials."""
    known = tempered(Split(0.0, 0.0, None), 10)
    effect = detectable(known, items=n, repeats=repeats, scope=scope, step=1.0)
    draws = np.random.default_rng(5)
    shown = 0
    for _ in range(150):
        base = np.zeros((n, repeats))
        other = (draws.random((n, repeats)) < effect).astype(float)
        test = permute_labels(base, other) if scope is ONLY else sign_flip(other.mean(axis=1))
        shown += test.p <= 0.05

    assert shown / 150 > 0.65


def test_repeats_settle_what_noise_hides_and_nothing_else():
    need = repeats_for(0.1, PRIOR, items=20, scope=ONLY, usd_per_trial=0.01)

    assert need is not None
    assert (need.items, need.trials) == (20, 40 * need.repeats)
    assert detectable(PRIOR, items=20, repeats=need.repeats, scope=ONLY) <= 0.1
    assert repeats_for(0.1, PRIOR, items=20, scope=LIKE, usd_per_trial=0.01) is None
    assert items_for(1e-4, PRIOR, repeats=2, scope=LIKE, usd_per_trial=0.01) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"items": 0}, "out of range"),
        ({"repeats": 0}, "out of range"),
        ({"step": 2.0}, "out of range"),
        ({"split": Split(None, 0.1, None)}, "prior"),
        ({"split": Split(math.nan, 0.1, None)}, "at least 0"),
        ({"effect": math.nan}, "number"),
    ],
)
def test_power_of_what_is_no_run_is_refused(change: dict[str, Any], why: str):
    run: dict[str, Any] = {"effect": 0.1, "split": PRIOR, "items": 9, "repeats": 1, "scope": LIKE}

    with pytest.raises(ValueError, match=why):
        power(**(run | change))


# --- agreement


@pytest.mark.parametrize("categories", [2, 3, 6])
def test_kappa_is_that_of_statsmodels(categories: int):
    for seed in range(10):
        first = rng(seed).integers(categories, size=60)
        second = np.where(rng(seed + 99).random(60) < 0.7, first, rng(seed).permutation(first))
        table = np.zeros((categories, categories))
        np.add.at(table, (first, second), 1)
        oracle = cohens_kappa(table)
        found = cohen_kappa(first.tolist(), second.tolist())

        assert found is not None
        assert found.value == close(oracle.kappa, abs=1e-9)
        assert found.interval == close((oracle.kappa_low, min(1, oracle.kappa_upp)), abs=1e-9)


def test_perfect_agreement_of_few_is_not_certain():
    found = cohen_kappa(["pass", "fail"] * 5, ["pass", "fail"] * 5)

    assert found is not None
    assert (found.value, found.n, found.interval.high) == (close(1.0), 10, close(1.0))
    assert found.interval.low == close((clopper_pearson(10, 10).low - 0.5) / 0.5)


def test_perfect_disagreement_is_minus_one():
    found = cohen_kappa([1, 0] * 5, [0, 1] * 5)

    assert found is not None
    assert found.value == close(-1.0)
    assert found.interval.low == close(-1.0)


def test_kappa_of_a_single_label_is_not_defined():
    assert cohen_kappa(["pass"] * 4, ["pass"] * 4) is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_kappa_does_not_care_who_is_first(pairs: list[tuple[str, str]]):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = cohen_kappa(first, second), cohen_kappa(second, first)

    assert (there is None) == (back is None)
    if there and back:
        assert there.value == close(back.value, abs=1e-12)
        assert there.interval == close(tuple(back.interval), abs=1e-9)
        assert there.interval.low - 1e-9 <= there.value <= there.interval.high + 1e-9


@pytest.mark.parametrize(("first", "second"), [([], []), (["a"], [])])
def test_kappa_of_nothing_is_refused(first: list[str], second: list[str]):
    with pytest.raises(ValueError, match="labels"):
        cohen_kappa(first, second)


# --- bootstrap, shared labelings, imports


@settings(max_examples=30, deadline=None)
@given(few.flatmap(lambda d: st.tuples(st.just(d), st.permutations(d))))
def test_the_bootstrap_stays_within_the_deltas(orders: tuple[list[float], list[float]]):
    deltas, shuffled = orders
    low, high = bootstrap(deltas, draws=200)

    assert min(deltas) - 1e-12 <= low <= high <= max(deltas) + 1e-12
    assert bootstrap(shuffled, draws=200) == (low, high)


def test_the_bootstrap_is_near_that_of_scipy():
    deltas = rng(0).normal(0.1, 0.3, 25)
    oracle = scipy.stats.bootstrap(
        (deltas,), np.mean, method="percentile", rng=rng(1)
    ).confidence_interval

    assert bootstrap(deltas) == close((oracle.low, oracle.high), abs=0.01)


@pytest.mark.parametrize("n", [1, 5, 10])
def test_shared_flips_give_the_p_value_of_each_dataset(n: int):
    rows = np.round(rng(n).normal(0.2, 0.4, (7, n)) * 6) / 6
    shared = p_values(rows, flips(n, draws=600, seed=1), at_once=3)

    assert shared == close(np.array([sign_flip(row).p for row in rows]), abs=1e-12)


def test_shared_flips_that_are_drawn_count_the_actual_labeling():
    rows = np.full((2, 40), 0.3)

    assert p_values(rows, flips(40, draws=99, seed=1)).tolist() == [0.01, 0.01]


def test_importing_the_statistics_does_not_load_scipy_stats_or_pandas():
    code = "import sys, lift.stats; print(*{'scipy.stats', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
