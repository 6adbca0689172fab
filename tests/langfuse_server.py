"""A Langfuse project on loopback for tests, with faults. It keeps what it is told."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from langfuse_project import Answer, Asked, Fault, Langfuse
from langfuse_spans import spans_of


@contextmanager
def serving(langfuse: Langfuse) -> Iterator[Langfuse]:
    """The project on a free loopback port, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            asked = _asked(self)
            with langfuse.lock:
                langfuse.asked.append(asked)
                fault = langfuse.fault(asked.method, asked.path)
                answer = langfuse.route(asked) if fault is None or fault.stored else None
            try:
                _answer(self, langfuse, fault, answer)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def do_PATCH(self) -> None:
            self.answer()

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string((timestamp or time.time()) + langfuse.ahead_s)

        def log_message(self, *_args: Any) -> None:
            """Nothing: tests read what they need from the project."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    langfuse.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield langfuse
    finally:
        langfuse.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _asked(handler: BaseHTTPRequestHandler) -> Asked:
    parts = urlsplit(handler.path)
    headers = {key.lower(): value for key, value in handler.headers.items()}
    data = handler.rfile.read(int(headers.get("content-length", 0)))
    plain = gzip.decompress(data) if headers.get("content-encoding") == "gzip" else data
    kind = headers.get("content-type", "")
    body: Any = spans_of(plain) if "protobuf" in kind else json.loads(plain or b"null")
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    return Asked(handler.command, unquote(parts.path), query, headers, body, plain)


def _answer(
    handler: BaseHTTPRequestHandler, langfuse: Langfuse, fault: Fault | None, answer: Answer | None
) -> None:
    if fault and fault.hang:
        langfuse.closing.wait()
        handler.close_connection = True
    elif fault and fault.reset:
        linger = struct.pack("ii", 1, 0)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        handler.connection.close()
        handler.close_connection = True
    elif fault and fault.html:
        _send(handler, fault.status or 200, b"<html>hello</html>", "text/html", fault.headers)
    elif fault or answer is None:
        assert fault is not None
        data = json.dumps({"message": f"fault {fault.status}"}).encode()
        _send(handler, fault.status, data, "application/json", fault.headers)
    else:
        _send(handler, answer[0], json.dumps(answer[1]).encode(), "application/json", ())


def _send(
    handler: BaseHTTPRequestHandler,
    status: int,
    data: bytes,
    kind: str,
    headers: tuple[tuple[str, str], ...],
) -> None:
    handler.send_response(status)
    for name, value in (("content-type", kind), ("content-length", str(len(data))), *headers):
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)
