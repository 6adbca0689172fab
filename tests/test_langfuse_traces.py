"""Traces and scores: what is made of a trial, before anything is sent."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from typing import Any

import pytest
from langfuse_spans import spans_of
from langfuse_trials import (
    START_MS,
    answered,
    checks,
    errored,
    known,
    planned,
    record,
    run_of,
    vote,
)

from lift.backends.demo import NOTICE
from lift.journal import Journal, Record
from lift.langfuse import ids, otlp, runs, scores, traces
from lift.schema import Status

OBSERVATION = "langfuse.observation."
EXPERIMENT = "langfuse.experiment."


def spans(journal: Journal, found: Record | None = None) -> list[dict[str, Any]]:
    """The first trial's, as a server reads them."""
    facts, found = known(journal), found or journal.records("exp")[0]
    made = traces.answer_spans(found, run=run_of(found, facts), known=facts)
    return spans_of(otlp.encoded(made))


def test_a_trial_is_a_root_and_the_call_in_it(journal: Journal):
    record(journal, planned(1))
    found = journal.records("exp")[0]
    root, call = spans(journal)

    trace = ids.of_trial(found.trial)
    assert (root["trace"], root["id"], root["parent"]) == (trace.id, trace.root, "")
    assert (call["trace"], call["id"], call["parent"]) == (trace.id, trace.call, trace.root)
    assert root["attributes"][f"{OBSERVATION}type"] == "agent"
    assert call["attributes"][f"{OBSERVATION}type"] == "generation"
    assert root["scope"].startswith("langfuse-sdk")


def test_a_trial_has_the_times_it_had(journal: Journal):
    record(journal, planned(1))
    evidence = runs.ended(journal.records("exp")[0])

    for span in spans(journal):
        assert span["start_ns"] == evidence.started_ms * 1_000_000
        assert span["end_ns"] == evidence.ended_ms * 1_000_000


def test_the_root_holds_what_was_asked_answered_and_expected(journal: Journal):
    record(journal, planned(1))
    attributes = spans(journal)[0]["attributes"]

    assert json.loads(attributes[f"{OBSERVATION}input"]) == {"prompt": "Greet 0."}
    assert attributes[f"{OBSERVATION}output"] == "hello"
    expected = json.loads(attributes[f"{EXPERIMENT}item.expected_output"])
    assert expected["rubric"]["must_use"] == ["hello"]
    assert expected["judge_criteria"] == "It is polite."


def test_the_call_holds_model_tokens_and_what_it_cost(journal: Journal):
    record(journal, planned(1))
    attributes = spans(journal)[1]["attributes"]

    assert attributes[f"{OBSERVATION}model.name"] == "m1-20260101"
    assert json.loads(attributes[f"{OBSERVATION}model.parameters"]) == {"max_tokens": 10}
    assert json.loads(attributes[f"{OBSERVATION}usage_details"]) == {
        "input": 7, "output": 11, "input_cache_read": 100, "input_cache_creation_5m": 50,
    }  # fmt: skip
    cost = runs.ended(journal.records("exp")[0]).cost_usd
    assert json.loads(attributes[f"{OBSERVATION}cost_details"]) == {"total": cost}


def test_every_span_says_which_run_it_is_of(journal: Journal):
    record(journal, planned(1, models=("m1", "org/m2")))
    name = "exp/greetings/with_skill@m1/r1"

    for span in spans(journal):
        attributes = span["attributes"]
        assert attributes[f"{EXPERIMENT}name"] == name
        assert attributes[f"{EXPERIMENT}id"] == ids.experiment_id("p", "ds", name)
        assert attributes[f"{EXPERIMENT}dataset.id"] == "ds"
        assert attributes[f"{EXPERIMENT}item.id"] == "greetings:greet-0"
        assert attributes["session.id"] == "exp"
        assert attributes["langfuse.environment"] == "skill-eval"
        assert attributes["langfuse.trace.tags"] == [
            "exp:exp", "condition:with_skill", "skill:greet", "model:m1",
        ]  # fmt: skip


