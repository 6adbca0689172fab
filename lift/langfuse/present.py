"""Which traces a server has: asked before any is sent, for it may have been sent before.

Spans that are sent twice are two rows, and cost twice, until the server merges them; and it says
yes to spans before it stores them. So an earlier attempt is looked for, never guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lift.langfuse.client import OBSERVATIONS_PAGE, PAGE, Connection, Query
from lift.langfuse.faults import Refused
from lift.langfuse.wire import milliseconds, moment
from lift.worklist import portions

OBSERVATIONS = "/api/public/v2/observations"
ITEMS = "/api/public/experiment-items"

RUNS_AT_ONCE, ITEMS_AT_ONCE, BYTES_AT_ONCE = 50, 50, 4000
"""Of ids in one request: addresses may not get too long."""

MARGIN_MS = 60_000
"""Asked for before the first trial: a list is cut off at its start."""

LOOK_BACK_MS = 90 * 24 * 3600 * 1000
"""Another journal may have sent an experiment of this name so long before."""


class Sought(NamedTuple):
    """The root of a trace that is about to be sent."""

    id: str
    start_ms: int
    run: str = ""
    """Id of its run; empty where it is in none."""
    item: str = ""
    """Id of its item."""


def present(connection: Connection, sought: Sequence[Sought], *, session: str) -> dict[str, int]:
    """Of these roots, and maybe some more, those that the server has → when they began, in ms.

    Args:
        connection: where to look.
        sought: the roots; at least one.
        session: that their traces share.

    Raises:
        LangfuseError: it cannot be asked.
    """
    return _starts([*_items(connection, sought), *_observations(connection, sought, session)])


def of_trace(connection: Connection, trace: str) -> dict[str, int]:
    """The observations of one trace that the server has → when they began, in ms.

    Raises:
        LangfuseError: it cannot be asked.
    """
    query: Query = {"traceId": trace, "fields": "core", "limit": PAGE}
    return _starts(_known(lambda: connection.listed(OBSERVATIONS, query)))


def items(
    connection: Connection,
    run_ids: Sequence[str],
    *,
    since: str,
    fields: str,
    only: Iterable[str] = (),
) -> Iterator[dict[str, Any]]:
    """The roots of the trials of runs.

    Args:
        connection: where to ask.
        run_ids: of the runs.
        since: time as the API writes it; what began before is left out.
        fields: groups of fields, with commas.
        only: ids of items; all where empty.

    Raises:
        LangfuseError: it cannot be asked.
    """
    query: Query = {"fromStartTime": since, "fields": fields, "limit": PAGE}
    wanted = _grouped(only, ITEMS_AT_ONCE) or [""]
    for chosen in _grouped(run_ids, RUNS_AT_ONCE):
        for named in wanted:
            those = {"experimentItemId": named} if named else {}
            yield from connection.listed(ITEMS, {**query, "experimentId": chosen, **those})


def observations(
    connection: Connection, session: str, *, since_ms: int, until_ms: int | None = None
) -> Iterator[dict[str, Any]]:
    """The observations of a session.

    The votes' traces are in no run; and in the cloud this list is minutes ahead of the other.

    Args:
        connection: where to ask.
        session: that their traces share.
        since_ms: what began before is left out.
        until_ms: what began then or later is left out.

    Raises:
        Refused: its status is 400 or 404 where the server does not know the question.
        LangfuseError: it cannot be asked.
    """
    since = moment(since_ms)
    chosen = [{"type": "string", "column": "sessionId", "operator": "=", "value": session}]
    # a filter takes the place of `fromStartTime`, which is there for servers that want one
    chosen += [{"type": "datetime", "column": "startTime", "operator": ">=", "value": since}]
    if until_ms is not None:
        until = moment(until_ms)
        chosen += [{"type": "datetime", "column": "startTime", "operator": "<", "value": until}]
    query = {"fromStartTime": since, "fields": "core", "filter": json.dumps(chosen)}
    return connection.listed(OBSERVATIONS, {**query, "limit": OBSERVATIONS_PAGE})


def _items(connection: Connection, sought: Sequence[Sought]) -> Iterator[dict[str, Any]]:
    runs = sorted({root.run for root in sought if root.run})
    since = moment(min(root.start_ms for root in sought) - LOOK_BACK_MS)
    wanted = sorted({root.item for root in sought if root.item})
    return items(connection, runs, since=since, fields="core", only=wanted)


def _observations(
    connection: Connection, sought: Sequence[Sought], session: str
) -> list[dict[str, Any]]:
    """Every observation of the session from when they began."""
    starts = [root.start_ms for root in sought]
    since_ms, until_ms = min(starts) - MARGIN_MS, max(starts) + MARGIN_MS
    return _known(lambda: observations(connection, session, since_ms=since_ms, until_ms=until_ms))


def _known(asked: Callable[[], Iterator[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The entries of a list; none where the server does not know the question."""
    try:
        return list(asked())
    except Refused as refused:
        if refused.status not in (400, 404):
            raise
        return []


def _starts(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    return {row["id"]: milliseconds(row["startTime"]) for row in rows}


def _grouped(ids: Iterable[str], most: int) -> list[str]:
    """The ids with commas, in as many texts as addresses need."""
    groups = portions(ids, most=most, most_bytes=BYTES_AT_ONCE, size=len)
    return [",".join(group) for group in groups]
