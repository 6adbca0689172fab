"""Canned replies: the tool without a key, and never without saying so."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import Project
from refusals import refused
from test_yaml import BOMB

from lift.backends.demo import NOTICE, load
from lift.errors import DatasetError
from lift.schema import Label

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
    labelled = examples.lift("agreement", "--to-label", "labels.csv")
    assert NOTICE in labelled.stderr
    path = examples.root / "labels.csv"
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    for row in rows:
        row[head.index("label")] = "pass"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    held = ("agreement", "--labels", "labels.csv")
    assert NOTICE in examples.lift(*held).stdout
    assert json.loads(examples.lift(*held, "--json").stdout)["notice"] == NOTICE


def test_full_leaves_out_what_has_no_canned_reply(examples: Project):
    done = examples.lift("--full")

    assert done.returncode == 0
    assert "items have canned replies; the others are left out" in done.stderr


def test_a_condition_that_has_no_canned_replies_is_told_with_those_that_have(examples: Project):
    old = examples.root / "old"
    shutil.copytree(ROOT / "skills" / "vaadin-playwright-test", old)
    (old / "SKILL.md").write_text((old / "SKILL.md").read_text("utf-8") + "\nMore.\n", "utf-8")
    done = examples.lift("--quick", "--conditions", "old_skill=old,with_skill,without_skill")

    refused(done, 3, "old_skill", "ask with --conditions with_skill,without_skill alone")


def test_two_repeats_differ(examples: Project):
    examples.lift("--quick")
    trials = json.loads(examples.lift("show", "--json").stdout)["trials"]
    item = next(trial["item"] for trial in trials)
    shown = json.loads(examples.lift("show", item, "--json").stdout)["trials"]
    replies = {(t["condition"], t["repeat"]): t["evidence"]["reply"]["text"] for t in shown}

    assert len(set(replies.values())) == 4


GOOD = "greet-0:\n  with_skill: [a]\n  without_skill: [b]\n"

MALFORMED = {
    "nothing": ("", "", ""),
    "a list": ("- a", "", ""),
    "a number": ("5", "", ""),
    "broken": ("a: [", "", ""),
    "item is a text": ("a: b", "a", ""),
    "item is a number": ("1: {with_skill: [a]}", "1", "valid string"),
    "item is empty": ("greet-0:", "greet-0", ""),
    "condition is misspelled": (
        GOOD.replace("with_skill", "with_skil", 1), "greet-0.with_skil", "'with_skill'"
    ),
    "replies are a text": ("a: {with_skill: b}", "a.with_skill", "valid list"),
    "a reply is a number": ("a: {with_skill: [1]}", "a.with_skill.0", "valid string"),
    "no reply": ("a: {with_skill: []}", "a.with_skill", "at least 1"),
    "judge is misspelled": (f"{GOOD}  judg: {{}}", "greet-0.judg", "'with_skill'"),
    "judge is a list": (f"{GOOD}  judge: [1]", "greet-0", ""),
    "judge is empty": (f"{GOOD}  judge:", "greet-0", ""),
    "judge's condition": (
        f"{GOOD}  judge: {{with_skil: [{{score: 1, rationale: x}}]}}", "greet-0.with_skil", ""
    ),
    "judge's vote is a text": (f"{GOOD}  judge: {{with_skill: [x]}}", "greet-0.with_skill.0", ""),
    "judge's votes are a number": (f"{GOOD}  judge: {{with_skill: 5}}", "greet-0.with_skill", ""),
    "judge's score is too high": (
        f"{GOOD}  judge: {{with_skill: [{{score: 6, rationale: x}}]}}",
        "greet-0.with_skill.0.score",
        "0, 1, 2, 3, 4 or 5",
    ),
    "judge gives no reason": (
        f"{GOOD}  judge: {{with_skill: [{{score: 5}}]}}", "greet-0.with_skill.0.rationale", ""
    ),
    "judge says more": (
        f"{GOOD}  judge: {{with_skill: [{{score: 5, rationale: x, z: 1}}]}}",
        "greet-0.with_skill.0.z",
        "",
    ),
    "a tag": ("a: {with_skill: [!!timestamp x]}", "", ""),
    "code": ("!!python/object/apply:os.system ['ls']", "", ""),
    "deep": ("[" * 100_000, "", ""),
    "itself": ("greet-0: &a {with_skill: *a}", "", "holds itself"),
    "a bomb": (BOMB, "", "values, its aliases written out"),
    "a bomb of votes": (
        BOMB + f"{GOOD}  judge: {{with_skill: [{{score: *m, rationale: x}}]}}", "", "aliases"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "place", "what"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_replies_are_one_clear_error(tmp_path: Path, text: str, place: str, what: str):
    path = tmp_path / "demo" / "d.yaml"
    path.parent.mkdir()
    path.write_text(text, "utf-8")

    with pytest.raises(DatasetError, match="canned replies are malformed") as bad:
        load(tmp_path, "d")

    assert what in bad.value.what
    assert bad.value.where == (f"{path}, {place}" if place else str(path))
    assert bad.value.exit_code == 2


def test_replies_and_votes_are_found_by_their_labels(tmp_path: Path):
    (tmp_path / "demo").mkdir()
    text = f"{GOOD}  judge: {{with_skill: [{{score: 5, rationale: x}}]}}"
    (tmp_path / "demo" / "d.yaml").write_text(text, "utf-8")
    found = load(tmp_path, "d", items=["greet-0", "greet-1"])

    assert found[Label("d", "greet-0", "with_skill")] == ["a"]
    assert json.loads(found[Label("d", "greet-0", "with_skill", part="judge")][0])["score"] == 5


ODD = {
    "folder": lambda path: path.mkdir(),
    "fifo": os.mkfifo,
    "loop": lambda path: path.symlink_to(path),
    "not UTF-8": lambda path: path.write_bytes(b"\xff"),
}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
def test_something_else_in_the_replies_place_is_one_error(tmp_path: Path, make):
    (tmp_path / "demo").mkdir()
    make(tmp_path / "demo" / "d.yaml")

    with pytest.raises(DatasetError, match="canned replies cannot be read"):
        load(tmp_path, "d")


def test_replies_to_an_item_that_there_is_not_are_a_slip_of_the_pen(project):
    folder = project.root / "datasets" / "demo"
    folder.mkdir()
    (folder / "greetings.yaml").write_text(GOOD + GOOD.replace("greet-0", "gret-1"), "utf-8")

    refused(project.lift("--quick"), 2, "canned replies to 'gret-1'", "nearest: greet-1")


def test_decisions_on_a_prompt_that_there_is_not_are_too(examples: Project):
    folder = examples.root / "datasets"
    folder.unlink()
    shutil.copytree(ROOT / "datasets", folder)
    path = folder / "demo" / "trigger_prompts.yaml"
    path.write_text(path.read_text("utf-8").replace("new-view:", "new-vieww:"), "utf-8")

    refused(examples.lift("activation"), 2, "canned replies to 'new-vieww'", "nearest: new-view")
