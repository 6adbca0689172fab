"""Sync: Langfuse's dataset becomes like ours, and nothing is written that need not be."""

from __future__ import annotations

from typing import Any

import pytest
from langfuse_project import DATASETS, ITEMS, Fault, Langfuse
from langfuse_trials import connected, dataset

from lift.dataset import Dataset, Item
from lift.evaluators import Pattern, Rubric
from lift.langfuse.datasets import Shelves, Synced, sync
from lift.langfuse.faults import LangfuseError, Refused
from lift.redact import redacted

FIRST, SECOND, THIRD = (f"greetings:greet-{number}" for number in range(3))


def synced(langfuse: Langfuse, ours: Dataset, **more: Any) -> Synced:
    with connected(langfuse) as connection:
        return sync(connection, ours, **{"redact": lambda value: value, **more})


def without(ours: Dataset, id: str) -> Dataset:
    left = [item for item in ours.items if item.id != id]
    return ours.model_copy(update={"items": left})


def changed(ours: Dataset, id: str, **fields: Any) -> Dataset:
    items = [item.model_copy(update=fields) if item.id == id else item for item in ours.items]
    return ours.model_copy(update={"items": items})


def edit(langfuse: Langfuse, id: str, **fields: Any) -> None:
    """As a person does it in the UI."""
    langfuse.versions[id].append({**langfuse.versions[id][-1], **fields})


def test_a_new_dataset_is_written_whole(langfuse: Langfuse):
    found = synced(langfuse, dataset())

    assert found == Synced(created=("greetings", FIRST, SECOND, THIRD))
    (row,) = langfuse.versions[FIRST]
    assert row["input"] == {"prompt": "Greet 0."}
    assert row["expectedOutput"]["rubric"]["must_use"] == ["hello"]
    assert row["expectedOutput"]["judge_criteria"] == "It is polite."
    assert (row["metadata"]["category"], row["metadata"]["tags"]) == ("long", ["polite"])
    assert langfuse.datasets["greetings"]["metadata"]["skill"] == "greet"


def test_the_second_sync_writes_nothing(langfuse: Langfuse):
    rubric = Rubric(must_use=["hello", Pattern("h.llo")], weight=2.5, must_extend="A.B")
    ours = changed(dataset(), "greet-1", rubric=rubric, ground_truth="ünï 🎭 \0", quick=True)
    ours = ours.model_copy(update={"description": "what is asked"})
    synced(langfuse, ours)
    before = len(langfuse.writes())

    assert synced(langfuse, ours) == Synced(unchanged=(FIRST, SECOND, THIRD))
    assert len(langfuse.writes()) == before


def test_a_changed_item_is_one_write(langfuse: Langfuse):
    synced(langfuse, dataset())
    before = len(langfuse.writes())

    found = synced(langfuse, changed(dataset(), "greet-1", prompt="Salute."))

    assert found == Synced(updated=(SECOND,), unchanged=(FIRST, THIRD))
    assert len(langfuse.writes()) == before + 1
    assert langfuse.versions[SECOND][-1]["input"] == {"prompt": "Salute."}


def test_what_is_taken_out_of_an_item_is_gone_there(langfuse: Langfuse):
    synced(langfuse, changed(dataset(), "greet-1", ground_truth="hello()"))

    synced(langfuse, dataset())

    assert "ground_truth" not in langfuse.versions[SECOND][-1]["expectedOutput"]
    assert synced(langfuse, dataset()).writes == 0


def test_an_item_that_is_gone_is_archived(langfuse: Langfuse):
    synced(langfuse, dataset())

    found = synced(langfuse, without(dataset(), "greet-1"))

    assert found == Synced(archived=(SECOND,), unchanged=(FIRST, THIRD))
    assert langfuse.versions[SECOND][-1]["status"] == "ARCHIVED"
    assert synced(langfuse, without(dataset(), "greet-1")).writes == 0


def test_an_item_that_is_back_is_active_again(langfuse: Langfuse):
    for ours in (dataset(), without(dataset(), "greet-1"), dataset()):
        synced(langfuse, ours)

    assert langfuse.versions[SECOND][-1]["status"] == "ACTIVE"
    assert synced(langfuse, dataset()) == Synced(unchanged=(FIRST, SECOND, THIRD))


