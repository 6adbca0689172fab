"""How long masking takes: seconds of processor time for a megabyte of text, kind by kind of text.

python benchmarks/redaction.py
"""

from __future__ import annotations

import json
import time
from itertools import cycle, islice
from pathlib import Path

from lift.redact import found
from lift.redact.corpus import cases, fake, ordinary, pem

ROOT = Path(__file__).parent.parent
MEGABYTE = 1_000_000


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


def main() -> None:
    """Print a line a text."""
    found("".join(case.text for case in cases()))  # compile the patterns, load the libraries
    print(f"{'text':40} {'seconds':>8} {'found':>7}")
    for name, text in texts().items():
        began = time.process_time()
        spans = found(text)
        print(f"{name:40} {time.process_time() - began:8.2f} {len(spans):7}")


if __name__ == "__main__":
    main()
