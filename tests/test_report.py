"""Reports that are read elsewhere."""

from __future__ import annotations

import json

from conftest import greets
from markdown_it import MarkdownIt
from servers import Says

from lift.reports.markdown import LONGEST


def test_the_markdown_report_has_the_verdict_and_a_table(project, serve):
    serve(greets)
    project.lift("--full")

    text = project.lift("report").stdout

    html = MarkdownIt().enable("table").render(text)
    assert "<strong>HELPS</strong>" in html
    assert html.count("<tr>") == 1 + 3
    assert len(text) <= LONGEST
    assert "<code>greetings/greet-0</code> +1.00" in html


def test_where_several_evaluators_score_each_says_what_changed(project, serve):
    serve(greets)
    project.lift("--full", "--experiment", "one")
    assert "evaluators of" not in project.lift("compare").stdout
    module = (project.root / "datasets" / "greetings.py").read_text("utf-8")
    style = 'evaluators=[Rubric(name="style", must_not_use=["hello("])],'
    project.dataset(module.replace("quick=", f"{style} quick="))
    project.lift("--full", "--experiment", "two")
    says = (
        "evaluators of greetings: rubric +1.00 (0.00 to 1.00, 10 items),"
        " style -1.00 (1.00 to 0.00, 10 items)"
    )

    assert says in " ".join(project.lift("compare").stdout.split())
    assert says in project.lift("report").stdout
    found = json.loads(project.lift("compare", "--json").stdout)["evaluators"]
    assert [(one["evaluator"], one["delta"], one["items"]) for one in found] == [
        ("rubric", 1.0, 10),
        ("style", -1.0, 10),
    ]


def test_a_report_of_two_experiments_starts_from_the_other_one(project, serve):
    serve(lambda *_: Says("nothing"))
    project.lift("--full", "--experiment", "before")
    serve(greets)
    project.lift("--full", "--experiment", "after", "--no-cache")

    text = project.lift("report", "after", "--against", "before").stdout
    again = project.lift("report", "after", "--against", "before", "--format", "json").stdout

    assert "## after − before" in text
    assert "with_skill of both, 10 items; left out: nothing." in text
    assert "| category | items | before | after | delta |" in text
    assert json.loads(again)["base"] == "before"
    assert json.loads(again)["against"]["experiment"]["name"] == "before"
    assert project.lift("report", "--against", "nowhere").returncode == 2


def test_an_invalid_run_has_no_table(project, serve):
    serve(lambda *_: Says(status=400) if _[0]["system"][1:] else Says("hello()"))
    project.lift("--full")

    text = project.lift("report").stdout

    assert "**INVALID**" in text
    assert "| category |" not in text


def test_the_json_report_is_a_result_for_the_gate(project, serve):
    serve(greets)
    project.lift("--full")

    done = project.lift("report", "--format", "json", "--out", "r.json")

    assert done.returncode == 0
    assert json.loads((project.root / "r.json").read_text())["candidates"]
    assert project.lift("gate", "greet", "r.json").returncode == 0