def test_a_runs_metadata_is_flat_and_says_what_is_filtered_by(journal: Journal):
    record(journal, planned(1))
    metadata = json.loads(spans(journal)[0]["attributes"][f"{EXPERIMENT}metadata"])

    assert all(isinstance(value, str) for value in metadata.values())
    wanted = {
        "experiment": "exp", "condition": "with_skill", "repeat": "1", "model": "m1",
        "skill": "greet", "provider": "anthropic", "canned": "no",
    }  # fmt: skip
    assert wanted.items() <= metadata.items()


def test_one_model_needs_no_name_in_the_run(journal: Journal):
    record(journal, planned(1))

    (name,) = {span["attributes"][f"{EXPERIMENT}name"] for span in spans(journal)}
    assert name == "exp/greetings/with_skill/r1"


def test_an_errored_trial_is_an_error_and_has_no_call(journal: Journal):
    record(journal, planned(1), fails=lambda _trial: True)
    found, facts = journal.records("exp")[0], known(journal)
    (root,) = spans(journal)

    assert root["error"] == "the connection was reset"
    assert root["attributes"][f"{OBSERVATION}level"] == "ERROR"
    assert root["attributes"][f"{OBSERVATION}status_message"] == "the connection was reset"
    assert json.loads(root["attributes"][f"{OBSERVATION}output"]) == {
        "error": "the connection was reset"
    }
    body = scores.errored_score(found, known=facts)
    assert (body["name"], body["value"], body["dataType"]) == ("errored", 1, "BOOLEAN")


def test_what_a_trial_cost_is_there_though_nobody_answered(journal: Journal):
    plan = planned(1)
    journal.begin(plan, now_ms=START_MS)
    journal.record(plan.trials[0], errored(plan.trials[0]).model_copy(update={"cost_usd": 0.5}), [])
    _root, call = spans(journal)

    assert json.loads(call["attributes"][f"{OBSERVATION}cost_details"]) == {"total": 0.5}
    assert call["attributes"][f"{OBSERVATION}model.name"] == "m1"


def test_a_failed_trial_is_a_warning_and_keeps_its_answer(journal: Journal):
    plan = planned(1)
    journal.begin(plan, now_ms=START_MS)
    evidence = answered(plan.trials[0], status=Status.FAILED, why="cut off")
    journal.record(plan.trials[0], evidence, checks(plan.trials[0]))
    root, _call = spans(journal)

    assert root["error"] is None
    assert root["attributes"][f"{OBSERVATION}level"] == "WARNING"
    assert root["attributes"][f"{OBSERVATION}output"] == "hello"


@pytest.mark.parametrize("cached", [True, False])
def test_an_answer_that_was_given_before_says_so(journal: Journal, cached: bool):
    plan = planned(1)
    journal.begin(plan, now_ms=START_MS)
    evidence = answered(plan.trials[0], cached=cached, cost_usd=0.0)
    journal.record(plan.trials[0], evidence, checks(plan.trials[0]))
    root, call = spans(journal)

    assert root["attributes"].get(f"{OBSERVATION}metadata.cached") == ("yes" if cached else None)
    assert json.loads(call["attributes"][f"{OBSERVATION}cost_details"]) == {"total": 0.0}


def test_canned_answers_say_so(journal: Journal):
    record(journal, planned(1, backend="demo"))
    attributes = spans(journal)[0]["attributes"]

    assert "canned" in attributes["langfuse.trace.tags"]
    assert attributes["langfuse.trace.metadata.canned"] == "yes"
    assert json.loads(attributes[f"{EXPERIMENT}metadata"])["notice"] == NOTICE
    assert NOTICE in attributes[f"{EXPERIMENT}description"]


def test_a_vote_is_a_trace_that_costs_the_item_nothing(journal: Journal):
    record(journal, planned(1), votes=1)
    found, facts = journal.records("exp")[0], known(journal)
    root, call = spans_of(otlp.encoded(traces.vote_spans(found, found.votes[0], known=facts)))

    judged = ids.of_trial(found.trial).id
    assert root["trace"] == call["trace"] != judged
    for span in (root, call):
        assert not any(key.startswith(EXPERIMENT) for key in span["attributes"])
        assert span["attributes"][f"{OBSERVATION}metadata.judged_trace"] == judged
        assert span["attributes"]["session.id"] == "exp"
    assert root["attributes"][f"{OBSERVATION}type"] == "evaluator"
    output = json.loads(root["attributes"][f"{OBSERVATION}output"])
    assert output == {"value": 0.8, "reason": "polite enough"}
    assert json.loads(call["attributes"][f"{OBSERVATION}cost_details"]) == {"total": 0.5}


