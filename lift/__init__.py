"""Tells whether an agent skill measurably helps.

    from lift import Dataset, Item, Pattern, Rubric

Names are resolved when they are first used, so that importing lift costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from activation.prompts import TriggerPrompt as TriggerPrompt
    from activation.prompts import TriggerPrompts as TriggerPrompts
    from lift.api import compare as compare
    from lift.api import pull as pull
    from lift.api import run as run
    from lift.dataset import Dataset as Dataset
    from lift.dataset import Item as Item
    from lift.errors import LiftError as LiftError
    from lift.evaluators.rubric import Pattern as Pattern
    from lift.evaluators.rubric import Rubric as Rubric
    from lift.schema import Evidence as Evidence
    from lift.schema import Score as Score

__version__ = "0.1.0"

_HOMES = {
    "Dataset": "lift.dataset",
    "Evidence": "lift.schema",
    "Item": "lift.dataset",
    "LiftError": "lift.errors",
    "Pattern": "lift.evaluators.rubric",
    "Rubric": "lift.evaluators.rubric",
    "Score": "lift.schema",
    "TriggerPrompt": "activation.prompts",
    "TriggerPrompts": "activation.prompts",
    "compare": "lift.api",
    "pull": "lift.api",
    "run": "lift.api",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lift' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
