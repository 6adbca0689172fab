"""A run goes on in a child: what reaches it, and how both end."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import greets, wait_for, workers_of
from servers import Says

from lift.daemons import begun

SLOW_S = 0.2


def state_of(pid: int) -> str:
    """R, S, T (stopped), …; empty where the process has ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return state.strip("ZX")


def asked(model) -> Counter[str]:
    return Counter(str((body["system"], body["messages"])) for body in model.calls)


@pytest.mark.parametrize("calls", [1, 4, 9, 16, 19])
def test_kill_9_loses_no_call(project, serve, calls: int):
    model = serve(lambda body, attempt: Says("hello()", seconds=SLOW_S))
    process = project.start("--full", "--concurrency", "4")
    assert wait_for(lambda: len(model.calls) >= calls)
    (worker,) = workers_of(process)
    process.kill()
    assert process.wait(timeout=30) == -signal.SIGKILL

    again = project.lift("--full", "--concurrency", "4")

    assert again.returncode == 0, again.stderr
    assert not state_of(worker)
    assert set(asked(model).values()) == {1}
    assert len(model.calls) == 20
    process.communicate()


def both(process: subprocess.Popen[str]) -> None:
    for pid in (process.pid, *workers_of(process)):  # as pkill(1) sends it
        os.kill(pid, signal.SIGTERM)


def impatient(process: subprocess.Popen[str]) -> None:
    process.terminate()
    time.sleep(1)
    process.kill()


@pytest.mark.parametrize("end", [both, impatient])
def test_what_is_in_flight_is_recorded_however_it_is_ended(project, serve, end):
    model = serve(lambda body, attempt: Says("hello()", seconds=1))
    process = project.start("--full", "--concurrency", "2")
    assert wait_for(lambda: len(model.calls) >= 2)
    end(process)
    process.communicate(timeout=30)

    assert project.lift("--full").returncode == 0
    assert set(asked(model).values()) == {1}


def test_a_run_with_nobody_to_continue_it_is_not_stopped(project, serve):
    model = serve(lambda body, attempt: Says("hello()", seconds=0.1))
    process = subprocess.Popen(  # of a group that nobody of its session is above
        [sys.executable, "-m", "lift", "--full", "--concurrency", "1"],
        cwd=project.root, env=project.environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert wait_for(lambda: len(model.calls) >= 2)
    process.send_signal(signal.SIGTSTP)

    assert process.wait(timeout=60) == 0
    assert len(model.calls) == 20


def test_a_signal_that_the_starter_ignores_is_ignored(project, serve):
    model = serve(lambda body, attempt: Says("hello()", seconds=0.1))
    process = subprocess.Popen(
        ["sh", "-c", "trap '' TERM TSTP; exec \"$0\" -m lift --full", sys.executable],
        cwd=project.root, env=project.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert wait_for(lambda: len(model.calls) >= 2)
    process.send_signal(signal.SIGTSTP)
    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=60) == 0


def test_an_answer_that_takes_long_is_recorded_too(project, serve):
    model = serve(lambda body, attempt: Says("hello()", seconds=7))
    process = project.start("--quick", "--concurrency", "20")
    assert wait_for(lambda: len(model.calls) >= 6)
    process.kill()
    _, err = process.communicate(timeout=60)
    asked_before = len(model.calls)

    again = project.lift("--quick", "--concurrency", "20", "--dry-run", "--json")

    assert "interrupted by the end of what started it" in err
    assert json.loads(again.stdout)["answered"] == asked_before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_process_and_its_group_is_one(project, serve, number):
    model = serve(lambda body, attempt: Says("hello()", seconds=1))
    process = project.start("--full", "--concurrency", "2")
    assert wait_for(lambda: len(model.calls) >= 2)
    for _ in range(2):  # as timeout(1) sends it
        process.send_signal(number)
        time.sleep(0.01)
    process.communicate(timeout=30)

    assert process.returncode == 128 + number
    assert project.lift("--full").returncode == 0
    assert set(asked(model).values()) == {1}


def test_a_worker_that_is_killed_ends_the_run_as_it_ended(project, serve):
    hold = threading.Event()
    model = serve(lambda *_: Says(seconds=hold.wait(30) * 0.0))
    process = project.start("--full")
    assert wait_for(lambda: model.calls)
    (worker,) = workers_of(process)
    os.kill(worker, signal.SIGKILL)

    assert process.wait(timeout=10) == -signal.SIGKILL
    hold.set()
    process.communicate()


def test_a_run_that_is_stopped_stops_asking_and_goes_on(project, serve):
    model = serve(lambda body, attempt: Says("hello()", seconds=0.05))
    process = subprocess.Popen(  # in a group of its own, below one that can continue it
        [sys.executable, "-m", "lift", "--full", "--concurrency", "1"],
        cwd=project.root, env=project.environment, process_group=0, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert wait_for(lambda: len(model.calls) >= 2)
    (worker,) = workers_of(process)
    process.send_signal(signal.SIGTSTP)
    assert wait_for(lambda: state_of(worker) == state_of(process.pid) == "T")
    before = len(model.calls)
    assert not wait_for(lambda: len(model.calls) > before, seconds=0.5)

    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 0, err
    assert len(model.calls) == 20


def drained(terminal: int) -> None:
    with suppress(OSError):  # nobody writes any more
        while os.read(terminal, 1000):
            pass


@pytest.mark.parametrize(("key", "code"), [(b"\x03", 130), (b"\x1c", -signal.SIGQUIT)])
def test_a_key_of_the_terminal_reaches_the_run_once(project, serve, key: bytes, code: int):
    hold = threading.Event()
    model = serve(lambda *_: Says("hello()", seconds=hold.wait(30) * 0.0))
    ours, theirs = pty.openpty()
    attach = (
        "import fcntl, signal, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
        " signal.signal(signal.SIGINT, signal.default_int_handler);"
        " signal.signal(signal.SIGQUIT, signal.SIG_DFL)"
    )
    run = "import runpy; runpy.run_module('lift', run_name='__main__', alter_sys=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{attach}; {run}", "--full", "--concurrency", "2"],
        cwd=project.root, env=project.environment, start_new_session=True,
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    assert wait_for(lambda: len(model.calls) >= 2)
    os.write(ours, key)
    if code == 130:  # twice would not have waited for the calls in flight
        assert not wait_for(lambda: process.poll() is not None, seconds=1)
        hold.set()

    reading = begun(lambda: drained(ours))
    assert process.wait(timeout=30) == code
    reading.result(timeout=30)
    os.close(ours)
    hold.set()
    assert len(model.calls) == 2
    assert project.lift("--full").returncode == 0
    assert len(model.calls) == (20 if code == 130 else 22)


def test_canned_replies_and_what_is_answered_need_no_child(project, serve):
    serve(greets)
    project.lift("--full")
    done = project.python(
        "import os, sys\n"
        "os.fork = lambda: sys.exit(77)\n"
        "sys.argv = ['lift', '--full']\n"
        "from lift.cli import main\n"
        "main()\n"
    )

    assert done.returncode == 0, done.stderr


def test_without_another_process_one_does_it_all(project, serve):
    model = serve(greets)
    done = project.python(
        "import os, sys\n"
        "def fork(): raise BlockingIOError(11, 'Resource temporarily unavailable')\n"
        "os.fork = fork\n"
        "sys.argv = ['lift', '--full']\n"
        "from lift.cli import main\n"
        "main()\n"
    )

    assert done.returncode == 0, done.stderr
    assert len(model.calls) == 20