def test_a_vote_that_is_cast_again_is_another_trace(journal: Journal):
    record(journal, planned(1), votes=1)
    trial = journal.records("exp")[0].trial
    again = answered(trial, at_ms=90_000)

    first = vote(trial)
    assert ids.of_vote(trial, first) == ids.of_vote(trial, vote(trial, why="other words"))
    assert ids.of_vote(trial, first) != ids.of_vote(
        trial, first.model_copy(update={"evidence": again})
    )


HASHED = """
import hashlib, sys
from pathlib import Path
from lift.journal import Journal
from lift.langfuse import otlp, runs, traces
journal, made = Journal(Path(sys.argv[1]), create=False), []
facts = runs.facts(journal.experiment("exp"), journal.trials("exp"))
for found in journal.records("exp"):
    run = runs.run_of(runs.parts(found.trial), facts.experiment, project="p", dataset_id="ds")
    made += traces.answer_spans(found, run=run, known=facts)
    made += [s for v in found.votes for s in traces.vote_spans(found, v, known=facts)]
print(len(made), hashlib.sha256(otlp.encoded(made)).hexdigest())
"""


def test_the_same_trial_gives_the_same_bytes_in_any_process(journal: Journal):
    record(journal, planned(2, models=("m1", "m2"), repeats=2), votes=1)

    printed = {
        subprocess.run(
            [sys.executable, "-c", HASHED, str(journal.path)],
            env={"PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed, zone in (("0", "UTC"), ("1", "America/New_York"))
    }
    assert len(printed) == 1
    assert printed.pop().startswith("64 ")


def test_a_span_gives_the_bytes_it_always_gave():
    attributes: dict[str, otlp.Attribute] = {"text": "ü", "list": ["a", "b"], "n": 3, "yes": True}
    span = otlp.Span("a" * 32, "b" * 16, "c" * 16, "name", 1000, 2001, attributes, error="broke")

    assert otlp.encoded([span]).hex() == (
        "0a99011296010a0e0a0c6c616e67667573652d73646b1283010a10aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "1208bbbbbbbbbbbbbbbb2208cccccccccccccccc2a046e616d6530013900ca9a3b000000004140d6447700"
        "0000004a0c0a047465787412040a02c3bc4a140a046c697374120c2a0a0a030a01610a030a01624a070a01"
        "6e120218034a090a03796573120210017a09120562726f6b651802"
    )


def test_requests_may_be_joined(journal: Journal):
    record(journal, planned(2))
    facts = known(journal)
    made = [
        otlp.encoded(traces.answer_spans(found, run=run_of(found, facts), known=facts))
        for found in journal.records("exp")
    ]

    assert spans_of(b"".join(made)) == [span for data in made for span in spans_of(data)]


def test_a_span_with_a_bad_id_is_never_encoded():
    span = otlp.Span("f" * 32, "f" * 6, "", "n", 0, 0, {})

    with pytest.raises(ValueError, match="is not an id"):
        otlp.encoded([span])


def test_attributes_are_named_as_the_sdk_names_them(journal: Journal):
    from langfuse import LangfuseOtelSpanAttributes

    record(journal, planned(1), fails=lambda trial: trial.condition == "with_skill", votes=1)
    facts = known(journal)
    made = []
    for found in journal.records("exp"):
        made += traces.answer_spans(found, run=run_of(found, facts), known=facts)
        made += [s for v in found.votes for s in traces.vote_spans(found, v, known=facts)]

    theirs = {
        value
        for name, value in inspect.getmembers(LangfuseOtelSpanAttributes)
        if isinstance(value, str) and not name.startswith("__")
    }
    prefixes = ("langfuse.trace.metadata.", "langfuse.observation.metadata.")
    ours = {key for span in made for key in span.attributes if not key.startswith(prefixes)}
    assert ours - theirs == set()
