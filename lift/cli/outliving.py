"""Work goes on in a child, which outlives the process that was started and ends in good order.

Whoever kills a run with `kill -9` kills the process that they started. To its child that is
SIGHUP: it asks nothing more, and what is in flight, and paid for, is still recorded.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import threading
from collections.abc import Collection
from contextlib import suppress

HEEDED = (signal.SIGINT, signal.SIGCHLD)
HEEDED_UNLESS_IGNORED = (signal.SIGTERM, signal.SIGQUIT, signal.SIGTSTP)
"""One that is blocked is handed out though it is ignored."""


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
    ignored = {n for n in HEEDED_UNLESS_IGNORED if signal.getsignal(n) == signal.SIG_IGN}
    heeded = {*HEEDED, *HEEDED_UNLESS_IGNORED} - ignored
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, heeded)  # until somebody heeds them
    alive, held = os.pipe()
    try:
        child = os.fork()
    except OSError:  # no more processes: one must do
        os.close(alive)
        os.close(held)
    else:
        if child:
            os.close(alive)
            os._exit(_waited(child, heeded, masked))  # `held` is closed by that, however it comes
        os.close(held)
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # it may write to the terminal
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # though nohup(1) ignores it
        masked -= {signal.SIGHUP}
        _hung_up_at_the_end_of(alive)
    signal.pthread_sigmask(signal.SIG_SETMASK, masked)


def _hung_up_at_the_end_of(pipe: int) -> None:
    """Have SIGHUP come when nobody holds a pipe's other end any more."""
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGHUP)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([pipe], [], [], 0)[0]:  # before anybody watched
        os.kill(os.getpid(), signal.SIGHUP)


def _waited(child: int, heeded: Collection[int], masked: Collection[int]) -> int:
    """Pass signals on until a child has ended.

    Returns:
        Its exit code. Where a signal ended it, that ends this process as well.
    """
    while True:
        number = signal.sigwaitinfo(heeded).si_signo
        if number == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return _as(os.waitstatus_to_exitcode(status), masked)
        elif number == signal.SIGTSTP:
            os.kill(child, signal.SIGSTOP)
            # where nobody could continue it, the system does not stop a process
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
            os.kill(os.getpid(), signal.SIGTSTP)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
            os.kill(child, signal.SIGCONT)
        else:
            os.kill(child, number)


def _as(code: int, masked: Collection[int]) -> int:
    if code < 0:
        with suppress(OSError):  # there is none to set for SIGKILL
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set(masked) - {-code})
        os.kill(os.getpid(), -code)
        return 128 - code  # it is process 1, which its own signals do not end
    return code
