"""What the benchmarks run: a simulator of the model API, a project, and a measured process."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
FLOOR = Path(__file__).with_name("floor.py")
READY_S = 20.0

MODULE = '''"""The benchmark's items."""

import json
from pathlib import Path

from lift import Dataset, Item, Rubric

LINES = (Path(__file__).parent.parent / "items.jsonl").read_text("utf-8").splitlines()

DATASET = Dataset(
    name="bench",
    skill="SKILL",
    judge=True,
    items=[
        Item(
            id=item["id"],
            category="all-items",
            prompt=item["task"],
            rubric=Rubric(must_use=["emit("]),
            judge_criteria="It records the event, and times the work.",
        )
        for item in map(json.loads, LINES)
    ],
)
'''


@dataclass(frozen=True)
class Measured:
    """One process from start to end."""

    wall_s: float
    cpu_s: float
    """User and system time."""
    peak_mb: float
    """Largest resident set."""
    code: int
    out: str


class Simulator:
    """The simulator, started with settings of its own."""

    def __init__(self, url: str) -> None:
        self.url = url

    def stats(self) -> dict[str, Any]:
        """What it was asked since the last reset."""
        found: dict[str, Any] = self._call("/_stats")
        return found

    def reset(self, **config: Any) -> None:
        """Forget everything, and change settings."""
        self._call("/_reset", {"config": config})

    def _call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"{}")


@contextmanager
def simulating(script: Path) -> Iterator[Simulator]:
    """A simulator on a free port, until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "port"
        command = [sys.executable, str(script), "--port", "0", "--ready-file", str(ready)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                end = time.monotonic() + READY_S
                while not (ready.exists() and ready.read_text().strip()):
                    if time.monotonic() > end or process.poll() is not None:
                        raise SystemExit(f"the simulator does not start: {script}")
                    time.sleep(0.02)
                yield Simulator(f"http://127.0.0.1:{ready.read_text().strip()}")
            finally:
                process.terminate()


def project(folder: Path, workload: Path, items: int) -> Path:
    """A project with the workload's skill and so many items; more than it has are varied."""
    lines = (workload / "items_1000.jsonl").read_text("utf-8").splitlines()
    made = []
    for number in range(items):
        item = json.loads(lines[number % len(lines)])
        round_ = number // len(lines)
        if round_:
            item = {"id": f"{item['id']}-{round_}", "task": f"{item['task']} Variant {round_}."}
        made.append(json.dumps(item))
    skill = (workload / "SKILL.md").read_text("utf-8")
    name = next(line for line in skill.splitlines() if line.startswith("name:"))[5:].strip()
    target = folder / "skills" / name / "SKILL.md"
    target.parent.mkdir(parents=True)
    target.write_text(skill, "utf-8")
    (folder / "datasets").mkdir()
    (folder / "datasets" / "bench.py").write_text(MODULE.replace("SKILL", name), "utf-8")
    (folder / "items.jsonl").write_text("\n".join(made) + "\n", "utf-8")
    (folder / ".lift").mkdir()
    return folder


def forget(folder: Path) -> None:
    """Take away the project's journal."""
    shutil.rmtree(folder / ".lift")
    (folder / ".lift").mkdir()


def lift(*args: str) -> list[str]:
    """The command line of lift."""
    return [str(BIN / "lift"), *args]


def floor(folder: Path, concurrency: int) -> list[str]:
    """The command line of the floor."""
    return [sys.executable, str(FLOOR), str(folder), str(concurrency)]


def measured(
    command: list[str],
    folder: Path,
    server: Simulator,
    *,
    kill_when: Callable[[dict[str, Any]], bool] | None = None,
    power_cut: bool = False,
    more: Mapping[str, str] | None = None,
) -> Measured:
    """Run a command to its end, or until it is time to kill it.

    Args:
        command: to run.
        folder: where.
        server: whom it asks.
        kill_when: told what the server was asked so far; true kills the process at once.
        power_cut: whether its children are killed with it.
        more: of its environment.
    """
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
    own = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"} | dict(more or {})
    with tempfile.TemporaryFile("w+") as out:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=keep | own, stdout=out, stderr=subprocess.STDOUT
        )
        peaks: list[float] = []
        threading.Thread(target=_watch, args=(process.pid, peaks), daemon=True).start()
        if kill_when:
            while not _ended(process.pid) and not kill_when(server.stats()):
                time.sleep(0.01)
            for pid in [*(_children(process.pid) if power_cut else ()), process.pid]:
                os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return Measured(
            wall_s=wall,
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_mb=max(peaks, default=0.0),
            code=process.returncode,
            out=out.read(),
        )


def _watch(pid: int, peaks: list[float]) -> None:
    """Note the largest resident set so far of a process and its children, until it ends.

    A child shares with its parent what neither changed, so they are not added up. What the system
    tells of an ended process counts that of whoever started it, too.
    """
    with contextlib.suppress(OSError):
        while True:
            peaks.append(max(map(_peak_mb, [pid, *_children(pid)])))
            time.sleep(0.05)


def _children(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def _peak_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    except OSError:
        return 0.0
    return max((int(x.split()[1]) / 1024 for x in lines if x.startswith("VmHWM")), default=0.0)


def _ended(pid: int) -> bool:
    """Whether a child has ended; it is not reaped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
