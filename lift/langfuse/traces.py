"""Trials and judges' votes to traces, from what the journal holds of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lift.journal import Record
from lift.langfuse import ids, runs
from lift.langfuse.otlp import Attribute, Span
from lift.langfuse.prompts import Prompt
from lift.langfuse.runs import Facts, Run
from lift.langfuse.wire import attribute, flat
from lift.schema import Evidence, Score, Status, Usage, Vote

TRACE_NAME = "skill-eval"
JUDGE_TRACE_NAME = "skill-eval-judge"

UNSCORED = "unscored"
"""Metadata: the evaluators that did not score the trial, each with its weight."""

CHECKS = "checks"
"""Metadata: how many checks scored the trial; so many scores there must be."""

LEVELS = {Status.ERRORED: "ERROR", Status.FAILED: "WARNING"}


def answer_spans(record: Record, *, run: Run, known: Facts) -> list[Span]:
    """The trace of a trial: its root, and the call to the model where it was answered.

    Args:
        record: masked.
        run: what the trial belongs to.
        known: what the experiment is.
    """
    trace, evidence = ids.of_trial(record.trial), runs.ended(record)
    shared = _shared(record, known, TRACE_NAME) | _linked(record, run, known, trace)
    root = _root(trace, evidence, name="trial", attributes=shared | _told(record, known))
    if record.status == Status.ERRORED:
        root = root._replace(error=evidence.why)
    if evidence.reply is None and not evidence.cost_usd:
        return [root]
    model = (evidence.reply and evidence.reply.model) or record.trial.model
    return [root, _call(root, trace, shared | _asked(record, known), evidence, model=model)]


def vote_spans(record: Record, vote: Vote, *, known: Facts) -> list[Span]:
    """The trace of a judge's vote: what it said of the trial, and the call it took.

    It has no experiment attributes: the cost of an item is the sum over every span with them.
    """
    trace, evidence = ids.of_vote(record.trial, vote), vote.evidence
    metadata = flat(
        {
            "judged_trace": ids.of_trial(record.trial).id,
            "evaluator": vote.evaluator,
            "vote": vote.number,
            "judge": vote.model,
            "prompt_hash": vote.prompt_hash,
            "cached": evidence.cached,
        }
    )
    shared = _shared(record, known, JUDGE_TRACE_NAME) | _metadata(metadata)
    attributes = shared | _judged(record, vote)
    root = _root(trace, evidence, name=vote.evaluator, attributes=attributes)
    said = shared | {"langfuse.observation.output": evidence.text}
    model = (evidence.reply and evidence.reply.model) or vote.model
    return [root, _call(root, trace, said, evidence, model=model)]


def usage_details(usage: Usage) -> dict[str, int]:
    """Tokens in buckets that do not overlap: servers add them up."""
    buckets = {
        "input_cache_read": usage.cache_read_tokens,
        "input_cache_creation_5m": usage.cache_write_5m_tokens,
        "input_cache_creation_1h": usage.cache_write_1h_tokens,
    }
    used = {name: tokens for name, tokens in buckets.items() if tokens}
    return {"input": usage.input_tokens, "output": usage.output_tokens, **used}


def expected_output(item: Mapping[str, Any]) -> dict[str, Any]:
    """What a good answer must show."""
    names = ("rubric", "evaluators", "judge_criteria", "ground_truth")
    return {name: item[name] for name in names if item.get(name)}


def _shared(record: Record, known: Facts, trace_name: str) -> dict[str, Attribute]:
    trial, experiment = record.trial, known.experiment
    keys = flat(
        {
            "experiment": trial.experiment,
            "dataset": trial.dataset,
            "item": trial.item,
            "condition": trial.condition,
            "model": trial.model,
            "repeat": trial.repeat,
            "attempt": trial.attempt,
            "canned": experiment.canned,
        }
    )
    return {
        "session.id": runs.session(experiment),
        "langfuse.trace.name": trace_name,
        "langfuse.trace.tags": runs.tags(trial, experiment),
        "langfuse.environment": runs.ENVIRONMENT,
        **{f"langfuse.trace.metadata.{key}": value for key, value in keys.items()},
    }


def _linked(record: Record, run: Run, known: Facts, trace: ids.Trace) -> dict[str, Attribute]:
    trial = record.trial
    item = flat({"category": trial.category, "item_hash": trial.item_hash})
    return {
        "langfuse.experiment.id": run.id,
        "langfuse.experiment.name": run.name,
        "langfuse.experiment.description": runs.description(trial, known.experiment),
        "langfuse.experiment.metadata": attribute(runs.run_metadata(record, known)),
        "langfuse.experiment.dataset.id": run.dataset_id,
        "langfuse.experiment.item.id": ids.item_id(trial.dataset, trial.item),
        "langfuse.experiment.item.metadata": attribute(item),
        "langfuse.experiment.item.root_observation_id": trace.root,
    }


def _told(record: Record, known: Facts) -> dict[str, Attribute]:
    evidence = runs.ended(record)
    metadata = runs.join_keys(record, known)
    more: dict[str, str | int | float] = {
        CHECKS: sum(score.value is not None for score in record.scores),
        "stop_reason": (evidence.reply and evidence.reply.stop_reason) or "",
        UNSCORED: _unscored(record.scores),
        "cached": evidence.cached,
        **runs.billing(evidence),
    }
    metadata |= flat({name: value for name, value in more.items() if value})
    output = evidence.text if evidence.reply else attribute({"error": evidence.why})
    found: dict[str, Attribute] = {
        "langfuse.internal.is_app_root": True,
        "langfuse.observation.type": "agent",
        "langfuse.observation.input": attribute({"prompt": record.item["prompt"]}),
        "langfuse.observation.output": output,
        "langfuse.experiment.item.expected_output": attribute(expected_output(record.item)),
        **_metadata(metadata),
    }
    if level := LEVELS.get(Status(record.status)):
        found["langfuse.observation.level"] = level
        found["langfuse.observation.status_message"] = evidence.why
    return found


def _unscored(scores: Iterable[Score]) -> str:
    silent = [f"{score.evaluator}={score.weight!r}" for score in scores if score.value is None]
    return ",".join(silent)


def unscored(metadata: Mapping[str, str]) -> dict[str, float]:
    """Evaluator that did not score the trial → its weight, from a root's metadata."""
    entries = [part.split("=") for part in metadata.get(UNSCORED, "").split(",") if part]
    return {name: float(weight) for name, weight in entries}


