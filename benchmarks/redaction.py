"""How long masking takes: seconds of processor time for a megabyte of text, kind by kind of text.

python benchmarks/redaction.py
python benchmarks/redaction.py --growth    # exit 1 where four times the text takes too long
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import random
import sys
import time
from itertools import chain, cycle, islice
from pathlib import Path

from lift.redact import addresses, assigned, connections, found, keys, numbers, tokens
from lift.redact.corpus import cases, fake, ordinary, pem
from lift.redact.scan import KINDS

ROOT = Path(__file__).parent.parent
MEGABYTE = 1_000_000

SHORT, LONG = 3_000, 12_000
"""Characters; the second is four times the first."""
MOST = 9.0
"""Four times the text takes about four times as long; with a square in it, sixteen times."""
NOISE_S = 0.02
"""What is that fast cannot be told from noise; a square would not be fast."""

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


def texts() -> dict[str, str]:
    """Name → a text of a megabyte."""
    prose = "\n".join(path.read_text("utf-8") for path in sorted(ROOT.glob("docs/*.md")))
    code = "\n".join(path.read_text("utf-8") for path in sorted(ROOT.glob("lift/**/*.py")))
    transcript = json.dumps([{"role": "user", "content": [{"text": prose[:4000] + code[:4000]}]}])
    secrets = [case.text for case in cases()]
    return {
        "prose": _long([prose]),
        "code": _long([code]),
        "JSON of a transcript": _long([transcript]),
        "base64": fake(MEGABYTE, "b"),
        "digits": fake(MEGABYTE, "d"),
        "numbers": _long([f"{number * 7919:016} {number:03}-45-6789" for number in range(9000)]),
        "ordinary lines that look like secrets": _long(ordinary()),
        "a secret every 2,000 characters": _long([p for s in secrets for p in (s, prose[:2000])]),
        "nothing but secrets": _long(secrets),
        "nothing but private keys": _long([pem("PRIVATE KEY")]),
        "the beginnings of secrets": "sk-ghp_eyJ" * (MEGABYTE // 10),
        "names without values": 'password="token:' * (MEGABYTE // 16),
    }


def _long(parts: list[str]) -> str:
    length = sum(len(part) + 1 for part in parts)
    rounds = MEGABYTE // length + 1
    return "\n".join(islice(cycle(parts), rounds * len(parts)))[:MEGABYTE]


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


def repeated(unit: str, length: int) -> str:
    """The unit again and again, for so many characters or a few more."""
    return unit * (length // len(unit) + 1)


def seconds(text: str) -> float:
    """Processor time."""
    began = time.process_time()
    found(text)
    return time.process_time() - began


def grows_too_fast(unit: str) -> bool:
    """Whether more of it takes more than its share."""
    short, long = (seconds(repeated(unit, length)) for length in (SHORT, LONG))
    return long > NOISE_S and long > MOST * short


def growth() -> int:
    """Print what grows too fast, twice measured; returns the exit code."""
    tried = units()
    bad = [unit for unit in tried if grows_too_fast(unit) and grows_too_fast(unit)]
    for unit in bad:
        print(f"grows too fast: {unit!r}")
    print(f"{len(tried)} texts, {len(bad)} grow too fast")
    return 1 if bad else 0


def main() -> int:
    """Print a line a text; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--growth", action="store_true", help="only whether it is linear")
    wanted = parser.parse_args()
    found("".join(case.text for case in cases()))  # compile the patterns, load the libraries
    if wanted.growth:
        return growth()
    print(f"{'text':40} {'seconds':>8} {'found':>7}")
    for name, text in texts().items():
        began = time.process_time()
        spans = found(text)
        print(f"{name:40} {time.process_time() - began:8.2f} {len(spans):7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
