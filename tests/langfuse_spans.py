"""OTLP requests as a server reads them: for tests."""

from __future__ import annotations

from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def spans_of(data: bytes) -> list[dict[str, Any]]:
    request = ExportTraceServiceRequest.FromString(data)
    return [
        {
            "trace": span.trace_id.hex(),
            "id": span.span_id.hex(),
            "parent": span.parent_span_id.hex(),
            "name": span.name,
            "start_ns": span.start_time_unix_nano,
            "end_ns": span.end_time_unix_nano,
            "error": span.status.message if span.status.code == 2 else None,
            "scope": scope.scope.name,
            "attributes": {pair.key: _value(pair.value) for pair in span.attributes},
        }
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind)
    return [_value(inner) for inner in found.values] if kind == "array_value" else found
