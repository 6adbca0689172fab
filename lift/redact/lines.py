"""What would be masked of a text: each secret with its line, and what stands around it."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from lift.redact.scan import found

AROUND = 30
"""So many characters before and after a placeholder are shown."""


class Line(NamedTuple):
    """One secret, without itself."""

    kind: str
    line: int
    """1 for the first."""
    column: int
    """1 for the first character of the line."""
    context: str
    """What stands around it on its line; every secret is a placeholder."""


def lines(text: str) -> list[Line]:
    """The secrets of a text, in order; none can be read from what is returned."""
    begins = [0, *(at + 1 for at, letter in enumerate(text) if letter == "\n")]
    numbers: dict[str, int] = {}
    parts: list[str] = []
    shown: list[tuple[str, int, int, int, int]] = []
    length = done = 0
    for span in found(text):
        secret = text[span.start : span.end]
        name = f"<{span.kind}:{numbers.setdefault(secret, len(numbers) + 1)}>"
        before = text[done : span.start]
        parts += [before, name]
        start = length + len(before)
        length, done = start + len(name), span.end
        line = bisect_right(begins, span.start)
        shown.append((span.kind, line, span.start - begins[line - 1] + 1, start, length))
    masked = "".join([*parts, text[done:]])
    return [
        Line(kind, line, column, _around(masked, start, end))
        for kind, line, column, start, end in shown
    ]


def _around(text: str, start: int, end: int) -> str:
    before = text[max(0, start - AROUND) : start].rpartition("\n")[2]
    after = text[end : end + AROUND].partition("\n")[0]
    return f"{before}{text[start:end]}{after}".strip()
