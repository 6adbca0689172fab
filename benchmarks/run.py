"""lift against a bare-SDK floor, on a simulator of the model API: time, memory, dollars, losses.

python benchmarks/run.py --simulator PATH/messages_sim.py
python benchmarks/run.py --simulator … --scenario common --scenario faults --repetitions 3

The workload (SKILL.md, items_1000.jsonl) lies in `workload` beside the simulator, or where
--workload says. Repetitions are interleaved, figures are medians. With --check it exits 1 where a
bound does not hold.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import Measured, Simulator, floor, forget, lift, measured, project, simulating

from lift.journal import Journal
from lift.pricing import CACHE_WRITE_5M, MTOK, PRICES
from lift.schema import Status

MODEL = "claude-sonnet-5-5"
ANSWER_S, VOTE_S = 0.40, 0.15
FULL = ("--full", "--yes", "--max-cost-usd", "100")
REAL_LATENCY = [["*haiku*", 0.1, 0.0, 0.05], ["*", 0.3, 0.0, 0.1]]
SHORT_LATENCY = [["*", 0.03, 0.0, 0.02]]
FAULTS = {"p_529": 0.05, "p_reset": 0.02, "rpm": 600, "burst_s": 2}
EVERY_FAULT = {
    "p_529": 0.08, "p_500": 0.06, "p_reset": 0.06, "p_truncate": 0.05, "p_stream_error": 0.05,
    "rpm": 3000, "burst_s": 1,
}  # fmt: skip


@dataclass
class Row:
    """One contender in one scenario."""

    scenario: str
    who: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    usd: float
    least_usd: float
    calls: int
    writes: int
    reads: int
    done: int
    lost: int
    wrong: int
    repeats: int
    """Calls made again though one like it was answered."""
    least_s: float = float("nan")
    notes: str = ""


@dataclass
class Bench:
    """What a scenario works with."""

    server: Simulator
    folder: Path
    workload: Path
    repetitions: int
    broken: list[str] = field(default_factory=list)

    def project(self, items: int) -> Path:
        """A fresh project of so many items."""
        return project(Path(tempfile.mkdtemp(dir=self.folder)), self.workload, items)

    def check(self, holds: bool, what: str) -> None:
        """Remember a bound that does not hold."""
        if not holds:
            self.broken.append(what)


def ran(bench: Bench, folder: Path, command: list[str], scenario: str, **more: Any) -> Row:
    """Run a command against a server that forgot everything, and count."""
    done = measured(command, folder, bench.server, **more)
    return counted(bench, folder, done, scenario, "floor" if "floor.py" in command[1] else "lift")


def counted(bench: Bench, folder: Path, done: Measured, scenario: str, who: str) -> Row:
    """What a process did, by its own account and the server's."""
    stats = bench.server.stats()
    model = stats["by_model"].get(MODEL, {})
    usd, writes = stats["dollars"]["total"], model.get("calls_cache_write", 0)
    price = PRICES[MODEL]
    prefix = model.get("cache_creation_input_tokens", 0) / writes if writes else 0
    spared = max(0, writes - 1) * prefix * price.input_usd * (CACHE_WRITE_5M - price.cache_read)
    if who == "floor":
        answer = json.loads(done.out.strip().splitlines()[-1])
        outcome = (answer["done"], answer["planned"] - answer["done"], 0)
    else:
        outcome = scored(folder)
    return Row(
        scenario=scenario,
        who=who,
        wall_s=done.wall_s,
        cpu_s=done.cpu_s,
        peak_mb=done.peak_mb,
        usd=usd,
        least_usd=usd - spared / MTOK,
        calls=stats["requests"],
        writes=writes,
        reads=model.get("calls_cache_read", 0),
        done=outcome[0],
        lost=outcome[1],
        wrong=outcome[2],
        repeats=stats["repeats"].get("after_success", 0),
        notes="" if done.code == 0 else f"exit {done.code}",
    )


def scored(folder: Path) -> tuple[int, int, int]:
    """Trials with a score and a vote; planned ones without; errored ones with a score."""
    with Journal(folder / ".lift" / "journal.db", create=False) as journal:
        records = journal.records(journal.experiment().name)
    done = sum(bool(r.scores) and any(v.value is not None for v in r.votes) for r in records)
    wrong = sum(r.status == Status.ERRORED and bool(r.scores) for r in records)
    return done, len(records) - done, wrong


