"""What a dataset and its items hold, as they are written and as they come back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lift.langfuse import ids
from lift.langfuse.masking import masked_item
from lift.langfuse.traces import expected_output
from lift.langfuse.wire import Redact
from lift.schema import digest

MARK = "_sync"
SOURCE = "lift"

Content = dict[str, Any]
"""What an item or a dataset holds, without the mark."""

ITEM_FIELDS = ("input", "expectedOutput", "metadata")
DATASET_FIELDS = ("description", "metadata", "inputSchema", "expectedOutputSchema")

SCHEMAS: Content = {
    "inputSchema": {
        "type": "object",
        "properties": {"prompt": {"type": "string"}},
        "required": ["prompt"],
    },
    "expectedOutputSchema": {
        "type": "object",
        "properties": {
            "rubric": {"type": "object"},
            "evaluators": {"type": "array"},
            "judge_criteria": {"type": "string"},
            "ground_truth": {"type": "string"},
        },
    },
}
"""Of a dataset's items: what every item satisfies that lift ever wrote, for who adds others."""


def contents(
    dataset: str, items: Iterable[Mapping[str, Any]], redact: Redact
) -> dict[str, Content]:
    """Id in Langfuse → content, masked.

    Args:
        dataset: its name.
        items: as Item.model_dump(mode="json") gives them.
        redact: masks strings.
    """
    masked = (masked_item(item, redact) for item in items)
    return {ids.item_id(dataset, item["id"]): _content(item) for item in masked}


def state(ours: Content | None, theirs: Content | None, fields: Iterable[str]) -> str:
    """What is to be done with an item or a dataset, as a field of Synced.

    Args:
        ours: None where it is no more.
        theirs: None where it is not listed.
        fields: that make up its content.
    """
    if theirs is None:
        return "created"
    metadata = theirs.get("metadata")
    mark = metadata.get(MARK) if isinstance(metadata, dict) else None
    if not isinstance(mark, dict) or mark.get("source") != SOURCE:
        return "foreign"
    there = _hash({name: theirs.get(name) for name in fields})
    if ours is not None and there == _hash(ours):
        return "unchanged"
    if there != mark.get("hash"):
        return "edited"
    return "updated" if ours is not None else "archived"


def marked(content: Content) -> Content:
    """The content with the mark: that lift owns it, and the hash of what it wrote."""
    mark = {MARK: {"source": SOURCE, "hash": _hash(content)}}
    return {**content, "metadata": {**content["metadata"], **mark}}


def same(ours: Content, theirs: Content) -> bool:
    """Whether the server has what was written: body of the request, and what comes back."""
    return all(_normal(theirs.get(name)) == _normal(value) for name, value in ours.items())


def _content(item: Mapping[str, Any]) -> Content:
    names = ("category", "tags", "quick")
    return {
        "input": {"prompt": item["prompt"]},
        "expectedOutput": expected_output(item),
        "metadata": {name: item[name] for name in names if name in item},
    }


def _hash(content: Content) -> str:
    """Identifies a content, as written or as it comes back."""
    metadata = content.get("metadata")
    if isinstance(metadata, dict):
        metadata = {name: value for name, value in metadata.items() if name != MARK}
    there = {**content, "metadata": metadata}
    return digest(_normal({name: value for name, value in there.items() if value is not None}))


def _normal(value: Any) -> Any:
    """The value with 1 for 1.0: servers keep one kind of number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _normal(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(inner) for inner in value]
    return value
