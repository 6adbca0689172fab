"""A call without an answer: what became of it, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping


class Fault(Exception):
    """A call without an answer.

    Args:
        said: what happened, for a person.
    """

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


class Unsent(Fault):
    """No connection came about: the server was not asked."""


class Cut(Fault):
    """It broke off, or took too long: the server may have done what it was asked."""


class Malformed(Fault):
    """The server answered with something that is no answer."""


class Refusal(Fault):
    """The server answered with an error.

    Args:
        said: its own words.
        status: of HTTP; below 400 where the error is an event of a stream that had begun.
        headers: that came with it; their names in any case.
    """

    def __init__(self, said: str, *, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(said)
        self.status = status
        self.headers = headers


def named(failed: BaseException) -> str:
    """What a library raised, in a line."""
    return f"{type(failed).__name__}: {failed}".rstrip(": ")
