"""pyproject.toml and `.env` of any shape: settings, or one clear error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from refusals import here, refused

from lift.errors import SettingError
from lift.settings import read

SHAPES = {
    "tool is a number": ("tool = 1", "tool is not a table"),
    "tool is a list": ("tool = []", "tool is not a table"),
    "tools": ("[[tool]]", "tool is not a table"),
    "lift is a number": ("[tool]\nlift = 3", "lift is not a table"),
    "lift is a list": ("[[tool.lift]]\nmodel = 'x'", "lift is not a table"),
    "gate is a number": ("[tool.lift]\ngate = 1", "gate is not a table"),
    "gates": ("[[tool.lift.gate]]\npages_dir = 'x'", "gate is not a table"),
    "a list": ("[tool.lift]\nmodel = ['a']", "model is not a text or a number"),
    "a table": ("[tool.lift.model]\na = 1", "model is not a text or a number"),
    "a boolean": ("[tool.lift]\nmax_cost_usd = true", "max_cost_usd is not a text or a number"),
    "a date": ("[tool.lift]\nmodel = 2026-01-01", "model is not a text or a number"),
    "a gate's list": ("[tool.lift.gate]\npages_dir = []", "gate_pages_dir is not a text"),
    "deep": (f"[tool.lift]\nmodel = {'[' * 5000}{']' * 5000}", "nested too deep"),
    "deep tables": (f"x = {'{a = ' * 5000}1{'}' * 5000}", "nested too deep"),
    "long number": (f"[tool.lift]\nconcurrency = {'9' * 5000}", "not valid TOML"),
    "nan": ("[tool.lift]\ndeadline_s = nan", "deadline_s cannot be nan"),
    "null byte": ('[tool.lift]\njournal = "a\\u0000b"', "it has control characters"),
    "escape": ('[tool.lift]\nskill = "a\\u001bb"', "it has control characters"),
    "no name": ("[tool.lift]\n'' = 1", "unknown setting ''"),
}


@pytest.mark.parametrize(("text", "what"), SHAPES.values(), ids=SHAPES)
def test_a_shape_that_cannot_be_is_one_error(tmp_path: Path, text: str, what: str):
    (tmp_path / "pyproject.toml").write_text(text + "\n", "utf-8")

    with pytest.raises(SettingError) as refused:
        read(tmp_path, {}, {})

    assert what in refused.value.what
    assert "pyproject.toml" in refused.value.where


@pytest.mark.parametrize("data", [b"model = '\xe9'", "[tool.lift]".encode("utf-16"), b"\xff\xfe"])
@pytest.mark.parametrize("name", ["pyproject.toml", ".env"])
def test_a_file_that_is_not_utf_8_is_one_error(tmp_path: Path, name: str, data: bytes):
    (tmp_path / name).write_bytes(data)

    with pytest.raises(SettingError, match=rf"{name} cannot be read: it is not UTF-8 text"):
        read(tmp_path, {}, {})


def test_a_byte_order_mark_is_passed_over(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text('\ufeff[tool.lift]\nmodel = "a"\n', "utf-8")
    (tmp_path / ".env").write_text("\ufeffLIFT_EFFORT=low\n", "utf-8")
    settings = read(tmp_path, {}, {}).settings

    assert (settings.model, settings.effort) == ("a", "low")


@pytest.mark.parametrize(
    "text", ["", "[project]\nname = 'x'\n", "[tool]\n", "[tool.other]\nx = 1\n"]
)
def test_a_file_without_settings_is_none(tmp_path: Path, text: str):
    (tmp_path / "pyproject.toml").write_text(text, "utf-8")

    assert read(tmp_path, {}, {}).settings.model == "claude-sonnet-5-5"


@pytest.mark.parametrize("name", ["pyproject.toml", ".env"])
@pytest.mark.parametrize("odd", ["fifo", "device", "loop"])
def test_something_else_in_a_files_place_is_one_error(tmp_path: Path, name: str, odd: str):
    path = tmp_path / name
    {
        "fifo": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "loop": lambda: path.symlink_to(path),
    }[odd]()

    with pytest.raises(SettingError, match=rf"{name} cannot be read"):
        read(tmp_path, {}, {})


def test_a_folder_named_env_is_a_virtual_environment(tmp_path: Path):
    (tmp_path / ".env").mkdir()
    (tmp_path / "pyproject.toml").symlink_to("nowhere")

    assert read(tmp_path, {}, {}).settings.model == "claude-sonnet-5-5"


def test_the_command_says_it_too(project):
    (project.root / "pyproject.toml").write_text("tool = 1\n", "utf-8")

    refused(project.lift("list"), 2, "tool is not a table", "write [tool.lift]")


LIMITS = [
    ("max_cost_usd", ["0", "-1", "nan", "inf", "-inf", "1e9", "x", ""], "5"),
    ("confirm_above_usd", ["-1", "nan", "inf"], "0"),
    ("deadline_s", ["0", "-1", "nan", "inf", "86401"], "86400"),
    ("max_tokens", ["0", "-1", "1e3", "1000001", "nan", "9" * 5000], "1000000"),
    ("concurrency", ["0", "513", "1.5", "inf"], "512"),
    ("judge_votes", ["0", "10", "nan"], "9"),
    ("cache_max_age", ["-1", "nan", "inf", "36501"], "0"),
]
CASES = [(name, bad) for name, values, _ in LIMITS for bad in values]


@pytest.mark.parametrize(("name", "value"), CASES)
def test_a_number_out_of_its_limits_is_refused(tmp_path: Path, name: str, value: str):
    with pytest.raises(SettingError, match=f"{name} cannot be"):
        read(tmp_path, {}, {name: value})


@pytest.mark.parametrize(("name", "value"), [(name, good) for name, _, good in LIMITS])
def test_a_number_at_its_limit_is_taken(tmp_path: Path, name: str, value: str):
    assert getattr(read(tmp_path, {}, {name: value}).settings, name) == float(value)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--full", "--repeats", "1001"), "ask 1 to 1000"),
        (("--full", "--repeats", "0"), "0 is not in the range"),
        (("--full", "--max-cost-usd", "nan"), "max_cost_usd cannot be 'nan'"),
        (("--full", "--price", "nan,1", "--model", "x"), "is not a price"),
        (("--full", "--price", "1e308,1", "--model", "x"), "is not a price"),
        (("compare", "--max-drop", "nan"), "'nan' is not a drop"),
        (("compare", "--max-drop", "inf%"), "'inf%' is not a drop"),
        (("activation", "--min-f1", "nan"), "'nan' is no number"),
        (("static", "--min-f1", "inf"), "inf is not in the range"),
    ],
)
def test_flags_have_limits_too(project, capfd, monkeypatch, args, words):
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")

    refused(here(capfd, *args), 2, words)
