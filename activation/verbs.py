"""The verbs that a description may open with: those of verbs.txt, one base form a line."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

WORD = re.compile(r"[\W_]*([A-Za-z]+(?:-[A-Za-z]+)*)")


def opens_with_verb(text: str) -> bool:
    """Whether a text opens with a verb: `Generate`, `Generates`, `Use when`, `Re-runs`."""
    match = WORD.match(text)
    if not match:
        return False
    word = match[1].lower()
    return not verbs().isdisjoint((*_base_forms(word), *_base_forms(word.rpartition("-")[2])))


@cache
def verbs() -> frozenset[str]:
    """The base forms."""
    return frozenset(files("activation").joinpath("verbs.txt").read_text("utf-8").split())


def _base_forms(word: str) -> tuple[str, ...]:
    """What the word may be a form of: itself, or with the ending of the third person."""
    forms = [word]
    if word.endswith("ies"):
        forms.append(f"{word[:-3]}y")
    if word.endswith("es"):
        forms.append(word[:-2])
    if word.endswith("s"):
        forms.append(word[:-1])
    return tuple(forms)
