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
