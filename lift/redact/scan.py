"""Every secret in a text, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from string import ascii_letters, digits
from typing import NamedTuple

from lift.redact import addresses, assigned, connections, keys, numbers, tokens
from lift.redact.kinds import Kind, text_of

KINDS: tuple[Kind, ...] = (
    *keys.KINDS,
    *tokens.KINDS,
    *connections.KINDS,
    *assigned.KINDS,
    *addresses.KINDS,
    *numbers.KINDS,
)
"""What is found. Of two that begin at one place, the earlier wins."""

RANKS: dict[str, list[int]] = {}
"""Mark → places in the table of the kinds that need it."""
for _rank, _kind in enumerate(KINDS):
    for _mark in _kind.marks:
        RANKS.setdefault(_mark, []).append(_rank)

SHORTEST = 6
"""No secret is shorter together with what gives it away."""

LOOKED_AT = frozenset({*ascii_letters, *digits, *"/+~._-:@%&=()[]"})
"""What the edges of secrets look at."""

NEAR = 4000
"""Characters that a pattern looks at around a place, at most."""

MOST_PASSES = 4
"""Secrets that stick to each other come to light one after the other. What does so even then is
masked with all that sticks to it."""


class Found(NamedTuple):
    """One secret in a text: `text[start:end]`."""

    kind: str
    start: int
    end: int


def found(text: str) -> list[Found]:
    """The secrets in a text, in order; they do not overlap."""
    if len(text) < SHORTEST:
        return []
    spans = new = _pass(text)
    for last in (False,) * (MOST_PASSES - 2) + (True,):
        sticky = [span for span in new if _sticks(text, span)]
        if not sticky:
            break  # else a neighbour may have hidden the edge of another secret
        text = replaced(text, new, lambda span: "<" * (span.end - span.start))
        new = _beside(text, sticky)
        if last:
            new = _widened(text, new)
        spans = _apart(sorted([*spans, *new], key=lambda span: span.start))
    return spans


def replaced(text: str, spans: Sequence[Found], new: Callable[[Found], str]) -> str:
    """The text with something else in place of each secret.

    Args:
        text: with the secrets.
        spans: of the text, in order.
        new: what to put in place of one.
    """
    parts, done = [], 0
    for span in spans:
        parts += [text[done : span.start], new(span)]
        done = span.end
    return "".join([*parts, text[done:]]) if parts else text


def _pass(text: str) -> list[Found]:
    prepared = text_of(text)
    ranks = {rank for mark, ranks in RANKS.items() if mark in prepared.folded for rank in ranks}
    hits = sorted(
        (start, rank, end)
        for rank in ranks
        for start, end in KINDS[rank].find(prepared)
        if start < end
    )
    return _apart([Found(KINDS[rank].name, start, end) for start, rank, end in hits])


def _beside(text: str, spans: Sequence[Found]) -> list[Found]:
    """The secrets near these places of the text; what looks at a place is nearer than `NEAR`."""
    found: list[Found] = []
    for start, end in _merged((span.start - 2 * NEAR, span.end + 2 * NEAR) for span in spans):
        first = start + NEAR if start > 0 else 0
        last = end - NEAR if end < len(text) else end
        start = max(0, start)
        for span in _pass(text[start:end]):
            if span.end + start > first and span.start + start < last:
                found.append(Found(span.kind, span.start + start, span.end + start))
    return found


def _merged(windows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Windows in the order of their starts, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in windows:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _apart(spans: Sequence[Found]) -> list[Found]:
    """Of two secrets that overlap the earlier wins; the later keeps what sticks out."""
    kept, done = [], 0
    for span in spans:
        if span.end > done:
            kept.append(span._replace(start=max(span.start, done)))
            done = span.end
    return kept


def _sticks(text: str, span: Found) -> bool:
    around = text[max(0, span.start - 1) : span.start] + text[span.end : span.end + 1]
    return not LOOKED_AT.isdisjoint(around)


def _widened(text: str, spans: Sequence[Found]) -> list[Found]:
    """Each with all that sticks to it."""
    wide, done = [], 0
    for span in spans:
        start, end = max(span.start, done), max(span.end, done)
        while start > done and text[start - 1] in LOOKED_AT:
            start -= 1
        while end < len(text) and text[end] in LOOKED_AT:
            end += 1
        wide.append(span._replace(start=start, end=end))
        done = end
    return [span for span in wide if span.start < span.end]
