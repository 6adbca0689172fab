"""Baselines and ledgers that are not what they should be: refused before anything is written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lift import baselines
from lift.errors import BaselineError, ResultError
from lift.gate import SCHEMA, Baseline, Best
from lift.gating import Recording, gate
from lift.settings import read

MALFORMED = {
    "nothing": "",
    "deep list": "[" * 100_000,
    "deep object": '{"schema":' * 20_000,
    "long number": f'{{"schema": {"9" * 5000}}}',
    "half a pair": f'{{"schema": "{SCHEMA}", "item": "\\ud800"}}',
    "null": "null",
    "list": "[]",
    "schema is a list": '{"schema": [1]}',
    "another schema": '{"schema": "skill-eval-baseline/2"}',
    "item is a number": f'{{"schema": "{SCHEMA}", "item": 5}}',
    "another item": f'{{"schema": "{SCHEMA}", "item": "\\u001b"}}',
    "best is a list": f'{{"schema": "{SCHEMA}", "item": "greet", "best": []}}',
    "best is a text": f'{{"schema": "{SCHEMA}", "item": "greet", "best": {{"m": "x"}}}}',
    "nan": f'{{"schema": "{SCHEMA}", "item": "greet", "best": {{"m": {{"score": NaN}}}}}}',
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_a_file_that_is_no_baseline_is_one_error(tmp_path: Path, text: str):
    path = tmp_path / "greet.json"
    path.write_text(text, "utf-8")

    with pytest.raises(BaselineError) as refused:
        baselines.read(path, "greet")

    assert refused.value.where == str(path)
    assert "\x1b" not in str(refused.value)


ODD = {
    "folder": lambda path: path.mkdir(),
    "fifo": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path),
    "not UTF-8": lambda path: path.write_bytes(b"\xff"),
}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
def test_something_else_in_a_baselines_place_is_one_error(tmp_path: Path, make):
    path = tmp_path / "greet.json"
    make(path)

    with pytest.raises(BaselineError):
        baselines.read(path, "greet")


def test_a_byte_order_mark_is_passed_over(tmp_path: Path):
    path = tmp_path / "greet.json"
    baselines.write(path, Baseline(item="greet", best={"m": Best(score=0.5)}))
    path.write_text("\ufeff" + path.read_text("utf-8"), "utf-8")

    assert baselines.read(path, "greet").best["m"].score == 0.5


def result(folder: Path, model: str = "m") -> Path:
    """A result that the gate accepts."""
    claim = {
        "model": model, "verdict": "HELPS", "scope": None, "delta": 0.4, "low": 0.3, "high": 0.5,
        "p": 0.01, "items": 9, "repeats": 3, "moved": 9, "says": "s", "then": "t",
    }  # fmt: skip
    best = {"score": 0.5, "without": 0.1, "repeats": 3, "run": "r", "date": "2026-01-01"}
    candidate = {"model": model, "best": best, "claim": claim}
    path = folder / "result.json"
    content = {"experiment": {"canned": False, "skill": "greet"}, "candidates": [candidate]}
    content |= {"base": "without_skill", "other": "with_skill"}
    path.write_text(json.dumps(content))
    (folder / "docs").mkdir()
    (folder / "docs" / "testing.md").write_text("x")
    return path


def recorded(folder: Path, file: Path) -> dict[str, Any]:
    recording = Recording(pr="1", pages="testing", allow_noisy=False)
    config = read(folder, {}, {})
    return gate(config, "greet", file, recording=recording, confident=False, rebase=False)


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
def test_with_a_ledger_that_cannot_be_read_nothing_is_recorded(tmp_path: Path, make):
    folder = tmp_path / "datasets" / "baselines"
    folder.mkdir(parents=True)
    make(folder / "ledger.md")
    file = result(tmp_path)

    with pytest.raises(BaselineError, match="the ledger cannot be read"):
        recorded(tmp_path, file)

    assert not (folder / "greet.json").exists()


def test_a_row_of_the_ledger_is_one_line_of_cells(tmp_path: Path):
    file = result(tmp_path, "m|\n\x1b[31m[/]")
    recorded(tmp_path, file)
    rows = (tmp_path / "datasets" / "baselines" / "ledger.md").read_text("utf-8").splitlines()

    assert "| m/ \\x1b[31m[/] |" in rows[-1]
    assert rows[-1].count("|") == 9


def test_a_model_that_cannot_be_written_is_no_result(tmp_path: Path):
    file = result(tmp_path, "\ud800")

    with pytest.raises(ResultError, match="not a result"):
        recorded(tmp_path, file)


def test_what_the_gate_prints_cannot_steer_a_terminal(project):
    result(project.root, "m\x1b[31m[/]")
    done = project.lift("gate", "greet", "result.json")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("accepted: m\\x1b[31m[/] 0.5000")