@pytest.mark.parametrize("metadata", [None, {}, {"a": 1}, ["list"], {"_sync": {"source": "x"}}])
def test_what_others_added_is_never_touched(langfuse: Langfuse, metadata: Any):
    synced(langfuse, dataset())
    theirs = {"id": "theirs", "datasetName": "greetings", "status": "ACTIVE", "input": "i"}
    langfuse.versions["theirs"] = [{**theirs, "metadata": metadata}]
    langfuse.versions[FIRST] = [{**theirs, "id": FIRST, "metadata": metadata}]

    found = synced(langfuse, changed(dataset(), "greet-0", prompt="New."), force=True)

    assert found == Synced(unchanged=(SECOND, THIRD), foreign=(FIRST, "theirs"))
    assert len(langfuse.versions["theirs"]) == len(langfuse.versions[FIRST]) == 1


@pytest.mark.parametrize(
    "edits",
    [{"input": {"prompt": "edited"}}, {"expectedOutput": None}],
)
def test_what_was_edited_in_the_ui_is_said_and_left(langfuse: Langfuse, edits: dict[str, Any]):
    synced(langfuse, dataset())
    edit(langfuse, SECOND, **edits)
    before = len(langfuse.writes())

    found = synced(langfuse, without(dataset(), "greet-2"))

    assert found == Synced(edited=(SECOND,), unchanged=(FIRST,), archived=(THIRD,))
    assert len(langfuse.writes()) == before + 1


def test_what_was_edited_is_written_over_by_force(langfuse: Langfuse):
    synced(langfuse, dataset())
    edit(langfuse, SECOND, input={"prompt": "edited"})
    edit(langfuse, THIRD, input={"prompt": "edited"})

    found = synced(langfuse, without(dataset(), "greet-2"), force=True)

    assert found == Synced(updated=(SECOND,), archived=(THIRD,), unchanged=(FIRST,))
    assert langfuse.versions[SECOND][-1]["input"] == {"prompt": "Greet 1."}


def test_an_edit_to_what_it_should_be_is_none(langfuse: Langfuse):
    synced(langfuse, dataset())
    edit(langfuse, SECOND, input={"prompt": "Salute."})

    assert SECOND in synced(langfuse, changed(dataset(), "greet-1", prompt="Salute.")).unchanged


def test_a_description_is_one_write(langfuse: Langfuse):
    synced(langfuse, dataset())
    described = dataset().model_copy(update={"description": "what is asked"})

    assert synced(langfuse, described).updated == ("greetings",)
    assert synced(langfuse, described).writes == 0
    langfuse.datasets["greetings"]["description"] = "edited"
    assert synced(langfuse, described).edited == ("greetings",)
    assert langfuse.datasets["greetings"]["description"] == "edited"


def test_a_dataset_of_others_gets_our_items_and_keeps_its_own(langfuse: Langfuse):
    theirs = {"id": "id", "name": "greetings", "description": "theirs", "metadata": {"a": 1}}
    langfuse.datasets["greetings"] = theirs

    assert synced(langfuse, dataset()).created == (FIRST, SECOND, THIRD)
    assert langfuse.datasets["greetings"] == theirs


def test_a_check_writes_nothing_and_says_the_same(langfuse: Langfuse):
    would = synced(langfuse, dataset(), check=True)
    assert langfuse.writes() == []
    assert would == synced(langfuse, dataset())
    edit(langfuse, SECOND, input={"prompt": "edited"})
    other = changed(without(dataset(), "greet-2"), "greet-0", prompt="New.")
    before = len(langfuse.writes())

    would = synced(langfuse, other, check=True)

    assert len(langfuse.writes()) == before
    assert would == Synced(updated=(FIRST,), archived=(THIRD,), edited=(SECOND,))
    assert would == synced(langfuse, other)


def test_many_items_are_listed_page_by_page(langfuse: Langfuse):
    synced(langfuse, dataset(230))
    before = len(langfuse.asked)

    assert len(synced(langfuse, dataset(230)).unchanged) == 230
    assert len(langfuse.asked) == before + 1 + 3


def test_secrets_stay_here_and_the_second_sync_writes_nothing(langfuse: Langfuse):
    secret = "sk-ant-api03-" + "q8Zx" * 20
    ours = dataset(3, prompt=f"Use {secret} to greet {{n}}.")

    synced(langfuse, ours, redact=redacted)

    assert b"q8Zx" not in b"".join(asked.data for asked in langfuse.asked)
    assert synced(langfuse, ours, redact=redacted).writes == 0


