"""What the items and evaluators of a comparison are worth."""

from __future__ import annotations

import json
from typing import Any

import pytest
from servers import Says

from lift import frames
from lift.comparing import compare
from lift.diagnostics import Diagnostics, diagnosed

BASE, OTHER = "without_skill", "with_skill"

Sides = dict[str, tuple[list[float], list[float]]]


def diagnose(sides: Sides, *, statuses: dict[str, str] | None = None, **more: Any) -> Diagnostics:
    """Of items, each given as the scores of its trials without and with the skill."""
    rows = [
        {
            "dataset": "d", "item": item, "category": "c", "condition": condition, "model": "m",
            "repeat": repeat, "evaluator": "rubric", "value": value, "weight": 1.0,
            "judged": False, "attempt": 1, "status": (statuses or {}).get(item, "ok"),
            "cost_usd": 0.01, "seconds": 1.0, "input_tokens": 1, "output_tokens": 1,
        }
        for item, pair in sides.items()
        for condition, values in zip((BASE, OTHER), pair, strict=True)
        for repeat, value in enumerate(values, 1)
    ]  # fmt: skip
    trials = frames.of(rows, frames.TRIALS)
    scores = frames.of([*rows, *more.pop("besides", [])], frames.SCORES)
    return diagnosed(compare(trials, scores), trials, **more)


def names(found: Any) -> list[str]:
    return [one.item for one in found]


def test_items_that_tell_nothing_are_saturated_or_dead():
    found = diagnose(
        {"top": ([1, 1], [1, 1]), "dead": ([0, 0], [0, 0]), "near": ([1, 0.9], [1, 1])}
    )

    assert names(found.saturated) == ["top"]
    assert names(found.dead) == ["dead"]
    assert (found.items, found.saturated_count, found.dead_count) == (3, 1, 1)


def test_repeats_that_disagree_are_flaky_the_widest_apart_first():
    found = diagnose({"a": ([0.5, 0.5], [0.5, 0.7]), "b": ([0, 1], [1, 1])})

    assert [(one.item, one.condition, one.low, one.high) for one in found.flaky] == [
        ("b", BASE, 0, 1),
        ("a", OTHER, 0.5, 0.7),
    ]


def test_repeats_that_differ_by_rounding_agree():
    assert diagnose({"a": ([0.1 + 0.2, 0.3], [1, 1])}).flaky == ()


def test_items_that_moved_come_in_the_order_of_how_far():
    found = diagnose({"up": ([0], [0.5]), "same": ([0.5], [0.5]), "down": ([1], [0.25])})

    assert [(one.item, one.delta) for one in found.moved] == [("down", -0.75), ("up", 0.5)]
    assert found.moved_count == 2


def judged(item: str, condition: str, value: float | None) -> dict[str, Any]:
    return {
        "dataset": "d", "item": item, "category": "c", "condition": condition, "model": "m",
        "repeat": 1, "evaluator": "judge", "value": value, "weight": 1.0, "judged": True,
    }  # fmt: skip


def test_an_evaluator_that_scores_both_sides_alike_is_undiscerning():
    besides = [judged(item, side, 0.8) for item in "ab" for side in (BASE, OTHER)]
    found = diagnose({"a": ([0], [1]), "b": ([1], [0])}, besides=besides)

    assert [(one.evaluator, one.items, one.value) for one in found.undiscerning] == [
        ("judge", 2, pytest.approx(0.8))
    ]


@pytest.mark.parametrize("other", [0.6, None])
def test_an_evaluator_that_told_one_item_apart_or_saw_one_is_not(other: float | None):
    besides = [judged("a", side, 0.8) for side in (BASE, OTHER)]
    besides += [judged("b", BASE, 0.8), judged("b", OTHER, other)]
    found = diagnose({"a": ([0], [1]), "b": ([1], [0])}, besides=besides)

    assert found.undiscerning == ()


def test_failed_trials_are_counted_on_either_side_with_their_reasons():
    found = diagnose(
        {"a": ([0, 0], [1, 1]), "b": ([0, 0], [1, 1])},
        statuses={"a": "failed"},
        reasons={OTHER: {"the model refused": 2}},
    )

    assert [(one.condition, one.failed, one.answered) for one in found.failed] == [
        (BASE, 2, 4),
        (OTHER, 2, 4),
    ]
    assert [one.reasons for one in found.failed] == [{}, {"the model refused": 2}]


def test_an_item_that_is_scored_on_one_side_tells_nothing_of_either():
    found = diagnose({"a": ([1, 1], []), "b": ([], [0, 0])})

    assert found.items == found.saturated_count == found.dead_count == found.moved_count == 0
    assert found.undiscerning == found.failed == ()


def test_of_many_items_the_first_are_named_and_all_are_counted():
    found = diagnose({f"i{n}": ([1], [1]) for n in range(150)})

    assert (len(found.saturated), found.saturated_count) == (100, 150)


def cut_off(body: dict[str, Any], _attempt: int) -> Says:
    """A model that is right with the skill, and cut off."""
    if any("<skill" in block["text"] for block in body["system"]):
        return Says("hello();", stop_reason="max_tokens")
    return Says("goodbye();")


def test_a_report_says_what_moved_and_how_many_answers_were_cut_off(project, serve):
    serve(cut_off)
    project.lift("--full")

    shown = project.lift("compare").stdout
    written = project.lift("report").stdout
    found = json.loads(project.lift("compare", "--json").stdout)["diagnostics"]

    assert "moved most: greet-0 +1.00, greet-1 +1.00" in shown
    assert "10 with_skill trials failed (10 × the answer was cut off at max_tokens)" in shown
    assert "0 / 10" in shown
    assert "10 × the answer was cut off at max_tokens" in written
    assert found["failed"][0]["reasons"] == {"the answer was cut off at max_tokens": 10}
    assert found["moved_count"] == 10


def test_a_report_names_items_that_tell_nothing(project, serve):
    serve(lambda *_: Says("hello();"))
    project.lift("--full")

    shown = project.lift("compare").stdout
    written = project.lift("report").stdout

    assert "perfect on both sides: 10 of 10 items: greet-0, greet-1" in shown
    assert "rubric scores all 10 items of greetings the same" in shown
    assert "moved most" not in shown
    assert "- perfect on both sides: 10 of 10 items: greet-0" in written
