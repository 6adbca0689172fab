"""A static review in Langfuse: one trace with two scores."""

from __future__ import annotations

from typing import Any, NamedTuple

from lift.langfuse import ids, scores
from lift.langfuse.client import Connection
from lift.langfuse.otlp import Span, encoded
from lift.langfuse.present import of_trace
from lift.langfuse.runs import ENVIRONMENT
from lift.langfuse.wire import Redact, attribute, moment, prepared

TRACE_NAME = "static-review"


class Reviewed(NamedTuple):
    """What a review says, for a server."""

    hash: str
    """Identifies its content; the same review again has the same ids."""
    skill: str
    tree_hash: str
    model: str
    """Who decided whether the skill would load; empty where nobody was asked."""
    canned: bool
    at_ms: int
    input: dict[str, Any]
    output: dict[str, Any]
    scores: dict[str, float]
    """Name → value, 0 to 1."""


def send(connection: Connection, review: Reviewed, *, redact: Redact) -> str:
    """Send a review; returns why not all of it was taken, empty where it was.

    Args:
        connection: where to.
        review: what it says.
        redact: masks strings; called once with all of it.

    Raises:
        LangfuseError: the server cannot be asked, or refuses.
    """
    texts = ("input", "output", "skill", "model")
    review = review._replace(**prepared({text: getattr(review, text) for text in texts}, redact))
    trace = ids.of_review(review.hash)
    there = of_trace(connection, trace.id).get(trace.root)
    if there is None:
        connection.post_spans(encoded([_root(review, trace)]))
    else:  # sent before, and its scores may not have been
        review = review._replace(at_ms=there)
    return scores.send(connection, [_score(review, trace, name) for name in review.scores]).why


def _root(review: Reviewed, trace: ids.Trace) -> Span:
    tags = [f"skill:{review.skill}", *([f"model:{review.model}"] if review.model else [])]
    return Span(
        trace=trace.id,
        id=trace.root,
        parent="",
        name=TRACE_NAME,
        start_ms=review.at_ms,
        end_ms=review.at_ms,
        attributes={
            "langfuse.trace.name": TRACE_NAME,
            "langfuse.trace.tags": tags + (["canned"] if review.canned else []),
            "langfuse.environment": ENVIRONMENT,
            "langfuse.trace.metadata.skill": review.skill,
            "langfuse.trace.metadata.skill_sha": review.tree_hash,
            "langfuse.internal.is_app_root": True,
            "langfuse.observation.type": "evaluator",
            "langfuse.observation.input": attribute(review.input),
            "langfuse.observation.output": attribute(review.output),
        },
    )


def _score(review: Reviewed, trace: ids.Trace, name: str) -> dict[str, Any]:
    return {
        "id": ids.score_id(trace, name),
        "traceId": trace.id,
        "observationId": trace.root,
        "name": name,
        "value": review.scores[name],
        "dataType": "NUMERIC",
        "timestamp": moment(review.at_ms),
        "environment": ENVIRONMENT,
        "metadata": {"skill": review.skill, "skill_sha": review.tree_hash},
    }
