"""Dataset modules: what loads, and how a bad one says what is wrong and where."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from lift.dataset import Item, Selection, discover, load
from lift.errors import DatasetError
from lift.evaluators import Rubric

GOOD = """from lift import Dataset, Item, Rubric
DATASET = Dataset(name="d", skill="s", items=[
    Item(id="one", category="c", prompt="p", rubric=Rubric(must_use=["x"]), tags=["t"], quick=True),
    Item(id="two", category="k", prompt="p", rubric=Rubric(must_use=["x"])),
])
"""


def module(folder: Path, text: str, name: str = "d.py") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_module_is_loaded_by_its_path(tmp_path: Path):
    dataset = load(module(tmp_path, GOOD))

    assert [item.id for item in dataset.items] == ["one", "two"]


def test_loading_shadows_nothing(tmp_path: Path):
    folder = tmp_path / "datasets"
    folder.mkdir()
    discovered = discover(Path(module(folder, GOOD)).parent)

    assert [dataset.name for dataset in discovered] == ["d"]
    assert "datasets" not in sys.modules
    assert importlib.util.find_spec("d") is None


def test_items_have_an_identity_that_follows_their_content(tmp_path: Path):
    one = load(module(tmp_path, GOOD)).items[0]
    again = load(module(tmp_path, GOOD)).items[0]
    other = load(module(tmp_path, GOOD.replace('"x"', '"y"'))).items[0]

    assert one.hash == again.hash != other.hash


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        (Selection(), ["one", "two"]),
        (Selection(quick=True), ["one"]),
        (Selection(only=("t*",)), ["two"]),
        (Selection(categories=("k",)), ["two"]),
        (Selection(tags=("t",)), ["one"]),
        (Selection(quick=True, categories=("k",)), []),
    ],
)
def test_filters(tmp_path: Path, selection: Selection, ids: list[str]):
    dataset = load(module(tmp_path, GOOD))

    assert [item.id for item in dataset.items if selection.takes(item)] == ids


@pytest.mark.parametrize(
    ("bad", "what", "where"),
    [
        ('prompt="p"', "item 'one', field prompt", ":3"),
        ('id="one"', "field id", ":3"),
        ('rubric=Rubric(must_use=["x"]), tags', "item 'one': no checks", ":3"),
        ("Rubric(must_use=", "item 'one', field must_usee", ":3"),
    ],
)
def test_a_bad_item_names_module_item_and_field(tmp_path: Path, bad: str, what: str, where: str):
    changed = {
        'prompt="p"': 'prompt=" "',
        'id="one"': 'id="Not A Slug"',
        'rubric=Rubric(must_use=["x"]), tags': "tags",
        "Rubric(must_use=": "Rubric(must_usee=",
    }[bad]
    path = module(tmp_path, GOOD.replace(bad, changed, 1))

    with pytest.raises(DatasetError) as refused:
        load(path)

    assert what in refused.value.what
    assert refused.value.where == f"{path}{where}"
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("name", ["judge", "score", "passed", "errored"])
def test_an_evaluator_is_named_like_no_score_beside_it(name: str):
    with pytest.raises(ValueError, match=f"'{name}' names another score"):
        Item(id="a", category="c", prompt="p", rubric=Rubric(name=name, must_use=["a"]))


def test_duplicate_ids_are_refused(tmp_path: Path):
    with pytest.raises(DatasetError, match="id 'one' is used by items 1 and 2"):
        load(module(tmp_path, GOOD.replace('"two"', '"one"')))


def test_a_syntax_error_names_its_line(tmp_path: Path):
    path = module(tmp_path, "from lift import Dataset\nDATASET = Dataset(\n")

    with pytest.raises(DatasetError, match="syntax error") as refused:
        load(path)

    assert refused.value.where == f"{path}:2"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1 / 0", "raised ZeroDivisionError"),
        ("import nothing_of_that_name", "raised ModuleNotFoundError"),
        ("raise SystemExit(3)", "raised SystemExit"),
        ("x = 1", "does not define a dataset"),
        ("DATASET = 5", "does not define a dataset"),
    ],
)
def test_a_module_that_breaks_is_one_clear_error(tmp_path: Path, text: str, what: str):
    with pytest.raises(DatasetError, match=what) as refused:
        load(module(tmp_path, text + "\n"))

    assert str(tmp_path) in refused.value.where


def test_two_modules_cannot_define_one_dataset(tmp_path: Path):
    module(tmp_path, GOOD, "a.py")
    module(tmp_path, GOOD, "b.py")

    with pytest.raises(DatasetError, match="two modules define the dataset 'd'"):
        discover(tmp_path)


def test_private_modules_are_left_alone(tmp_path: Path):
    module(tmp_path, "1 / 0", "_shared.py")
    module(tmp_path, GOOD)

    assert len(discover(tmp_path)) == 1


def test_a_missing_folder_is_one_clear_error(tmp_path: Path):
    with pytest.raises(DatasetError, match="no folder of datasets"):
        discover(tmp_path / "none")