def table_of(folder: Path) -> Any:
    """What the run found, without times and dollars."""
    with Journal(folder / ".lift" / "journal.db", create=False) as journal:
        records = journal.records(journal.experiment().name)
    texts = {(r.trial.item, r.trial.condition): r.evidence.text for r in records if r.evidence}
    values = {
        (r.trial.item, r.trial.condition): (
            [(score.evaluator, score.value) for score in r.scores],
            [(vote.evaluator, vote.number, vote.value) for vote in r.votes],
        )
        for r in records
    }
    return texts, values


def contest(
    bench: Bench, scenario: str, *, items: int, concurrency: int, least_s: float, **config: Any
) -> list[Row]:
    """Lift and the floor in turn, each from nothing."""
    rows = []
    folder = bench.project(items)
    for _ in range(bench.repetitions):
        for command in (
            floor(folder, concurrency),
            lift(*FULL, "--concurrency", str(concurrency)),
        ):
            forget(folder)
            bench.server.reset(**settings(**config))
            rows.append(ran(bench, folder, command, scenario))
            rows[-1].least_s = least_s
    return rows


def settings(**config: Any) -> dict[str, Any]:
    """Every setting that a scenario changes, back at rest where it does not."""
    calm = dict.fromkeys([*FAULTS, *EVERY_FAULT, "max_concurrent", "p_garble", "p_hang"], 0)
    return calm | {"burst_s": 60.0, "latency": REAL_LATENCY, "seed": 1} | config


def least(items: int, concurrency: int) -> float:
    """The least time that so many answers and votes take."""
    return items * 2 * (ANSWER_S + VOTE_S) / concurrency


def common(bench: Bench) -> list[Row]:
    """40 items, 16 at once."""
    rows = contest(bench, "common", items=40, concurrency=16, least_s=least(40, 16))
    mine, bare = medians(rows)
    bench.check(mine.wall_s <= 1.10 * bare.wall_s, "common: wall above 1.10 × the floor's")
    bench.check(mine.usd <= 1.02 * mine.least_usd, "common: dollars above 1.02 × the least")
    bench.check(mine.writes == 1, "common: more than one cache write")
    return [bare, mine]


def faults(bench: Bench) -> list[Row]:
    """5 % 529, 2 % resets, 600 calls a minute and model."""
    least_s = (80 - 600 / 60 * FAULTS["burst_s"]) / (600 / 60) + ANSWER_S + VOTE_S
    rows = contest(bench, "faults", items=40, concurrency=16, least_s=least_s, **FAULTS)
    mine, bare = medians(rows)
    for row in rows:
        if row.who == "lift":
            bench.check((row.done, row.wrong) == (80, 0), "faults: not 80 of 80")
    bench.check(mine.wall_s <= 8.5, "faults: longer than 8.5 s")
    return [bare, mine]


def limited(bench: Bench) -> list[Row]:
    """A server that allows 8 calls at once where 16 are asked."""
    least_s = least(40, 8)
    rows = contest(bench, "limited", items=40, concurrency=16, least_s=least_s, max_concurrent=8)
    mine, bare = medians(rows)
    bench.check((mine.done, mine.lost) == (80, 0), "limited: not 80 of 80")
    bench.check(mine.wall_s <= 1.3 * least_s, "limited: above 1.3 × the least time")
    return [bare, mine]


def second(bench: Bench) -> list[Row]:
    """The same command again, and an experiment of another name whose answers are all kept."""
    folder, rows = bench.project(40), []
    bench.server.reset(**settings())
    measured(lift(*FULL), folder, bench.server)
    for number in range(bench.repetitions):
        for name, more in (("second run", ()), ("all kept", ("--experiment", f"e{number}"))):
            bench.server.reset(**settings())
            rows.append(ran(bench, folder, lift(*FULL, *more), name))
    found = []
    for name in ("second run", "all kept"):
        found.append(median([row for row in rows if row.scenario == name]))
        bench.check((found[-1].calls, found[-1].usd) == (0, 0), f"{name}: calls were made")
        bench.check(found[-1].wall_s <= 1.2, f"{name}: longer than 1.2 s")
    return found


