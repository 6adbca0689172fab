"""Pairs, means per category, coverage, drops."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from lift import frames
from lift.comparing import compare, dropped, trial_scores
from lift.errors import SettingError
from lift.frames import ALL, BASE, CATEGORY, DELTA, ITEM, ITEMS, OTHER
from lift.thresholds import Drop, parse_drop


def row(item: str, condition: str, value: float | None, **more: Any) -> dict[str, Any]:
    return {
        "dataset": "d", "item": item, "category": "c", "condition": condition, "model": "m",
        "repeat": 1, "evaluator": "rubric", "value": value, "weight": 1.0, "judged": False,
        "attempt": 1, "status": "ok", "cost_usd": 0.0, "seconds": 1.0, "input_tokens": 1,
        "output_tokens": 1,
        **more,
    }  # fmt: skip


def compared(rows: list[dict[str, Any]], **conditions: str) -> Any:
    conditions = conditions or {"base": "without_skill", "other": "with_skill"}
    trials = frames.of(rows, frames.TRIALS).drop_duplicates(subset=frames.TRIAL)
    scored = [r for r in rows if r["status"] in ("ok", "failed")]
    return compare(trials, frames.of(scored, frames.SCORES), **conditions)


def only(frame: pd.DataFrame, category: str) -> dict[str, Any]:
    (found,) = frame[frame[CATEGORY] == category].to_dict("records")
    return {str(key): value for key, value in found.items()}


def test_an_item_is_paired_with_itself():
    rows = [
        row("a", "without_skill", 0.25), row("a", "with_skill", 1.0),
        row("b", "without_skill", 0.5, category="k"), row("b", "with_skill", 0.25, category="k"),
    ]  # fmt: skip
    result = compared(rows)

    assert result.deltas[[ITEM, DELTA]].values.tolist() == [["a", 0.75], ["b", -0.25]]
    assert only(result.categories, "c")[DELTA] == 0.75
    everything = only(result.categories, ALL)
    assert (everything[BASE], everything[OTHER], everything[DELTA]) == (0.375, 0.625, 0.25)
    assert everything[ITEMS] == 2
    assert result.invalid == ""


@pytest.mark.parametrize("drop", ["0", "100%", "1"])
def test_a_category_without_a_measurement_holds_no_limit(drop: str):
    rows = [
        row(f"i{n}", condition, 1.0)
        for n in range(40)
        for condition in ("without_skill", "with_skill")
    ]
    rows += [
        row("x", "without_skill", 1.0, category="k"),
        row("x", "with_skill", None, category="k", status="errored"),
    ]
    found = compared(rows)

    assert found.invalid == ""
    assert dropped(found, parse_drop(drop))[CATEGORY].tolist() == ["k"]


def test_the_mean_over_repeats_comes_before_the_pair():
    rows = [
        row("a", "without_skill", 0.0), row("a", "without_skill", 1.0, repeat=2),
        row("a", "with_skill", 1.0), row("a", "with_skill", 1.0, repeat=2),
    ]  # fmt: skip
    assert only(compared(rows).categories, ALL)[DELTA] == 0.5


def test_a_trials_score_is_the_weighted_mean_of_what_scored_it():
    rows = [
        row("a", "with_skill", 1.0, weight=3.0),
        row("a", "with_skill", 0.0, evaluator="other"),
        row("a", "with_skill", None, evaluator="silent", weight=9.0),
    ]

    scored = trial_scores(frames.of(rows, frames.SCORES))
    assert scored[frames.SCORE].tolist() == [0.75]


def test_each_evaluator_says_what_changed_and_a_judge_is_none_of_them():
    rows = [
        row("a", condition, value, evaluator=name, repeat=repeat, judged=name == "judge")
        for condition, *values in (("without_skill", 0.0, 1.0, 0.0), ("with_skill", 0.5, 0.5, 1.0))
        for name, value in zip(("rubric", "style", "judge"), values, strict=True)
        for repeat in (1, 2)
    ]
    rows += [row("b", "with_skill", 1.0), row("a", "with_skill", None, evaluator="silent")]

    found = compared(rows).evaluators.to_dict("records")

    assert [(one["evaluator"], one[BASE], one[OTHER], one[DELTA], one[ITEMS]) for one in found] == [
        ("rubric", 0.0, 0.5, 0.5, 1),
        ("style", 1.0, 0.5, -0.5, 1),
    ]


def test_an_errored_trial_never_moves_a_mean_only_coverage():
    good = [
        row(f"i{n}", condition, value)
        for n in range(40)
        for condition, value in (("without_skill", 0.0), ("with_skill", 1.0))
    ]
    errored = row("i0", "with_skill", None, status="errored")
    rows = [r for r in good if (r["item"], r["condition"]) != ("i0", "with_skill")] + [errored]

    everything = only(compared(rows).categories, ALL)

    assert (everything[DELTA], everything[ITEMS]) == (1.0, 39)
    assert everything[frames.COVERAGE_OTHER] == pytest.approx(39 / 40)
    assert compared(rows).invalid == ""


@pytest.mark.parametrize("status", ["errored", "skipped", "planned"])
def test_too_little_coverage_is_invalid(status: str):
    rows = [row(f"i{n}", c, 1.0) for n in range(10) for c in ("without_skill", "with_skill")]
    rows[1] = row("i0", "with_skill", None, status=status)

    assert compared(rows).invalid == "only 90% of the with_skill trials were answered"


def test_a_failed_trial_is_graded_and_counts_as_answered():
    rows = [row("a", "without_skill", 0.0, status="failed"), row("a", "with_skill", 1.0)]

    assert only(compared(rows).categories, ALL)[DELTA] == 1.0
    assert compared(rows).invalid == ""


def test_several_models_are_compared_each_for_itself():
    rows = [
        row("a", condition, value, model=model)
        for model, skilled in (("m1", 1.0), ("m2", 0.5))
        for condition, value in (("without_skill", 0.25), ("with_skill", skilled))
    ]
    table = compared(rows).categories
    totals = table[table[CATEGORY] == ALL]

    assert totals[[frames.MODEL, DELTA]].values.tolist() == [["m1", 0.75], ["m2", 0.25]]


@pytest.mark.parametrize(
    ("text", "drop"),
    [("10%", Drop(0.1, True)), ("0.10", Drop(0.1, False)), ("0", Drop(0, False))],
)
def test_a_drop_is_relative_or_absolute(text: str, drop: Drop):
    assert parse_drop(text) == drop


@pytest.mark.parametrize("text", ["", "ten", "-0.1", "110%", "5", "nan"])
def test_a_malformed_drop_is_refused(text: str):
    with pytest.raises(SettingError, match="is not a drop"):
        parse_drop(text)


@pytest.mark.parametrize(
    ("drop", "fallen"),
    [("0.05", ["c", "all"]), ("0.10", []), ("10%", ["c", "all"]), ("20%", [])],
)
def test_what_fell_further_than_allowed(drop: str, fallen: list[str]):
    rows = [row("a", "without_skill", 0.5), row("a", "with_skill", 0.4)]

    assert dropped(compared(rows), parse_drop(drop))[CATEGORY].tolist() == fallen
