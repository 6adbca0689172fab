"""Loopback servers for tests: the Messages API, scripted, with faults. Standard library only."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FULL, HALF = 1.0, 0.5


@dataclass(frozen=True)
class Says:
    """What the server does with one call."""

    text: str = "ok"
    stop_reason: str = "end_turn"
    input_tokens: int = 10
    output_tokens: int = 5
    cache_write: int = 0
    cache_read: int = 0
    status: int = 200
    error: str = "api_error"
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    """Before the answer begins."""
    reset: bool = False
    """Close the connection with a reset instead of answering."""
    body: bytes | None = None
    """Sent instead of the message, as HTML."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Of the message, in place of what a well-behaved server sends there."""
    sent: float = FULL
    """Share of the body that arrives before the connection closes."""


Script = Callable[[dict[str, Any], int], Says]
"""(request body, how often the same body came before) → what to do."""


SUCCEEDED, ERRORED, INVALID, EXPIRED, CANCELED, MISSING, GARBLED, NO_JSON = (
    "succeeded", "errored", "invalid", "expired", "canceled", "missing", "garbled", "no json"
)  # fmt: skip
"""How an entry of a batch may end."""

Fate = Callable[[dict[str, Any], int], str]
"""(request body, how often the same body was in a batch before) → how the entry ends."""


@dataclass
class Batch:
    """A batch that the server took."""

    name: str
    requests: list[dict[str, Any]]
    results: list[bytes]
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass
class Model:
    """A Messages API server under test's control."""

    script: Script = lambda _body, _attempt: Says()
    fate: Fate = lambda _body, _attempt: SUCCEEDED
    batches: list[Batch] = field(default_factory=list)
    """Those that the server took, in order."""
    says_of_errors: str = "odd"
    held: bool = False
    """While it is set no batch ends."""
    refuses: list[Says] = field(default_factory=list)
    """What the next calls about batches get instead of an answer, one each."""
    loses: int = 0
    """Of so many batches that it takes the server resets the connection instead of saying so."""
    before_taking: Callable[[], object] = lambda: None
    after_taking: Callable[[], object] = lambda: None
    """Called while a client waits to hear that its batch was taken."""
    models_status: int = 200
    """What it answers to whether it has a model."""
    calls: list[dict[str, Any]] = field(default_factory=list)
    """Request bodies, in order of arrival."""
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    url: str = ""
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, body: dict[str, Any], headers: dict[str, str]) -> int:
        with self._lock:
            key = json.dumps({k: v for k, v in body.items() if k != "stream"}, sort_keys=True)
            attempt = self._seen[key]
            self._seen[key] += 1
            self.calls.append(body)
            self.headers.append(headers)
            self.in_flight += 1
            self.peak = max(self.peak, self.in_flight)
            return attempt

    def leave(self) -> None:
        with self._lock:
            self.in_flight -= 1


