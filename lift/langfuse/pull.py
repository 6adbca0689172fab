"""An experiment back out of Langfuse, as the rows that the journal gives of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from lift import frames
from lift.errors import ExperimentError
from lift.journal import Experiment, Reused
from lift.langfuse import ids, planned, scores
from lift.langfuse.client import PAGE, Connection, Query
from lift.langfuse.faults import LangfuseError
from lift.langfuse.present import items
from lift.langfuse.runs import (
    CACHE_READ_TOKENS,
    CACHE_WRITE_TOKENS,
    KEPT_MS,
    KEPT_USD,
    LOST_USD,
    TrialKey,
)
from lift.langfuse.traces import CHECKS, unscored
from lift.langfuse.wire import milliseconds, moment, text
from lift.schema import SETTLED, Status

RUNS = "/api/public/experiments"
SCORES = "/api/public/v3/scores"
FIELDS = "core,metadata,itemMetadata,experimentMetadata"
TRACES_AT_ONCE = 50

ANNOTATION = "ANNOTATION"
"""Source of a score that a person gave in the UI."""

READ: Mapping[str, Callable[[str], Any]] = {
    "category": str,
    "str": str,
    "int64": int,
    "float64": float,
}
"""Type of a column → how its text is read."""

Row = dict[str, Any]
Metadata = Mapping[str, str]


class Pulled(NamedTuple):
    """An experiment as Langfuse knows it."""

    trials: list[Row]
    """Rows of frames.TRIALS."""
    scores: list[Row]
    """Rows of frames.SCORES."""
    annotations: list[Row]
    """Rows of frames.ANNOTATIONS."""
    experiment: Experiment
    items: dict[tuple[str, str], str]
    """Dataset and item → hash of what is asked and how it is scored."""


class Attempt(NamedTuple):
    """One attempt of a trial."""

    row: Row
    """Of frames.TRIALS."""
    metadata: Metadata

    @property
    def key(self) -> TrialKey:
        """What tells its trial from the others."""
        return _key(self.row)


def pulled(connection: Connection, experiment: str, *, since: datetime) -> Pulled:
    """An experiment: each trial's latest attempt, its scores, and what people made of it.

    Trials that nobody answered yet are not in Langfuse, but every run says how many are planned:
    they are rows with the status `planned` again (see planned.missing). A judge that cast no
    vote is not in Langfuse either.

    Args:
        connection: where from.
        experiment: its name.
        since: with a time zone; before its first trial. What began earlier is not seen.

    Raises:
        ExperimentError: there is none of that name since then.
        LangfuseError: it cannot be asked, or what it has cannot be read.
    """
    start = moment(int(since.timestamp() * 1000))
    found = _items(connection, experiment, start)
    if not found:
        raise ExperimentError(
            f"no experiment {experiment!r} in Langfuse",
            where=f"{connection.base_url}, since {start}",
            fix="send it with lift push, or look further back with --since",
        )
    every = _scores(connection, [item["traceId"] for item in found])
    given = [score for score in every if _is_ours(score, experiment)]
    attempts = _attempts(found, given)
    latest = _latest(attempts)
    abouts = [_metadata(item, "experimentMetadata") for item in found]
    texts = [planned.from_metadata(one) for one in abouts]
    plans = {text: planned.read(text) for text in set(texts)}
    _, about = max(zip(texts, abouts, strict=True), key=lambda pair: plans[pair[0]].total())
    trials = [attempt.row for attempt in latest.values()]
    trials += planned.missing(planned.together(plans.values()), trials)
    rows = [row for score in given if (row := _score_row(score, latest))]
    _check_whole(latest, rows)
    rows += [row for attempt in latest.values() for row in _silent(attempt)]
    judges = _total(scores.JUDGE_COST_USD, (score["metadata"] for score in given))
    lost = _total(LOST_USD, (attempt.metadata for attempt in attempts.values()))
    asked = [attempt.metadata for attempt in latest.values()]
    facts = _experiment(about, trials, asked, judges_usd=judges, lost_usd=lost)
    in_time = sorted(every, key=lambda score: milliseconds(score["timestamp"]))
    people = [row for score in in_time if (row := _annotation(score, attempts, latest))]
    return Pulled(
        _ordered(trials), _ordered(rows), _ordered(people), facts, _hashes(found, attempts)
    )


def _items(connection: Connection, experiment: str, since: str) -> list[Row]:
    """The roots of the experiment's trials, every attempt of them."""
    query: Query = {"fromStartTime": since, "fields": "core", "limit": PAGE}
    runs = [
        run["id"] for run in connection.listed(RUNS, query) if ids.parsed(run["name"], experiment)
    ]
    return [
        item
        for item in items(connection, runs, since=since, fields=FIELDS)
        # `a/b` may be the run of an experiment `a`, or begin the name of another
        if _metadata(item, "experimentMetadata").get(frames.EXPERIMENT) == experiment
    ]


