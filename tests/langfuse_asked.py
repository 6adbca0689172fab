"""What a Langfuse project on loopback is asked, and how it may fail: for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Answer = tuple[int, Any]
Query = dict[str, str]
Row = dict[str, Any]


@dataclass
class Fault:
    """What the server does instead of answering, so many times."""

    path: str
    status: int = 0
    times: int = 10**9
    stored: bool = False
    """Whether it takes the request all the same."""
    reset: bool = False
    hang: bool = False
    html: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    method: str = ""
    after: int = 0
    """How many requests go well before."""


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    query: Query
    headers: dict[str, str]
    body: Any
    data: bytes
