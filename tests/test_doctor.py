"""Doctor: what is set up and what is not, and each failure says what to do about it."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
import servers
from conftest import greets
from langfuse_project import OLD, PUBLIC_KEY, SECRET_KEY, Fault, Langfuse

from lift import __version__


def found(project, *, code: int) -> dict[str, dict[str, str]]:
    """Name → finding; whatever failed must say what to do."""
    done = project.lift("doctor", "--json")

    assert done.returncode == code, (done.stdout, done.stderr)
    assert SECRET_KEY not in done.stdout + done.stderr
    findings = json.loads(done.stdout)
    assert all(one["fix"] for one in findings if one["state"] != "ok")
    return {one["name"]: one for one in findings}


def test_a_project_without_keys_is_noted_and_well(project):
    findings = found(project, code=0)

    assert f"lift {__version__}" in findings["versions"]["what"]
    assert findings["model"]["what"] == "no key is set: replies are canned"
    assert findings["langfuse keys"]["state"] == findings["journal"]["state"] == "note"
    assert "1 in" in findings["datasets"]["what"]


def test_all_that_is_set_up_and_works_is_ok(project, serve, langfuse):
    serve(greets)
    project.lift("run", "--only", "greet-0")

    findings = found(project, code=0)

    assert {one["state"] for name, one in findings.items() if name not in ("git", "claude")} == {
        "ok"
    }
    assert findings["langfuse project"]["what"] == "project-1"
    assert findings["unsent"]["what"] == "nothing: Langfuse took every trial"
    assert langfuse.writes("/api/public/otel") != []


def test_a_table_says_what_to_do_beneath_what_failed(project, langfuse):
    langfuse.faults = [Fault("/api/public/projects", status=401)]

    done = project.lift("doctor")

    assert done.returncode == 3
    lines = done.stdout.splitlines()
    (number,) = (n for n, line in enumerate(lines) if line.startswith("failed"))
    assert "refuses the key" in lines[number]
    assert lines[number + 1].strip().startswith("fix: check that LANGFUSE_PUBLIC_KEY")
    assert "langfuse project" in done.stderr


def no_mode(langfuse: Langfuse) -> None:
    langfuse.faults = [Fault("/api/public/experiments", status=404)]


def a_page(langfuse: Langfuse) -> None:
    langfuse.faults = [Fault("/api/public/", html=True)]


def no_answer(langfuse: Langfuse) -> None:
    langfuse.faults = [Fault("/api/public/", reset=True)]


def fast_clock(langfuse: Langfuse) -> None:
    langfuse.ahead_s = -600


def slow_clock(langfuse: Langfuse) -> None:
    langfuse.ahead_s = 600


def no_key(langfuse: Langfuse) -> None:
    langfuse.faults = [Fault("/api/public/projects", status=401)]


@pytest.mark.parametrize(
    ("breaks", "name", "what", "fix"),
    [
        (no_key, "langfuse project", "refuses the key", "LANGFUSE_SECRET_KEY"),
        (no_mode, "langfuse mode", "has no experiments", "v4 write mode"),
        (a_page, "langfuse server", "not the Langfuse API", "LANGFUSE_BASE_URL"),
        (no_answer, "langfuse server", "gave no answer", "LANGFUSE_BASE_URL"),
        (fast_clock, "clock", "s ahead of the server's", "set the clock"),
        (slow_clock, "clock", "s behind the server's", "set the clock"),
    ],
)
def test_what_is_wrong_with_langfuse_is_said(
    project, langfuse, breaks: Callable[[Langfuse], None], name: str, what: str, fix: str
):
    breaks(langfuse)

    finding = found(project, code=3)[name]

    assert finding["state"] == "failed"
    assert what in finding["what"]
    assert fix in finding["fix"]


def test_an_older_server_is_noted_with_what_differs(project, langfuse):
    langfuse.version = OLD

    finding = found(project, code=0)["langfuse server"]

    assert finding["state"] == "note"
    assert "4.16.0" in finding["what"]
    assert "ingestion route" in finding["what"]
    assert finding["fix"] == "update the server to 4.59 or newer"


def test_a_key_from_one_place_and_an_address_from_another_is_said(project):
    (project.root / ".env").write_text("LANGFUSE_BASE_URL=http://127.0.0.1:1\n")
    project.variables |= {"LANGFUSE_PUBLIC_KEY": PUBLIC_KEY, "LANGFUSE_SECRET_KEY": SECRET_KEY}

    finding = found(project, code=3)["langfuse keys"]

    assert "from the environment" in finding["what"]
    assert "from the .env" in finding["what"]


@pytest.mark.parametrize(
    ("status", "state", "what"),
    [
        (200, "ok", "claude-sonnet-5-5 at http"),
        (401, "failed", "refuses the key"),
        (404, "ok", "does not tell whether it has"),
        (500, "ok", "does not tell whether it has"),
    ],
)
def test_the_model_is_asked_for_and_nothing_spent(project, serve, status, state, what):
    model = serve(greets)
    model.models_status = status

    finding = found(project, code=3 if state == "failed" else 0)["model"]

    assert (finding["state"], what in finding["what"]) == (state, True)
    assert model.calls == []


def test_a_model_server_that_is_not_there_is_said(project):
    url = f"http://127.0.0.1:{servers.refused_port()}"
    project.variables |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "k"}

    assert "cannot be reached" in found(project, code=3)["model"]["what"]


def damage(project) -> None:
    path = project.root / ".lift" / "journal.db"
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 6] = os.urandom(4096 * 3)
    path.write_bytes(data)


def make_newer(project) -> None:
    db = sqlite3.connect(project.root / ".lift" / "journal.db")
    db.execute("PRAGMA user_version = 999")
    db.close()


def open_to_all(project) -> None:
    (project.root / ".lift" / "journal.db").chmod(0o644)


def open_folder(project) -> None:
    (project.root / ".lift").chmod(0o755)


@pytest.mark.parametrize(
    ("breaks", "name", "fix"),
    [
        (damage, "journal", "journal"),
        (make_newer, "journal", "update lift"),
        (open_to_all, "private", "chmod 600"),
        (open_folder, "private", "chmod 700"),
    ],
)
def test_what_is_wrong_with_the_journal_is_said(project, serve, breaks, name: str, fix: str):
    serve(greets)
    project.lift("--quick")
    breaks(project)

    finding = found(project, code=3)[name]

    assert finding["state"] == "failed"
    assert fix in finding["fix"]


def test_where_no_journal_can_be_made_that_is_said(unprivileged):
    (unprivileged.root / "home").mkdir()
    unprivileged.root.chmod(0o500)
    finding = found(unprivileged, code=3)["journal"]
    unprivileged.root.chmod(0o700)

    assert finding["state"] == "failed"
    assert "cannot be written" in finding["what"]


def test_what_is_unsent_is_counted(project, serve, langfuse):
    serve(greets)
    keys = {n: project.variables.pop(n) for n in list(project.variables) if "LANGFUSE" in n}
    project.lift("run", "--only", "greet-0")
    project.variables |= keys

    finding = found(project, code=0)["unsent"]

    assert finding["what"] == "4 parts of 2 trials"
    assert finding["fix"] == "run lift push"


def test_a_module_that_does_not_load_is_said(project):
    project.dataset("1 / 0\n")

    assert "ZeroDivisionError" in found(project, code=3)["datasets"]["what"]


def test_a_program_is_called_without_keys(project, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    fake = folder / "claude"
    fake.write_text(
        '#!/bin/sh\necho "1.2.3 ${ANTHROPIC_API_KEY:-none} ${LANGFUSE_SECRET_KEY:-none}"\n'
    )
    fake.chmod(0o755)
    project.variables |= {
        "PATH": f"{folder}:{os.environ['PATH']}", "LANGFUSE_SECRET_KEY": SECRET_KEY,
        "LANGFUSE_PUBLIC_KEY": PUBLIC_KEY, "LANGFUSE_BASE_URL": "http://127.0.0.1:1",
        "ANTHROPIC_API_KEY": "k-secret", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
    }  # fmt: skip

    assert found(project, code=3)["claude"]["what"] == "1.2.3 none none"


def settings_of(project) -> dict[str, dict[str, Any]]:
    done = project.lift("doctor", "--settings", "--json")
    assert done.returncode == 0, done.stderr
    return {one["setting"]: one for one in json.loads(done.stdout)}


def test_each_setting_says_where_it_came_from_and_no_secret(project):
    (project.root / "pyproject.toml").write_text("[tool.lift]\nconcurrency = 3\n", "utf-8")
    (project.root / ".env").write_text(f"LIFT_EFFORT=high\nLANGFUSE_SECRET_KEY={SECRET_KEY}\n")
    project.variables["LIFT_MODEL"] = "m-1"

    known = settings_of(project)

    shown = {name: (one["value"], one["from"]) for name, one in known.items()}
    assert shown["concurrency"] == ("3", "pyproject.toml")
    assert shown["effort"] == ("high", ".env")
    assert shown["model"] == ("m-1", "environment")
    assert shown["judge_votes"] == ("1", "default")
    assert shown["LANGFUSE_SECRET_KEY"] == ("set, not shown", ".env")
    assert shown["ANTHROPIC_API_KEY"] == ("not set", "default")
    table = project.lift("doctor", "--settings").stdout
    assert SECRET_KEY not in table + json.dumps(known)
    assert "LANGFUSE_SECRET_KEY       set, not shown" in table
