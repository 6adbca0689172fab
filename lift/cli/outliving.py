"""Work goes on in a child, which outlives the process that was started and ends in good order.

Whoever kills a run with `kill -9` kills the process that they started. To its child that is
SIGTERM: it asks nothing more, and what is in flight, and paid for, is still recorded.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Collection
from contextlib import suppress

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
HEEDED = (*FORWARDED, signal.SIGTSTP, signal.SIGCHLD)

AT_ONCE_S = 0.1
"""A signal that comes again within this is the same one, sent to the process and to its group."""


def outlive() -> None:
    """Return in a child; the process that was started waits for it and ends as it does.

    Signals reach the child, which is in a process group of its own so that a terminal's come once.
    Where the system cannot signal the end of a process (it takes Linux), or other threads run,
    everything stays in one process.
    """
    if not hasattr(fcntl, "F_SETSIG") or threading.active_count() > 1:
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, HEEDED)  # until somebody heeds them
    alive, held = os.pipe()
    try:
        child = os.fork()
    except OSError:  # no more processes: one must do
        os.close(alive)
        os.close(held)
    else:
        if child:
            os.close(alive)
            os._exit(_waited(child, masked))  # `held` is closed by that, however it comes
        os.close(held)
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # it may write to the terminal
        _terminated_at_the_end_of(alive)
    signal.pthread_sigmask(signal.SIG_SETMASK, masked)


def _terminated_at_the_end_of(pipe: int) -> None:
    """Have SIGTERM come when nobody holds a pipe's other end any more."""
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGTERM)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([pipe], [], [], 0)[0]:  # before anybody watched
        os.kill(os.getpid(), signal.SIGTERM)


def _waited(child: int, masked: Collection[int]) -> int:
    """Pass signals on until a child has ended.

    Returns:
        Its exit code. Where a signal ended it, that ends this process as well.
    """
    heard: dict[int, float] = {}
    while True:
        number = signal.sigwaitinfo(HEEDED).si_signo
        if number == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return _as(os.waitstatus_to_exitcode(status), masked)
        elif number == signal.SIGTSTP:
            os.kill(child, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.kill(child, signal.SIGCONT)
        else:
            now = time.monotonic()
            if now - heard.get(number, -AT_ONCE_S) >= AT_ONCE_S:
                os.kill(child, number)
            heard[number] = now


def _as(code: int, masked: Collection[int]) -> int:
    if code < 0:
        with suppress(OSError):  # there is none to set for SIGKILL
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set(masked) - {-code})
        os.kill(os.getpid(), -code)
    return code