def test_an_id_of_another_dataset_is_one_clear_error(langfuse: Langfuse):
    langfuse.versions[SECOND] = [{"id": SECOND, "datasetName": "other", "status": "ACTIVE"}]

    with pytest.raises(Refused, match="already exists in another dataset"):
        synced(langfuse, dataset())


@pytest.mark.parametrize("fault", [{"reset": True}, {"status": 500}])
@pytest.mark.parametrize("stored", [True, False])
def test_an_item_whose_answer_was_lost_is_written_once(
    langfuse: Langfuse, fault: dict[str, Any], stored: bool
):
    langfuse.faults = [Fault(ITEMS, method="POST", times=1, stored=stored, **fault)]

    assert synced(langfuse, dataset()).created == ("greetings", FIRST, SECOND, THIRD)
    assert [len(versions) for versions in langfuse.versions.values()] == [1, 1, 1]


def test_a_sync_that_broke_off_goes_on(langfuse: Langfuse):
    langfuse.faults = [Fault(ITEMS, method="POST", status=401, after=2)]
    with pytest.raises(LangfuseError):
        synced(langfuse, dataset(40))
    langfuse.faults = []

    synced(langfuse, dataset(40))

    assert [len(versions) for versions in langfuse.versions.values()] == [1] * 40


def test_an_item_needs_no_field_that_it_may_lack(langfuse: Langfuse):
    item = Item(id="a", category="c", prompt="p", rubric=Rubric(must_use=["x"]))

    synced(langfuse, Dataset(name="d", skill="s", items=[item]))

    assert langfuse.versions["d:a"][-1]["metadata"]["tags"] == []
    assert len(langfuse.writes(DATASETS)) == 1


def test_a_dataset_says_what_its_items_look_like(langfuse: Langfuse):
    synced(langfuse, dataset())

    there = langfuse.datasets["greetings"]
    assert there["inputSchema"]["required"] == ["prompt"]
    assert "judge_criteria" in there["expectedOutputSchema"]["properties"]


def test_a_dataset_that_a_run_made_is_described_by_the_sync(langfuse: Langfuse):
    with connected(langfuse) as connection:
        Shelves(connection, lambda value: value).hold("greetings", [])
    assert langfuse.datasets["greetings"]["inputSchema"]["required"] == ["prompt"]

    assert synced(langfuse, dataset()).updated == ("greetings",)
    assert synced(langfuse, dataset()).writes == 0


def test_schemas_that_others_items_do_not_satisfy_are_one_clear_error(langfuse: Langfuse):
    langfuse.faults = [Fault(DATASETS, method="POST", status=400)]

    with pytest.raises(Refused, match="status 400") as raised:
        synced(langfuse, dataset())

    assert "items that others added" in raised.value.fix


def test_progress_is_told_item_by_item(langfuse: Langfuse):
    told: list[tuple[int, int]] = []

    synced(langfuse, dataset(25), told=lambda done, total: told.append((done, total)))
    assert told == [(done, 25) for done in range(26)]
    synced(langfuse, dataset(25), told=lambda *_: pytest.fail("there is nothing to write"))


def test_a_server_that_breaks_off_often_gets_each_item_once(langfuse: Langfuse):
    langfuse.faults = [
        Fault(ITEMS, method="POST", after=3, times=7, stored=True, reset=True),
        Fault(ITEMS, method="POST", after=30, times=5, status=500),
        Fault(ITEMS, method="POST", after=40, times=4, reset=True),
    ]

    synced(langfuse, dataset(60))

    assert {len(versions) for versions in langfuse.versions.values()} == {1}
    assert len(langfuse.versions) == 60


def test_a_thousand_items_are_a_thousand_writes_and_then_those_that_differ(langfuse: Langfuse):
    def writes() -> int:
        return len(langfuse.writes(ITEMS))

    ours = dataset(1000)
    assert len(synced(langfuse, ours).created) == 1001
    assert writes() == 1000
    assert synced(langfuse, ours).writes == 0
    edit(langfuse, THIRD, input={"prompt": "edited"})

    found = synced(langfuse, without(changed(ours, "greet-0", prompt="New."), "greet-1"))

    assert (found.updated, found.archived, found.edited) == ((FIRST,), (SECOND,), (THIRD,))
    assert writes() == 1002
