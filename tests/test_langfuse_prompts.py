"""Skills as prompts: one version for each content, and the calls that were made with it."""

from __future__ import annotations

from typing import Any

import pytest
from langfuse_project import PROMPTS, Fault, Langfuse
from langfuse_trials import SKILL, START_MS, answered, checks, dataset, sent

from lift import plan as planning
from lift.dataset import Selection
from lift.journal import Journal
from lift.redact import redacted

NAME = "skills/greet/SKILL.md"
LINK = "langfuse.observation.prompt."


def asked_with(journal: Journal, body: str, *, experiment: str, **more: Any) -> None:
    """Record an experiment of a skill with this text."""
    skill = SKILL.model_copy(update={"body": body, "tree_hash": f"hash of {body}", **more})
    plan = planning.make(
        skill, [dataset(1)], selection=Selection(), models=["m"], repeats=1, backend="messages",
        max_tokens=10, effort=None, experiment=experiment,
    )  # fmt: skip
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        journal.record(trial, answered(trial), checks(trial))


def versions(langfuse: Langfuse) -> list[int]:
    """Versions that the experiments' calls are linked to, in order of arrival."""
    links = [span["attributes"].get(f"{LINK}version") for span in langfuse.spans]
    assert all(
        span["attributes"]["langfuse.observation.type"] == "generation"
        and span["attributes"][f"{LINK}name"] == NAME
        for span, link in zip(langfuse.spans, links, strict=True)
        if link
    )
    return [link for link in links if link]


def test_each_content_is_one_version_and_calls_are_linked_to_theirs(
    journal: Journal, langfuse: Langfuse
):
    for number, body in enumerate(("one", "two", "one", "two", "one")):
        asked_with(journal, body, experiment=f"e{number}")
        assert sent(journal, langfuse, f"e{number}").unsent == 0

    assert versions(langfuse) == [1, 2, 1, 2, 1]
    first, second = langfuse.prompts[NAME]
    assert first["prompt"] == "---\nname: greet\ndescription: d\n---\n\none"
    assert len(first["config"]["sha256"]) == 64
    assert first["tags"] == ["skill"]
    assert [label for label in first["labels"] if label[:4] != "sha-"] == ["evaluated"]
    assert [label for label in second["labels"] if label[:4] != "sha-"] == ["latest"]


def test_only_answers_given_with_the_skill_are_linked(journal: Journal, langfuse: Langfuse):
    asked_with(journal, "one", experiment="e")
    sent(journal, langfuse, "e")

    linked = [span for span in langfuse.spans if f"{LINK}version" in span["attributes"]]
    (tags,) = (span["attributes"]["langfuse.trace.tags"] for span in linked)
    assert "condition:with_skill" in tags


def test_a_folder_that_changed_elsewhere_is_the_same_version(journal: Journal, langfuse: Langfuse):
    asked_with(journal, "one", experiment="e", tree_hash="a")
    asked_with(journal, "one", experiment="f", tree_hash="b")
    for name in ("e", "f"):
        sent(journal, langfuse, name)

    assert len(langfuse.prompts[NAME]) == 1
    shas = {
        span["attributes"]["langfuse.experiment.metadata"].split('"skill_sha": "')[1][0]
        for span in langfuse.spans
        if f"{LINK}version" in span["attributes"]
    }
    assert shas == {"a", "b"}


def test_a_secret_in_a_skill_stays_here(journal: Journal, langfuse: Langfuse):
    secret = "sk-ant-api03-" + "q8Zx" * 20
    asked_with(journal, f"use {secret}", experiment="e", description=f"with\n{secret}")
    sent(journal, langfuse, "e", redact=redacted)

    (version,) = langfuse.prompts[NAME]
    assert "q8Zx" not in str(version)
    assert 'description: "with\\n<' in version["prompt"]


@pytest.mark.parametrize("fault", [{"reset": True}, {"status": 500}], ids=["reset", "500"])
@pytest.mark.parametrize("stored", [True, False])
def test_a_version_whose_answer_was_lost_is_made_once(
    journal: Journal, langfuse: Langfuse, fault: dict[str, Any], stored: bool
):
    langfuse.faults = [Fault(PROMPTS, method="POST", times=1, stored=stored, **fault)]
    asked_with(journal, "one", experiment="e")

    first = sent(journal, langfuse, "e")
    second = sent(journal, langfuse, "e")

    assert (first.unsent, second.unsent) == (0, 0)
    assert versions(langfuse) == [1]
    assert len(langfuse.prompts[NAME]) == 1


@pytest.mark.parametrize("status", [400, 403, 404])
def test_a_server_that_takes_no_prompts_gets_traces_all_the_same(
    journal: Journal, langfuse: Langfuse, status: int
):
    langfuse.faults = [Fault(PROMPTS, method="POST", status=status)]
    asked_with(journal, "one", experiment="e")

    found = sent(journal, langfuse, "e")

    assert found.unsent == 0
    assert versions(langfuse) == []
    assert any("the skill is no prompt in Langfuse" in notice for notice in found.notices)


def test_odd_names_of_skills_are_names_of_prompts(journal: Journal, langfuse: Langfuse):
    asked_with(journal, "one", experiment="e", name="a b/c|d ü?#")
    sent(journal, langfuse, "e")

    assert list(langfuse.prompts) == ["skills/a b/c-d ü?#/SKILL.md"]


def test_an_old_skill_is_a_version_of_its_own_and_the_label_stays_with_the_new(
    journal: Journal, langfuse: Langfuse
):
    new = SKILL.model_copy(update={"body": "new", "tree_hash": "n"})
    plan = planning.make(
        new, [dataset(1)], selection=Selection(), models=["m"], repeats=1, backend="messages",
        max_tokens=10, effort=None, experiment="e", conditions=("with_skill", "old_skill"),
        old=SKILL.model_copy(update={"body": "old", "tree_hash": "o"}),
    )  # fmt: skip
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        journal.record(trial, answered(trial), checks(trial))

    assert sent(journal, langfuse, "e").unsent == 0
    there = {v["prompt"].rpartition("\n")[2]: v for v in langfuse.prompts[NAME]}
    assert ["evaluated" in there[body]["labels"] for body in ("new", "old")] == [True, False]
    linked = {
        span["attributes"]["langfuse.trace.tags"][1]: span["attributes"][f"{LINK}version"]
        for span in langfuse.spans
        if f"{LINK}version" in span["attributes"]
    }
    assert linked == {
        "condition:with_skill": there["new"]["version"],
        "condition:old_skill": there["old"]["version"],
    }
