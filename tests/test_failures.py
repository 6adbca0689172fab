"""The second net: what no place foresaw is one message, and a traceback only for those who ask."""

from __future__ import annotations

import errno

import pytest
from conftest import MODULE

from lift.cli.failures import TRACEBACK, ended
from lift.errors import UsageError


@pytest.mark.parametrize(
    ("failed", "words"),
    [
        (OSError(errno.EIO, "Input/output error", "a.txt"), ["Input/output error", "where: a.txt"]),
        (OSError("no number"), ["no number"]),
        (FileNotFoundError(errno.ENOENT, "No such file", b"a\xff"), ["No such file"]),
        (MemoryError(), ["ran out of memory"]),
        (RecursionError("deep"), ["nested deep"]),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no"), ["a text cannot be encoded"]),
        (KeyError("x"), ["a bug in lift: KeyError", "report it"]),
        (AssertionError(), ["a bug in lift: AssertionError", "report it"]),
        (ExceptionGroup("g", [KeyError("x")]), ["a bug in lift: KeyError"]),
        (ExceptionGroup("g", [OSError(5, "broken", "f")]), ["Error: broken"]),
        (GeneratorExit(), ["a bug in lift: GeneratorExit"]),
    ],
)
def test_what_nobody_foresaw_is_one_message(capfd, monkeypatch, failed, words):
    monkeypatch.delenv(TRACEBACK, raising=False)

    assert ended(failed) == 3
    said = capfd.readouterr().err
    assert [word for word in [*words, TRACEBACK] if word not in said] == []
    assert said.startswith("Error: ")
    assert "Traceback" not in said


@pytest.mark.parametrize("failed", [KeyError("x"), OSError(5, "broken"), UsageError("wrong")])
def test_a_traceback_is_shown_to_who_asks_for_it(capfd, monkeypatch, failed):
    monkeypatch.setenv(TRACEBACK, "1")
    ended(failed)
    said = capfd.readouterr().err

    assert type(failed).__name__ in said.partition("Error: ")[0] + said
    assert "Error: " in said.splitlines()[-1] or "fix:" in said.splitlines()[-1]


def test_a_secret_in_a_bug_is_masked(capfd, monkeypatch):
    secret = "sk-ant-" + "api03-" + "x" * 90 + "AA"
    monkeypatch.setenv(TRACEBACK, "1")
    ended(KeyError(secret))

    assert secret not in capfd.readouterr().err


def test_a_bug_in_the_command_is_told_in_short(project, serve):
    serve()
    broken = "\nclass Bad(Dataset):\n    def __init__(self):\n        pass\n\nDATASET = Bad()\n"
    project.dataset(MODULE.replace("COUNT", "1") + broken)
    done = project.lift("--quick")
    project.variables[TRACEBACK] = "1"

    assert done.returncode == 3
    assert "a bug in lift: AttributeError" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in project.lift("--quick").stderr
