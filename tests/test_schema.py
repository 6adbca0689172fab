"""What is written for programs holds to the schemas that `lift schema` prints."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import MODULE, Project, greets
from jsonschema import Draft202012Validator
from servers import Says

from lift.reports.shapes import SCHEMAS, schema

JUDGED = ('skill="greet"', 'skill="greet", judge=True')
JUDGED_ITEM = ("quick=number < 3", 'quick=number < 3, judge_criteria="It greets."')


def judging(body: dict[str, Any], attempt: int) -> Says:
    """A model that greets, and is content with everybody when it judges."""
    if "output_config" in body:
        return Says(json.dumps({"rationale": "r", "score": 5}))
    return greets(body, attempt)


def partly_down(body: dict[str, Any], attempt: int) -> Says:
    """A model that cannot greet person 1."""
    known = "person 1." not in body["messages"][0]["content"]
    return greets(body, attempt) if known else Says(status=400)


def closed(value: Any) -> Any:
    """The schema, refusing what it does not name: nothing may be written that it lacks."""
    if isinstance(value, dict):
        shut = {"additionalProperties": False} if "properties" in value else {}
        return {key: closed(one) for key, one in value.items()} | shut
    return [closed(one) for one in value] if isinstance(value, list) else value


def check(text: str, document: str = "comparison") -> dict[str, Any]:
    content = json.loads(text)
    problems = [error.message for error in
                Draft202012Validator(closed(schema(document))).iter_errors(content)]  # fmt: skip
    assert problems == []
    return content  # type: ignore[no-any-return]


@pytest.mark.parametrize("document", SCHEMAS)
def test_the_command_prints_a_valid_schema(project: Project, document: str):
    done = project.lift("schema", document)

    assert done.returncode == 0, done.stderr
    Draft202012Validator.check_schema(found := json.loads(done.stdout))
    assert found == schema(document)
    assert "schema" in found["required"]


def test_fields_of_later_versions_are_let_be():
    content = {"schema": "skill-eval-baseline/1", "item": "greet", "best": {}, "newer": 1}

    assert Draft202012Validator(schema("baseline")).is_valid(content)
    assert not Draft202012Validator(closed(schema("baseline"))).is_valid(content)
    assert not Draft202012Validator(schema("baseline")).is_valid(content | {"best": {"m": {}}})


def test_a_comparison_holds_to_it_with_all_that_may_stand_in_it(project: Project, serve: Any):
    serve(greets)
    project.dataset(MODULE.replace("COUNT", "10"))

    first = project.lift("--full", "--experiment", "a", "--out", "a.json", "--json")
    project.lift("--full", "--experiment", "b", "--no-cache")

    assert check(first.stdout)["claims"][0]["verdict"] == "HELPS"
    assert check((project.root / "a.json").read_text("utf-8"))["candidates"]
    assert check(project.lift("report", "--format", "json").stdout)["experiment"]["name"] == "b"
    assert "against" in check(project.lift("compare", "b", "--against", "a", "--json").stdout)
    assert "suggestions" in check(project.lift("compare", "--suggest", "--json").stdout)


def test_canned_replies_a_judge_and_three_conditions_hold_to_it(project: Project, serve: Any):
    old = project.root / "old" / "greet"
    old.mkdir(parents=True)
    (old / "SKILL.md").write_text(project.skill.read_text("utf-8") + "\nOld.\n", "utf-8")
    project.dataset(MODULE.replace("COUNT", "4").replace(*JUDGED).replace(*JUDGED_ITEM))

    serve(judging)
    three = ("--conditions", f"old_skill={old},without_skill,with_skill")
    done = project.lift("--full", *three, "--experiment", "three", "--json")

    content = check(done.stdout)
    assert content["judges"]
    assert (content["base"], content["other"]) == ("without_skill", "with_skill")
    assert [one["base"] for one in content["more"]] == ["old_skill"]


def test_an_invalid_comparison_holds_to_it(project: Project, serve: Any):
    serve(partly_down)

    content = check(project.lift("--full", "--json").stdout)

    assert content["invalid"]


def test_what_the_gate_records_holds_to_it(project: Project, serve: Any):
    serve(greets)
    (project.root / "docs").mkdir()
    (project.root / "docs" / "page.md").write_text("# A page\n", "utf-8")
    (project.root / "pyproject.toml").write_text('[tool.lift.gate]\npages_dir = "docs"\n', "utf-8")
    project.lift("--full", "--repeats", "3")

    done = project.lift("gate", "--record", "--pr", "1", "--pages", "page")
    baseline = project.root / "datasets" / "baselines" / "greet.json"

    assert done.returncode == 0, done.stderr
    assert check(baseline.read_text("utf-8"), "baseline")["best"]
