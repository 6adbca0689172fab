"""Paths that lead nowhere a file can be: one clear error, soon, and nothing is asked."""

from __future__ import annotations

import os

import pytest
from refusals import here, refused

LONG = "x" * 300
DEEP = "a/" * 3000 + "x"
NOBODY = "~nobody-of-that-name/x"

PATHS = [
    (("--full", "--dry-run", "--skill"), [LONG, DEEP, NOBODY, "/dev/zero", "fifo"], 2),
    (("lint",), [LONG, DEEP, NOBODY], 2),
    (("lint",), ["/dev/zero", "fifo", "/"], 1),
    (("activation",), [LONG, NOBODY, "/dev/zero", "fifo"], 2),
    (("list", "--journal"), [LONG, DEEP, NOBODY], 2),
    (("list", "--journal"), ["/dev/zero", "fifo", "."], 3),
    (("gate", "greet"), [LONG, NOBODY, "/dev/zero", "fifo", ".", "nowhere"], 2),
    (("gate", LONG), ["nowhere"], 2),
    (("report", "--out"), [LONG, NOBODY, "/dev/zero/x", "fifo", ".", "nowhere/x", "dangling"], 2),
]


@pytest.mark.parametrize(
    ("args", "path", "code"), [(args, path, code) for args, paths, code in PATHS for path in paths]
)
def test_a_path_that_leads_nowhere(project, capfd, monkeypatch, args, path, code):
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    os.mkfifo("fifo")
    (project.root / "dangling").symlink_to("nowhere/x")

    refused(here(capfd, *args, path), code)


@pytest.mark.parametrize("setting", ["DATASETS_DIR", "SKILLS_DIR", "JOURNAL"])
@pytest.mark.parametrize("path", [LONG, NOBODY])
def test_a_setting_that_leads_nowhere(project, capfd, monkeypatch, setting, path):
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv(f"LIFT_{setting}", path)

    words = (f"{setting.lower()} cannot be", "from the environment")
    refused(here(capfd, "--full", "--dry-run"), 2, *words)


@pytest.mark.parametrize("out", ["nowhere/x.json", "dangling"])
def test_where_the_result_cannot_be_written_nothing_is_asked(project, serve, out):
    model = serve()
    os.mkfifo(project.root / "fifo")
    (project.root / "dangling").symlink_to("nowhere/x")

    refused(project.lift("--full", "--out", out), 2, "--out cannot be written")
    assert model.calls == []
    assert not (project.root / ".lift").exists()


def test_a_result_that_finds_no_room_costs_nothing_when_it_is_written_again(project, serve):
    model = serve()
    refused(project.lift("--full", "--out", "/dev/full"), 3, "No space left", "lift report")
    asked = len(model.calls)

    again = project.lift("report", "--format", "json", "--out", "r.json")
    assert again.returncode == 0, again.stderr
    assert (project.root / "r.json").read_text("utf-8").startswith("{")
    assert len(model.calls) == asked


@pytest.mark.parametrize(
    "name", [".env", "pyproject.toml", "datasets/odd.py", "skills/greet/SKILL.md"]
)
def test_a_fifo_in_a_files_place_is_not_waited_for(project, name):
    path = project.root / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    project.variables["ANTHROPIC_API_KEY"] = "k"

    refused(project.lift("--full", "--dry-run"), 2)


def test_a_skills_folder_with_a_fifo_in_it_is_read(project, serve):
    serve()
    os.mkfifo(project.skill.parent / "fifo")

    assert project.lift("--quick").returncode == 0


def test_a_folder_without_a_skill_is_not_searched(project):
    outside = project.root / "outside"
    outside.mkdir()
    (outside / "link").symlink_to("/")
    done = project.lift("lint", "outside")

    assert done.returncode == 1
    assert "there is no SKILL.md in the folder" in done.stdout
    assert "1 error," in done.stdout


@pytest.mark.parametrize(
    ("closed", "args", "words"),
    [
        ("skills", ("--full", "--dry-run"), "Permission denied"),
        ("skills/greet", ("--full", "--dry-run"), "Permission denied"),
        ("datasets", ("--full", "--dry-run"), "Permission denied"),
        ("datasets/greetings.py", ("--full", "--dry-run"), "Permission denied"),
        ("closed", ("--full", "--dry-run", "--journal", "closed/j.db"), "Permission denied"),
        ("closed", ("report", "--out", "closed/x"), "Permission denied"),
        ("closed", ("gate", "greet", "closed/x"), "Permission denied"),
    ],
)
def test_what_is_behind_a_closed_door_is_one_error(unprivileged, closed, args, words):
    (unprivileged.root / "closed").mkdir()
    unprivileged.variables["ANTHROPIC_API_KEY"] = "k"
    (unprivileged.root / closed).chmod(0)
    done = unprivileged.lift(*args)
    (unprivileged.root / closed).chmod(0o700)

    refused(done, 2, words)
