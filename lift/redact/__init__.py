"""Secrets and structured personal data out of any text or JSON-like value, before it leaves.

`scan.KINDS` is the table of what counts as one, with parts in `keys` (private keys), `tokens` (what
services give out), `connections` and `assigned` (what something beside it gives away), `addresses`
and `numbers` (personal data). Their patterns are linear: fixed texts, edges of runs,
possessive runs, bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

from lift.redact.scan import Found, found, replaced
from lift.redact.words import secretive

__all__ = ["PLACEHOLDER", "Found", "Redactor", "found", "redacted"]

T = TypeVar("T")

PLACEHOLDER = re.compile(r"<[a-z][a-z0-9-]*+:[0-9]++>")  # what stands where a secret was

TELLING = re.compile(
    "(?i)pass|pwd|secret|token|key|auth|cred|cookie|ssn|social|phone|tel|mobil|fax|cell|ip|host|addr"
)
"""What is in a key that tells what its value is."""
SECRET_KEY = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|(?:api|access|secret|private|"
    r"auth|signing|encryption|master)[ _-]?key)[_-]?(?:value)?\Z"
)
"""A key whose value is a secret as a whole, whatever characters it has."""
LABELS, VALUES = ("name", "key", "Name", "Key"), ("value", "Value")
"""Of a pair that has both, the first names the second: `{"name": "API_KEY", "value": …}`."""


def redacted(value: T) -> T:
    """A copy of a text or JSON-like value with a placeholder in place of each secret.

    A placeholder is `<kind:number>`. Numbers count the secrets of one value over all kinds, from 1,
    as they first come up: depth first, a dict's keys before its values. The same secret gets the
    same placeholder; one that is there already stays as it is, and is not given to a secret. So
    placeholders say nothing about the secret, and are the same on every machine.

    Strings are masked in lists, tuples and dicts, keys too; anything else is returned as it is. A
    value under a telling key (`{"secret_key": …}`) counts as assigned to it.
    """
    return Redactor().value(value)


class Redactor:
    """Masks the parts of one document one by one; the numbers go on from part to part."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self._number = 0

    def value(self, value: T) -> T:
        """What `redacted` returns, for one part of the document."""
        _rebuilt(value, self._seen)
        return cast("T", _rebuilt(value, self._masked))

    def _seen(self, text: str, _key: Any) -> str:
        if "<" in text:
            self._taken.update(PLACEHOLDER.findall(text))
        return text

    def _masked(self, text: str, key: Any) -> str:
        spans = (
            _found_under(key, text) if isinstance(key, str) and TELLING.search(key) else found(text)
        )
        return replaced(text, spans, lambda s: self._name(text[s.start : s.end], s.kind))

    def _name(self, secret: str, kind: str) -> str:
        while secret not in self._names:
            self._number += 1
            if (name := f"<{kind}:{self._number}>") not in self._taken:
                self._names[secret] = name
        return self._names[secret]


def _found_under(key: str, text: str) -> list[Found]:
    """The secrets in a value that has a telling name."""
    lead = f"{key}: "
    spans = [
        Found(span.kind, span.start - len(lead), span.end - len(lead))
        for span in found(lead + text)
        if span.start >= len(lead)
    ]
    whole = len(text.split()) == 1 and secretive(text, shortest=8) and SECRET_KEY.search(key)
    if whole and PLACEHOLDER.search(text) is None:
        kind = spans[0].kind if spans else "password" if "pass" in key.lower() else "secret"
        return [Found(kind, 0, len(text))]
    return spans


def _rebuilt(value: Any, masked: Callable[[str, Any], str]) -> Any:
    """The value with its strings masked; without recursion, as JSON may be of any depth."""
    top: list[Any] = [None]
    todo: list[tuple[Any, Any, Any, Any]] = [(top, 0, value, None)]
    made: dict[int, Any] = {}
    tuples: list[tuple[Any, Any, Any]] = []
    while todo:
        parent, slot, item, key = todo.pop()
        if isinstance(item, str):
            parent[slot] = masked(item, key)
        elif not isinstance(item, dict | list | tuple):
            parent[slot] = item
        else:
            if id(item) not in made or isinstance(item, tuple):
                made[id(item)], children = _opened(item, key, masked)
                todo += reversed(children)
            parent[slot] = made[id(item)]
            if isinstance(item, tuple):
                tuples.append((parent, slot, getattr(item, "_make", tuple)))
    for parent, slot, make in reversed(tuples):
        parent[slot] = make(parent[slot])
    return top[0]


def _opened(item: Any, key: Any, masked: Callable[[str, Any], str]) -> tuple[Any, list[Any]]:
    """A container like the item, still without values, and what goes into it."""
    if not isinstance(item, dict):
        parts = [None] * len(item)
        return parts, [(parts, slot, child, key) for slot, child in enumerate(item)]
    keys = [masked(key, None) if isinstance(key, str) else key for key in item]
    table = dict.fromkeys(keys)
    label = next((item[label] for label in LABELS if isinstance(item.get(label), str)), None)
    return table, [
        (table, new, item[old], label if label and old in VALUES else old)
        for new, old in zip(keys, item, strict=True)
    ]
