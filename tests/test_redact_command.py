"""`lift redact`: what would be masked, without what it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from lift.redact.corpus import made, pem

TOKEN = made("ghp_{36a}")
TEXT = (
    f"mail jane.doe@contoso.com\n\nkey = {TOKEN} ok\n{pem('PRIVATE KEY')}\n  jane.doe@contoso.com\n"
)


def test_it_says_kind_line_and_context_but_not_the_secret(project):
    (project.root / "a.md").write_text(TEXT, "utf-8")

    done = project.lift("redact", "a.md")

    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["a.md:1:6", "email", "mail", "<email:1>"],
        ["a.md:3:7", "github-token", "key", "=", "<github-token:2>", "ok"],
        ["a.md:4:1", "private-key", "<private-key:3>"],
        ["a.md:12:3", "email", "<email:1>"],
        ["4", "would", "be", "masked", "in", "1", "file"],
    ]


def test_json_has_the_same(project):
    (project.root / "a.md").write_text(TEXT, "utf-8")
    (project.root / f"{TOKEN}.md").write_text("ordinary", "utf-8")

    done = project.lift("redact", "a.md", f"{TOKEN}.md", "--json")

    found = json.loads(done.stdout)
    assert [(one["file"], one["line"], one["column"], one["kind"]) for one in found][:2] == [
        ("a.md", 1, 6, "email"),
        ("a.md", 3, 7, "github-token"),
    ]
    assert TOKEN not in done.stdout


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_standard_input_is_read_whatever_its_encoding(encoding: str):
    text = f"für {TOKEN}\n".encode(encoding)
    command = [sys.executable, "-m", "lift", "redact", "-"]

    done = subprocess.run(command, input=text, capture_output=True, check=True)

    assert b"<github-token:1>" in done.stdout
    assert TOKEN.encode() not in done.stdout


def test_of_several_files_each_is_read_before_anything_is_said(project):
    (project.root / "a.md").write_text(f"{TOKEN}\n")
    done = project.lift("redact", "a.md", "nope.md")

    assert (done.returncode, done.stdout) == (2, "")
    assert "nope.md" in done.stderr


def test_the_corpus_can_be_run(project):
    done = project.lift("redact", "--eval")
    numbers = json.loads(project.lift("redact", "--eval", "--json").stdout)

    assert done.returncode == 0
    assert "recall 100.0%" in done.stdout
    assert "precision 100.0%" in done.stdout
    assert (numbers["recall"], numbers["precision"], numbers["missed"]) == (1.0, 1.0, [])
    assert numbers["kinds"] >= 100


@pytest.mark.parametrize(
    "args", [(), ("--eval", "a.md"), ("nope.md",), (".",), ("fifo",), ("image.png",)]
)
def test_what_cannot_be_read_is_a_usage_error(project, args: tuple[str, ...]):
    os.mkfifo(project.root / "fifo")
    (project.root / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    done = project.lift("redact", *args)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
