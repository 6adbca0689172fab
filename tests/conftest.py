"""Fixtures: a project in a folder of its own, and the real command run in it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import commands
import pytest
import servers
from hypothesis import settings
from langfuse_project import PUBLIC_KEY, SECRET_KEY, Langfuse

if TYPE_CHECKING:
    from lift.journal import Journal

# machines differ in speed, and no test is about time
settings.register_profile("lift", deadline=None, max_examples=50)
settings.load_profile("lift")

# a shell starts jobs in the background with Ctrl-C ignored, and what they start inherits that
signal.signal(signal.SIGINT, signal.default_int_handler)

SKILL = """---
name: greet
description: Use when greeting somebody.
---

# Greeting

Always say `hello()` and never `goodbye()`.
"""

MODULE = '''"""Greetings."""

from lift import Dataset, Item, Rubric

DATASET = Dataset(
    name="greetings",
    skill="greet",
    items=[
        Item(
            id=f"greet-{number}",
            category="short" if number % 2 else "long",
            prompt=f"Greet person {number}.",
            rubric=Rubric(must_use=["hello("], must_not_use=["goodbye("]),
            quick=number < 3,
        )
        for number in range(COUNT)
    ],
)
'''


@dataclass
class Project:
    """A folder with a skill and a dataset, and the command line in it."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    """Words in front of what is started: a program that runs another one."""

    def dataset(self, text: str, name: str = "greetings") -> Path:
        path = self.root / "datasets" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    @property
    def skill(self) -> Path:
        return self.root / "skills" / "greet" / "SKILL.md"

    @property
    def environment(self) -> dict[str, str]:
        home = self.root / "home"
        home.mkdir(exist_ok=True)
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**keep, "HOME": str(home), "COLUMNS": "120", **self.variables}

    def sends_to(self, url: str) -> None:
        """Let the settings name a Langfuse server."""
        self.variables |= {
            "LANGFUSE_BASE_URL": url,
            "LANGFUSE_PUBLIC_KEY": PUBLIC_KEY,
            "LANGFUSE_SECRET_KEY": SECRET_KEY,
        }

    def start(self, *args: str) -> subprocess.Popen[str]:
        """Start the command and return at once."""
        return self._started("-m", "lift", *args)

    def lift(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""
        if self.before or not commands.can_fork(self.variables):
            return _ended(self.start(*args))
        return commands.run(args, self.root, self.environment)

    def start_python(self, code: str) -> subprocess.Popen[str]:
        """Start Python and return at once."""
        return self._started("-c", code)

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        """Run Python to its end."""
        return _ended(self.start_python(code))

    def _started(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.before, sys.executable, *args],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def _ended(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    with process:
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Ten items for the skill `greet`; three of them quick."""
    made = Project(tmp_path)
    made.skill.parent.mkdir(parents=True)
    made.skill.write_text(SKILL, "utf-8")
    made.dataset(MODULE.replace("COUNT", "10"))
    return made


@pytest.fixture
def unprivileged(project: Project) -> Project:
    """The project, its command held to the modes of files, also where root runs the tests."""
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root reads everything, and there is no setpriv")
        without = "-dac_override,-dac_read_search"
        project.before = ("setpriv", f"--bounding-set={without}", f"--inh-caps={without}")
    return project


@pytest.fixture
def serve(project: Project) -> Iterator[Callable[..., servers.Model]]:
    """Start a model server and point the project at it."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(script: servers.Script | None = None) -> servers.Model:
            model = stack.enter_context(servers.serving(script))
            project.variables |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "k"}
            return model

        yield start


@pytest.fixture
def langfuse(request: pytest.FixtureRequest) -> Iterator[Langfuse]:
    """An empty Langfuse project on loopback; where a test has a `project`, its settings name it."""
    from langfuse_server import serving

    with serving(Langfuse()) as server:
        if "project" in request.fixturenames:
            request.getfixturevalue("project").sends_to(server.url)
        yield server


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """An empty journal."""
    from lift.journal import Journal

    with Journal(tmp_path / ".lift" / "journal.db") as opened:
        yield opened


def wait_for(condition: Callable[[], object], seconds: float = 60) -> bool:
    """Whether it holds before the time is over."""
    end = time.monotonic() + seconds
    while not (holds := bool(condition())) and time.monotonic() < end:
        time.sleep(0.01)
    return holds


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The child that a run goes on in, where it has one yet; see lift.cli.outliving."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in children.read_text("ascii").split()]


def power_cut(process: subprocess.Popen[str]) -> None:
    """End a run as a power cut does: nothing of it goes on."""
    for pid in workers_of(process):
        os.kill(pid, signal.SIGKILL)
    process.kill()


def interrupted_twice(process: subprocess.Popen[str], model: servers.Model) -> str:
    """What a run whose calls are held says: the first interrupt waits for them, the second not."""
    assert wait_for(lambda: len(model.calls) >= 2)
    process.send_signal(signal.SIGINT)
    time.sleep(1)  # signals that come at once are one
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    return err


def greets(body: dict, _attempt: int) -> servers.Says:
    """A model that greets right with the skill, and wrongly without."""
    taught = any("<skill" in block["text"] for block in body["system"])
    call = "hello" if taught else "goodbye"
    return servers.Says(text=f"```java\n{call}();\n```")
