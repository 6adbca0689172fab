"""JSON schemas of what is written for programs, made from the types that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import GenericAlias
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, Field, create_model

from lift import frames
from lift.against import Against
from lift.agreement import Judging
from lift.diagnostics import Diagnostics
from lift.gate import Baseline, Candidate
from lift.journal import Experiment, Reused
from lift.reports.json import COMPARISON
from lift.suggesting import Suggestion
from lift.verdict import Claim

DRAFT = "https://json-schema.org/draft/2020-12/schema"

KINDS: Mapping[str, Any] = {
    "str": str,
    "category": str,
    "int64": int,
    "float64": float | None,
    "bool": bool,
}
"""Type of a frame's column → type of its values in JSON, where NaN is null."""


def schema(name: str) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a document.

    Fields that it does not name may be there: later versions of lift add some.

    Args:
        name: one of `SCHEMAS`.
    """
    found = SCHEMAS[name]().model_json_schema(mode="serialization", by_alias=True)
    required = ["schema", *(field for field in found["required"] if field != "schema")]
    return {"$schema": DRAFT, **_open(found), "required": required}


def _comparison() -> type[BaseModel]:
    experiment = _object(Experiment, reused=_list(_object(Reused)))
    category = _row(
        "Category",
        frames.CATEGORIES,
        "Means over the pairs of a category, 0 to 1. low and high are the ends of the 95 % interval"
        " of delta, null where the data set no limit. Dataset and category are 'all' over both.",
    )
    evaluator = _row(
        "Evaluator", frames.EVALUATORS, "What one that is no judge says of the change."
    )
    measure = _row("Measure", frames.MEASURES, "A metric over all items.")
    item = _row("ItemDelta", frames.DELTAS, "An item's means over its repeats, 0 to 1.")
    compared = {
        "base": str,
        "other": str,
        "invalid": (str | None, Field(description="Why it says nothing.")),
        "claims": list[Claim],
        "categories": _list(category),
        "judged": _list(category),
        "judges": _list(_object(Judging)),
        "evaluators": _list(evaluator),
        "measures": _list(measure),
        "items": _list(item),
        "diagnostics": Diagnostics,
    }
    another = _model("Compared", "One condition measured from another.", compared)
    whole = {
        "schema_": (Literal[COMPARISON], Field(alias="schema")),
        "experiment": experiment,
        "notice": (str, Field(default="", description="There where the replies are canned.")),
        **compared,
        "more": (_list(another), Field(default=[], description="Measured from a second base.")),
        "against": (_object(Against, experiment=experiment), Field(default=None)),
        "suggestions": (list[Suggestion], Field(default=[])),
        "candidates": (list[Candidate], Field(default=[], description="What the gate may accept.")),
    }
    return _model("Comparison", "A comparison, as --json and --out write it.", whole)


def _row(name: str, columns: frames.Columns, says: str) -> type[BaseModel]:
    return _model(name, says, {column: KINDS[kind] for column, kind in columns.items()})


def _object(noun: type, **fields: Any) -> type[BaseModel]:
    """A named tuple as the object that it is in JSON."""
    return _model(noun.__name__, str(noun.__doc__), {**get_type_hints(noun), **fields})


def _list(model: type[BaseModel]) -> Any:
    return GenericAlias(list, (model,))


def _model(name: str, says: str, fields: Mapping[str, Any]) -> type[BaseModel]:
    return create_model(name, __doc__=says, **fields)


def _open(value: Any) -> Any:
    """A schema that lets unknown fields be."""
    if isinstance(value, dict):
        return {key: _open(one) for key, one in value.items()
                if (key, one) != ("additionalProperties", False)}  # fmt: skip
    return [_open(one) for one in value] if isinstance(value, list) else value


SCHEMAS: Mapping[str, Callable[[], type[BaseModel]]] = {
    "comparison": _comparison,
    "baseline": lambda: Baseline,
}
"""Document → what makes its model."""