def _scores(connection: Connection, traces: Sequence[str]) -> list[Row]:
    """The scores of these traces, whoever gave them."""
    given: dict[str, Row] = {}
    for start in range(0, len(traces), TRACES_AT_ONCE):
        query: Query = {
            "traceId": ",".join(traces[start : start + TRACES_AT_ONCE]),
            "fields": "details,subject,annotation",
            "limit": PAGE,
        }
        for score in connection.listed(SCORES, query):
            given[score["id"]] = {**score, "metadata": _metadata(score, "metadata")}
    return list(given.values())


def _is_ours(score: Row, experiment: str) -> bool:
    """Whether lift gave it, to a trial of this experiment."""
    metadata = score["metadata"]
    return metadata.get(frames.EXPERIMENT) == experiment and scores.KIND in metadata


def _annotation(
    score: Row, attempts: Mapping[str, Attempt], latest: Mapping[TrialKey, Attempt]
) -> Row | None:
    """A row of frames.ANNOTATIONS; None where no person gave it, or to an older attempt."""
    attempt = attempts[_trace(score)]
    if score.get("source") != ANNOTATION or latest[attempt.key] is not attempt:
        return None
    value = score["value"]
    said = isinstance(value, str)
    return {
        **dict(zip(frames.TRIAL, attempt.key, strict=True)),
        frames.NAME: score["name"],
        frames.VALUE: None if said else float(value),
        frames.LABEL: value if said else "",
        frames.AUTHOR: score.get("authorUserId") or "",
        frames.COMMENT: score.get("comment") or "",
    }


def _hashes(found: Sequence[Row], attempts: Mapping[str, Attempt]) -> dict[tuple[str, str], str]:
    """Dataset and item → the item's hash, as Reader.item_hashes has it."""
    known: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for item in found:
        row = attempts[item["traceId"]].row
        if hash := _metadata(item, "experimentItemMetadata").get("item_hash"):
            known[row[frames.DATASET], row[frames.ITEM]].add(hash)
    return {key: ",".join(sorted(hashes)) for key, hashes in known.items()}


def _attempts(found: Sequence[Row], given: Sequence[Row]) -> dict[str, Attempt]:
    """Trace → the attempt it is of, told by its root, or else by its scores."""
    # a trial's own scores tell more than those of its checks
    own = sorted(given, key=lambda score: score["metadata"][scores.KIND] == scores.TRIAL)
    told = [(_trace(score), score["metadata"]) for score in own]
    told += [(item["traceId"], _metadata(item, "metadata")) for item in found]
    attempts = {
        trace: Attempt(row, metadata)
        for trace, metadata in told
        if (row := _trial_row(metadata)) is not None
    }
    untold = [item["traceId"] for item in found if item["traceId"] not in attempts]
    if untold:
        raise _untold(untold[0], "trace")
    return attempts


def _untold(id: str, kind: str) -> LangfuseError:
    return LangfuseError(
        f"a {kind} does not say which trial it is of",
        where=f"{kind} {id}",
        fix="compare from the journal that has the experiment",
    )


def _latest(attempts: Mapping[str, Attempt]) -> dict[TrialKey, Attempt]:
    """Trial → its latest attempt."""
    latest: dict[TrialKey, Attempt] = {}
    for attempt in attempts.values():
        known = latest.get(attempt.key, attempt)
        newer = attempt.row[frames.ATTEMPT] >= known.row[frames.ATTEMPT]
        latest[attempt.key] = attempt if newer else known
    return latest


