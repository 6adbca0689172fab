"""What may be compared, and what is said of numbers that say little."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import greets
from servers import Says
from test_against import experiment

from lift import frames
from lift.against import Recorded
from lift.errors import ExperimentError
from lift.results import result
from lift.verdict import Claim, Verdict


def both(sides: dict[str, tuple[list[float | None], list[float | None]]]) -> Recorded:
    """An experiment: item → the scores of its trials without and with the skill."""
    halves = [
        experiment("e", {item: pair[n] for item, pair in sides.items()}, condition=condition)
        for n, condition in enumerate(("without_skill", "with_skill"))
    ]
    trials = [row for half in halves for row in half.trials.to_dict("records")]
    scores = [row for half in halves for row in half.scores.to_dict("records")]
    return halves[0]._replace(
        trials=frames.of(trials, frames.TRIALS), scores=frames.of(scores, frames.SCORES)
    )


def claim(recorded: Recorded) -> Claim:
    (found,) = result(recorded).claims
    return found


def test_one_item_settles_nothing():
    assert claim(both({"a": ([0.0], [1.0])})).verdict is Verdict.UNDERPOWERED


@pytest.mark.parametrize(
    ("items", "verdict"), [(12, Verdict.UNDERPOWERED), (80, Verdict.NO_DIFFERENCE)]
)
def test_all_ties_are_no_difference_only_where_there_are_many(items: int, verdict: Verdict):
    assert claim(both({f"i{n}": ([1.0], [1.0]) for n in range(items)})).verdict is verdict


def test_scores_that_are_none_are_no_zeros():
    recorded = both({f"i{n}": ([0.5], [1.0]) for n in range(8)})
    silent = recorded.scores[frames.ITEM] == "i3"
    scores = recorded.scores.assign(value=recorded.scores["value"].mask(silent))

    found = claim(recorded._replace(scores=scores))

    assert (found.verdict, found.items, found.delta) == (Verdict.HELPS, 7, 0.5)


def test_where_nothing_was_scored_on_both_sides_nothing_is_compared():
    recorded = both({"a": ([0.5], [1.0])})
    scores = recorded.scores[recorded.scores[frames.CONDITION] == "with_skill"]

    found = result(recorded._replace(scores=scores))

    assert found.comparison.invalid == "no item has a score on both sides"
    assert found.claims[0].verdict is Verdict.INVALID


def test_one_condition_alone_is_one_clear_error():
    with pytest.raises(ExperimentError, match="no two conditions to compare") as alone:
        result(experiment("e", {"a": [1.0]}))

    assert alone.value.exit_code == 2
    assert "it has with_skill" in alone.value.fix


def test_a_model_that_is_incomplete_leaves_the_others_alone():
    whole, half = both({f"i{n}": ([0.0], [1.0]) for n in range(9)}), both({"i0": ([0.0], [None])})
    trials = [*whole.trials.to_dict("records")]
    trials += [{**row, "model": "m2"} for row in half.trials.to_dict("records")]

    found = result(whole._replace(trials=frames.of(trials, frames.TRIALS)))

    assert [claim.verdict for claim in found.claims] == [Verdict.HELPS, Verdict.INVALID]
    assert found.comparison.invalid == "m2: only 0% of the with_skill trials were answered"


def test_an_incomplete_model_is_shown_as_that_and_the_other_compared(project, serve):
    serve(
        lambda body, attempt: (
            Says(status=400) if body["model"] == "claude-haiku-5-5" else greets(body, attempt)
        )
    )
    models = ("--model", "claude-sonnet-5-5", "--model", "claude-haiku-5-5")

    done = project.lift("--full", *models)

    assert done.returncode == 3
    assert "INVALID (claude-haiku-5-5)" in done.stdout
    assert "HELPS (claude-sonnet-5-5)" in done.stdout
    assert "not compared: claude-haiku-5-5: only 0%" in done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("all ")]
    assert len(rows) == 1


def errors_in_one(body: dict[str, Any], attempt: int) -> Says:
    """One of ten items is never answered with the skill."""
    bad = "person 4" in body["messages"][0]["content"] and "<skill" in str(body["system"])
    return Says(status=400, text="odd") if bad else greets(body, attempt)


def test_one_errored_trial_in_ten_is_invalid_until_it_is_answered(project, serve):
    serve(errors_in_one)
    first = project.lift("--full")
    assert first.returncode == 3
    assert first.stdout.count("INVALID") == 1
    assert "only 90% of the with_skill trials were answered" in first.stderr
    assert project.lift("compare").returncode == 3
    serve(greets)

    again = project.lift("--full")

    assert again.returncode == 0, again.stderr
    assert "HELPS" in again.stdout
    assert project.lift("compare").returncode == 0


@pytest.mark.parametrize("filter", [("--only", "greet-1"), ("--category", "short"), ("--quick",)])
def test_what_a_filter_left_out_makes_nothing_invalid(project, serve, filter):
    serve(greets)

    done = project.lift("run", *filter)

    assert done.returncode == 0, done.stderr
    assert "INVALID" not in done.stdout
    assert project.lift("compare").returncode == 0


def test_a_filter_in_an_unfinished_experiment_compares_what_it_asked(project, serve):
    model = serve(lambda body, _attempt: Says("hello()", output_tokens=1000))
    named = ("--experiment", "e", "--max-tokens", "1000", "--json")
    partial = project.lift("--full", *named, "--max-cost-usd", "0.05")
    assert partial.returncode == 4
    asked = len(model.calls)

    done = project.lift(
        "run", "--only", "greet-9", *named, "--max-cost-usd", "1", "--out", "result.json"
    )

    assert done.returncode == 0, done.stderr
    assert len(model.calls) == asked + 2
    content = json.loads(done.stdout)
    assert [item["item"] for item in content["items"]] == ["greet-9"]
    (candidate,) = json.loads((project.root / "result.json").read_text())["candidates"]
    assert candidate["partial"] is False
    # the experiment as a whole is as unfinished as it was
    assert project.lift("compare", "e").returncode == 3


def test_a_name_that_is_almost_right_is_answered_with_the_nearest(project, serve):
    serve(greets)
    project.lift("run", "--only", "greet-1", "--experiment", "greetings-1")
    name = {"show": ("--experiment", "greeting-1")}

    for command in ("compare", "report", "gate", "show", "judge"):
        done = project.lift(command, *name.get(command, ("greeting-1",)))
        assert done.returncode == 2
        assert "no experiment 'greeting-1'" in done.stderr
        assert "nearest: greetings-1" in done.stderr
