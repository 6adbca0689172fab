"""Sending while trials are asked: in a thread, with a journal and a connection of its own.

It never fails a run and does not slow it: it works a twentieth of the time at most, in small
pieces, and a server that does not answer is not waited for. What is left at the end it sends then,
over the same connection.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from lift.errors import LiftError
from lift.paths import exists
from lift.settings import Config

if TYPE_CHECKING:
    from lift.journal import Journal
    from lift.langfuse.client import Connection
    from lift.langfuse.publish import Outbox, Sent
    from lift.outbox.delivery import Delivery

LOOK_S = 0.5
"""Between looks for the first answers."""

PAUSE_S, LONGEST_PAUSE_S = 2.0, 60.0
"""Before it looks for more to send; twice as long each time that the server fails."""

REST = 20
"""It rests so many times as long as it computed: the run has that processor meanwhile."""

MOST_TRIALS, SECONDS = 50, 10.0
"""Sent at a time."""

LAST_SECONDS, BRIEF_SECONDS = 30.0, 5.0
"""Sent at the end; the second where the server failed a moment ago."""

MOST_FAILURES = 2
"""A server that failed so often in a row, or hung, is not asked again at the end."""

PATIENT_S = 3.0
"""How old a request may get at the end, of a server that never failed; it times out later."""

ELSEWHERE_S = 3.0
"""At the end it waits so long for another process that sends the experiment."""

OLD_S = 1.0
"""A server that lets a request get so old hangs."""

SHARE, LEAST_S, MOST_S = 0.05, 0.3, 2.0
"""How old it may get of a server that did, or after Ctrl-C: a share of the time until then."""


class Opened(NamedTuple):
    """What the thread works with."""

    journal: Journal
    connection: Connection
    outbox: Outbox


class Meanwhile:
    """Sends an experiment from when it is entered until it is left.

    Args:
        config: names journal and project.
        experiment: its name; it need not be in the journal yet.
        waiting: called at each look while another process sends the rest; what it raises ends that.
    """

    def __init__(self, config: Config, experiment: str, waiting: Callable[[], None]) -> None:
        self._config, self._experiment, self._waiting = config, experiment, waiting
        self._leaving, self._ends = threading.Event(), False
        self._thread = threading.Thread(target=self._work, name="langfuse", daemon=True)
        self._entered = 0.0
        self._opened: Opened | None = None
        self._sent: Sent | None = None
        self._failures = 0
        """How often in a row the server failed at last."""
        self._waits_since = 0.0
        self._hangs = self._gave_up = False
        self._why = ""
        """Why the rest was not sent."""
        self._delivery: Delivery | None = None
        self._error: Exception | None = None

    def __enter__(self) -> Meanwhile:
        self._entered = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ends = False
        if not self._gave_up:
            self._leave(MOST_S)

    def finish(self) -> Delivery | None:
        """Send what is left; None where nothing was recorded.

        A server that does not answer is given up, as one that died: what it was given and may
        have taken is looked for by the next command that sends.

        Raises:
            LiftError: the journal or the settings cannot be used.
        """
        if not exists(self._config.path("journal")):
            return None
        self._hangs, self._ends = self._age_s() > OLD_S, True
        self._gave_up = not self._leave(LAST_SECONDS)
        if self._error:
            raise self._error
        return self._delivery or self._left()

    def _leave(self, seconds: float) -> bool:
        """Begin no other round, and wait for the thread to end, or its request to be too old.

        Args:
            seconds: to wait at most.

        Returns:
            Whether it has ended.
        """
        self._leaving.set()
        until = time.monotonic() + seconds
        while self._thread.is_alive():
            if self._age_s() > self._patient_s() or time.monotonic() > until:
                return False
            self._thread.join(0.02)
        return True

    def _patient_s(self) -> float:
        """How old a request may get now."""
        if self._ends and not self._hangs and not self._failures:
            return PATIENT_S
        return min(MOST_S, max(LEAST_S, SHARE * (time.monotonic() - self._entered)))

    def _age_s(self) -> float:
        """Of the oldest request in flight; 0 where there is none."""
        since = self._opened.connection.asked_at if self._opened else None
        return time.monotonic() - since if since is not None else 0.0

    def _left(self) -> Delivery:
        from lift.journal import Journal
        from lift.langfuse.publish import NOTHING
        from lift.outbox.delivery import left

        before = self._sent or NOTHING
        if self._gave_up:
            before = before._replace(why="the server does not answer in time")
        elif self._why:
            before = before._replace(why=self._why)
        with Journal(self._config.path("journal"), create=False) as journal:
            return left(self._config, journal, self._experiment, before=before)

    # ---- in the thread

    def _work(self) -> None:
        with ExitStack() as stack:
            with suppress(Exception):  # it may not fail the run; at the end it is met again
                self._send_now_and_then(stack)
            if self._ends and self._failures < MOST_FAILURES:
                try:
                    self._delivery = self._send_rest(self._opened or self._open(stack))
                except Exception as broken:  # noqa: BLE001 - told or raised where the run ended
                    self._end_with(broken)

    def _end_with(self, broken: Exception) -> None:
        from lift.langfuse.faults import LangfuseError

        if isinstance(broken, LangfuseError):
            self._why = broken.what
        else:
            self._error = broken

    def _send_now_and_then(self, stack: ExitStack) -> None:
        while not self._has_begun():
            if self._leaving.wait(LOOK_S):
                return
        opened, pause_s = self._open(stack), 0.0
        while not self._leaving.wait(pause_s):
            began, asked_at = time.thread_time(), time.monotonic()
            try:
                with opened.journal.sending(self._experiment, waiting=_elsewhere):
                    sent = opened.outbox.send(seconds=SECONDS, settles=False, most=MOST_TRIALS)
            except LiftError:  # another process sends it
                pause_s = PAUSE_S
                continue
            self._sent = self._sent.and_then(sent) if self._sent else sent
            hung = not sent.taken and time.monotonic() - asked_at > OLD_S
            failures = self._failures + (MOST_FAILURES if hung else 1)
            self._failures = failures if sent.broke_off else 0
            rest_s = REST * (time.thread_time() - began)
            longer_s = min(max(PAUSE_S, 2 * pause_s), LONGEST_PAUSE_S)
            pause_s = longer_s if sent.broke_off else max(PAUSE_S, rest_s)

    def _has_begun(self) -> bool:
        """Whether there is an answer; what sends takes a moment to load, when others wait."""
        from lift.journal import Journal

        path = self._config.path("journal")
        if not exists(path):
            return False
        with Journal(path) as journal:
            return journal.has_attempts(self._experiment)

    def _open(self, stack: ExitStack) -> Opened:
        from lift.journal import Journal
        from lift.langfuse.publish import Outbox
        from lift.outbox.project import BESIDE, required
        from lift.prepare import clock
        from lift.redact import redacted

        journal = stack.enter_context(Journal(self._config.path("journal")))
        to = stack.enter_context(required(self._config, BESIDE, sleep=self._sleep))
        outbox = Outbox(journal, self._experiment, to, redact=redacted, now_ms=clock)
        self._opened = Opened(journal, to, outbox)
        return self._opened

    def _send_rest(self, opened: Opened) -> Delivery:
        from lift.langfuse.publish import NOTHING
        from lift.outbox.delivery import delivered

        seconds = BRIEF_SECONDS if self._failures else LAST_SECONDS
        with opened.journal.sending(self._experiment, waiting=self._wait):
            sent = opened.outbox.send(seconds=seconds, settles=False)
            before = self._sent or NOTHING
            return delivered(
                opened.journal, self._experiment, opened.connection, before.and_then(sent)
            )

    def _wait(self) -> None:
        """Another process sends the experiment."""
        self._waits_since = self._waits_since or time.monotonic()
        if not self._ends or time.monotonic() - self._waits_since > ELSEWHERE_S:
            _elsewhere()
        self._waiting()

    def _sleep(self, seconds: float) -> None:
        """Wait for another try, unless it is time to leave a server that failed."""
        from lift.langfuse.faults import LangfuseError

        if self._ends and not self._failures:
            time.sleep(seconds)
        elif self._leaving.wait(seconds):
            raise LangfuseError("the run ended first", where=self._experiment)


def _elsewhere() -> None:
    from lift.langfuse.faults import LangfuseError

    raise LangfuseError("another process sends the experiment")
