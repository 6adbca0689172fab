"""The cost ceiling: promise the worst case before a call, bill what it cost after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lift.errors import CeilingReached
from lift.pricing import ROUNDING_USD


def reached(
    worst_usd: float,
    *,
    ceiling_usd: float,
    committed_usd: float,
    lost_usd: float = 0.0,
    calls: int = 1,
) -> CeilingReached:
    """Says that calls do not fit.

    Args:
        worst_usd: the most they can cost.
        ceiling_usd: of the experiment.
        committed_usd: what is spent, counting calls that never reported at their worst.
        lost_usd: those calls.
        calls: how many.
    """
    used = f"${committed_usd - lost_usd:.4f} is spent"
    if lost_usd:
        used += f", and calls that broke off may have cost ${lost_usd:.4f}"
    what = "call" if calls == 1 else f"{calls} calls"
    return CeilingReached(
        f"the next {what} may cost ${worst_usd:.4f} and would pass the ceiling of"
        f" ${ceiling_usd:{'.2f' if ceiling_usd >= 0.01 else '.4g'}}; {used}",
        where="--max-cost-usd",
        fix="run the same command with a higher ceiling: it goes on from here",
    )


class Budget:
    """Keeps what is spent plus the worst case of all calls in flight at or under the ceiling.

    Args:
        ceiling_usd: above 0.
        spent_usd: what the experiment cost before.
        lost_usd: worst case of earlier calls that never reported their usage.
        reserve: told, before a call, what all calls of this run may cost at worst that nobody has
            heard of yet; only when that rises.
    """

    def __init__(
        self,
        ceiling_usd: float,
        *,
        spent_usd: float = 0.0,
        lost_usd: float = 0.0,
        reserve: Callable[[float], None] = lambda _usd: None,
    ) -> None:
        self._reserve = reserve
        self._reserved_usd = 0.0
        self._lost_before_usd = lost_usd
        self.ceiling_usd = ceiling_usd
        self.spent_usd = spent_usd
        self.lost_usd = lost_usd
        self.promised_usd = 0.0
        self._changed = asyncio.Condition()

    async def promise(self, worst_usd: float) -> None:
        """Wait until a call fits beside all that is in flight.

        Args:
            worst_usd: the most the call can cost.

        Raises:
            CeilingReached: it does not fit even when nothing else is in flight.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._fits(worst_usd) or not self.promised_usd)
            if not self._fits(worst_usd):
                raise reached(
                    worst_usd,
                    ceiling_usd=self.ceiling_usd,
                    committed_usd=self.committed_usd,
                    lost_usd=self.lost_usd,
                )
            self.promised_usd += worst_usd
            exposed = self.promised_usd + self.lost_usd - self._lost_before_usd
            if exposed > self._reserved_usd:
                self._reserve(exposed)
                self._reserved_usd = exposed

    async def bill(self, worst_usd: float, cost_usd: float) -> None:
        """A call ended and cost this much; its promise is free again."""
        self.spent_usd += cost_usd
        await self._release(worst_usd)

    async def lose(self, worst_usd: float) -> None:
        """A call ended without a word of its usage: it stays billed at its worst case."""
        self.lost_usd += worst_usd
        await self._release(worst_usd)

    @property
    def committed_usd(self) -> float:
        """What is spent, counting calls that never reported at their worst."""
        return self.spent_usd + self.lost_usd

    def _fits(self, worst_usd: float) -> bool:
        total = self.committed_usd + self.promised_usd + worst_usd
        return total <= self.ceiling_usd + ROUNDING_USD

    async def _release(self, worst_usd: float) -> None:
        async with self._changed:
            self.promised_usd = max(0.0, self.promised_usd - worst_usd)
            if self.promised_usd < ROUNDING_USD:
                self.promised_usd = 0.0
            self._changed.notify_all()
