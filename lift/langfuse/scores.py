"""Trials to Langfuse scores, and how a server is given them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from lift.evaluators.judge import passed
from lift.journal import Record
from lift.langfuse import ids, runs
from lift.langfuse.client import Connection
from lift.langfuse.faults import PARTIAL, Refused, brief
from lift.langfuse.runs import Facts
from lift.langfuse.wire import flat, moment
from lift.schema import digest
from lift.worklist import portions

SCORE, PASSED, ERRORED = "score", "passed", "errored"
RESERVED = frozenset({SCORE, PASSED, ERRORED})
"""Names of scores that are the trial's own."""

KIND = "kind"
CHECK, JUDGE, TRIAL = "check", "judge", "trial"
"""What a score's metadata says it is: of a check, of a judge, or of the trial as a whole."""

JUDGE_COST_USD = "judge_cost_usd"

LONGEST_COMMENT = 2000
MOST, MOST_BYTES = 200, 900_000
"""In one request."""

Body = dict[str, Any]


class Taken(NamedTuple):
    """What a server said to scores."""

    ids: frozenset[str]
    """Of those it took."""
    why: str
    """Why it took no more; empty where it took all."""


def check_scores(record: Record, *, known: Facts) -> list[Body]:
    """The scores of a trial's checks, its weighted mean, and whether all of them passed.

    A check that did not score the trial has none: it is named in the trace.

    Args:
        record: masked.
        known: what the experiment is.
    """
    bodies = [
        _body(
            record, known, score.value,
            name=_free(score.evaluator, CHECK),
            comment=score.why,
            metadata={KIND: CHECK, "evaluator": score.evaluator, "weight": score.weight},
        )
        for score in record.scores if score.value is not None
    ]  # fmt: skip
    weighted = [(s.value, s.weight) for s in record.scores if s.value is not None and not s.judged]
    if total := sum(weight for _, weight in weighted):
        mean = sum(value * weight for value, weight in weighted) / total
        bodies.append(_body(record, known, mean, name=SCORE, metadata=_of_trial(record)))
    verdicts = [score.passed for score in record.scores if score.passed is not None]
    if verdicts:
        bodies.append(_body(record, known, all(verdicts), name=PASSED, metadata=_of_trial(record)))
    return bodies


def errored_score(record: Record, *, known: Facts) -> Body:
    """What marks a trial that nobody answered: a comparison shows no errors, only scores."""
    return _body(
        record, known, True,
        name=ERRORED, comment=runs.ended(record).why, metadata=_of_trial(record),
    )  # fmt: skip


def _of_trial(record: Record) -> dict[str, str | int | float | bool]:
    """Metadata of a trial's own scores: a server may show no metadata of its root."""
    return {KIND: TRIAL, **runs.billing(runs.ended(record))}


def judge_score(record: Record, evaluator: str, *, known: Facts) -> Body:
    """What a judge says of a trial: the mean of the votes it has cast so far.

    The next vote sends it again, under the same id and with the same time: the new mean takes
    the old one's place.
    """
    votes = [v for v in record.votes if v.evaluator == evaluator]
    cast = [vote for vote in votes if vote.value is not None]
    mean = fmean(vote.value for vote in cast if vote.value is not None)
    taken = {score.evaluator for score in record.scores}
    return _body(
        record, known, mean,
        name=_free(evaluator, JUDGE, taken),
        comment="\n\n".join(vote.why for vote in cast),
        metadata={
            KIND: JUDGE,
            "evaluator": evaluator,
            "judge": ", ".join(sorted({vote.model for vote in cast})),
            "prompt_hash": ", ".join(sorted({vote.prompt_hash for vote in cast})),
            "votes": len(cast),
            PASSED: passed(mean),
            JUDGE_COST_USD: sum(vote.evidence.cost_usd for vote in votes),
        },
    )  # fmt: skip


