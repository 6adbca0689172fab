"""Sending while trials are asked: in a thread, with a journal and a connection of its own.

It never fails a run and does not slow it: it works a twentieth of the time at most, in small
pieces, and whatever goes wrong is left for the sending at the end.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from lift.errors import LiftError
from lift.paths import exists
from lift.settings import Config

if TYPE_CHECKING:
    from lift.journal import Journal
    from lift.langfuse.publish import Outbox, Sent

PAUSE_S, LONGEST_PAUSE_S = 2.0, 60.0
"""Before it looks for something to send; twice as long each time that the server fails."""

REST = 20
"""It rests so many times as long as it computed: the run has that processor meanwhile."""

MOST_TRIALS, SECONDS = 50, 10.0
"""Sent at a time."""


class Meanwhile:
    """Sends an experiment from when it is entered until it is left.

    Args:
        config: names journal and project.
        experiment: its name; it need not be in the journal yet.
    """

    def __init__(self, config: Config, experiment: str) -> None:
        self._config, self._experiment = config, experiment
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._work, name="langfuse", daemon=True)
        self._sent: Sent | None = None
        self.failures = 0
        """How often in a row the server failed at last."""

    def __enter__(self) -> Meanwhile:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    @property
    def sent(self) -> Sent:
        """What the server took in all, and what came of the last sending."""
        from lift.langfuse.publish import NOTHING

        return self._sent or NOTHING

    def leave(self) -> None:
        """Begin nothing more; returns when the request in flight has ended."""
        self._leaving.set()
        self._thread.join()

    def _work(self) -> None:
        with ExitStack() as stack:
            try:
                self._send_now_and_then(stack)
            except Exception:  # noqa: BLE001 - it may not fail the run; at the end it is met again
                return

    def _send_now_and_then(self, stack: ExitStack) -> None:
        while not exists(self._config.path("journal")):
            if self._leaving.wait(PAUSE_S):
                return
        journal, outbox = self._opened(stack)
        pause_s = PAUSE_S
        while not self._leaving.wait(pause_s):
            began = time.thread_time()
            try:
                with journal.sending(self._experiment, waiting=_elsewhere):
                    sent = outbox.send(seconds=SECONDS, settles=False, most=MOST_TRIALS)
                self._sent = self.sent.and_then(sent)
            except LiftError:  # the run has not begun, or another process sends it
                continue
            self.failures = self.failures + 1 if sent.broke_off else 0
            rest_s = REST * (time.thread_time() - began)
            longer_s = min(2 * pause_s, LONGEST_PAUSE_S)
            pause_s = longer_s if sent.broke_off else max(PAUSE_S, rest_s)

    def _opened(self, stack: ExitStack) -> tuple[Journal, Outbox]:
        from lift.journal import Journal
        from lift.langfuse.publish import Outbox
        from lift.outbox.project import BESIDE, required
        from lift.prepare import clock
        from lift.redact import redacted

        journal = stack.enter_context(Journal(self._config.path("journal")))
        to = stack.enter_context(required(self._config, BESIDE, sleep=self._sleep))
        return journal, Outbox(journal, self._experiment, to, redact=redacted, now_ms=clock)

    def _sleep(self, seconds: float) -> None:
        """Wait for another try, unless it is time to leave."""
        from lift.langfuse.faults import LangfuseError

        if self._leaving.wait(seconds):
            raise LangfuseError("the run ended first", where=self._experiment)


def _elsewhere() -> None:
    from lift.langfuse.faults import LangfuseError

    raise LangfuseError("another process sends the experiment")
