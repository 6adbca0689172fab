"""Threads that no exit waits for, and Ctrl-C where it could get lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lift.daemons import begun, each

SWALLOWS = """
import time
print("importing", flush=True)
try:
    time.sleep(60)
except KeyboardInterrupt:
    pass
"""

STAYS = """
import threading
from lift.daemons import begun, each
begun(threading.Event().wait)
print(next(each(lambda thing: thing or threading.Event().wait(), [1, 0, 0], workers=2)))
"""


def test_what_came_of_each_is_in_their_order():
    second = threading.Event()

    def work(number: int) -> int:
        if number:
            second.set()
        assert second.wait(60)
        return number * number

    assert list(each(work, range(9), workers=2)) == [n * n for n in range(9)]
    assert list(each(work, [], workers=3)) == []


def test_the_first_error_is_raised_when_what_had_begun_has_ended():
    asked: list[int] = []
    ended: list[int] = []

    def work(number: int) -> None:
        asked.append(number)
        if number == 1:
            raise ValueError(number)
        if number == 2:
            failed.wait(60)
        ended.append(number)

    failed = threading.Event()
    results = each(work, range(100), workers=2)
    assert next(results) is None
    threading.Timer(0.2, failed.set).start()
    with pytest.raises(ValueError, match="1"):
        next(results)

    assert max(asked) <= 2
    assert set(asked) - set(ended) == {1}
    assert begun(lambda: 7).result() == 7


def test_a_process_ends_though_such_threads_go_on():
    done = subprocess.run(
        [sys.executable, "-c", STAYS], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_an_interrupt_during_an_import_that_would_lose_it_ends_the_process(tmp_path: Path):
    (tmp_path / "swallows.py").write_text(SWALLOWS, "utf-8")
    code = """if True:
        import signal, sys
        from lift import __main__
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.path.insert(0, sys.argv[1])
        import lift.cli
        lift.cli.main = lambda: __import__("swallows")
        __main__.main()
        print("went on")
    """
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (130, "")
    assert err == "interrupted before anything was asked\n"
