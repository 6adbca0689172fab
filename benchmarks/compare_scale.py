"""How long `lift compare` takes on a journal of many scores, as a whole process.

python benchmarks/compare_scale.py 100000 1000000       scores, a journal each
python benchmarks/compare_scale.py 100000 --checks 4    scores of a trial, 1 by default
python benchmarks/compare_scale.py 100000 --judged      half of the scores are a judge's
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lift.journal import Journal
from lift.schema import WITH_SKILL, WITHOUT_SKILL, Condition, Evidence, Reply, digest

NAME, MODEL, HASH = "scale-1", "model-1", "0" * 64
CATEGORIES, REPEATS = 12, 2
RUNS = 3
"""The fastest of so many is told: what else a machine does only slows them down."""

COLUMNS = {
    "trials": "id key experiment dataset item category condition model repeat item_hash"
    " condition_hash",
    "attempts": "trial attempt status why started_ms ended_ms cost_usd lost_usd input_tokens"
    " output_tokens evidence",
    "scores": "trial attempt evaluator value passed weight why error",
    "votes": "trial attempt evaluator number value why model prompt_hash started_ms ended_ms"
    " cost_usd lost_usd evidence",
}
"""Table → the columns that are filled; the others have defaults."""

REPLY_BYTES = 1500
"""Of a reply, compressed."""


def build(path: Path, scores: int, *, checks: int, judged: bool) -> None:
    """A journal whose one experiment has so many scores.

    Args:
        path: where it is made.
        scores: of checks and judges together.
        checks: scores of a trial.
        judged: whether every trial has a vote too.
    """
    Journal(path).close()
    trials = scores // (checks + judged)
    conditions = [
        Condition(name=WITHOUT_SKILL, model=MODEL, skill_hash=None),
        Condition(name=WITH_SKILL, model=MODEL, skill_hash=HASH),
    ]
    content = {"system": "s", "item": {"id": "i", "prompt": "p"}}
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("INSERT INTO skills (hash, name, description, body) VALUES (?, 's', 'd', ?)",
                   (HASH, zlib.compress(b"# S\n")))  # fmt: skip
        db.execute(
            "INSERT INTO experiments (name, created_ms, skill, skill_hash, backend, canned,"
            " repeats, plan_hash, ran_ms) VALUES (?, 0, 's', ?, 'messages', 0, ?, '', 0)",
            (NAME, HASH, REPEATS),
        )
        db.execute(
            "INSERT INTO items VALUES (?, ?)", (HASH, zlib.compress(json.dumps(content).encode()))
        )
        db.executemany(
            "INSERT INTO conditions VALUES (?, ?)",
            [(digest(one), one.model_dump_json()) for one in conditions],
        )
        _insert(db, "trials", _trials(trials, [digest(one) for one in conditions]))
        _insert(db, "attempts", _attempts(trials))
        _insert(db, "scores", _scores(trials, checks))
        if judged:
            _insert(db, "votes", _votes(trials))
    db.close()


def _insert(db: sqlite3.Connection, table: str, rows: Iterator[tuple[Any, ...]]) -> None:
    columns = COLUMNS[table].split()
    marks = ", ".join("?" * len(columns))
    db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608


def _trials(count: int, conditions: list[str]) -> Iterator[tuple[Any, ...]]:
    names = (WITHOUT_SKILL, WITH_SKILL)
    for number in range(count):
        item, place = divmod(number, 2 * REPEATS)
        repeat, side = divmod(place, 2)
        key = json.dumps([NAME, "d", f"item-{item}", names[side], MODEL, repeat + 1, 1])
        yield (number + 1, key, NAME, "d", f"item-{item}", f"category-{item % CATEGORIES}",
               names[side], MODEL, repeat + 1, HASH, conditions[side])  # fmt: skip


def _evidence() -> bytes:
    text = random.Random(0).randbytes(REPLY_BYTES // 2).hex()
    evidence = Evidence(status="ok", reply=Reply(text=text))
    return zlib.compress(evidence.model_dump_json().encode())


def _attempts(count: int) -> Iterator[tuple[Any, ...]]:
    evidence = _evidence()
    for number in range(count):
        yield number + 1, 1, "ok", "", 0, 1500, 0.001, 0.0, 900, 300, evidence


def _scores(count: int, checks: int) -> Iterator[tuple[Any, ...]]:
    rng = random.Random(1)
    for number in range(count):
        shift = number % 2  # the with side
        for check in range(checks):
            value = min(4, rng.randrange(5) + shift) / 4
            yield number + 1, 1, f"check-{check}", value, value >= 0.8, 1.0, "why", None


def _votes(count: int) -> Iterator[tuple[Any, ...]]:
    evidence, rng = _evidence(), random.Random(2)
    for number in range(count):
        value = min(5, rng.randrange(6) + number % 2) / 5
        yield number + 1, 1, "judge", 1, value, "why", "judge-1", HASH, 0, 900, 0.001, 0.0, evidence


def seconds(journal: Path, *args: str) -> float:
    """Wall time of `lift compare` on a journal, the fastest of several."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(journal.parent)}
    took = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "lift", "compare", "--journal", str(journal), *args],
            cwd=journal.parent,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        took.append(time.perf_counter() - began)
    return min(took)


def main() -> None:
    """Build a journal for each size, and time it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[100_000])
    parser.add_argument("--checks", type=int, default=1, help="scores of a trial")
    parser.add_argument("--judged", action="store_true", help="every trial has a vote too")
    wanted = parser.parse_args()
    print("| scores | trials | lift compare |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in wanted.sizes:
            journal = Path(folder) / f"{size}.db"
            build(journal, size, checks=wanted.checks, judged=wanted.judged)
            trials = size // (wanted.checks + wanted.judged)
            print(f"| {size:,} | {trials:,} | {seconds(journal):.2f} s |", flush=True)


if __name__ == "__main__":
    main()
