"""Langfuse: keys, server, project, and whether it takes what lift sends."""

from __future__ import annotations

import time
from collections.abc import Iterator

from lift.doctor import Finding, failed, noted, ok
from lift.errors import SettingError
from lift.langfuse import configs
from lift.langfuse.client import OLDEST, Connection
from lift.langfuse.faults import LangfuseError
from lift.langfuse.wire import moment
from lift.outbox.project import Patience, connection
from lift.settings import Config

PATIENCE = Patience(deadline_s=10.0, timeout_s=8.0, tries=2)

MOST_SKEW_S = 60.0


def langfuse(config: Config) -> Iterator[Finding]:
    """What can be said of the project, as far as the server answers."""
    name = "langfuse keys"
    try:
        found = connection(config, PATIENCE)
    except SettingError as bad:
        yield failed(name, bad.what, bad.fix)
        return
    if found is None:
        fix = "set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"
        yield noted(name, "none is set: nothing is sent", fix)
        return
    yield ok(name, "set; they are never shown")
    with found as to:
        for name, look in LOOKS.items():
            try:
                yield look(name, to)
            except LangfuseError as problem:
                yield failed(name, f"{problem.what} ({to.base_url})", problem.fix)
                return


def _server(name: str, to: Connection) -> Finding:
    version, oldest = (".".join(map(str, v)) for v in (to.server_version(), OLDEST))
    if not version:
        return ok(name, f"{to.base_url}, which does not tell its version")
    if to.takes_lists():
        return ok(name, f"{version} at {to.base_url}")
    what = (
        f"{version} at {to.base_url} is older than {oldest}: scores go to its ingestion route, as"
        " its own one drops their times; everything else is the same"
    )
    return noted(name, what, f"update the server to {oldest} or newer")


def _project(name: str, to: Connection) -> Finding:
    return ok(name, to.project())


def _mode(name: str, to: Connection) -> Finding:
    """Ask for experiments: outside of v4 write mode there are none."""
    since = moment(int(time.time() * 1000))
    to.get("/api/public/experiments", {"fromStartTime": since, "limit": 1})
    return ok(name, "v4: it has experiments")


def _clock(name: str, to: Connection) -> Finding:
    ahead_s = to.clock_ahead_s()
    if ahead_s is None:
        return ok(name, "the server does not tell its time")
    if abs(ahead_s) <= MOST_SKEW_S:
        return ok(name, "within a minute of the server's")
    side = "ahead of" if ahead_s > 0 else "behind"
    return failed(
        name,
        f"this machine's clock is {abs(ahead_s):.0f} s {side} the server's: trials get its times",
        "set the clock, or have it set (NTP)",
    )


def _annotators(name: str, to: Connection) -> Finding:
    if missing := configs.missing(to):
        return noted(name, f"no score configs {', '.join(missing)}", "run lift sync")
    return ok(name, "score configs are there")


LOOKS = {
    "langfuse server": _server,
    "langfuse project": _project,
    "langfuse mode": _mode,
    "clock": _clock,
    "annotators": _annotators,
}
