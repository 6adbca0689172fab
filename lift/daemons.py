"""Work in threads that a process does not wait for when it ends: Ctrl-C is heeded at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def begun(work: Callable[[], R]) -> Future[R]:
    """Begin work in a thread of its own."""
    done: Future[R] = Future()
    threading.Thread(target=_fulfil, args=(done, work), daemon=True).start()
    return done


def each(work: Callable[[T], R], things: Sequence[T], *, workers: int) -> Iterator[R]:
    """Work on things, some at once.

    The first error is raised once what has begun has ended; the rest is not begun.

    Args:
        work: called with each, in their order.
        things: to work on.
        workers: that work at once; at least 1.

    Returns:
        What came of each, in their order.
    """
    waiting = deque((thing, Future[R]()) for thing in things)
    results = [future for _, future in waiting]

    def serve() -> None:
        while waiting:
            try:
                thing, future = waiting.popleft()
            except IndexError:  # another one was faster
                return
            _fulfil(future, partial(work, thing))
            if future.exception():
                waiting.clear()

    serving = [begun(serve) for _ in range(min(workers, len(results)))]
    try:
        for future in results:
            yield future.result()
    except Exception:
        for one in serving:
            one.result()
        raise
    finally:
        waiting.clear()


def _fulfil(done: Future[R], work: Callable[[], R]) -> None:
    try:
        done.set_result(work())
    except BaseException as failed:  # noqa: BLE001 - raised again by whoever waits
        done.set_exception(failed)
