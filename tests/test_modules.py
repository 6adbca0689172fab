"""Dataset modules that do odd things as they are run: one clear error, and a clean output."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import MODULE
from refusals import refused

from lift.dataset import discover, load
from lift.errors import DatasetError

ITEM = (
    "from lift import Dataset, Item, Rubric\nDATASET = Dataset(name='d', skill='s', items=[{}])\n"
)
CALL = "Item(id='one', category='c', prompt='p', rubric=Rubric(must_use=['x']))"

RAISES = {
    "exit": ("raise SystemExit(3)", "raised SystemExit: 3"),
    "interrupt of its own": ("class K(KeyboardInterrupt): pass\nraise K('x')", "raised K: x"),
    "generator": ("raise GeneratorExit", "raised GeneratorExit"),
    "cancelled": ("import asyncio\nraise asyncio.CancelledError", "raised CancelledError"),
    "base": ("class B(BaseException): pass\nraise B", "raised B"),
    "group": ("raise BaseExceptionGroup('g', [SystemExit()])", "raised BaseExceptionGroup: g"),
    "memory": ("raise MemoryError", "raised MemoryError"),
    "recursion": ("def f(): f()\nf()", "raised RecursionError"),
    "no text": ("class E(Exception):\n  def __str__(s): return 5\nraise E", "raised E"),
    "text that raises": ("class E(Exception):\n  def __str__(s): 1/0\nraise E", "raised E"),
    "text that exits": ("class E(Exception):\n  def __str__(s): exit()\nraise E", "raised E"),
    "text without end": (
        "class E(Exception):\n  def __str__(s): return f'{s}'\nraise E",
        "raised E",
    ),
    "syntax error of its own": ("raise SyntaxError", "raised SyntaxError"),
    "attributes": ("def __getattr__(name): raise RuntimeError(name)", "raised RuntimeError"),
    "control characters": ("raise ValueError('\\x1b[31m')", "raised ValueError"),
    "null byte": ("x = 1\0", "null bytes"),
    "parentheses": ("(" * 300 + ")" * 300, "syntax error: too many nested parentheses"),
    "long sum": ("x = " + "+".join(["1"] * 100_000), "no Python: RecursionError"),
    "tabs": ("if 1:\n\tx = 1\n        y = 1\n", "syntax error: inconsistent use of tabs"),
}


@pytest.mark.parametrize(("text", "what"), RAISES.values(), ids=RAISES)
def test_whatever_a_module_raises_is_one_error(tmp_path: Path, text: str, what: str):
    path = tmp_path / "d.py"
    path.write_text(text, "utf-8")

    with pytest.raises(DatasetError) as refused:
        load(path)

    assert what in refused.value.what
    assert refused.value.where.startswith(str(path))
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"x = '\xe9'\n", "syntax error: (unicode error)"),
        ("x = 1\n".encode("utf-16"), "null bytes"),
        (b"# -*- coding: nope -*-\n", "unknown encoding: nope"),
        (bytes(range(256)), "null bytes"),
    ],
)
def test_a_source_that_is_no_text_is_one_error(tmp_path: Path, data: bytes, what: str):
    path = tmp_path / "d.py"
    path.write_bytes(data)

    with pytest.raises(DatasetError) as refused:
        load(path)

    assert what in refused.value.what


def test_a_source_in_another_encoding_names_the_bad_item(tmp_path: Path):
    path = tmp_path / "d.py"
    call = "Item(id='café', category='c', prompt='p')"
    path.write_bytes(f"# -*- coding: latin-1 -*-\n{ITEM.format(call)}".encode("latin-1"))

    with pytest.raises(DatasetError, match="item 'café', field id"):
        load(path)


def test_an_interrupt_is_no_fault_of_the_module(tmp_path: Path):
    path = tmp_path / "d.py"
    path.write_text("raise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        load(path)


def test_what_a_module_prints_is_no_part_of_the_result(project, serve):
    serve()
    noise = "import sys\nprint('NOISE')\nsys.stdout.write('MORE\\n')\n"
    project.dataset(MODULE.replace("COUNT", "2") + noise)
    done = project.lift("--full", "--json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["experiment"]["answered"] == 4
    assert "NOISE\nMORE\n" in done.stderr


def make_folder(path: Path) -> None:
    path.mkdir()


def make_socket(path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as made:
        os.chdir(path.parent)  # the address of a socket is short
        made.bind(path.name)


ODD = {
    "folder": make_folder,
    "fifo": os.mkfifo,
    "socket": make_socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "loop": lambda path: path.symlink_to(path.name),
}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
def test_something_else_in_a_modules_place_is_one_error(tmp_path: Path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "d.py")

    with pytest.raises(DatasetError, match="the module cannot be read"):
        discover(tmp_path)


def test_files_that_editors_leave_behind_are_no_modules(tmp_path: Path):
    (tmp_path / "d.py").write_text(ITEM.format(CALL), "utf-8")
    (tmp_path / ".#d.py").symlink_to("me@here.1:2")
    (tmp_path / "._d.py").write_bytes(b"\0\5\x16\7")

    assert [dataset.name for dataset in discover(tmp_path)] == ["d"]


def test_a_module_whose_name_is_not_utf_8(tmp_path: Path):
    name = os.fsdecode(b"d\xff.py")
    (tmp_path / name).write_text("1 / 0", "utf-8")

    with pytest.raises(DatasetError, match="raised ZeroDivisionError"):
        discover(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [("'c'", "'all'", "category"), ("name='d'", "name='all'", "name")],
)
def test_nothing_is_named_like_the_row_over_everything(tmp_path: Path, old, new, field):
    path = tmp_path / "d.py"
    path.write_text(ITEM.format(CALL).replace(old, new), "utf-8")

    with pytest.raises(DatasetError, match=f"field {field}: 'all' is the row over everything"):
        load(path)


def test_a_category_named_all_is_refused_by_the_command(project):
    project.dataset(MODULE.replace("COUNT", "2").replace('"short"', '"all"'))

    refused(project.lift("--quick"), 2, "field category", "take another name")


@pytest.mark.parametrize("field", ["prompt", "judge_criteria", "ground_truth"])
def test_half_of_a_surrogate_pair_is_refused_when_the_module_loads(tmp_path: Path, field: str):
    path = tmp_path / "d.py"
    call = CALL.replace("prompt='p', ", "")[:-1]
    texts = {"prompt": "'p'", field: "'\\ud800'"}
    call += "".join(f", {name}={text}" for name, text in texts.items()) + ")"
    path.write_text(ITEM.format(call), "utf-8")

    with pytest.raises(DatasetError, match=f"field {field}"):
        load(path)
