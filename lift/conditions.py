"""Which conditions are asked, and which of them is measured from which."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from lift.errors import UsageError
from lift.schema import OLD_SKILL, WITH_SKILL, WITHOUT_SKILL, ConditionName

CONDITIONS: tuple[ConditionName, ...] = (WITH_SKILL, WITHOUT_SKILL, OLD_SKILL)
"""In the order they are asked."""

_COMMA = re.compile(rf",(?=\s*(?:{'|'.join(CONDITIONS)})\b)")
"""A comma between conditions; one inside a revision or a path is none."""


class Conditions(NamedTuple):
    """What is varied."""

    names: tuple[ConditionName, ...] = (WITH_SKILL, WITHOUT_SKILL)
    """Two or three, in the order they are asked."""
    old: str = ""
    """The git revision or folder of `old_skill`; empty where that is not asked."""


DEFAULT = Conditions()


class Pair(NamedTuple):
    """Two conditions that are compared: other minus base."""

    base: str
    other: str


def parse(text: str) -> Conditions:
    """Read conditions: names with commas between them, `old_skill=REV-or-PATH` one of them.

    Their order does not matter: the same conditions are the same experiment.

    Raises:
        UsageError: a name is unknown or there twice, there is one alone, or `old_skill` does not
            say which.
    """
    parts = [part.strip().partition("=") for part in _COMMA.split(text)]
    given = {name.strip(): value.strip() for name, _, value in parts}
    for name, equals, _ in parts:
        for one in map(str.strip, name.split(",")):
            if one not in CONDITIONS:
                raise _malformed(f"there is no condition {one!r}", text)
        if equals and name.strip() != OLD_SKILL:
            raise _malformed(f"{name.strip()} takes no value", text)
    if not given.get(OLD_SKILL, "given"):
        raise _malformed("old_skill does not say which", text)
    if len(given) < len(parts):
        raise _malformed("a condition is there twice", text)
    if len(given) < 2:
        raise _malformed("one condition alone is no comparison", text)
    return Conditions(tuple(n for n in CONDITIONS if n in given), given.get(OLD_SKILL, ""))


def pairs(names: Collection[str]) -> list[Pair]:
    """What is compared among conditions, the pair to look at first in front.

    The skill is measured from `without_skill` and from `old_skill`; without it, the old skill from
    `without_skill`. One condition alone makes no pair.
    """
    other = WITH_SKILL if WITH_SKILL in names else OLD_SKILL
    if other not in names:
        return []
    bases = (name for name in (WITHOUT_SKILL, OLD_SKILL) if name in names and name != other)
    return [Pair(base, other) for base in bases]


def _malformed(what: str, text: str) -> UsageError:
    return UsageError(
        what,
        where=f"--conditions {text}",
        fix="name two or three of with_skill, without_skill and old_skill=REV-or-PATH",
    )
