"""Standard streams and arguments that are not as they should be."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest
import servers
from conftest import MODULE, SKILL, Project, greets
from refusals import here, refused

from lift.cli import COMMANDS

LIFT = shlex.join([sys.executable, "-m", "lift"])


def shell(
    project: Project, line: str, *, encoding: str = "utf-8", **variables: str
) -> subprocess.CompletedProcess[str]:
    """A line of bash, in which LIFT is the command."""
    return subprocess.run(
        ["bash", "-c", line.replace("LIFT", LIFT)],
        cwd=project.root,
        env=project.environment | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding=encoding,
        timeout=120,
    )


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project with one experiment that has run."""
    made = Project(tmp_path_factory.mktemp("answered"))
    made.skill.parent.mkdir(parents=True)
    made.skill.write_text(SKILL, "utf-8")
    made.dataset(MODULE.replace("COUNT", "2").replace("Greet person", "Grüße \U0001f3ad"))
    with servers.serving(greets) as model:
        made.variables |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "k"}
        assert made.lift("--full", "--experiment", "e").returncode == 0
        yield made


@pytest.mark.parametrize("line", ["LIFT compare >&-", "LIFT --help >&-", "LIFT list <&- >&-"])
def test_a_closed_output_is_told_of(answered, line):
    refused(shell(answered, line), 3, "standard output is closed")


@pytest.mark.parametrize("line", ["LIFT compare --json", "LIFT --help", "LIFT report", "LIFT show"])
def test_an_output_that_takes_nothing_is_told_of(answered, line):
    refused(shell(answered, f"{line} >/dev/full"), 3, "standard output cannot be written", "space")


@pytest.mark.parametrize("line", ["LIFT compare 2>&-", "LIFT compare 2>/dev/full <&-"])
def test_without_an_error_output_the_result_is_printed_all_the_same(answered, line):
    done = shell(answered, line)

    assert done.returncode == 0
    assert "with_skill minus without_skill" in done.stdout


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("LIFT nope 2>&-", 2),
        ("LIFT nope 2>/dev/full", 2),
        ("LIFT compare nope 2>&-", 2),
        ("LIFT list >&- 2>&- <&-", 3),
    ],
)
def test_exit_codes_hold_where_nobody_can_be_told(answered, line, code):
    assert shell(answered, line).returncode == code


def test_a_run_whose_answers_cannot_be_printed_has_recorded_them(answered):
    done = shell(answered, "LIFT --full --experiment f --no-cache >/dev/full")
    assert done.returncode == 3
    again = answered.lift("--full", "--experiment", "f", "--json")

    assert "4 already answered; 0 calls" in again.stderr


ENCODINGS = [
    ({"PYTHONIOENCODING": "latin-1"}, "latin-1"),
    ({"PYTHONIOENCODING": "cp1252:strict"}, "cp1252"),
    ({"PYTHONIOENCODING": "utf-8"}, "utf-8"),
    # click takes an output that is ASCII for a mistake, and writes UTF-8
    ({"PYTHONIOENCODING": "ascii"}, "utf-8"),
    ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "utf-8"),
]


@pytest.mark.parametrize(("variables", "encoding"), ENCODINGS)
def test_an_output_that_cannot_show_a_character_shows_its_number(answered, variables, encoding):
    shown = shell(answered, "LIFT show greet-0 --experiment e", encoding=encoding, **variables)
    line = "LIFT show greet-0 --experiment e --json"
    as_json = shell(answered, line, encoding=encoding, **variables)

    assert shown.returncode == as_json.returncode == 0
    assert ("\U0001f3ad" if encoding == "utf-8" else "\\ud83c\\udfad") in shown.stdout
    assert "Grüße \U0001f3ad" in json.loads(as_json.stdout)["trials"][0]["prompt"]


@pytest.mark.parametrize("line", ["LIFT compare e", "LIFT report e", "LIFT --help", "LIFT list"])
def test_no_output_fails_on_a_character(answered, line):
    done = shell(answered, line, encoding="latin-1", PYTHONIOENCODING="latin-1")

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("columns", ["99999999999", "-1", "0", "x", ""])
def test_a_screen_of_any_width(answered, columns):
    done = shell(answered, "LIFT show greet-0", COLUMNS=columns)

    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= 500


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        (os.fsdecode(b"a\xff"), "not UTF-8"),
        ("a\x1b[31m", "control characters"),
        ("a\nb", "control characters"),
        ("a\u202eb", "control characters"),
    ],
)
@pytest.mark.parametrize(
    "args",
    [("--skill",), ("run", "--only"), ("gate", "--record", "--pages", "p", "--pr"), ("show",)],
)
def test_an_argument_that_can_be_neither_printed_nor_kept(capfd, args, argument, why):
    refused(here(capfd, *args, argument), 2, f"argument {len(args) + 1}", why)


def test_bytes_that_are_no_text_as_an_argument_of_the_command(project):
    refused(project.lift("show", os.fsdecode(b"a\xff")), 2, "argument 2 is not UTF-8")


def test_a_current_folder_that_was_removed(project):
    gone = project.root / "gone"
    gone.mkdir()
    done = shell(project, f"cd {gone} && rmdir {gone} && LIFT list")

    refused(done, 3, "the current folder cannot be found")


@pytest.mark.parametrize(
    ("said", "meant"), [("cmpare", "compare"), ("nope", "compare"), ("pushh", "push"), ("xyz", "")]
)
def test_an_unknown_command_names_the_nearest(capfd, said, meant):
    done = here(capfd, said)

    assert done.returncode == 2
    assert (f"did you mean {meant!r}?" if meant else "lift --help lists them") in done.stderr


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(project, kind):
    done = shell(project, "LIFT", _LIFT_COMPLETE=f"{kind}_source")

    assert done.returncode == 0, done.stderr
    assert "_LIFT_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [("lift comp", {"compare"}), ("lift ", set(COMMANDS)), ("lift run --mod", {"--model"})],
)
def test_a_command_line_is_completed(project, words, found):
    done = shell(
        project,
        "LIFT",
        _LIFT_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(words.count(" ")),
    )

    assert done.returncode == 0, done.stderr
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == found


def test_a_completion_that_no_shell_asks_for(project):
    assert shell(project, "LIFT", _LIFT_COMPLETE="nope_source").returncode == 1
