"""How long a run takes while Langfuse fails, against the same run without Langfuse.

python benchmarks/slowing.py --simulator PATH/messages_sim.py --recorder PATH/langfuse_recorder.py

40 items under two conditions, 8 calls at once; every endpoint of the Langfuse server fails the same
way from the start. Repetitions are interleaved, figures are medians. With --check it exits 1 where
a run takes more than 1.05 times as long as without Langfuse, or fails.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import Simulator, forget, lift, measured, project, simulating
from run import REAL_LATENCY

MOST = 1.05
WITHOUT, WELL = "without Langfuse", "works"
KEYS = {"LANGFUSE_PUBLIC_KEY": "pk-lf-benchmark", "LANGFUSE_SECRET_KEY": "sk-lf-benchmark"}
FAULTS: Mapping[str, dict[str, Any]] = {
    "400": {"status": 400},
    "401": {"status": 401},
    "413": {"status": 413},
    "429": {"status": 429},
    "429, Retry-After 5": {"status": 429, "headers": {"Retry-After": "5"}},
    "500": {"status": 500},
    "503": {"status": 503},
    "hangs": {"status": 500, "delay": 60},
    "resets": {"status": 500, "close": True},
    "207, nothing taken": {"status": 207, "body": {"successes": [], "errors": []}},
    "stored, reply lost": {"status": 500, "close": True, "after": True},
}
LATE = {"0.1 s late": {"delay": 0.1}}
"""No fault: what is left at the end is sent."""


@contextmanager
def recording(script: Path) -> Iterator[str]:
    """The stand-in for Langfuse on a free port; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with tempfile.NamedTemporaryFile() as log:
        command = [sys.executable, str(script), "--port", str(port), "--log", log.name]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                for _ in range(100):
                    with socket.socket() as tried:
                        if not tried.connect_ex(("127.0.0.1", port)):
                            break
                    time.sleep(0.1)
                yield url
            finally:
                process.terminate()


def control(url: str, fault: dict[str, Any] | None) -> None:
    """Make the stand-in forget everything, and fail in a way from now on."""
    for body in ({"reset": True}, {"faults": [fault] if fault else []}):
        request = urllib.request.Request(
            f"{url}/__ctl", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10):
            pass


def walls(
    server: Simulator, langfuse: str, folder: Path, repetitions: int
) -> dict[str, list[float]]:
    """Case → seconds of each run."""
    cases = {WITHOUT: None, WELL: None} | dict(FAULTS) | LATE
    found = defaultdict(list)
    for _ in range(repetitions):
        for name, fault in cases.items():
            control(langfuse, {"match": "/api/public", **fault} if fault else None)
            forget(folder)
            server.reset(latency=REAL_LATENCY, seed=1)
            keys = {} if name == WITHOUT else KEYS | {"LANGFUSE_BASE_URL": langfuse}
            command = lift("--full", "--yes", "--concurrency", "8")
            done = measured(command, folder, server, more=keys)
            if done.code:
                raise SystemExit(f"{name}: exit {done.code}\n{done.out}")
            found[name].append(done.wall_s)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--simulator", type=Path, required=True, help="of the model API")
    parser.add_argument("--recorder", type=Path, required=True, help="stand-in for Langfuse")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="exit 1 above the bound")
    given = parser.parse_args()
    workload = given.simulator.parent / "workload"
    with (
        tempfile.TemporaryDirectory() as folder,
        simulating(given.simulator) as server,
        recording(given.recorder) as langfuse,
    ):
        bench = project(Path(folder) / "bench", workload, 40)
        found = walls(server, langfuse, bench, given.repetitions)
    without = statistics.median(found[WITHOUT])
    print("| Langfuse | wall s | × without |\n|---|---|---|")
    for name, seconds in found.items():
        wall = statistics.median(seconds)
        print(f"| {name} | {wall:.2f} | {wall / without:.3f} |")
    broken = [n for n, s in found.items() if n in FAULTS and statistics.median(s) > MOST * without]
    if broken:
        print("above the bound:", ", ".join(broken))
    sys.exit(bool(broken) and given.check)


if __name__ == "__main__":
    main()
