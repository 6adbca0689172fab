"""How evidence becomes scores: the two protocols, and the union of what ships.

A *check* is its data and one pure method. A *judge* asks a model: judging puts its question
and reads the reply. Every evaluator is a frozen noun, told apart by its `kind`.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from lift.evaluators.judge import Judge
from lift.evaluators.rubric import Pattern, Rubric
from lift.schema import Evidence, Score

Evaluator = Rubric
"""Everything an item may carry in `evaluators`."""

__all__ = ["Check", "Evaluator", "Judge", "Pattern", "Rubric"]


@runtime_checkable
class Check(Protocol):
    """An evaluator that needs nothing but the evidence."""

    @property
    def name(self) -> str:
        """The evaluator's name, unique within an item."""
        ...

    @property
    def weight(self) -> float:
        """Share of the trial's score, relative to its other evaluators."""
        ...

    def score(self, evidence: Evidence) -> Score:
        """The evaluator's verdict; the same evidence always gives the same score."""
        ...