def kill(bench: Bench) -> list[Row]:
    """Kill -9 while answers, or votes, are awaited, and a power cut; then the same command."""
    rows = []
    for name, model, calls, power_cut in (
        ("kill", MODEL, 40, False),
        ("kill judging", "claude-haiku-5-5", 30, False),
        ("power cut", MODEL, 40, True),
    ):
        for _ in range(bench.repetitions):
            folder = bench.project(40)
            bench.server.reset(**settings())

            def halfway(stats: dict[str, Any], model: str = model, calls: int = calls) -> bool:
                return bool(stats["by_model"].get(model, {}).get("billed", 0) >= calls)

            measured(lift(*FULL), folder, bench.server, kill_when=halfway, power_cut=power_cut)
            row = ran(bench, folder, lift(*FULL), name)
            repeated = row.calls - 160
            row.notes = f"{repeated} calls repeated"
            bench.check(repeated <= 16, f"{name}: {repeated} calls repeated")
            # what is on its way to a machine without power cannot be recorded
            bench.check(power_cut or not row.repeats, f"{name}: {row.repeats} answers asked again")
            bench.check(row.done == 80, f"{name}: not 80 of 80")
            rows.append(row)
    names = dict.fromkeys(row.scenario for row in rows)
    return [median([row for row in rows if row.scenario == name]) for name in names]


def scale(bench: Bench) -> list[Row]:
    """1,000 items, 64 at once, 0.05 s a call."""
    least_s = 1000 * 2 * 2 * 0.05 / 64
    rows = contest(
        bench, "scale", items=1000, concurrency=64, least_s=least_s, latency=SHORT_LATENCY
    )
    mine, bare = medians(rows)
    bench.check(mine.wall_s <= 1.2 * bare.wall_s, "scale: wall above 1.2 × the floor's")
    bench.check(mine.peak_mb <= 200, "scale: more than 200 MB")
    bench.check(mine.writes == 1, "scale: more than one cache write")
    return [bare, mine]


def tenfold(bench: Bench) -> list[Row]:
    """1,000 items and ten times as many, by turns."""
    command = lift(*FULL, "--concurrency", "64", "--max-cost-usd", "1000")
    rows: dict[int, list[Row]] = {1000: [], 10_000: []}
    for _ in range(bench.repetitions):
        for items, of_size in rows.items():
            folder = bench.project(items)
            bench.server.reset(**settings(latency=SHORT_LATENCY))
            of_size.append(ran(bench, folder, command, f"{items} items"))
    few, many = (median(of_size) for of_size in rows.values())
    bench.check(many.wall_s <= 10.5 * few.wall_s, "tenfold: above 10.5 × the time")
    return [few, many]


def edited(bench: Bench) -> list[Row]:
    """SKILL.md edited: the side without it is not asked."""
    folder = bench.project(40)
    bench.server.reset(**settings())
    measured(lift(*FULL), folder, bench.server)
    skill = next(folder.glob("skills/*/SKILL.md"))
    skill.write_text(skill.read_text("utf-8") + "\nBe brief.\n", "utf-8")
    bench.server.reset(**settings())
    row = ran(bench, folder, lift(*FULL), "edited")
    answers = bench.server.stats()["by_model"][MODEL]["billed"]
    row.notes = f"{answers} answers asked"
    bench.check(answers == 40, f"edited: {answers} answers asked, not 40")
    return [row]


def ceiling(bench: Bench) -> list[Row]:
    """A ceiling of half the cost, 64 at once; then a higher one."""
    folder = bench.project(1000)
    bench.server.reset(**settings(latency=SHORT_LATENCY))
    first = lift("--full", "--yes", "--concurrency", "64", "--max-tokens", "64")
    half = 0.8
    stopped = measured([*first, "--max-cost-usd", str(half)], folder, bench.server)
    paid = bench.server.stats()["dollars"]["total"]
    bench.check(stopped.code == 4, f"ceiling: exit {stopped.code}, not 4")
    bench.check(paid <= half, f"ceiling: ${paid:.4f} passed ${half}")
    row = ran(bench, folder, [*first, "--max-cost-usd", "100"], "ceiling")
    row.notes = f"stopped at ${paid:.3f} of ${half:.2f}"
    bench.check((row.done, row.repeats) == (2000, 0), "ceiling: resume does not finish")
    return [row]


def seeds(bench: Bench, runs: int = 30) -> list[Row]:
    """Runs under random faults of every kind: each ends as the one without, of the same seed."""
    folder = bench.project(40)
    rows = []
    for seed in range(runs):
        forget(folder)
        bench.server.reset(**settings(seed=seed))
        measured(lift(*FULL), folder, bench.server)
        wanted = table_of(folder)
        forget(folder)
        bench.server.reset(**settings(**EVERY_FAULT, seed=seed))
        rows.append(ran(bench, folder, lift(*FULL), "seeds"))
        bench.check(table_of(folder) == wanted, f"seeds: run {seed} ends otherwise")
    row = median(rows)
    row.notes = f"{runs} runs, {sum(r.calls - 160 for r in rows)} calls met a fault"
    return [row]


