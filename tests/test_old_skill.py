"""The skill as it was, as a condition: asked, compared, reported, gated, sent."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from servers import Says
from test_revisions import commit, git

OLD_AND_NEW = ("--conditions", "old_skill=HEAD,with_skill")
ALL_THREE = ("--conditions", "old_skill=HEAD,without_skill,with_skill")


@pytest.fixture
def edited(project) -> Any:
    """The project, its skill committed and then edited."""
    git(project.root, "init", "--quiet")
    commit(project.root)
    project.skill.write_text(f"{project.skill.read_text()}\nBetter.\n", "utf-8")
    return project


def which(body: dict[str, Any]) -> str:
    """The condition that a request is of."""
    system = json.dumps(body["system"])
    return "without_skill" if "<skill" not in system else (
        "with_skill" if "Better." in system else "old_skill")  # fmt: skip


def improved(body: dict[str, Any], _attempt: int = 0) -> Says:
    """All right with the new skill, every fourth with the old one, none without."""
    number = int(body["messages"][0]["content"].split()[-1].strip("."))
    right = {"with_skill": True, "old_skill": number % 4 == 0, "without_skill": False}
    return Says("hello()" if right[which(body)] else "hm goodbye()")


def test_the_new_skill_is_measured_from_the_old_one(edited, serve):
    model = serve(improved)

    done = edited.lift("--full", *OLD_AND_NEW)

    assert done.returncode == 0, done.stderr
    assert "HELPS: with_skill minus old_skill is +0.70" in done.stdout
    assert "old_skill is greet at " in done.stderr
    assert sorted(map(which, model.calls)) == ["old_skill"] * 10 + ["with_skill"] * 10


def test_three_conditions_are_two_comparisons(edited, serve):
    serve(improved)

    done = edited.lift("--full", *ALL_THREE)
    content = json.loads(edited.lift("compare", "--json").stdout)
    report = edited.lift("report").stdout

    for text in (done.stdout, report):
        first = text.index("with_skill minus without_skill is +1.00")
        assert first < text.index("with_skill minus old_skill is +0.70")
    assert (content["base"], content["other"]) == ("without_skill", "with_skill")
    (more,) = content["more"]
    assert (more["base"], more["other"]) == ("old_skill", "with_skill")
    assert more["claims"][0]["delta"] == pytest.approx(0.7)
    assert len(more["items"]) == 10


CHOSEN = (
    ((), "without_skill", "with_skill"),
    (("--base", "old_skill"), "old_skill", "with_skill"),
    (("--other", "old_skill", "--base", "without_skill"), "without_skill", "old_skill"),
    (("--base", "with_skill", "--other", "old_skill"), "with_skill", "old_skill"),
)


def test_base_and_other_choose(edited, serve):
    serve(improved)
    edited.lift("--full", *ALL_THREE)

    for args, base, other in CHOSEN:
        content = json.loads(edited.lift("compare", "--json", *args).stdout)
        assert (content["base"], content["other"]) == (base, other)


WRONG = (
    (("--base", "without_skill"), "no condition 'without_skill'"),
    (("--base", "with_skill"), "no two conditions to compare"),
    (("--base", "old_skill", "--other", "old_skill"), "cannot be compared with itself"),
)


def test_conditions_that_cannot_be_compared_are_one_clear_error(edited, serve):
    serve(improved)
    edited.lift("--full", *OLD_AND_NEW)

    for args, says in WRONG:
        done = edited.lift("compare", *args)
        assert done.returncode == 2
        assert says in done.stderr
        assert "it has old_skill, with_skill" in done.stderr


def test_the_same_command_again_asks_nothing_and_an_edit_asks_anew(edited, serve):
    model = serve(improved)
    edited.lift("--full", *OLD_AND_NEW)
    edited.lift("--full", "--conditions", "with_skill, old_skill=HEAD^{commit}")
    assert len(model.calls) == 20
    edited.skill.write_text(f"{edited.skill.read_text()}\nStill.\n", "utf-8")

    edited.lift("--full", *OLD_AND_NEW)

    assert len(model.calls) > 20
    assert len(edited.lift("list").stdout.splitlines()) == 3


def test_both_versions_of_the_skill_are_in_the_journal(edited, serve):
    serve(improved)
    edited.lift("--full", *OLD_AND_NEW)

    with sqlite3.connect(edited.root / ".lift" / "journal.db") as journal:
        skills = {hash for (hash,) in journal.execute("SELECT hash FROM skills")}
        contents = journal.execute("SELECT content FROM conditions").fetchall()

    shown = {json.loads(content)["skill_hash"] for (content,) in contents}
    assert len(shown) == 2
    assert shown == skills


@pytest.mark.parametrize("what", ["same", "beside"])
def test_a_skill_that_did_not_change_is_not_paid_for(edited, serve, what):
    model = serve(improved)
    git(edited.root, "checkout", "--quiet", ".")
    if what == "beside":
        (edited.skill.parent / "notes.md").write_text("not shown", "utf-8")

    done = edited.lift("--full", *OLD_AND_NEW)

    assert done.returncode == 2
    says = {"same": "are the same", "beside": "differ only in what the model is not shown"}
    assert says[what] in done.stderr
    assert model.calls == []
    assert not (edited.root / ".lift" / "journal.db").exists()


@pytest.mark.parametrize("conditions", ["old_skill=nope,with_skill", "with_skill", "a,b"])
def test_wrong_conditions_are_usage_errors(edited, serve, conditions):
    model = serve(improved)

    done = edited.lift("--full", "--conditions", conditions)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "fix:" in done.stderr
    assert model.calls == []


def test_canned_replies_that_lack_the_old_skill_are_one_clear_error(edited):
    demo = edited.root / "datasets" / "demo"
    demo.mkdir()
    replies = {"with_skill": ["hello()"], "without_skill": ["no"]}
    (demo / "greetings.yaml").write_text(json.dumps({"greet-0": replies}), "utf-8")

    done = edited.lift("--full", *OLD_AND_NEW)

    assert done.returncode == 3
    assert "canned reply for with_skill and old_skill" in done.stderr
    (demo / "greetings.yaml").write_text(
        json.dumps({"greet-0": replies | {"old_skill": ["no"]}}), "utf-8"
    )
    assert edited.lift("--full", *OLD_AND_NEW).returncode == 0


def test_show_and_list_name_the_condition(edited, serve):
    serve(improved)
    edited.lift("--full", *OLD_AND_NEW)

    assert "old_skill r1" in edited.lift("show", "greet-1", "--condition", "old_skill").stdout
    assert "old_skill" in edited.lift("list").stdout
    (found,) = json.loads(edited.lift("list", "--json").stdout)
    assert found["experiment"]["conditions"] == ["old_skill", "with_skill"]


def test_the_gate_wants_with_and_without(edited, serve):
    serve(improved)
    edited.lift("--full", *OLD_AND_NEW, "--out", "old.json")

    for args in ((), ("greet", "old.json")):
        done = edited.lift("gate", *args)
        assert done.returncode == 2
        assert "the gate holds with_skill against without_skill" in done.stderr
    edited.lift("--full", *ALL_THREE, "--out", "three.json")
    assert edited.lift("gate").returncode == 0
    assert edited.lift("gate", "greet", "three.json").returncode == 0


def test_a_drop_from_the_old_skill_is_found_beside_a_rise_from_none(edited, serve):
    def worse(body: dict[str, Any], _attempt: int) -> Says:
        good = {"with_skill": "hm", "old_skill": "hello()", "without_skill": "goodbye()"}
        return Says(good[which(body)])

    serve(worse)
    edited.lift("--full", *ALL_THREE)

    assert edited.lift("compare", "--base", "without_skill", "--max-drop", "0").returncode == 0
    done = edited.lift("compare", "--max-drop", "0.1")
    assert done.returncode == 1
    assert "dropped by more than" in done.stderr


def test_langfuse_has_the_condition_and_gives_it_back(edited, serve, langfuse):
    serve(improved)
    here = edited.lift("--full", *ALL_THREE, "--experiment", "e", "--json")
    assert here.returncode == 0, here.stderr

    there = edited.lift("compare", "e", "--from", "langfuse", "--json")

    ours, theirs = (json.loads(done.stdout) for done in (here, there))
    for key in ("base", "other", "claims", "categories", "items", "more"):
        assert theirs[key] == ours[key]
    assert theirs["experiment"]["conditions"] == ["old_skill", "with_skill", "without_skill"]
    roots = [span["attributes"] for span in langfuse.spans if not span["parent"]]
    tagged = [root for root in roots if "condition:old_skill" in root["langfuse.trace.tags"]]
    assert {root["langfuse.experiment.name"] for root in tagged} == {"e/greetings/old_skill/r1"}
    metadata = [json.loads(root["langfuse.experiment.metadata"]) for root in roots]
    assert len({one["skill_sha"] for one in metadata}) == 3


def test_the_link_starts_from_the_old_skill(edited, serve, langfuse):
    serve(improved)

    done = edited.lift("--full", *OLD_AND_NEW, "--experiment", "e")

    (link,) = [line for line in done.stderr.splitlines() if "results?baseline=" in line]
    baseline = link.split("baseline=")[1].split("&")[0]
    names = {
        span["attributes"]["langfuse.experiment.id"]: span["attributes"]["langfuse.experiment.name"]
        for span in langfuse.spans
        if not span["parent"]
    }
    assert names[baseline] == "e/greetings/old_skill/r1"


def test_a_notebook_compares_versions_too(edited, serve):
    serve(improved)
    code = (
        "import lift\n"
        "found = lift.run(conditions='old_skill=HEAD,with_skill')\n"
        "print(found.base, found.other, round(found.deltas['delta'].mean(), 2))\n"
        "again = lift.compare()\n"
        "print(again.base, again.other)\n"
    )

    done = edited.python(code)

    assert done.stdout.splitlines() == ["old_skill with_skill 0.7", "old_skill with_skill"], (
        done.stderr
    )
