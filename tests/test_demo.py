"""Canned replies: the tool without a key, and never without saying so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Project

from lift.backends.demo import NOTICE, load
from lift.errors import DatasetError

ROOT = Path(__file__).parent.parent


@pytest.fixture
def examples(tmp_path: Path) -> Project:
    """The repository's own skill and datasets, in a folder of its own."""
    for name in ("skills", "datasets"):
        (tmp_path / name).symlink_to(ROOT / name)
    return Project(tmp_path)


def test_quick_runs_without_a_key_and_every_output_says_canned(examples: Project):
    done = examples.lift("--quick")

    assert done.returncode == 0, done.stderr
    assert NOTICE in done.stdout
    assert NOTICE in done.stderr
    for category in ("combobox", "grid", "negative", "setup", "textfield"):
        assert category in done.stdout
    for command in (["compare"], ["list"], ["show"], ["show", "textfield-set-value"]):
        assert NOTICE in examples.lift(*command).stdout, command
        document = json.loads(examples.lift(*command, "--json").stdout)
        assert NOTICE in json.dumps(document), command


def test_full_leaves_out_what_has_no_canned_reply(examples: Project):
    done = examples.lift("--full")

    assert done.returncode == 0
    assert "items have canned replies; the others are left out" in done.stderr


def test_two_repeats_differ(examples: Project):
    examples.lift("--quick")
    trials = json.loads(examples.lift("show", "--json").stdout)["trials"]
    item = next(trial["item"] for trial in trials)
    shown = json.loads(examples.lift("show", item, "--json").stdout)["trials"]
    replies = {(t["condition"], t["repeat"]): t["evidence"]["reply"]["text"] for t in shown}

    assert len(set(replies.values())) == 4


@pytest.mark.parametrize("text", ["- a", "a: b", "a: {b: c}", "a: {b: [1]}", "a: [", "5"])
def test_malformed_replies_are_one_clear_error(tmp_path: Path, text: str):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "d.yaml").write_text(text, "utf-8")

    with pytest.raises(DatasetError, match="canned replies are malformed"):
        load(tmp_path, "d")
