"""What answers: the protocol, and one module per way of getting an answer.

A backend knows nothing of journals or scores. It answers one request at a time, asks the meter
before each call that costs money, and raises BackendError where there is no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from lift.schema import Evidence, Label, Request


class Meter(Protocol):
    """Where a backend asks for money before a call and says what became of it after."""

    async def promise(self, worst_usd: float) -> None:
        """Wait until the call's worst case fits; raises CeilingReached if it never will."""
        ...

    async def bill(self, worst_usd: float, cost_usd: float) -> None:
        """The call reported its usage."""
        ...

    async def lose(self, worst_usd: float) -> None:
        """The call may have cost its worst case; nobody will say."""
        ...


class Backend(Protocol):
    """Answers requests."""

    @property
    def name(self) -> str:
        """Its name, as in --backend."""
        ...

    async def answer(
        self,
        request: Request,
        *,
        label: Label,
        meter: Meter,
        began: Callable[[], None] | None = None,
    ) -> Evidence:
        """What the call left behind: ok, or failed where the model answered badly.

        Args:
            request: what is sent.
            label: names what is asked.
            meter: asked before each call.
            began: called once the reply has begun, so that its prompt-cache entry is readable;
                None where nobody waits for that.

        Raises:
            BackendError: no answer after all retries.
            CeilingReached: the next call does not fit under the ceiling.
            CouldNotRun: nothing can be answered: key, model or server.
        """
        ...

    def is_calling(self, task: asyncio.Task[Any]) -> bool:
        """Whether a task waits for a call that is made, and not for its turn or another try."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
