"""Advice by text: what fails, and what the skill says of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from servers import Says

from lift.dataset import Item
from lift.diagnostics import Diagnostics, Failed, Flaky, ModelItem, Undiscerning
from lift.evaluators import Pattern, Rubric
from lift.schema import Evidence, Reply, Status
from lift.suggesting import Answer, Section, sections, suggestions

NOTHING: dict[str, Any] = {
    "items": 1, "saturated": [], "saturated_count": 0, "dead": [], "dead_count": 0, "flaky": [],
    "flaky_count": 0, "moved": [], "moved_count": 0, "undiscerning": [], "failed": [],
}  # fmt: skip

SKILL = """
Before any heading.

# Title

## Values

Use `setValue("x")`.

```java
# no heading: setValue(1)
```

## Buttons

Text
----

ButtonElement.getByText(page, "Save"), never page.locator.

### Deep

PageFactory
"""


def diagnostics(**found: Any) -> Diagnostics:
    return Diagnostics(**{**NOTHING, **found})


def answer(text: str, rubric: Rubric, *, item: str = "a", is_other: bool = True) -> Answer:
    content = Item(id=item, category="c", prompt="p", rubric=rubric)
    return Answer(item, content, is_other, Evidence(status=Status.OK, reply=Reply(text=text)))


def says(answers: list[Answer], skill: str = SKILL) -> list[str]:
    return [one.says for one in suggestions(diagnostics(), answers, sections(skill))]


def test_a_skill_is_its_headings_and_what_stands_below_each():
    found = sections(SKILL)

    assert [one.heading for one in found] == [
        "", "Title", "Values", "Buttons", "Text", "Text > Deep"
    ]  # fmt: skip
    assert "no heading" in found[2].text
    assert found[0].text.strip() == "Before any heading."
    assert found[5].text.strip() == "PageFactory"


@pytest.mark.parametrize("body", ["", "\n\n", "plain text", "# Only\n"])
def test_any_text_has_sections(body: str):
    assert all(isinstance(one, Section) for one in sections(body))


@pytest.mark.parametrize(
    ("rubric", "text", "advice"),
    [
        (
            Rubric(must_use=["setValue("]),
            "type()",
            (
                '1 of 1 answers lack "setValue(" (a): the skill has it under "Values"; say it'
                " plainer there, or show it"
            ),
        ),
        (
            Rubric(must_use=["clear("]),
            "type()",
            '1 of 1 answers lack "clear(" (a): SKILL.md never mentions it',
        ),
        (
            Rubric(must_use=[Pattern(r"\bButtonElement\s*\.\s*getBy(?:Text|Label)\s*\(")]),
            "type()",
            'the skill has it under "Text"',
        ),
        (
            Rubric(must_use=[Pattern(r"\bButtonElement\s*\.\s*click\s*\(")]),
            "type()",
            'the skill has ButtonElement under "Text", and no more of it',
        ),
        (Rubric(must_use=[Pattern(r"\d{3,}[A-Za-z]+")]), "type()", "SKILL.md never mentions it"),
        (
            Rubric(must_not_use=["page.locator"]),
            "page.locator",
            (
                'use what is forbidden, "page.locator" (a): the skill has it under "Text"; does it'
                " warn, or teach it?"
            ),
        ),
        (
            Rubric(must_not_use=["sleep("]),
            "sleep(1)",
            "SKILL.md never mentions it; say what to use instead",
        ),
        (
            Rubric(must_extend="BaseTest"),
            "class A {}",
            'lack a class that extends "BaseTest" (a): SKILL.md never mentions it',
        ),
    ],
)
def test_a_failing_check_comes_with_what_the_skill_says_of_it(
    rubric: Rubric, text: str, advice: str
):
    (found,) = says([answer(text, rubric), answer("setValue() clear()", Rubric(must_use=["x"]),
                     is_other=False)])  # fmt: skip

    assert advice in found


def test_checks_that_fail_most_often_come_first_and_those_that_hold_are_not_told():
    rubric = Rubric(must_use=["one(", "two(", "three("])
    texts = ["three()", "three() two()", "three()"]

    found = suggestions(
        diagnostics(), [answer(t, rubric, item=f"i{n}") for n, t in enumerate(texts)], []
    )

    assert [(one.check, one.items) for one in found] == [
        ('"one("', ("i0", "i1", "i2")),
        ('"two("', ("i0", "i2")),
    ]
    assert found[1].says == '2 of 3 answers lack "two(" (i0, i2)'


def test_a_check_that_no_answer_passes_may_be_wrong_itself():
    rubric = Rubric(must_use=["never("])
    both = [answer("x", rubric, is_other=side) for side in (True, False)]

    (found,) = says(both)
    assert "it holds in no answer of either side" in found
    (found,) = says([both[0], answer("never()", rubric, is_other=False)])
    assert "either side" not in found


def test_an_empty_answer_uses_nothing_and_lacks_nothing():
    rubric = Rubric(must_use=["save_as"], must_not_use=["csv.writer"])

    assert says([answer("", rubric), answer(" \n", rubric)]) == []
    assert len(says([answer("", rubric), answer("csv.writer", rubric)])) == 2


def test_failing_on_the_base_alone_needs_no_advice():
    assert says([answer("x", Rubric(must_use=["y"]), is_other=False)]) == []


def test_odd_items_and_evaluators_are_told_with_what_to_do():
    place = {"model": "m", "dataset": "d", "item": "a"}
    found = diagnostics(
        dead=[ModelItem(**place)],
        saturated=[ModelItem(**{**place, "item": "b"})],
        flaky=[Flaky(**{**place, "item": n}, condition="c", low=0, high=1) for n in "cdefc"],
        undiscerning=[
            Undiscerning(model="m", dataset="d", evaluator="judge", items=4, value=0.8)
        ],
        failed=[
            Failed(condition="with_skill", failed=3, answered=4,
                   reasons={"the answer was cut off at max_tokens": 2, "the model refused": 1})
        ],
    )  # fmt: skip

    told = [one.says for one in suggestions(found, [], [])]

    assert [line.partition(":")[0] for line in told] == [
        "a", "b", "c, d, e, …", "judge of d tells no difference in 4 items",
        "2 with_skill answers cut off", "1 with_skill answer refused",
    ]  # fmt: skip


def test_the_command_gives_advice_on_request(project, serve):
    serve(lambda body, _: Says("hi();" if len(body["system"]) == 2 else "goodbye();"))
    project.lift("--full")

    shown = project.lift("compare", "--suggest").stdout
    found = json.loads(project.lift("compare", "--suggest", "--json").stdout)["suggestions"]
    plain = project.lift("compare")

    assert '- 10 of 10 answers lack "hello(" (greet-0, greet-1, greet-2, …)' in shown
    assert 'the skill has it under "Greeting"' in shown
    assert found[0]["check"] == '"hello("'
    assert found[0]["headings"] == ["Greeting"]
    assert len(found[0]["items"]) == 10
    assert "suggestions" not in plain.stdout
    assert project.lift("compare", "e", "--from", "langfuse", "--suggest").returncode == 2


def test_where_all_is_well_there_is_nothing_to_suggest(project, serve):
    serve(lambda body, _: Says("hello();" if len(body["system"]) == 2 else "goodbye();"))
    project.lift("--full")

    assert "nothing to suggest" in project.lift("compare", "--suggest").stdout


def test_of_two_experiments_the_measured_one_is_advised_on(project, serve):
    serve(lambda body, _: Says("hello();" if "never" in str(body["system"]) else "hi();"))
    project.lift("--full", "--experiment", "old")
    project.skill.write_text(
        "---\nname: greet\ndescription: d\n---\n\n# Greet\n\nSay so.\n", "utf-8"
    )
    project.lift("--full", "--experiment", "new")

    shown = project.lift("compare", "new", "--against", "old", "--suggest").stdout

    assert 'answers lack "hello("' in shown
    assert "SKILL.md never mentions it" in shown
    assert "either side" not in shown
