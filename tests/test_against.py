"""Two experiments compared: what they have in common, and which way round."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import greets
from servers import Says

from lift import frames
from lift.against import Recorded, aligned, left_out
from lift.errors import ExperimentError
from lift.frames import CONDITION, DELTA, ITEM, MODEL
from lift.journal import Experiment
from lift.results import held_against
from lift.verdict import Verdict

Values = Mapping[str, Sequence[float | None]]
"""Item → the scores of its trials; None where one errored."""


def experiment(
    name: str,
    values: Values,
    *,
    models: Sequence[str] = ("m",),
    condition: str = "with_skill",
    hashes: Mapping[str, str] = {},
) -> Recorded:
    """An experiment with one dataset."""
    rows = [
        {
            "dataset": "d", "item": item, "category": "c", "condition": condition, "model": model,
            "repeat": repeat, "evaluator": "rubric", "value": value, "weight": 1.0,
            "judged": False, "attempt": 1, "status": "errored" if value is None else "ok",
            "cost_usd": 0.0, "seconds": 1.0, "input_tokens": 1, "output_tokens": 1,
        }
        for model in models
        for item, trials in values.items()
        for repeat, value in enumerate(trials, 1)
    ]  # fmt: skip
    answered = [row for row in rows if row["status"] == "ok"]
    return Recorded(
        Experiment(
            name=name, created_ms=0, skill="s", backend="messages", canned=False, repeats=1,
            models=tuple(models), datasets=("d",), planned=len(rows), answered=len(answered),
            errored=len(rows) - len(answered), cost_usd=0.0, lost_usd=0.0,
        ),
        frames.of(rows, frames.TRIALS),
        frames.of(answered, frames.SCORES),
        {("d", item): hashes.get(item, "same") for item in values},
    )  # fmt: skip


@pytest.mark.parametrize(("new", "old"), [("b", "a"), ("a", "b"), ("with_skill", "without_skill"),
                                          ("without_skill", "with_skill")])  # fmt: skip
@pytest.mark.parametrize("condition", ["with_skill", "without_skill", "old_skill"])
def test_a_rise_is_a_rise_whatever_the_names(new: str, old: str, condition: str):
    ours = experiment(new, {f"i{n}": [1.0] for n in range(9)}, condition=condition)
    theirs = experiment(old, {f"i{n}": [0.25] for n in range(9)}, condition=condition)

    found = held_against(ours, theirs, condition=condition)

    (claim,) = found.claims
    assert (claim.verdict, claim.delta) == (Verdict.HELPS, 0.75)
    assert f"{new} minus {old} is +0.75" in claim.says
    assert (found.comparison.base, found.comparison.other) == (old, new)


def test_only_items_that_are_the_same_in_both_are_compared():
    ours = experiment("new", {"a": [1.0], "b": [1.0], "mine": [0.0]}, hashes={"b": "edited"})
    theirs = experiment("old", {"a": [0.0], "b": [0.0], "x": [1.0], "y": [1.0]})

    both, found = aligned(ours, theirs, condition="with_skill")

    assert set(both.trials[ITEM]) == set(both.scores[ITEM]) == {"a"}
    assert (found.same, found.differ) == (1, ("d/b",))
    assert (found.only_other, found.only_base) == (("d/mine",), ("d/x", "d/y"))
    assert left_out(found) == [
        "1 changed", "1 not in old", "2 only in old",
    ]  # fmt: skip


def test_what_is_left_out_makes_no_comparison_invalid():
    ours = experiment("new", {"a": [1.0], "b": [None], "c": [None]}, hashes={"b": "edited"})
    theirs = experiment("old", {"a": [0.0], "b": [1.0]})

    assert held_against(ours, theirs).comparison.invalid == ""


def test_an_errored_trial_of_a_common_item_counts():
    ours = experiment("new", {"a": [1.0], "b": [None]})
    theirs = experiment("old", {"a": [0.0], "b": [1.0]})

    found = held_against(ours, theirs)

    assert found.comparison.invalid == "only 50% of the new trials were answered"


def test_other_conditions_of_the_experiments_stay_out():
    ours = experiment("new", {"a": [1.0]})
    without = experiment("new", {"a": [0.0], "b": [0.0]}, condition="without_skill")
    both = ours._replace(
        trials=frames.of(
            [*ours.trials.to_dict("records"), *without.trials.to_dict("records")], frames.TRIALS
        ),
        items=without.items,
    )

    joined, found = aligned(both, experiment("old", {"a": [0.5]}), condition="with_skill")

    assert set(joined.trials[CONDITION]) == {"new", "old"}
    assert (len(joined.trials), found.same, found.only_other) == (2, 1, ())


def test_each_model_is_compared_with_itself():
    ours = experiment("new", {"a": [1.0], "b": [1.0]}, models=("m1", "m2", "m3"))
    theirs = experiment("old", {"a": [0.5], "b": [0.5]}, models=("m1", "m2", "m4"))

    found = held_against(ours, theirs)

    assert [claim.model for claim in found.claims] == ["m1", "m2"]
    assert found.comparison.deltas[DELTA].tolist() == [0.5] * 4
    assert found.against is not None
    assert "2 models not in both (m3, m4)" in left_out(found.against)


def test_two_models_are_compared_where_each_has_one():
    ours = experiment("new", {"a": [1.0]}, models=("m2",))
    theirs = experiment("old", {"a": [0.25]}, models=("m1",))

    deltas = held_against(ours, theirs).comparison.deltas

    assert deltas[[MODEL, DELTA]].values.tolist() == [["m2 − m1", 0.75]]


@pytest.mark.parametrize(
    ("theirs", "says"),
    [
        (experiment("new", {"a": [1.0]}), "held against itself"),
        (experiment("old", {"b": [1.0]}), "no item in common"),
        (experiment("old", {"a": [1.0]}, hashes={"a": "edited"}), "no item in common"),
        (experiment("old", {"a": [1.0]}, models=("x", "y")), "no model in common"),
        (experiment("old", {"a": [1.0]}, condition="without_skill"), "no condition 'with_skill'"),
    ],
    ids=["itself", "items", "edited", "models", "condition"],
)
def test_what_cannot_be_compared_is_one_clear_error(theirs: Recorded, says: str):
    with pytest.raises(ExperimentError, match=says) as bad:
        held_against(experiment("new", {"a": [1.0]}), theirs)

    assert bad.value.exit_code == 2
    assert bad.value.where
    assert bad.value.fix


@pytest.fixture
def two(project, serve) -> Any:
    """Experiments `old` and `new`: the skill was edited between them."""
    serve(
        lambda body, attempt: (
            Says("hello()") if "Better." in str(body["system"]) else greets(body, attempt)
            if "Greet person 2." in str(body) else Says("hm")
        )
    )  # fmt: skip
    project.lift("--full", "--experiment", "old")
    project.skill.write_text(f"{project.skill.read_text()}\nBetter.\n", "utf-8")
    project.lift("--full", "--experiment", "new")
    return project


def test_the_command_names_both_experiments(two):
    done = two.lift("compare", "new", "--against", "old")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("new − old")
    assert "new minus old is +0.45" in done.stdout
    assert "with_skill of both, 10 items; left out: nothing" in done.stdout
    back = two.lift("compare", "old", "--against", "new", "--max-drop", "5%")
    assert "old minus new is -0.45" in back.stdout
    assert back.returncode == 1


def test_the_json_says_what_was_left_out(two):
    path = two.root / "datasets" / "greetings.py"
    path.write_text(path.read_text().replace("range(10)", "range(1, 12)"), "utf-8")
    two.lift("--full", "--experiment", "newer")

    content = json.loads(two.lift("compare", "newer", "--against", "old", "--json").stdout)

    assert (content["base"], content["other"]) == ("old", "newer")
    against = content["against"]
    assert against["experiment"]["name"] == "old"
    assert (against["same"], against["only_other"], against["only_base"]) == (
        9, ["greetings/greet-10", "greetings/greet-11"], ["greetings/greet-0"],
    )  # fmt: skip


def test_other_names_the_condition_of_both(two):
    done = two.lift("compare", "new", "--against", "old", "--other", "without_skill")

    assert "without_skill of both" in done.stdout
    assert "new minus old is +0.00" in done.stdout


WRONG = (
    (("new", "--against", "olt"), "nearest: old"),
    (("nwe", "--against", "old"), "nearest: new"),
    (("new", "--against", "new"), "held against itself"),
    (("--against", "new"), "held against itself"),
    (("new", "--against", "old", "--base", "with_skill"), "--against is a base"),
    (("new", "--against", "old", "--other", "old_skill"), "no condition 'old_skill'"),
)


def test_wrong_names_are_usage_errors(two):
    for args, says in WRONG:
        done = two.lift("compare", *args)
        assert done.returncode == 2
        assert says in done.stderr


def test_langfuse_gives_both_back(langfuse, two, tmp_path: Path):
    here = two.lift("compare", "new", "--against", "old", "--json")
    (two.root / ".lift").rename(tmp_path / "gone")

    there = two.lift("compare", "new", "--against", "old", "--from", "langfuse", "--json")

    assert there.returncode == 0, there.stderr
    ours, theirs = (json.loads(done.stdout) for done in (here, there))
    for key in ("base", "other", "claims", "categories", "items"):
        assert theirs[key] == ours[key]
    assert theirs["against"]["same"] == 10


def test_a_notebook_holds_experiments_against_each_other(two):
    code = (
        "import lift\nprint(round(lift.compare('new', against='old').deltas['delta'].mean(), 2))\n"
    )
    done = two.python(code)

    assert done.stdout == "0.45\n", done.stderr