def send(connection: Connection, bodies: Iterable[Body]) -> Taken:
    """Give a server scores, in as few requests as it takes.

    It may be given the same scores again: id, name and day stay.

    Raises:
        LangfuseError: it cannot be asked, or takes none.
    """
    taken: set[str] = set()
    why = ""
    for batch in portions(bodies, most=MOST, most_bytes=MOST_BYTES, size=_size):
        found = _send_batch(connection, batch)
        taken |= found.ids
        why = why or found.why
    return Taken(frozenset(taken), why)


def _body(
    record: Record,
    known: Facts,
    value: float | bool,
    *,
    name: str,
    comment: str = "",
    metadata: dict[str, str | int | float | bool],
) -> Body:
    trace, evidence = ids.of_trial(record.trial), runs.ended(record)
    body = {
        "id": ids.score_id(trace, name),
        "traceId": trace.id,
        "observationId": trace.root,
        "name": name,
        "value": int(value) if isinstance(value, bool) else value,
        "dataType": "BOOLEAN" if isinstance(value, bool) else "NUMERIC",
        "timestamp": moment(max(evidence.started_ms, evidence.ended_ms)),
        "environment": runs.ENVIRONMENT,
        "metadata": runs.join_keys(record, known) | flat(metadata),
    }
    return body | {"comment": comment[:LONGEST_COMMENT]} if comment else body


def _free(evaluator: str, kind: str, taken: Iterable[str] = ()) -> str:
    """The evaluator's name, or another one where that means something else already."""
    return f"{evaluator}_{kind}" if evaluator in {*RESERVED, *taken} else evaluator


def _size(body: Body) -> int:
    return len(json.dumps(body))


def _send_batch(connection: Connection, batch: Sequence[Body]) -> Taken:
    if not connection.takes_lists():
        return _as_events(connection, batch)
    try:
        return _as_list(connection, batch)
    except Refused as refused:
        if refused.status != 400:
            raise
        # "expected object, received array": an old server that did not say so
        first = _alone(connection, batch[0])
        if not first.ids:
            raise
    return _joined([first, *(_alone(connection, body) for body in batch[1:])])


def _as_list(connection: Connection, batch: Sequence[Body]) -> Taken:
    answer = connection.post("/api/public/scores", list(batch))
    if answer.status != PARTIAL or answer.body.get("accepted") == len(batch):
        return Taken(frozenset(body["id"] for body in batch), "")
    if len(batch) == 1:
        return Taken(frozenset(), _reason(answer.body))
    # the answer does not say which, so they go one by one
    return _joined([_as_list(connection, [body]) for body in batch])


def _as_events(connection: Connection, batch: Sequence[Body]) -> Taken:
    """The route of servers before 4.59: their other one ignores a score's time."""
    events = {digest(body)[: ids.TRACE_DIGITS]: body for body in batch}
    content = [
        {"id": id, "type": "score-create", "timestamp": body["timestamp"], "body": body}
        for id, body in events.items()
    ]
    answer = connection.post("/api/public/ingestion", {"batch": content})
    took = {entry.get("id") for entry in answer.body.get("successes") or ()} & events.keys()
    why = _reason(answer.body) if len(took) < len(events) else ""
    return Taken(frozenset(events[id]["id"] for id in took), why)


def _alone(connection: Connection, body: Body) -> Taken:
    try:
        answer = connection.post("/api/public/scores", body)
    except Refused as refused:
        if refused.status != 400:
            raise
        return Taken(frozenset(), refused.what)
    if answer.status == PARTIAL:
        return Taken(frozenset(), _reason(answer.body))
    return Taken(frozenset({body["id"]}), "")


def _joined(parts: Sequence[Taken]) -> Taken:
    ids = frozenset(id for part in parts for id in part.ids)
    return Taken(ids, next((part.why for part in parts if part.why), ""))


def _reason(body: Any) -> str:
    errors = body.get("errors") or [{}]
    words = " ".join(str(errors[0].get(key) or "") for key in ("message", "error"))
    return f"Langfuse refuses scores: {brief(words) or 'no reason given'}"
