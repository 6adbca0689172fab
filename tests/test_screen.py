"""What a terminal is shown: data is text, whatever it looks like."""

from __future__ import annotations

import json

import pytest
from conftest import MODULE
from servers import Says

from lift.errors import visible
from lift.journal import Journal
from lift.reports import listing
from lift.reports.screen import Panel, Table, plain, rendered

MARKUP = ["[red]x[/]", "[/]", "[/nope]", "[link=http://x]y[/link]", ":bomb:", "\\[b]"]


@pytest.mark.parametrize("text", MARKUP)
def test_a_cell_a_header_a_title_and_a_line_are_text(text: str):
    table = Table()
    table.add_column(text)
    table.add_row(text)
    parts = [table, Panel(plain("-"), title=text), plain(text)]

    assert rendered(parts, width=80, color=False).count(text) == 4


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\r", "a\\x0ab\\x09c\\x0d"),
        ("a\x07\x9b\x7f", "a\\x07\\x9b\\x7f"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
    ],
)
def test_control_characters_are_spelled_out(text: str, shown: str):
    table = Table(show_header=False, box=None)
    table.add_row(text)

    assert visible(text) == shown
    for part in (table, plain(text), Panel(plain("-"), title=text)):
        assert shown in rendered([part], width=80, color=True)


@pytest.mark.parametrize("model", ["[red]x[/]", "[/]"])
def test_a_model_may_be_called_anything_that_can_be_printed(project, serve, model):
    serve(lambda *_: Says("[/] :bomb:", fields={"model": "[/]\x1b[31m\u202e"}))
    run = project.lift("run", "--only", "greet-0", "--model", model, "--price", "1,2")
    assert run.returncode == 0, run.stderr
    for args in (["compare"], ["show"], ["show", "greet-0"], ["report"]):
        done = project.lift(*args)
        assert done.returncode == 0, (args, done.stderr)
        assert model in done.stdout, args
    full = project.lift("show", "greet-0").stdout

    assert "reply · [/]\\x1b[31m\\u202e" in full
    assert "[/] :bomb:" in full


def test_no_escape_code_of_a_reply_reaches_a_terminal_with_colours(project, serve):
    serve(lambda *_: Says("\x1b]0;t\x07", fields={"model": "\x1b[2J"}))
    project.dataset(MODULE.replace("COUNT", "1").replace("Greet person", "[/]\\x1b[2J"))
    assert project.lift("--full").returncode == 0
    with Journal(project.root / ".lift" / "journal.db") as journal:
        known = journal.experiment()
        records = journal.records(known.name)
    shown = [listing.record(one, color=True) for one in records]
    shown.append(listing.beside(records, known, color=True))

    assert all("\\x1b[2J" in text for text in shown)
    assert not any("\x1b[2J" in text or "\x1b]0" in text or "\x07" in text for text in shown)


@pytest.mark.parametrize("model", ["", "a b", "a,b", "x" * 201, "a\u00a0b"])
def test_a_model_that_is_none(project, serve, model):
    asked = serve()
    flag = project.lift("--quick", f"--model={model}", "--price", "1,2")
    project.variables["LIFT_JUDGE_MODEL"] = model or "a b"
    setting = project.lift("--quick", "--price", "1,2")

    assert flag.returncode == setting.returncode == 2
    assert "is no model" in flag.stderr
    assert "judge_model cannot be" in setting.stderr
    assert asked.calls == []


def test_counts_of_one_are_singular(project):
    project.skill.write_text("---\nname: greet\n---\n# T\n\n```\nx\n```\n", "utf-8")
    done = project.lift("lint", "skills/greet")

    assert "1 error," in done.stdout
    assert done.stderr.startswith("Error: 1 lint error\n")


def test_findings_with_markup_in_a_files_name(project):
    text = project.skill.read_text("utf-8") + "[a](b.md)\n"
    project.skill.write_text(text, "utf-8")
    (project.skill.parent / "b.md").write_text("# [/]\n\n[x](gone[red].md)\n", "utf-8")
    done = project.lift("lint", "skills/greet")

    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(project.lift("lint", "skills/greet", "--json").stdout)["lint"]


def test_a_narrow_table_cuts_no_number_and_no_name():
    table = Table(box=None, pad_edge=False)
    for name in ("item", "without_skill", "with_skill"):
        table.add_column(name, justify="left" if name == "item" else "right")
    table.add_row("datasets/" + "x" * 40, "0.1234", "$0.5678")

    lines = rendered([table], width=40, color=False).splitlines()

    assert table.natural_width() > 40
    assert max(map(len, lines)) <= 40
    assert "0.1234" in lines[1]
    assert "$0.5678" in lines[1]
    assert "".join(line.split()[0] for line in lines[1:]) == "datasets/" + "x" * 40
