"""Publishing: everything that happened is in Langfuse, once, and nothing that may not be."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from langfuse_project import ITEMS, OTEL, Langfuse
from langfuse_server import serving
from langfuse_trials import (
    START_MS,
    answered,
    checks,
    connected,
    dataset,
    errored,
    planned,
    record,
    sent,
    vote,
)

from lift.errors import ExperimentError
from lift.journal import Journal
from lift.langfuse import ids
from lift.langfuse.links import links
from lift.langfuse.publish import Sent
from lift.redact import redacted
from lift.schema import Status

NOTHING = Sent(answers=0, scores=0, votes=0, unsent=0, why="")


def test_every_trial_score_and_vote_is_there_once(journal: Journal, langfuse: Langfuse):
    plan = planned(3, repeats=2)
    record(journal, plan, fails=lambda trial: trial.item == "greet-2", votes=2)

    found = sent(journal, langfuse)

    assert found == Sent(answers=12, scores=8, votes=16, unsent=0, why="")
    roots = Counter(span["id"] for span in langfuse.spans if not span["parent"])
    records = journal.records("exp")
    expected = [ids.of_trial(record.trial).root for record in records]
    expected += [ids.of_vote(r.trial, vote).root for r in records for vote in r.votes]
    assert roots == Counter(expected)
    names = Counter(score["name"] for score in langfuse.scores.values())
    assert names == {
        "rubric": 8, "style": 8, "score": 8, "passed": 8, "judge": 8, "errored": 4,
    }  # fmt: skip
    assert len(langfuse.roots()) == 12


def test_publishing_again_sends_nothing(journal: Journal, langfuse: Langfuse):
    record(journal, planned(), votes=1)
    sent(journal, langfuse)
    before = len(langfuse.asked)

    assert sent(journal, langfuse) == NOTHING
    assert len(langfuse.asked) == before


def test_an_experiment_is_a_handful_of_requests(journal: Journal, langfuse: Langfuse):
    record(journal, planned(12, repeats=3))

    sent(journal, langfuse)

    asked = Counter((a.method, a.path.removeprefix("/api/public/")) for a in langfuse.asked)
    assert asked == {
        ("GET", "health"): 1,
        ("GET", "v2/datasets/greetings"): 1,
        ("POST", "v2/datasets"): 1,
        ("POST", "dataset-items"): 12,
        ("GET", "projects"): 1,
        ("GET", "v2/prompts/skills/greet/SKILL.md"): 1,
        ("POST", "v2/prompts"): 1,
        ("GET", "experiment-items"): 1,
        ("GET", "v2/observations"): 1,
        ("POST", "otel/v1/traces"): 1,
        ("POST", "scores"): 2,
        ("GET", "v3/scores"): 1,
        ("GET", "score-configs"): 2,
        ("POST", "score-configs"): 3,
    }


def test_the_items_are_there_before_the_traces(journal: Journal, langfuse: Langfuse):
    record(journal, planned(2))

    sent(journal, langfuse)

    paths = [asked.path for asked in langfuse.asked]
    assert max(n for n, path in enumerate(paths) if path == ITEMS) < paths.index(OTEL)
    assert set(langfuse.versions) == {"greetings:greet-0", "greetings:greet-1"}


def test_a_request_is_compressed_and_says_how_it_is_taken_in(journal: Journal, langfuse: Langfuse):
    record(journal, planned(1))

    sent(journal, langfuse)

    (request,) = langfuse.writes(OTEL)
    assert request.headers["content-type"] == "application/x-protobuf"
    assert request.headers["content-encoding"] == "gzip"
    assert request.headers["x-langfuse-ingestion-version"] == "4"


def test_what_comes_later_is_sent_later(journal: Journal, langfuse: Langfuse):
    plan = planned(2)
    record(journal, plan, asked=lambda trial: trial.item == "greet-0")
    assert sent(journal, langfuse).answers == 2
    record(journal, plan, asked=lambda trial: trial.item == "greet-1")
    for trial in plan.trials:
        journal.record_vote(trial, vote(trial))

    assert sent(journal, langfuse) == Sent(answers=2, scores=2, votes=4, unsent=0, why="")
    assert len(langfuse.roots()) == 4


def test_a_second_vote_moves_the_judges_score(journal: Journal, langfuse: Langfuse):
    plan = planned(1)
    record(journal, plan, votes=1)
    sent(journal, langfuse)
    for trial in plan.trials:
        journal.record_vote(trial, vote(trial, 2))

    sent(journal, langfuse)

    values = [s["value"] for s in langfuse.scores.values() if s["name"] == "judge"]
    assert values == [pytest.approx(0.7)] * 2


def test_a_vote_that_is_cast_again_takes_the_place_of_the_first(
    journal: Journal, langfuse: Langfuse
):
    plan = planned(1)
    record(journal, plan, votes=1)
    sent(journal, langfuse)
    for trial in plan.trials:
        again = vote(trial).model_copy(
            update={"value": 0.2, "model": "judge-2", "evidence": answered(trial, at_ms=99_000)}
        )
        journal.record_vote(trial, again)

    assert sent(journal, langfuse) == Sent(answers=0, scores=0, votes=2, unsent=0, why="")
    values = [s["value"] for s in langfuse.scores.values() if s["name"] == "judge"]
    assert values == [0.2] * 2


def test_another_attempt_is_another_trace_of_the_same_item(journal: Journal, langfuse: Langfuse):
    plan = planned(1)
    record(journal, plan, fails=lambda _trial: True)
    sent(journal, langfuse)
    for trial in plan.trials:
        second = trial.model_copy(update={"attempt": 2})
        journal.record(second, answered(second), checks(second))

    assert sent(journal, langfuse).answers == 2
    items = Counter(s["attributes"]["langfuse.experiment.item.id"] for s in langfuse.roots())
    assert items == {"greetings:greet-0": 4}


def test_a_skipped_trial_is_not_sent(journal: Journal, langfuse: Langfuse):
    plan = planned(1)
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        journal.record(trial, errored(trial).model_copy(update={"status": Status.SKIPPED}), [])

    assert sent(journal, langfuse) == NOTHING


def test_what_was_edited_in_the_ui_stays(journal: Journal, langfuse: Langfuse):
    record(journal, planned(1))
    sent(journal, langfuse)
    langfuse.versions["greetings:greet-0"][-1]["input"] = {"prompt": "edited"}
    record(journal, planned(1, experiment="two"))

    assert sent(journal, langfuse, experiment="two").unsent == 0
    assert len(langfuse.versions["greetings:greet-0"]) == 1


def test_a_changed_item_is_changed_there_and_others_are_left(journal: Journal, langfuse: Langfuse):
    record(journal, planned(2))
    sent(journal, langfuse)
    changed = dataset(1, prompt="Salute {n}.")
    record(journal, planned(datasets=[changed], experiment="two"))

    sent(journal, langfuse, experiment="two")

    assert {id: len(found) for id, found in langfuse.versions.items()} == {
        "greetings:greet-0": 2, "greetings:greet-1": 1,
    }  # fmt: skip
    assert langfuse.versions["greetings:greet-1"][-1]["status"] == "ACTIVE"


def test_nothing_that_leaves_holds_a_secret(journal: Journal, langfuse: Langfuse):
    secret = "sk-ant-api03-" + "q8Zx" * 20
    plan = planned(datasets=[dataset(3, prompt=f"Use {secret} to greet {{n}}.")])
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        if trial.item == "greet-2":
            journal.record(trial, errored(trial, why=f"reset by {secret}"), [])
            continue
        told = [s.model_copy(update={"why": f"found {secret}"}) for s in checks(trial)]
        journal.record(trial, answered(trial, text=f"I use {secret}"), told)
        journal.record_vote(trial, vote(trial, why=f"it shows {secret}"))

    assert sent(journal, langfuse, redact=redacted).unsent == 0
    everything = b"".join(asked.data for asked in langfuse.asked)
    assert b"q8Zx" not in everything
    assert everything.count(b":1>") > 20


def test_an_experiment_of_the_same_name_in_another_journal_is_not_mixed_in(
    journal: Journal, langfuse: Langfuse, tmp_path: Path
):
    plan = planned(2)
    record(journal, plan)
    sent(journal, langfuse)
    before = (len(langfuse.spans), dict(langfuse.scores))
    with Journal(tmp_path / "other.db") as other:
        other.begin(plan, now_ms=START_MS)
        for trial in plan.trials:
            other.record(trial, answered(trial, at_ms=3_600_000), checks(trial))
        found = sent(other, langfuse)

    assert (found.answers, found.unsent) == (0, 8)
    assert "from another journal" in found.why
    assert (len(langfuse.spans), langfuse.scores) == before


def test_another_project_gets_everything(journal: Journal, langfuse: Langfuse):
    record(journal, planned(2))
    sent(journal, langfuse)

    with serving(Langfuse()) as other:
        assert sent(journal, other).answers == 4


def test_an_unknown_experiment_is_an_error(journal: Journal, langfuse: Langfuse):
    record(journal, planned(1))

    with connected(langfuse) as connection:
        with pytest.raises(ExperimentError):
            sent(journal, langfuse, experiment="nope")
        with pytest.raises(ExperimentError):
            links(journal, "nope", connection)


def test_the_links_lead_to_the_runs_that_were_sent(journal: Journal, langfuse: Langfuse):
    plan = planned(2, models=("m1", "m2"), repeats=2)
    record(journal, plan, asked=lambda t: (t.condition, t.model, t.item) != (
        "without_skill", "m2", "greet-1"
    ))  # fmt: skip
    sent(journal, langfuse)
    with connected(langfuse) as connection:
        found = links(journal, "exp", connection)

    names = {s["attributes"]["langfuse.experiment.id"]: s["attributes"]["langfuse.experiment.name"]
             for s in langfuse.roots()}  # fmt: skip
    shown: dict[str, list[str]] = {}
    for link in found:
        _page, _, query = link.url.partition("?")
        shown[link.model] = [names[part.split("=")[1]] for part in query.split("&")]
    assert [link.dataset for link in found] == ["greetings", "greetings"]
    assert shown["m1"][:2] == [
        "exp/greetings/without_skill@m1/r1", "exp/greetings/with_skill@m1/r1",
    ]  # fmt: skip
    assert shown["m2"][0] == "exp/greetings/with_skill@m2/r1"
    assert sorted(shown["m1"] + shown["m2"]) == sorted(names.values())
