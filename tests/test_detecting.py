"""What a plan says it can show, and what it expects to cost, by what is known of its datasets."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

import pytest
from conftest import MODULE, greets
from servers import Says

from lift.stats import PRIOR, Scope, Split, detectable

WITH = {**dict.fromkeys(range(4), "11"), **dict.fromkeys(range(4, 7), "15")}
"""Number of an item → its scores with the skill, 5 is a half; 0 for the others."""
REPLIES = {"1": "hello()", "5": "hello() goodbye()", "0": "goodbye()"}


def scatters(body: dict[str, Any], attempt: int) -> Says:
    """A skill that helps 7 of 10 items, 3 of them every other time."""
    taught = any("<skill" in block["text"] for block in body["system"])
    number = int(re.findall(r"person (\d+)", json.dumps(body))[0])
    score = WITH.get(number, "00")[attempt % 2] if taught else "0"
    return Says(f"```java\n{REPLIES[score]};\n```", output_tokens=100 + 20 * number)


def planned(project: Any, *args: str) -> dict[str, Any]:
    done = project.lift(*args, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_where_nothing_is_known_the_plan_says_what_it_assumes(project, serve):
    serve(greets)
    done = project.lift("--full", "--repeats", "2", "--dry-run")

    one, other = (
        detectable(PRIOR, items=10, repeats=2, scope=scope)
        for scope in (Scope.LIKE_THESE, Scope.THESE_ONLY)
    )
    assert done.stdout.splitlines()[1] == (
        f"can show a change of ±{one:.2f} for items like these, ±{other:.2f} for these items only,"
        " or more (80% power; assumed variances: 0.122 between items, 0.08 within)"
    )


def test_few_items_are_spoken_of_alone(project, serve):
    serve(greets)
    (found,) = planned(project, "--quick")["detectable"]
    line = project.lift("--quick", "--dry-run").stdout.splitlines()[1]

    assert line.endswith(
        "for these items only, or more (80% power; assumed variances: 0.08 within)"
    )
    assert found["scope"] == "these items only"
    assert found["effect"] == detectable(PRIOR, items=3, repeats=2, scope=Scope.THESE_ONLY)
    assert (found["items"], found["repeats"], found["measured_in"]) == (3, 2, None)


def test_what_is_known_comes_from_the_latest_run_in_which_enough_moved(project, serve):
    model = serve(scatters)
    project.lift("--full", "--repeats", "2", "--experiment", "first")
    model.script = lambda *_: Says("goodbye()")  # then nothing moves
    project.lift("--full", "--no-cache", "--experiment", "second")
    project.lift("--quick")
    found, these_only = planned(project, "--full", "--repeats", "3")["detectable"]

    # by hand: of the scores above, and as if five items of the priors were among the ten
    between, within = 0.197917 - 0.01875, 0.01875
    known = Split((10 * between + 5 * 0.122) / 15, (10 * within + 5 * 0.08) / 15, None)
    assert found["measured_in"] == "first"
    assert found["between"] == pytest.approx(known.between, abs=1e-5)
    assert found["within"] == pytest.approx(known.within)
    expected = detectable(known, items=10, repeats=3, scope=Scope.LIKE_THESE)
    assert found["effect"] == pytest.approx(expected, abs=1e-4)
    assert (these_only["scope"], these_only["within"]) == ("these items only", found["within"])


def test_another_model_or_pair_of_conditions_is_another_matter(project, serve):
    serve(scatters)
    project.lift("--full", "--repeats", "2", "--experiment", "first")
    old = project.root / "old"
    old.mkdir()
    (old / "SKILL.md").write_text("---\nname: greet\ndescription: d\n---\nSay hello.\n", "utf-8")

    both = project.lift(
        "--full", "--dry-run", "--model", "claude-sonnet-5-5", "--model", "claude-opus-5-5"
    ).stdout.splitlines()[1:]
    (changed,) = planned(project, "--full", "--conditions", "with_skill,old_skill=old")[
        "detectable"
    ]

    assert both[0].startswith("claude-sonnet-5-5: can show a change of ±")
    assert both[0].endswith("for items like these, or more (80% power; scores scatter as in first)")
    assert both[1].startswith("claude-opus-5-5: can show a change of ±")
    assert "assumed variances" in both[1]
    assert (changed["base"], changed["other"]) == ("old_skill", "with_skill")
    assert changed["measured_in"] is None


@pytest.mark.parametrize("change", ["person 8", "person 9", "effort", "itself"])
def test_a_run_that_is_invalid_or_asked_otherwise_teaches_nothing(project, serve, change):
    def script(body: dict[str, Any], attempt: int) -> Says:
        status = 400 if change in json.dumps(body) else 200
        return Says(scatters(body, attempt).text, status=status)

    serve(script)
    effort = ("--effort", "low") if change == "effort" else ()
    project.lift("--full", "--repeats", "2", "--experiment", "first", *effort)
    name = "first" if change == "itself" else "next"
    found, _ = planned(project, "--full", "--repeats", "3", "--experiment", name)["detectable"]

    assert found["measured_in"] is None


def test_each_pair_of_conditions_is_named_where_there_are_several(project, serve):
    serve(greets)
    old = project.root / "old"
    old.mkdir()
    (old / "SKILL.md").write_text("---\nname: greet\ndescription: d\n---\nSay hello.\n", "utf-8")
    conditions = "with_skill,without_skill,old_skill=old"
    done = project.lift("--full", "--conditions", conditions, "--dry-run").stdout.splitlines()

    assert done[1].startswith("with_skill minus without_skill: can show")
    assert done[2].startswith("with_skill minus old_skill: can show")


def test_one_item_once_shows_nothing_whatever_it_is(project, serve):
    serve(greets)
    done = project.lift("--full", "--only", "greet-1", "--dry-run")

    assert done.stdout.splitlines()[1] == (
        "1 item × 1 repeat: too few to show any change; ask more items, or each more often"
    )


def test_canned_replies_show_nothing_and_teach_nothing(project, serve):
    serve(greets)
    replies = project.root / "datasets" / "demo" / "greetings.yaml"
    replies.parent.mkdir()
    each = {"with_skill": ["hello()"], "without_skill": ["goodbye()"]}
    replies.write_text(json.dumps({f"greet-{n}": each for n in range(10)}), "utf-8")
    done = project.lift("--full", "--backend", "demo")
    assert done.returncode == 0, done.stderr

    assert planned(project, "--full", "--backend", "demo")["detectable"] == []
    assert "can show" not in done.stderr
    (found,) = planned(project, "--full")["detectable"]
    assert found["measured_in"] is None


def test_a_run_says_what_it_can_show_once_and_only_where_it_asks(project, serve):
    serve(greets)
    first, again = project.lift("--full"), project.lift("--full")

    assert first.stderr.count("can show a change of ±") == 1
    assert "can show" not in again.stderr + project.lift("--full", "--dry-run").stdout


def test_what_is_wrong_with_what_it_goes_by_costs_no_answer(project, serve):
    model = serve(scatters)
    project.lift("--full", "--repeats", "2", "--experiment", "first")
    with sqlite3.connect(project.root / ".lift" / "journal.db") as journal:
        journal.execute("UPDATE scores SET value = 9e999 WHERE trial = 3")
    journal.close()
    model.calls.clear()
    done = project.lift("--full", "--experiment", "next", "--no-cache")

    assert done.returncode == 3
    assert "a bug in lift: ValueError" in done.stderr
    assert len(model.calls) == 20
    shown = project.lift("show", "--experiment", "next", "--json").stdout
    assert {trial["status"] for trial in json.loads(shown)["trials"]} == {"ok"}


def test_a_dear_run_says_what_it_can_show_before_the_question(project, serve):
    model = serve(greets)
    project.variables["LIFT_CONFIRM_ABOVE_USD"] = "0.01"
    done = project.lift("--full")

    assert done.returncode == 2
    assert model.calls == []
    assert done.stderr.index("can show a change of ±") < done.stderr.index("confirm_above_usd")


@pytest.mark.parametrize("confirm_above", ["1", "0.0001"])
def test_a_batch_says_it_before_it_is_handed_over(project, serve, confirm_above):
    model = serve(greets)
    project.variables["LIFT_CONFIRM_ABOVE_USD"] = confirm_above
    done = project.lift("--full", "--batch", "--no-wait")

    assert done.stderr.count("can show a change of ±") == 1
    assert bool(model.batches) == (confirm_above == "1")


def test_the_next_run_costs_what_the_plan_says_once_lengths_are_known(project, serve):
    serve(scatters)
    project.skill.write_text(project.skill.read_text() + "x" * 8000, "utf-8")
    guessed = planned(project, "--full")
    first = json.loads(project.lift("--full", "--json").stdout)
    known = planned(project, "--full", "--repeats", "2", "--no-cache")

    assert guessed["usd"] > 2 * first["experiment"]["cost_usd"]
    # 100 to 280 tokens, 190 on average, where 700 are typical; 10 answers a side
    mean = 20 * (190 - 700) * 10 / 1e6
    assert known["usd"] / 2 == pytest.approx(guessed["usd"] + mean, rel=0.1)
    assert known["low_usd"] < known["usd"] < known["high_usd"]
    assert known["high_usd"] - known["low_usd"] == pytest.approx(40 * (260 - 120) * 10 / 1e6)


def test_too_few_answers_or_those_of_another_effort_say_nothing_of_lengths(project, serve):
    serve(greets)
    typical = planned(project, "--full", "--no-cache")
    project.lift("--full", "--only", "greet-[0-3]")
    few = planned(project, "--full", "--no-cache")
    project.lift("--full", "--effort", "low")
    other = planned(project, "--full", "--no-cache")
    known = planned(project, "--full", "--effort", "low", "--no-cache")

    assert few["usd"] == other["usd"] == typical["usd"] > known["usd"]


def test_what_was_cut_off_counts_as_long_as_it_may_be_now(project, serve):
    serve(lambda *_: Says("hello(", stop_reason="max_tokens", output_tokens=150))
    project.lift("--full", "--max-tokens", "150")
    short = planned(project, "--full", "--max-tokens", "100", "--no-cache")
    wide = planned(project, "--full", "--max-tokens", "4000", "--no-cache")

    assert wide["usd"] - short["usd"] == pytest.approx(20 * (4000 - 100) * 10 / 1e6)
    assert wide["usd"] == wide["low_usd"] == wide["high_usd"]


def test_a_run_of_several_datasets_tells_of_each_of_them(project, serve):
    serve(scatters)
    quiet = MODULE.replace("COUNT", "10").replace('"greetings"', '"quiet"')
    for old, new in (("Greet person", "Meet person"), ("hello(", "x"), ("goodbye(", "y")):
        quiet = quiet.replace(old, new)
    project.dataset(quiet, "quiet")
    project.lift("--full", "--repeats", "2", "--experiment", "both")
    here, there = (
        planned(project, "--full", "--repeats", "3", "--dataset", name)["detectable"][0]
        for name in ("greetings", "quiet")
    )

    assert here["measured_in"] == "both"
    assert here["within"] == pytest.approx((10 * 0.01875 + 5 * 0.08) / 15)
    assert there["measured_in"] is None  # nothing moves there


def test_lengths_of_one_dataset_say_nothing_of_another(project, serve):
    serve(greets)
    project.lift("--full")
    other = MODULE.replace("COUNT", "10").replace('"greetings"', '"farewells"')
    project.dataset(other, "farewells")

    known, unknown = (
        planned(project, "--full", "--dataset", name, "--no-cache")["usd"]
        for name in ("greetings", "farewells")
    )
    assert known < unknown
