"""Gives the client every recorded response of a Langfuse server, and says what it makes of it.

    python benchmarks/recordings.py FOLDER

FOLDER holds one JSON file a request: {request: {method, path, body}, response: {status, headers,
body}}. Each is answered by a server on this machine and asked for the way lift asks. The exit code
is 1 if one is not accepted: a success that cannot be read, or a refusal without its reason.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr

from lift.langfuse.client import Connection, LangfuseCredential
from lift.langfuse.faults import LangfuseError, Refused
from lift.langfuse.wire import milliseconds

Recording = dict[str, Any]

PUBLIC = "/api/public"
CURSORS = ("experiments", "experiment-items", "v2/observations", "v3/scores")
PAGES = ("dataset-items", "score-configs")
OBJECTS = ("v2/datasets/", "dataset-items/", "v2/prompts/")
WRITTEN = ("v2/datasets", "dataset-items", "v2/prompts", "score-configs", "scores", "ingestion")


def main(folder: Path) -> int:
    """Print a line for each recording; returns the exit code."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        print(f"no recordings in {folder}")
        return 2
    failures = 0
    for path in paths:
        recording = json.loads(path.read_text("utf-8"))
        try:
            verdict = of(recording)
        except (LangfuseError, ValueError, KeyError, TypeError) as bad:
            verdict = f"NOT ACCEPTED: {type(bad).__name__}: {bad}".splitlines()[0]
            failures += 1
        print(f"{path.name[:60]:<60}  {verdict}")
    print(f"{len(paths)} recordings, {failures} not accepted")
    return 1 if failures else 0


def of(recording: Recording) -> str:
    """What the client makes of a recording.

    Raises:
        LangfuseError: it does not take it for what it is.
    """
    ask = _asking(recording["request"])
    if ask is None:
        return "not used"
    status = recording["response"]["status"]
    with _answering(recording["response"]) as url, _connected(url) as connection:
        try:
            said = ask(connection)
        except Refused as refused:
            if refused.status != status:
                raise
            return f"refused, {status}: {refused.what[:60]}"
        except LangfuseError:
            if "html" not in recording["response"]["headers"].get("content-type", ""):
                raise
            return f"told from the API, {status}"
    if status >= 400:
        raise ValueError(f"status {status} was taken for a success")
    return f"accepted, {status}: {said}"


def _asking(request: Recording) -> Callable[[Connection], str] | None:
    parts = urlsplit(request["path"])
    path, query = parts.path, dict(parse_qsl(parts.query))
    name = path.removeprefix(f"{PUBLIC}/")
    if request["method"] == "POST":
        if name == "otel/v1/traces":
            return lambda to: _sent(to.post_spans(b""))
        if name in WRITTEN:
            return lambda to: ", ".join(sorted(to.post(path, request["body"]).body)[:4])
    return _reading(request["method"], path, name, query)


def _reading(
    method: str, path: str, name: str, query: dict[str, str]
) -> Callable[[Connection], str] | None:
    if method != "GET":
        return None
    if name == "projects":
        return lambda to: to.project()
    if name == "health":
        return lambda to: ".".join(map(str, to.server_version()))
    if name in CURSORS:
        return lambda to: _times(list(to.listed(path, query)))
    if name in PAGES:
        return lambda to: f"{len(list(to.numbered(path, query)))} entries"
    if name.startswith(OBJECTS):
        return lambda to: ", ".join(sorted(to.get(path, query))[:4])
    return None


def _sent(_nothing: None) -> str:
    return "spans"


def _times(rows: list[Recording]) -> str:
    """How many rows there are; every time among them must be one."""
    for row in rows:
        for key in ("startTime", "timestamp"):
            if key in row:
                milliseconds(row[key])
    return f"{len(rows)} rows"


def _connected(url: str) -> Connection:
    credential = LangfuseCredential(public_key="pk", secret_key=SecretStr("sk"), base_url=url)
    return Connection(credential, tries=1)


@contextmanager
def _answering(response: Recording) -> Iterator[str]:
    body = response["body"]
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = response["headers"].get("content-type", "application/json")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(response["status"])
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815 - the name that http.server looks for

        def log_message(self, *_args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
