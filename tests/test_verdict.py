"""What a comparison means, and that it says no more than the numbers do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lift import frames
from lift.comparing import compare, trial_scores
from lift.stats import Scope
from lift.verdict import Claim, Verdict, claims

BASE, OTHER = "without_skill", "with_skill"


def claim(
    sides: list[tuple[list[float], list[float]]], *, status: str = "ok", **more: Any
) -> Claim:
    """The verdict on items, each given as the scores of its trials without and with the skill."""
    rows = [
        {
            "dataset": "d", "item": f"i{n}", "category": "c", "condition": condition, "model": "m",
            "repeat": repeat, "evaluator": "rubric", "value": value, "weight": 1.0,
            "judged": False, "attempt": 1, "status": status, "cost_usd": 0.01, "seconds": 1.0,
            "input_tokens": 1, "output_tokens": 1,
        }
        for n, pair in enumerate(sides)
        for condition, values in zip((BASE, OTHER), pair, strict=True)
        for repeat, value in enumerate(values, 1)
    ]  # fmt: skip
    scores = frames.of(rows if status == "ok" else [], frames.SCORES)
    comparison = compare(frames.of(rows, frames.TRIALS), scores)
    (found,) = claims(comparison, trial_scores(scores), **more)
    return found


def test_where_no_trial_differs_it_is_said_how_many_items_moved():
    found = claim([([0.5, 0.5], [0.5, 0.5])] * 5)

    assert "(0 of 5 moved) for these items only" in found.says
    assert "[" not in found.says


def test_five_items_one_way_with_one_repeat_settle_nothing():
    found = claim([([0.0], [1.0])] * 5, usd_per_trial={"m": 0.01})

    assert found.verdict is Verdict.UNDERPOWERED
    assert found.p == 0.0625
    assert "5 items went up, 0 down" in found.then
    assert "$" in found.then


def test_five_items_one_way_with_two_repeats_help_on_these_items():
    found = claim([([0.0, 0.1], [0.9, 1.0])] * 5)

    assert (found.verdict, found.scope) == (Verdict.HELPS, Scope.THESE_ONLY)
    assert "for these items only" in found.says
    assert "other items" in found.then


def test_many_items_one_way_help_on_items_like_these():
    found = claim([([0.2], [0.8])] * 12)

    assert (found.verdict, found.scope) == (Verdict.HELPS, Scope.LIKE_THESE)
    assert found.delta == pytest.approx(0.6)


def test_swapped_conditions_swap_the_verdict():
    found = claim([([0.8], [0.2])] * 12)

    assert found.verdict is Verdict.HURTS
    assert found.delta == pytest.approx(-0.6)
    assert "lift show i" in found.then


def test_ties_are_no_difference_only_when_there_are_many():
    assert claim([([1.0], [1.0])] * 12).verdict is Verdict.UNDERPOWERED
    assert claim([([1.0], [1.0])] * 80).verdict is Verdict.NO_DIFFERENCE


def test_where_few_items_moved_it_says_how_many():
    found = claim([([1.0], [1.0])] * 20 + [([0.0], [1.0])] * 2)

    assert "2 of 22 items moved" in found.says


def test_one_item_is_underpowered():
    assert claim([([0.0], [1.0])]).verdict is Verdict.UNDERPOWERED


def test_what_settles_it_is_told_by_what_is_still_to_be_asked():
    noisy = [([0.0, 1.0], [1.0, 0.5]), ([0.5, 1.0], [1.0, 0.5])] * 4
    found = claim(noisy, usd_per_trial={"m": 0.01})

    repeats, more, usd = re.findall(
        r"--repeats (\d+) \((\d+) more trials, about \$([\d.]+)\)", found.then
    )[0]
    assert int(more) == 2 * 8 * (int(repeats) - 2)
    assert float(usd) == pytest.approx(0.01 * int(more))


def test_an_incomplete_run_is_invalid_whatever_the_numbers_say():
    found = claim([([0.0], [1.0])] * 12, status="errored")

    assert found.verdict is Verdict.INVALID
    assert found.delta is None
    assert "run the same command again" in found.then


def test_a_skill_that_did_not_load_is_not_judged():
    found = claim([([0.0], [1.0])] * 12, triggered=0.3)

    assert found.verdict is Verdict.NOT_ACTIVATED
    assert "30%" in found.says


def test_what_the_other_scope_is_sure_of_stands_beside():
    sides = [([0.5, 0.5], [0.5, 0.5])] * 12 + [([0.0, 0.0], [1.0, 1.0])] * 4
    found = claim(sides)

    assert found.verdict is Verdict.UNDERPOWERED
    assert found.beside.startswith("HELPS for these items only")
