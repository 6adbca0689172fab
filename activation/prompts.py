"""Trigger prompts: what a person might ask, and whether the skill should load for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from lift.dataset import AnyDataset, discover_all
from lift.schema import Many, Noun, Prose, Slug, Text


class TriggerPrompt(Noun):
    """One thing that a person might ask."""

    id: Slug
    prompt: Text
    loads: bool
    """Whether the skill should load; False makes it a near miss."""
    why: Text
    """What makes it so."""


class TriggerPrompts(AnyDataset):
    """A named list of trigger prompts for a skill."""

    prompts: Annotated[Many[TriggerPrompt], Field(min_length=1)]
    description: Prose = ""

    @field_validator("prompts")
    @classmethod
    def _ids_are_unique(cls, prompts: Sequence[TriggerPrompt]) -> Sequence[TriggerPrompt]:
        for prompt, count in Counter(prompt.id for prompt in prompts).items():
            if count > 1:
                raise ValueError(f"id {prompt!r} is used by {count} prompts")
        return prompts


def discover(folder: Path) -> list[TriggerPrompts]:
    """The trigger prompts among the dataset modules of a folder, in the order of their files.

    Raises:
        DatasetError: see `lift.dataset.discover_all`.
    """
    return [dataset for dataset in discover_all(folder) if isinstance(dataset, TriggerPrompts)]
