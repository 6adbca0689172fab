"""Masking takes time in proportion to the text, whatever the text is made of."""

from __future__ import annotations

import ast
import inspect
import random
import time
from itertools import chain, pairwise

import pytest

from lift.redact import addresses, assigned, connections, found, keys, numbers, tokens
from lift.redact.corpus import cases
from lift.redact.scan import KINDS

SHORT, LONG = 3_000, 12_000
"""Characters; the second is four times the first."""
MOST = 9.0
"""Four times the text takes about four times as long; with a square in it, sixteen times."""

AROUND = [
    "=",
    ":",
    " ",
    '"',
    "'",
    "\\n",
    "\n",
    "@",
    "/",
    "+",
    ".",
    "-",
    "a",
    "0",
    "A",
    "x=y;",
    "a@b",
]


def literals() -> list[str]:
    """Every fixed text that the tables are made of."""
    modules = (addresses, assigned, connections, keys, numbers, tokens)
    nodes = chain.from_iterable(ast.walk(ast.parse(inspect.getsource(m))) for m in modules)
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    words = {word for text in texts if len(text) < 200 for word in text.split()}
    marks = {mark for kind in KINDS for mark in kind.marks}
    return sorted(marks | {word for word in words if not set(word) & set("\\{}[]()|*?")})


def units() -> list[str]:
    """Texts to repeat: each fixed text, alone and among others, and the halves of secrets."""
    chance = random.Random(5)
    known = literals()
    mixed = ["".join(chance.choices(known + AROUND, k=chance.randint(2, 4))) for _ in range(150)]
    halves = [case.text[: len(case.text) // 2] for case in chance.sample(cases(), 50)]
    return [*known, *AROUND, *mixed, *halves]


def seconds(text: str) -> float:
    """Processor time."""
    began = time.process_time()
    found(text)
    return time.process_time() - began


def repeated(unit: str, length: int) -> str:
    return unit * (length // len(unit) + 1)


def grows_too_fast(unit: str) -> bool:
    short, long = (seconds(repeated(unit, length)) for length in (SHORT, LONG))
    # what is that fast cannot be told from noise; a square would not be fast
    return long > 0.02 and long > MOST * short


@pytest.mark.parametrize("part", range(8))
def test_no_text_takes_more_than_its_share(part: int):
    assert [
        unit for unit in units()[part::8] if grows_too_fast(unit) and grows_too_fast(unit)
    ] == []


def test_secrets_that_hide_each_other_end():
    chain_of_secrets = "".join(case.secret for case in cases()[::7]) * 20

    spans = found(chain_of_secrets)

    assert all(a.end <= b.start for a, b in pairwise(spans))