@contextmanager
def serving(script: Script | None = None) -> Iterator[Model]:
    """A server on a free loopback port, until the block ends."""
    model = Model(script or Model.script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path == BATCHES:
                with suppress(BrokenPipeError, ConnectionResetError):
                    _take(self, model, body["requests"])
                return
            model.paths.append(self.path)
            attempt = model.enter(body, {k.lower(): v for k, v in self.headers.items()})
            try:
                _answer(self, body, model.script(body, attempt))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                model.leave()

        def do_GET(self) -> None:
            if self.path.startswith("/v1/models"):
                known = {"id": self.path.rpartition("/")[2], "type": "model", "display_name": "m"}
                data = json.dumps({**known, "created_at": "2026-01-01T00:00:00Z"}).encode()
                _send(self, Says(status=model.models_status), data, "application/json")
                return
            with suppress(BrokenPipeError, ConnectionResetError):
                _answer_about(self, model)

        def log_message(self, *_args: Any) -> None:
            """Nothing: tests read what they need from the model."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


BATCHES = "/v1/messages/batches"


def _take(handler: BaseHTTPRequestHandler, model: Model, requests: list[dict[str, Any]]) -> None:
    if model.refuses:
        _answer(handler, {}, model.refuses.pop(0))
        return
    model.before_taking()
    results = [line for request in requests if (line := _result(model, request))]
    batch = Batch(f"msgbatch_{len(model.batches)}", requests, results[::-1])
    model.batches.append(batch)
    model.after_taking()
    if model.loses:
        model.loses -= 1
        _answer(handler, {}, Says(reset=True))
        return
    _send(handler, Says(), json.dumps(_told(model, batch)).encode(), "application/json")


def _answer_about(handler: BaseHTTPRequestHandler, model: Model) -> None:
    path = handler.path.partition("?")[0]
    name = path.removeprefix(BATCHES).strip("/").removesuffix("/results")
    batch = next((one for one in model.batches if one.name == name), None)
    if model.refuses:
        _answer(handler, {}, model.refuses.pop(0))
    elif path == BATCHES:
        told = [_told(model, one) for one in reversed(model.batches)]
        page = {"data": told, "has_more": False, "first_id": None, "last_id": None}
        _send(handler, Says(), json.dumps(page).encode(), "application/json")
    elif batch is None or (path.endswith("/results") and model.held):
        _answer(handler, {}, Says("no such batch", status=404, error="not_found_error"))
    elif path.endswith("/results"):
        _send(handler, Says(), b"\n".join(batch.results) + b"\n", "application/x-jsonl")
    else:
        _send(handler, Says(), json.dumps(_told(model, batch)).encode(), "application/json")


def _told(model: Model, batch: Batch) -> dict[str, Any]:
    kinds = ("processing", "succeeded", "errored", "canceled", "expired")
    counts = dict.fromkeys(kinds, 0) | {kinds[not model.held]: len(batch.requests)}
    return {
        "id": batch.name,
        "type": "message_batch",
        "processing_status": "in_progress" if model.held else "ended",
        "request_counts": counts,
        "created_at": batch.created.isoformat(),
        "expires_at": (batch.created + timedelta(days=1)).isoformat(),
        "ended_at": None if model.held else batch.created.isoformat(),
        "results_url": None if model.held else "https://elsewhere.invalid/results",
    }


def _result(model: Model, request: dict[str, Any]) -> bytes:
    """The line that says how an entry ended; empty where there is none."""
    body = request["params"]
    with model._lock:
        attempt = model._seen["batch" + json.dumps(body, sort_keys=True)]
        model._seen["batch" + json.dumps(body, sort_keys=True)] += 1
    fate = model.fate(body, attempt)
    ended: dict[str, Any] = {"type": fate}
    if fate in (MISSING, NO_JSON):
        return b"" if fate == MISSING else b"{oops"
    if fate in (SUCCEEDED, GARBLED):
        message = _message(body, model.script(body, attempt))
        ended = {"type": SUCCEEDED, "message": message if fate == SUCCEEDED else {"id": 1}}
    elif fate in (ERRORED, INVALID):
        kind = "invalid_request_error" if fate == INVALID else "api_error"
        error = {"type": kind, "message": model.says_of_errors}
        ended = {"type": ERRORED, "error": {"type": "error", "error": error}}
    return json.dumps({"custom_id": request["custom_id"], "result": ended}).encode()


def refused_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answer(handler: BaseHTTPRequestHandler, body: dict[str, Any], says: Says) -> None:
    time.sleep(says.seconds)
    if says.reset:
        linger = struct.pack("ii", 1, 0)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        handler.connection.close()
        handler.close_connection = True
    elif says.status != 200:
        error = {"type": "error", "error": {"type": says.error, "message": says.text}}
        _send(handler, says, json.dumps(error).encode(), "application/json")
    elif says.body is not None:
        _send(handler, says, says.body, "text/html")
    elif body.get("stream"):
        _send(handler, says, _events(body, says), "text/event-stream")
    else:
        _send(handler, says, json.dumps(_message(body, says)).encode(), "application/json")


def _send(handler: BaseHTTPRequestHandler, says: Says, data: bytes, kind: str) -> None:
    handler.send_response(says.status)
    handler.send_header("content-type", kind)
    handler.send_header("content-length", str(len(data)))
    for name, value in says.headers:
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data[: int(len(data) * says.sent)])
    if says.sent < FULL:
        handler.close_connection = True


def _message(body: dict[str, Any], says: Says) -> dict[str, Any]:
    return {
        "id": "msg_test",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": says.text}] if says.text else [],
        "stop_reason": says.stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": says.input_tokens,
            "output_tokens": says.output_tokens,
            "cache_creation_input_tokens": says.cache_write,
            "cache_read_input_tokens": says.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": says.cache_write,
                "ephemeral_1h_input_tokens": 0,
            },
        },
        **says.fields,
    }


def _events(body: dict[str, Any], says: Says) -> bytes:
    message = _message(body, says)
    start = {**message, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(message["content"]):
        empty = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    usage = {"output_tokens": says.output_tokens}
    ending = {"stop_reason": says.stop_reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": usage})
    events.append({"type": "message_stop"})
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return "".join(lines).encode()
