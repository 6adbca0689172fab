"""Answers are given again to equal requests, and to no others."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from conftest import greets
from servers import Says

DAY_MS = 24 * 3600 * 1000


def edit(project: Any) -> None:
    project.skill.write_text(project.skill.read_text() + "Be kind.\n", "utf-8")


def taught(calls: list[dict]) -> list[bool]:
    return [any("<skill" in block["text"] for block in body["system"]) for body in calls]


def result(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_after_an_edit_of_the_skill_only_the_side_with_it_is_asked(project, serve):
    model = serve(greets)
    first = result(project.lift("--full", "--json"))
    before = len(model.calls)
    edit(project)

    second = result(project.lift("--full", "--json"))

    assert len(model.calls) - before == 10
    assert all(taught(model.calls[before:]))
    assert second["experiment"]["cost_usd"] == pytest.approx(first["experiment"]["cost_usd"] / 2)
    assert second["categories"] == first["categories"]
    ((condition, answers, _),) = [tuple(one.values()) for one in second["experiment"]["reused"]]
    assert (condition, answers) == ("without_skill", 10)


def test_what_is_reused_is_said_before_and_after(project, serve):
    serve(greets)
    project.lift("--full")
    edit(project)

    dry = project.lift("--full", "--dry-run", "--json")
    done = project.lift("--full")

    assert json.loads(dry.stdout)["calls"] == json.loads(dry.stdout)["reused"] == 10
    assert "10 answered before by an equal request; 10 calls" in done.stderr
    assert "without_skill: 10 answers reused, the oldest of 20" in done.stdout
    assert "without_skill: 10 answers reused, the oldest of 20" in project.lift("report").stdout
    shown = [
        "reused: it was answered on 20"
        in project.lift("show", "greet-1", "--condition", name).stdout
        for name in ("with_skill", "without_skill")
    ]
    assert shown == [False, True]
    listed = project.lift("show").stdout
    assert "10 answers reused" in listed
    assert "their cost here is what was paid for them then" in listed


@pytest.mark.parametrize(
    ("more", "calls"),
    [
        ((), 0),
        (("--repeats", "2"), 20),
        (("--no-cache",), 20),
        (("--cache-max-age", "0"), 20),
        (("--again",), 20),
        (("--effort", "low"), 20),
        (("--max-tokens", "99"), 20),
        (("--model", "claude-opus-5-5"), 20),
    ],
    ids=str,
)
def test_an_equal_request_is_not_made_again_and_another_is(project, serve, more, calls):
    model = serve(greets)
    project.lift("--full", "--experiment", "first")
    before = len(model.calls)

    project.lift("--full", "--experiment", "second", "--yes", *more)

    assert len(model.calls) - before == calls


def test_repeats_do_not_share_an_answer(project, serve):
    numbers = iter(range(1000))
    serve(lambda *_: Says(f"hello({next(numbers)})"))
    project.lift("--quick", "--experiment", "first")
    project.lift("--quick", "--experiment", "second")

    replies = []
    for name in ("first", "second"):
        shown = json.loads(project.lift("show", "--json", "--experiment", name).stdout)["trials"]
        assert len(shown) == 12
        items = json.loads(project.lift("show", "greet-1", "--json", "--experiment", name).stdout)
        replies.append(sorted(t["evidence"]["reply"]["text"] for t in items["trials"]))
    assert replies[0] == replies[1]
    assert len(set(replies[0])) == 4


def test_another_server_has_answers_of_its_own(project, serve):
    serve(greets)
    project.lift("--full", "--experiment", "first")
    other = serve(greets)

    project.lift("--full", "--experiment", "second")

    assert len(other.calls) == 20


def age(project: Any, days: float) -> None:
    with sqlite3.connect(project.root / ".lift" / "journal.db") as journal:
        journal.execute("UPDATE replies SET kept_ms = kept_ms - ?", (int(days * DAY_MS),))
    journal.close()


@pytest.mark.parametrize(("days", "calls"), [(6.9, 0), (7.1, 20)])
def test_an_old_answer_is_not_used(project, serve, days, calls):
    model = serve(greets)
    project.lift("--full", "--experiment", "first")
    age(project, days)
    before = len(model.calls)

    project.lift("--full", "--experiment", "second")

    assert len(model.calls) - before == calls


def test_a_bad_answer_is_an_answer_and_no_answer_is_none(project, serve):
    def script(body: dict, _attempt: int) -> Says:
        prompt = body["messages"][0]["content"]
        if "person 4" in prompt:
            return Says("", stop_reason="refusal")
        return Says(status=400) if "person 5" in prompt else greets(body, 0)

    model = serve(script)
    project.lift("--full", "--experiment", "first")
    before = len(model.calls)

    project.lift("--full", "--experiment", "second")

    assert {body["messages"][0]["content"] for body in model.calls[before:]} == {"Greet person 5."}


def test_a_prefix_is_written_once_though_some_answers_are_known(project, serve):
    project.skill.write_text(project.skill.read_text() + "Say hello() kindly.\n" * 2000, "utf-8")
    model = serve(lambda body, _: Says("hello()", seconds=0.2))
    project.lift("--full", "--only", "greet-0", "--only", "greet-1")
    arrived: list[int] = []

    def script(body: dict, _attempt: int) -> Says:
        arrived.append(model.in_flight)
        return Says("hello()", seconds=0.2)

    model.script = script
    before = len(model.calls)

    project.lift("--full", "--no-judge")

    asked = model.calls[before:]
    first = taught(asked).index(True)
    assert len(asked) == 16
    assert sum(taught(asked)) == 8
    # the others with the skill wait for the first: 8 without it, and that one
    assert taught(asked)[:9].count(True) == 1, first


def test_votes_on_an_equal_answer_are_given_again(project, serve):
    module = project.root / "datasets" / "greetings.py"
    module.write_text(
        module.read_text().replace("quick=", 'judge_criteria="It is polite.", quick='), "utf-8"
    )

    def script(body: dict, attempt: int) -> Says:
        if "output_config" in body:
            return Says(json.dumps({"rationale": "r", "score": 4}))
        return greets(body, attempt)

    model = serve(script)
    first = result(project.lift("--full", "--judge", "--json"))
    assert len(model.calls) == 40
    edit(project)

    second = result(project.lift("--full", "--judge", "--json"))

    # with the skill the answers are asked again; they turn out the same, so the votes are known
    assert len(model.calls) == 50
    assert second["judged"] == first["judged"]


def test_the_kept_answers_can_be_seen_and_dropped(project, serve):
    model = serve(greets)
    project.lift("--full")
    shelf = json.loads(project.lift("cache", "--json").stdout)
    assert (shelf["replies"], shelf["used"], shelf["dropped"]) == (20, 0, 0)
    age(project, 3)

    kept = json.loads(project.lift("cache", "--prune", "--json").stdout)
    assert kept["dropped"] == 0
    pruned = json.loads(project.lift("cache", "--prune", "--cache-max-age", "2", "--json").stdout)
    assert (pruned["dropped"], pruned["replies"]) == (20, 0)

    project.lift("--full")
    assert len(model.calls) == 20
    project.lift("--full", "--again")
    assert "20 answers dropped" in project.lift("cache", "--clear").stdout


def test_demo_replies_are_not_kept(project):
    demo = project.root / "datasets" / "demo" / "greetings.yaml"
    demo.parent.mkdir()
    for text in ("hello()", "goodbye()"):
        demo.write_text(f"greet-1:\n  with_skill: [{text}]\n  without_skill: [{text}]\n", "utf-8")
        project.lift("--full", "--experiment", text.strip("()"))
    shown = json.loads(project.lift("show", "greet-1", "--json").stdout)["trials"]

    assert {t["evidence"]["reply"]["text"] for t in shown} == {"goodbye()"}
