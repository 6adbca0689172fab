"""Requests: as many and as large as servers take, in the form that each server takes."""

from __future__ import annotations

from collections import Counter

import pytest
from langfuse_project import OLD, OTEL, SCORES, Fault, Langfuse
from langfuse_trials import START_MS, answered, checks, planned, record, sent

from lift.journal import Journal
from lift.langfuse import ids
from lift.langfuse.publish import Sent
from lift.plan import Plan


def test_many_trials_go_in_requests_that_servers_take(journal: Journal, langfuse: Langfuse):
    record(journal, planned(60, repeats=2))

    assert sent(journal, langfuse).answers == 240
    assert [len({s["trace"] for s in w.body}) for w in langfuse.writes(OTEL)] == [100, 100, 40]
    assert max(len(write.body) for write in langfuse.writes(SCORES)) <= 200
    assert len(langfuse.roots()) == 240


def large(journal: Journal, plan: Plan) -> None:
    journal.begin(plan, now_ms=START_MS)
    for trial in plan.trials:
        text = f"{trial.item} {trial.condition} " * 8000
        journal.record(trial, answered(trial, text=text), checks(trial))


def test_large_answers_go_in_several_requests(journal: Journal, langfuse: Langfuse):
    large(journal, planned(10))

    assert sent(journal, langfuse).answers == 20
    sizes = [len(write.data) for write in langfuse.writes(OTEL)]
    assert len(sizes) > 1
    assert max(sizes) <= 4_000_000


def test_a_server_that_takes_less_gets_less_at_once(journal: Journal, langfuse: Langfuse):
    langfuse.most_bytes = 1_000_000
    large(journal, planned(6))

    assert sent(journal, langfuse) == Sent(answers=12, scores=12, votes=0, unsent=0, why="")
    assert Counter(span["id"] for span in langfuse.spans).most_common(1)[0][1] == 1


def test_one_trial_that_a_server_refuses_holds_up_no_other(journal: Journal, langfuse: Langfuse):
    langfuse.most_bytes = 100_000
    plan = planned(4)
    journal.begin(plan, now_ms=START_MS)
    for number, trial in enumerate(plan.trials):
        text = "x" * (150_000 if number == 3 else 100)
        journal.record(trial, answered(trial, text=text), checks(trial))

    found = sent(journal, langfuse)

    assert (found.answers, found.scores, found.unsent) == (7, 7, 2)
    assert "status 413: too large" in found.why
    refused = ids.of_trial(plan.trials[3]).id
    assert refused not in {score["traceId"] for score in langfuse.scores.values()}


def test_a_server_that_refuses_everything_is_given_up(journal: Journal, langfuse: Langfuse):
    langfuse.faults = [Fault(OTEL, status=400)]
    record(journal, planned(60))

    found = sent(journal, langfuse)

    assert found.unsent == 240
    assert len(langfuse.writes(OTEL)) <= 31


def test_an_old_server_gets_scores_with_their_times(journal: Journal, langfuse: Langfuse):
    langfuse.version = OLD
    record(journal, planned(2), votes=1)

    found = sent(journal, langfuse)

    assert found.unsent == 0
    assert found.notices == ("Langfuse 4.16.0 is older than 4.59: scores take its older route",)
    assert langfuse.writes(SCORES) == []
    assert all(score["timestamp"].startswith("2026-09-21") for score in langfuse.scores.values())


def test_a_server_that_takes_no_lists_after_all_gets_scores_one_by_one(
    journal: Journal, langfuse: Langfuse
):
    langfuse.version, langfuse.says_version = OLD, ""
    record(journal, planned(2))

    found = sent(journal, langfuse)

    assert found.unsent == 0
    assert len(langfuse.scores) == 16
    assert found.notices == ("the server gives scores its own time instead of the trial's",)


@pytest.mark.parametrize("version", ["4.60.0", OLD])
def test_scores_that_a_server_refuses_are_left_and_others_taken(
    journal: Journal, langfuse: Langfuse, version: str
):
    langfuse.version, langfuse.refuses = version, "style"
    record(journal, planned(2))

    found = sent(journal, langfuse)

    assert (found.answers, found.scores, found.unsent) == (4, 0, 4)
    assert found.why.startswith("Langfuse refuses scores: ")
    assert len(langfuse.scores) == 12
    langfuse.refuses = ""
    assert sent(journal, langfuse).scores == 4
    assert len(langfuse.scores) == 16
