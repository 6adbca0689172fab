"""Which traces a server has: asked before any is sent that may have been sent before.

Spans that are sent twice are two rows, and cost twice, until the server merges them; and it says
yes to spans before it stores them. So an earlier attempt is looked for, never guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lift.langfuse.client import OBSERVATIONS_PAGE, PAGE, Connection
from lift.langfuse.faults import Refused
from lift.langfuse.wire import milliseconds, moment

OBSERVATIONS = "/api/public/v2/observations"
ITEMS = "/api/public/experiment-items"

RUNS_AT_ONCE = 50
MARGIN_MS = 60_000
"""Asked for before the first trial: the list is cut off at its start."""

Starts = Mapping[str, int]
"""Id of an observation → when it began, in Unix milliseconds."""


def present(
    connection: Connection, *, run_ids: Sequence[str], session: str, since_ms: int
) -> dict[str, int]:
    """The observations of an experiment that the server has, of its traces the roots at least.

    Args:
        connection: where to look.
        run_ids: of the runs to look in.
        session: that the experiment's traces share.
        since_ms: when its first trial began.

    Raises:
        LangfuseError: it cannot be asked.
    """
    since = moment(since_ms - MARGIN_MS)
    rows = [*_items(connection, run_ids, since), *_observations(connection, session, since)]
    return {row["id"]: milliseconds(row["startTime"]) for row in rows}


def items(
    connection: Connection, run_ids: Sequence[str], *, since: str, fields: str
) -> Iterator[dict[str, Any]]:
    """The roots of the trials of runs.

    Args:
        connection: where to ask.
        run_ids: of the runs.
        since: time as the API writes it; what began before is left out.
        fields: groups of fields, with commas.

    Raises:
        LangfuseError: it cannot be asked.
    """
    for chosen in _groups(run_ids):
        query = {"fromStartTime": since, "experimentId": ",".join(chosen)}
        yield from connection.listed(ITEMS, {**query, "fields": fields, "limit": PAGE})


def _items(connection: Connection, run_ids: Sequence[str], since: str) -> Iterator[dict[str, Any]]:
    return items(connection, run_ids, since=since, fields="core")


def observations(connection: Connection, session: str, since: str) -> Iterator[dict[str, Any]]:
    """The observations of a session.

    The votes' traces are in no run; and in the cloud this list is minutes ahead of the other.

    Raises:
        Refused: its status is 400 or 404 where the server does not know the question.
        LangfuseError: it cannot be asked.
    """
    chosen = {"type": "string", "column": "sessionId", "operator": "=", "value": session}
    query = {"fromStartTime": since, "fields": "core", "filter": json.dumps([chosen])}
    return connection.listed(OBSERVATIONS, {**query, "limit": OBSERVATIONS_PAGE})


def _observations(connection: Connection, session: str, since: str) -> list[dict[str, Any]]:
    """Every observation of a session; none where the server does not know the question."""
    try:
        return list(observations(connection, session, since))
    except Refused as refused:
        if refused.status not in (400, 404):
            raise
        return []


def _groups(run_ids: Sequence[str]) -> Iterable[Sequence[str]]:
    for start in range(0, len(run_ids), RUNS_AT_ONCE):
        yield run_ids[start : start + RUNS_AT_ONCE]
