"""Masking: nothing that is made of a trial holds what may not leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langfuse_spans import spans_of
from langfuse_trials import START_MS, answered, dataset, known, planned, record, run_of, vote

from lift.journal import Journal, Record
from lift.langfuse import otlp, scores, traces
from lift.langfuse.masking import masked, masked_item
from lift.plan import Plan
from lift.redact import redacted
from lift.schema import Score, Status

OBSERVATION = "langfuse.observation."


def secret_everywhere(plan: Plan, journal: Journal, secret: str) -> Record:
    journal.begin(plan, now_ms=START_MS)
    trial = plan.trials[0]
    told = [
        Score(evaluator="rubric", value=1.0, passed=True, why=f"found {secret}"),
        Score(evaluator="broken", value=None, why="", error=f"broke on {secret}"),
    ]
    evidence = answered(trial, text=f"use {secret}", why=secret, status=Status.FAILED)
    journal.record(trial, evidence, told)
    journal.record_vote(trial, vote(trial, why=f"it shows {secret}"))
    return journal.records("exp", item=trial.item)[0]


def test_nothing_that_is_made_holds_a_secret(journal: Journal, tmp_path: Path):
    secret = "sk-ant-api03-" + "q8Zx" * 20
    plan = planned(datasets=[dataset(1, prompt=f"Use {secret} to greet {{n}}.")])
    found = masked(secret_everywhere(plan, journal, secret), redacted)
    facts = known(journal)

    made = traces.answer_spans(found, run=run_of(found, facts), known=facts)
    made += traces.vote_spans(found, found.votes[0], known=facts)
    bodies = scores.check_scores(found, known=facts)
    bodies.append(scores.judge_score(found, "judge", known=facts))
    everything = repr(made) + repr(bodies) + repr(masked_item(found.item, redacted))
    assert secret[:20] not in everything
    (placeholder,) = {part.split(">")[0] for part in everything.split("<")[1:]}
    assert placeholder.endswith(":1")


def test_names_are_not_masked(journal: Journal):
    record(journal, planned(1))
    found = masked(journal.records("exp")[0], lambda value: mask_all(value))

    assert (found.item["id"], found.item["category"]) == ("greet-0", "long")
    assert found.item["prompt"] == "<masked>"
    assert found.trial == journal.records("exp")[0].trial


def mask_all(value: Any) -> Any:
    if isinstance(value, str):
        return "<masked>"
    if isinstance(value, dict):
        return {key: mask_all(inner) for key, inner in value.items()}
    return [mask_all(inner) for inner in value] if isinstance(value, list) else value


def test_long_and_odd_texts_are_sent_as_far_as_they_can_be(journal: Journal):
    plan = planned(1)
    journal.begin(plan, now_ms=START_MS)
    trial = plan.trials[0]
    journal.record(trial, answered(trial, text="x" * 300_000 + "\0"), [])
    found, facts = masked(journal.records("exp")[0], lambda value: value), known(journal)

    made = traces.answer_spans(found, run=run_of(found, facts), known=facts)
    for span in spans_of(otlp.encoded(made)):
        output = span["attributes"][f"{OBSERVATION}output"]
        assert len(output) < 200_100
        assert "300003 bytes in all; the journal has it whole" in output
