"""Loopback servers for tests: the Messages API, scripted, with faults. Standard library only."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
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


@dataclass
class Model:
    """A Messages API server under test's control."""

    script: Script = lambda _body, _attempt: Says()
    calls: list[dict[str, Any]] = field(default_factory=list)
    """Request bodies, in order of arrival."""
    headers: list[dict[str, str]] = field(default_factory=list)
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
            attempt = model.enter(body, {k.lower(): v for k, v in self.headers.items()})
            try:
                _answer(self, body, model.script(body, attempt))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                model.leave()

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