def _score_row(score: Row, latest: Mapping[TrialKey, Attempt]) -> Row | None:
    """A row of frames.SCORES; None where the score is the trial's own, or of an older attempt."""
    metadata = score["metadata"]
    if metadata[scores.KIND] == scores.TRIAL:
        return None
    if (row := _trial_row(metadata)) is None:
        raise _untold(score["id"], "score")
    attempt = Attempt(row, metadata)
    if latest[attempt.key].row[frames.ATTEMPT] != row[frames.ATTEMPT]:
        return None
    judged = metadata[scores.KIND] == scores.JUDGE
    weight = 1.0 if judged else float(metadata[frames.WEIGHT])
    return _row(attempt, metadata[frames.EVALUATOR], float(score["value"]), weight, judged=judged)


def _check_whole(latest: Mapping[TrialKey, Attempt], rows: Iterable[Row]) -> None:
    """Raise where scores are missing: servers store them later than traces."""
    there = Counter(_key(row) for row in rows if not row[frames.JUDGED])
    short = [
        key for key, attempt in latest.items() if there[key] < int(attempt.metadata.get(CHECKS, 0))
    ]
    if short:
        raise LangfuseError(
            f"Langfuse does not have the scores of {len(short)} trials",
            where=" ".join(map(str, short[0])),
            fix="wait some minutes, or send what is left with lift push",
        )


def _silent(attempt: Attempt) -> Iterator[Row]:
    """Rows of frames.SCORES of the checks that did not score the trial."""
    for evaluator, weight in unscored(attempt.metadata).items():
        yield _row(attempt, evaluator, None, weight, judged=False)


def _row(
    attempt: Attempt, evaluator: str, value: float | None, weight: float, *, judged: bool
) -> Row:
    return {
        **dict(zip(frames.TRIAL, attempt.key, strict=True)),
        frames.EVALUATOR: evaluator,
        frames.VALUE: value,
        frames.WEIGHT: weight,
        frames.JUDGED: int(judged),
    }


def _trial_row(metadata: Metadata) -> Row | None:
    """The row of frames.TRIALS in metadata; None where it is not whole."""
    try:
        return {name: READ[kind](metadata[name]) for name, kind in frames.TRIALS.items()}
    except (KeyError, ValueError):
        return None


def _key(row: Row) -> TrialKey:
    return tuple(row[name] for name in frames.TRIAL)


def _metadata(of: Row, field: str) -> dict[str, str]:
    found = of.get(field)
    return {key: text(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _trace(score: Row) -> str:
    subject = score.get("subject") or {}
    return str(subject.get("traceId") or subject.get("id"))


def _total(key: str, metadata: Iterable[Metadata]) -> float:
    return sum(float(values.get(key, 0)) for values in metadata)


def _experiment(
    about: Metadata,
    trials: Sequence[Row],
    asked: Sequence[Metadata],
    *,
    judges_usd: float,
    lost_usd: float,
) -> Experiment:
    states = [row[frames.STATUS] for row in trials]
    paid = [metadata for metadata in asked if KEPT_MS not in metadata]
    return Experiment(
        name=about[frames.EXPERIMENT],
        created_ms=int(about.get("created_ms", 0)),
        skill=about.get("skill", ""),
        backend=about.get("backend", ""),
        canned=about.get("canned") == "yes",
        repeats=int(about.get("repeats", 1)),
        models=tuple(sorted({row[frames.MODEL] for row in trials})),
        datasets=tuple(sorted({row[frames.DATASET] for row in trials})),
        planned=len(trials),
        answered=sum(state in SETTLED for state in states),
        errored=states.count(Status.ERRORED),
        cost_usd=sum(row[frames.COST_USD] for row in trials) - _total(KEPT_USD, asked) + judges_usd,
        lost_usd=lost_usd,
        conditions=tuple(sorted({row[frames.CONDITION] for row in trials})),
        reused=_reused(asked),
        cache_writes=sum(CACHE_WRITE_TOKENS in metadata for metadata in paid),
        cache_reads=sum(CACHE_READ_TOKENS in metadata for metadata in paid),
    )


def _reused(asked: Iterable[Metadata]) -> tuple[Reused, ...]:
    """The answers that were given before, by condition."""
    kept: dict[str, list[int]] = {}
    for metadata in asked:
        if KEPT_MS in metadata:
            kept.setdefault(metadata[frames.CONDITION], []).append(int(metadata[KEPT_MS]))
    return tuple(Reused(name, len(times), min(times)) for name, times in sorted(kept.items()))


def _ordered(rows: Sequence[Row]) -> list[Row]:
    keys = [*frames.TRIAL, frames.EVALUATOR, frames.NAME]
    return sorted(rows, key=lambda row: [row.get(key, "") for key in keys])
