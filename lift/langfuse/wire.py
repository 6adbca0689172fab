"""What values look like on their way: texts, numbers and times that come back as they went."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

Redact = Callable[[Any], Any]
"""Masks what may not leave, in strings at any depth of a value."""

JSON_BEGINS = tuple('"{[-0123456789tfnNI')

LONGEST_TEXT_BYTES = 200_000
"""A longer text is cut; the journal keeps it whole."""


def prepared(value: Any, redact: Redact, *, whole: bool = False) -> Any:
    """A value of JSON with nothing in it that may not leave, or that a server cannot hold.

    Args:
        value: anything JSON can hold.
        redact: masks strings.
        whole: whether long texts stay as long as they are.
    """
    clean = redact(_each_text(value, storable))
    return clean if whole else _each_text(clean, cut)


def storable(text: str) -> str:
    """The text with U+FFFD for what no database takes: NUL, and half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "�")


def cut(text: str) -> str:
    """The text, or its first 200 kB and where the rest is."""
    data = text.encode()
    if len(data) <= LONGEST_TEXT_BYTES:
        return text
    head = data[:LONGEST_TEXT_BYTES].decode(errors="ignore")
    return f"{head}\n[cut here, {len(data)} bytes in all; the journal has it whole: lift show]"


def attribute(value: Any) -> str:
    """A value as a span carries it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def flat(fields: Mapping[str, str | int | float | bool]) -> dict[str, str]:
    """Metadata as servers keep it: strings.

    Some servers read strings that look like JSON as JSON, so a text that does (`1.0`, `true`) is
    quoted; numbers come back as the same number either way.
    """
    return {name: _flat(value) for name, value in fields.items()}


def text(value: Any) -> str:
    """The text of a metadata value made by `flat`, whatever a server made of it."""
    if not isinstance(value, str):
        return json.dumps(value)
    if value.startswith('"') and _looks_like_json(value):
        return str(json.loads(value))
    return value


def moment(milliseconds: int) -> str:
    """Unix milliseconds as the API writes a time."""
    time = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def milliseconds(moment: str) -> int:
    """Unix milliseconds of a time as the API writes it.

    Raises:
        ValueError: it is no time.
    """
    time = datetime.fromisoformat(moment)
    return round(time.replace(tzinfo=time.tzinfo or UTC).timestamp() * 1000)


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(key)): _each_text(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(inner, change) for inner in value]
    return value


def _flat(value: str | int | float | bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str):
        return repr(value)
    return json.dumps(value) if _looks_like_json(value) or value.startswith('"') else value


def _looks_like_json(value: str) -> bool:
    if value.lstrip()[:1] not in JSON_BEGINS:  # most texts do not, and parsing is slow
        return False
    try:
        json.loads(value)
    except ValueError:
        return False
    return True
