"""Whatever breaks while publishing: the next time sends what is left, and nothing twice."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import pytest
import servers
from langfuse_project import (
    CONFIGS,
    DATASETS,
    INGESTION,
    ITEMS,
    NEW,
    OLD,
    OTEL,
    PROMPTS,
    SCORES,
    Fault,
    Langfuse,
)
from langfuse_server import serving
from langfuse_trials import planned, record, sent

from lift.journal import Journal
from lift.langfuse import ids
from lift.langfuse.publish import Sent

PROJECTS, HEALTH = "/api/public/projects", "/api/public/health"
LOOKS = ("/api/public/experiment-items", "/api/public/v2/observations")

FAULTS = {
    "207": Fault("", status=207),
    "400": Fault("", status=400),
    "401": Fault("", status=401),
    "403": Fault("", status=403),
    "404": Fault("", status=404),
    "413": Fault("", status=413),
    "429": Fault("", status=429, headers=(("retry-after", "600"),)),
    "429, no time": Fault("", status=429),
    "500": Fault("", status=500),
    "503": Fault("", status=503),
    "page": Fault("", html=True),
    "another server": Fault("", status=200),
    "hang": Fault("", hang=True),
    "reset": Fault("", reset=True),
    "stored, then 500": Fault("", status=500, stored=True),
    "stored, then reset": Fault("", reset=True, stored=True),
    "stored, then hang": Fault("", hang=True, stored=True),
}
PLACES = {
    "health": (HEALTH, "GET", NEW),
    "projects": (PROJECTS, "GET", NEW),
    "dataset read": (f"{DATASETS}/", "GET", NEW),
    "dataset": (DATASETS, "POST", NEW),
    "items read": (ITEMS, "GET", NEW),
    "items": (ITEMS, "POST", NEW),
    "prompt read": (f"{PROMPTS}/", "GET", NEW),
    "prompt": (PROMPTS, "POST", NEW),
    "experiment-items": (LOOKS[0], "GET", NEW),
    "observations": (LOOKS[1], "GET", NEW),
    "spans": (OTEL, "POST", NEW),
    "scores": (SCORES, "POST", NEW),
    "old scores": (INGESTION, "POST", OLD),
    "configs read": (CONFIGS, "GET", NEW),
    "configs": (CONFIGS, "POST", NEW),
    "scores read": ("/api/public/v3/scores", "GET", NEW),
}
CASES = [
    (place, kind)
    for place, (_path, method, _version) in PLACES.items()
    for kind in FAULTS
    if (method == "POST" or not kind.startswith("stored"))
    and (method == "GET" or kind != "another server")
]
PASSING = [
    (place, kind)
    for place, kind in CASES
    if kind in ("429", "500", "503", "reset", "stored, then reset")
    # spans that may have been taken wait for the next time
    and (place, kind) not in (("spans", "500"), ("spans", "reset"))
]
WHOLE = Sent(answers=6, scores=4, votes=4, unsent=0, why="")


@pytest.fixture
def journal(journal: Journal) -> Journal:
    """Three items under both conditions, one of them errored, the others judged."""
    record(journal, planned(3), fails=lambda trial: trial.item == "greet-2", votes=1)
    return journal


def whole(journal: Journal, langfuse: Langfuse) -> bool:
    """Whether everything is there exactly once, under the ids it must have."""
    records = journal.records("exp")
    traces = [ids.of_trial(record.trial) for record in records]
    traces += [ids.of_vote(record.trial, vote) for record in records for vote in record.votes]
    roots = Counter(span["id"] for span in langfuse.spans if not span["parent"])
    assert roots == Counter(trace.root for trace in traces)
    assert len(langfuse.spans) == len({span["id"] for span in langfuse.spans})
    names = Counter(score["name"] for score in langfuse.scores.values())
    assert names == {
        "rubric": 4, "style": 4, "score": 4, "passed": 4, "judge": 4, "errored": 2,
    }  # fmt: skip
    assert {id: len(found) for id, found in langfuse.versions.items()} == {
        f"greetings:greet-{number}": 1 for number in range(3)
    }
    assert {name: len(found) for name, found in langfuse.prompts.items()} in (
        {}, {"skills/greet/SKILL.md": 1},
    )  # fmt: skip
    assert len(langfuse.configs) == len({config["name"] for config in langfuse.configs})
    return True


@pytest.mark.parametrize(("place", "kind"), CASES)
def test_after_any_fault_publishing_again_makes_it_whole(journal: Journal, place: str, kind: str):
    path, method, version = PLACES[place]
    fault = replace(FAULTS[kind], path=path, method=method)

    with serving(Langfuse(version=version, faults=[fault])) as langfuse:
        if place == "items read":
            sent(journal, langfuse, seconds=0)  # the dataset is there before its items are read
        first = sent(journal, langfuse, timeout_s=0.05, deadline_s=0.3)
        langfuse.faults.clear()
        second = sent(journal, langfuse)

        assert first.unsent + first.answers + first.scores + first.votes == 14
        assert (first.why == "") == (first.unsent == 0)
        assert "\n" not in first.why
        assert second.unsent == 0
        assert whole(journal, langfuse)


@pytest.mark.parametrize(("place", "kind"), PASSING)
def test_a_fault_that_passes_is_not_noticed(journal: Journal, place: str, kind: str):
    path, method, version = PLACES[place]
    fault = replace(FAULTS[kind], path=path, method=method, times=1, headers=())

    with serving(Langfuse(version=version, faults=[fault])) as langfuse:
        found = sent(journal, langfuse)

        assert found._replace(notices=()) == WHOLE
        assert whole(journal, langfuse)


@pytest.mark.parametrize("kind", ["stored, then 500", "stored, then reset", "stored, then hang"])
def test_spans_whose_answer_was_lost_are_looked_for_and_found(journal: Journal, kind: str):
    fault = replace(FAULTS[kind], path=OTEL)

    with serving(Langfuse(faults=[fault])) as langfuse:
        assert sent(journal, langfuse, timeout_s=0.2) == WHOLE
        assert len(langfuse.writes(OTEL)) == 1


def test_a_crash_after_the_spans_left_does_not_send_them_twice(
    journal: Journal, langfuse: Langfuse
):
    langfuse.faults = [Fault(SCORES, status=401)]
    assert sent(journal, langfuse).answers == 4  # the errored ones wait for their score
    langfuse.faults = []

    assert sent(journal, langfuse) == Sent(answers=2, scores=4, votes=4, unsent=0, why="")
    assert len(langfuse.writes(OTEL)) == 1
    assert whole(journal, langfuse)


def test_a_server_that_is_not_there_costs_little_time(journal: Journal):
    langfuse = Langfuse(url=f"http://127.0.0.1:{servers.refused_port()}")
    began = time.monotonic()

    found = sent(journal, langfuse)

    assert time.monotonic() - began < 5
    assert found.unsent == 14
    assert found.why.startswith("Langfuse cannot be reached")


def test_a_server_that_is_slow_is_left_when_the_time_is_up(journal: Journal, langfuse: Langfuse):
    found = sent(journal, langfuse, seconds=0)

    assert found.unsent == 14
    assert "the rest is sent the next time" in found.why
    assert sent(journal, langfuse).unsent == 0


def test_a_wrong_key_is_said_and_tried_once(journal: Journal):
    with serving(Langfuse(faults=[Fault("/api/public/v2", status=401)])) as langfuse:
        found = sent(journal, langfuse)

        assert "refuses the key" in found.why
        assert len(langfuse.asked) == 2
