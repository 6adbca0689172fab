"""What is set up and what is not, each with what to do about it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """How a finding is."""

    OK = "ok"
    NOTE = "note"
    """Something does without, or does otherwise."""
    FAILED = "failed"
    """Something that is set up does not work."""


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: State
    what: str
    """How it is, without any secret."""
    fix: str = ""
    """What to do about it; empty where it is well."""


def ok(name: str, what: str) -> Finding:
    """It is well."""
    return Finding(name, State.OK, what)


def noted(name: str, what: str, fix: str) -> Finding:
    """It is not, and need not be."""
    return Finding(name, State.NOTE, what, fix)


def failed(name: str, what: str, fix: str) -> Finding:
    """It is not, and should be."""
    return Finding(name, State.FAILED, what, fix)
