"""Spans to OTLP bytes, with nothing in them but what is given: the same spans, the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Encoded
from opentelemetry.proto.trace.v1.trace_pb2 import Status as EncodedStatus

from lift.langfuse import ids

SCOPE = "langfuse-sdk"
"""A server copies all attributes of any other scope into visible metadata."""

Attribute = str | int | bool | list[str]


class Span(NamedTuple):
    """One observation."""

    trace: str
    id: str
    parent: str
    """Empty for a root."""
    name: str
    start_ms: int
    end_ms: int
    attributes: Mapping[str, Attribute]
    error: str | None = None
    """What went wrong; None where nothing did."""


def encoded(spans: Iterable[Span]) -> bytes:
    """A request with these spans.

    Requests may be joined end to end: that is a request with the spans of all.

    Raises:
        ValueError: an id is none; a server would refuse, or misread, the whole request.
    """
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    scope.scope.name = SCOPE
    scope.spans.extend(_encoded(span) for span in spans)
    return cast(bytes, request.SerializeToString(deterministic=True))


def _encoded(span: Span) -> Encoded:
    made = Encoded(
        trace_id=bytes.fromhex(ids.checked(span.trace, ids.TRACE_DIGITS)),
        span_id=bytes.fromhex(ids.checked(span.id, ids.OBSERVATION_DIGITS)),
        name=span.name,
        kind=Encoded.SPAN_KIND_INTERNAL,
        start_time_unix_nano=span.start_ms * 1_000_000,
        end_time_unix_nano=span.end_ms * 1_000_000,
        attributes=[KeyValue(key=k, value=_value(v)) for k, v in span.attributes.items()],
    )
    if span.parent:
        made.parent_span_id = bytes.fromhex(ids.checked(span.parent, ids.OBSERVATION_DIGITS))
    if span.error is not None:
        made.status.CopyFrom(
            EncodedStatus(code=EncodedStatus.STATUS_CODE_ERROR, message=span.error)
        )
    return made


def _value(value: Attribute) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, str):
        return AnyValue(string_value=value)
    return AnyValue(array_value=ArrayValue(values=[_value(inner) for inner in value]))
