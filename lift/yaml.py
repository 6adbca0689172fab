"""YAML that people wrote: read by the safe loader, whatever that makes of it."""

from __future__ import annotations

from typing import Any

import yaml

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

FAULTS = (
    yaml.YAMLError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
)
"""What the loader raises: it does not check what stands behind a tag such as `!!timestamp`."""


MOST_VALUES = 1_000_000
"""Of a document, each alias written out; a few lines may stand for more than any memory holds."""


class Malformed(ValueError):
    """The text is no YAML, or a value of it is not what its tag says."""


def load(text: str) -> Any:
    """What a YAML document says: mappings, lists, texts, numbers, booleans, dates.

    Raises:
        Malformed: it says nothing that can be read.
    """
    try:
        value = yaml.load(text, Loader=_Loader)
        if _count(value, {}) > MOST_VALUES:
            raise Malformed(f"it has more than {MOST_VALUES:,} values, its aliases written out")
        return value
    except FAULTS as bad:
        said = str(bad) if isinstance(bad, yaml.YAMLError | ValueError) else "a value is malformed"
        raise Malformed(" ".join(said.split())) from bad


def _count(value: Any, known: dict[int, int]) -> int:
    """How many values there are in a value, itself included.

    Args:
        value: of a document.
        known: id of a collection → its count; 0 while it is being counted.
    """
    if not isinstance(value, dict | list | set | tuple):
        return 1
    if known.get(id(value)) == 0:
        raise Malformed("a value of it holds itself")
    if id(value) not in known:
        known[id(value)] = 0
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_count(part, known) for part in parts)
    return known[id(value)]