def twice(bench: Bench) -> list[Row]:
    """Two processes on one experiment at once."""
    from concurrent.futures import ThreadPoolExecutor

    folder = bench.project(40)
    bench.server.reset(**settings())
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: measured(lift(*FULL), folder, bench.server), range(2)))
    row = counted(bench, folder, both[0], "two at once", "lift")
    bench.check(row.calls == 160, f"two at once: {row.calls} calls, not 160")
    bench.check(not any("locked" in one.out for one in both), "two at once: locked")
    return [row]


def batch(bench: Bench) -> list[Row]:
    """By Message Batches, as a whole and killed between submission and collection; against live."""
    by_batch = lift(*FULL, "--batch")
    rows, tables = [], []
    for name, command in (("live", lift(*FULL)), ("batch", by_batch), ("killed", lift("collect"))):
        folder = bench.project(40)
        bench.server.reset(**settings())
        if name == "killed":
            measured(by_batch, folder, bench.server, kill_when=batches_taken)
        rows.append(ran(bench, folder, command, name))
        tables.append(table_of(folder)[1])
    live = rows[0]
    for row, table in zip(rows[1:], tables[1:], strict=True):
        row.notes = f"{row.usd / live.usd:.2f} × the dollars of live"
        bench.check(table == tables[0], f"{row.scenario}: other scores than live")
        # the prefix is written for an hour, which costs more
        bench.check(row.usd <= 0.55 * live.usd, f"{row.scenario}: more than half the dollars")
        bench.check(row.done == 80, f"{row.scenario}: not 80 of 80")
    return rows


def batches_taken(stats: dict[str, Any]) -> bool:
    """Whether the server has the first two batches."""
    return bool(stats["by_endpoint"].get("messages/batches", 0) >= 2)


SCENARIOS: dict[str, Callable[[Bench], list[Row]]] = {
    "common": common,
    "faults": faults,
    "limited": limited,
    "second": second,
    "kill": kill,
    "scale": scale,
    "tenfold": tenfold,
    "edited": edited,
    "ceiling": ceiling,
    "seeds": seeds,
    "twice": twice,
    "batch": batch,
}


def medians(rows: Sequence[Row]) -> tuple[Row, Row]:
    """The medians of lift and of the floor."""
    mine, bare = (median([r for r in rows if r.who == who]) for who in ("lift", "floor"))
    return mine, bare


def median(rows: Sequence[Row]) -> Row:
    """A row of medians; what is no number is of the first."""
    values = {
        name: statistics.median(getattr(row, name) for row in rows)
        if isinstance(value, int | float)
        else value
        for name, value in vars(rows[0]).items()
    }
    return Row(**values)


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The table, as Markdown."""
    yield (
        "| scenario | who | wall s | of least | CPU s | peak MB | dollars | of least"
        " | calls | writes / reads | done | lost | wrong | asked again | |"
    )
    yield "|" + "---|" * 15
    for r in rows:
        time = f"{r.wall_s / r.least_s:.2f} ×" if r.least_s == r.least_s else ""
        dollars = f"{r.usd / r.least_usd:.2f} ×" if r.least_usd else ""
        yield (
            f"| {r.scenario} | {r.who} | {r.wall_s:.2f} | {time} | {r.cpu_s:.2f} | {r.peak_mb:.0f}"
            f" | {r.usd:.4f} | {dollars} | {r.calls:.0f} | {r.writes:.0f} / {r.reads:.0f}"
            f" | {r.done:.0f} | {r.lost:.0f} | {r.wrong:.0f} | {r.repeats:.0f} | {r.notes} |"
        )


def main() -> int:
    """Run the scenarios; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulator", type=Path, required=True)
    parser.add_argument("--workload", type=Path)
    parser.add_argument("--scenario", action="append", choices=sorted(SCENARIOS))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="exit 1 where a bound does not hold")
    chosen = parser.parse_args()
    workload = chosen.workload or chosen.simulator.resolve().parent / "workload"
    rows: list[Row] = []
    broken: list[str] = []
    with simulating(chosen.simulator) as server, tempfile.TemporaryDirectory() as folder:
        for name in chosen.scenario or SCENARIOS:
            print(f"{name} …", file=sys.stderr, flush=True)
            bench = Bench(server, Path(folder), workload, chosen.repetitions)
            rows += SCENARIOS[name](bench)
            broken += bench.broken
    print("\n".join(lines(rows)))
    for what in dict.fromkeys(broken):
        print(f"does not hold: {what}")
    return 1 if broken and chosen.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