def _shown(record: Record, known: Facts) -> list[dict[str, str]]:
    """Where the model saw the skill: its text stays out, its hash is in the run's metadata."""
    if record.condition.skill_hash is None:
        return []
    skill = f"[skill {known.experiment.skill}, {record.condition.exposure}]"
    return [{"role": "system", "content": skill}]


def _metadata(values: Mapping[str, str]) -> dict[str, Attribute]:
    return {f"langfuse.observation.metadata.{key}": value for key, value in values.items()}


def _asked(record: Record, known: Facts) -> dict[str, Attribute]:
    """What the model was asked, and what it said."""
    messages = [
        {"role": "system", "content": record.system},
        *_shown(record, known),
        {"role": "user", "content": record.item["prompt"]},
    ]
    condition = record.condition
    effort = {"effort": condition.effort} if condition.effort else {}
    parameters = {"max_tokens": condition.max_tokens, **effort}
    return {
        "langfuse.observation.input": attribute(messages),
        "langfuse.observation.output": runs.ended(record).text,
        "langfuse.observation.model.parameters": attribute(parameters),
        **_prompted(known.prompts.get(condition.skill_hash or "")),
    }


def _prompted(prompt: Prompt | None) -> dict[str, Attribute]:
    """Links a call to the skill it was made with."""
    if prompt is None:
        return {}
    return {
        "langfuse.observation.prompt.name": prompt.name,
        "langfuse.observation.prompt.version": prompt.version,
    }


def _judged(record: Record, vote: Vote) -> dict[str, Attribute]:
    """What a judge saw, and what it made of it."""
    seen = {
        "prompt": record.item["prompt"],
        "criteria": record.item.get("judge_criteria", ""),
        "answer": runs.ended(record).text,
    }
    return {
        "langfuse.internal.is_app_root": True,
        "langfuse.observation.type": "evaluator",
        "langfuse.observation.input": attribute(seen),
        "langfuse.observation.output": attribute({"value": vote.value, "reason": vote.why}),
    }


def _root(
    trace: ids.Trace, evidence: Evidence, *, name: str, attributes: Mapping[str, Attribute]
) -> Span:
    return Span(
        trace=trace.id,
        id=trace.root,
        parent="",
        name=name,
        start_ms=evidence.started_ms,
        end_ms=max(evidence.started_ms, evidence.ended_ms),
        attributes=attributes,
    )


def _call(
    root: Span,
    trace: ids.Trace,
    attributes: Mapping[str, Attribute],
    evidence: Evidence,
    *,
    model: str,
) -> Span:
    return Span(
        trace=trace.id,
        id=trace.call,
        parent=trace.root,
        name="call",
        start_ms=root.start_ms,
        end_ms=root.end_ms,
        attributes={
            **attributes,
            "langfuse.observation.type": "generation",
            "langfuse.observation.model.name": model,
            "langfuse.observation.usage_details": attribute(usage_details(evidence.usage)),
            # without a total, a server that has no price for the model counts nothing
            "langfuse.observation.cost_details": attribute({"total": evidence.cost_usd}),
        },
    )
