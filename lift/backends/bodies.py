"""What goes to the Messages API and what comes back, as JSON."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from lift.backends.faults import Malformed, Refusal
from lift.schema import Foreign, Reply, Request, Tokens, Usage

MALFORMED = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""What reading something else than was promised raises."""

PARTS = ("message_start", "content_block_start", "content_block_delta", "message_delta")
"""Names of the events that a message is made of."""

STREAMING = 200
"""Status of a stream, whatever happens once it has begun."""

FINAL = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
}
"""Errors that another try would get as well → their status."""


class _Told(BaseModel):
    """A part of a message, as far as lift reads it."""

    model_config = ConfigDict(strict=True)


class Block(_Told):
    """A block of content; text where that is its type."""

    type: Foreign
    text: Foreign | None = None


class CacheLife(_Told):
    """How long what was written to the prompt cache lives there."""

    ephemeral_1h_input_tokens: Tokens | None = None


class Used(_Told):
    """The tokens of a call, as the server counts them."""

    input_tokens: Tokens
    output_tokens: Tokens
    cache_creation_input_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None
    cache_creation: CacheLife | None = None


class Message(_Told):
    """An answer."""

    content: list[Block]
    usage: Used
    stop_reason: Foreign | None = None
    model: Foreign | None = None
    id: Foreign | None = None


def parameters_of(request: Request) -> dict[str, Any]:
    """The body of a Messages API call."""
    system: list[dict[str, Any]] = [{"type": "text", "text": text} for text in request.system]
    if request.cached_blocks:
        control = {"type": "ephemeral"}
        if request.cache_life != "5m":
            control["ttl"] = request.cache_life
        system[request.cached_blocks - 1]["cache_control"] = control
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": system,
        "messages": [{"role": "user", "content": _blocks(request.content)}],
    }
    output: dict[str, Any] = {"effort": request.effort} if request.effort else {}
    if request.output_schema:
        output["format"] = {"type": "json_schema", "schema": request.output_schema}
    return body | ({"output_config": output} if output else {})


def _blocks(texts: Sequence[str]) -> str | list[dict[str, Any]]:
    if len(texts) == 1:
        return texts[0]
    return [{"type": "text", "text": text} for text in texts]


def message_of(told: Any) -> Message:
    """The message that JSON says.

    Raises:
        Malformed: it is none.
    """
    try:
        return Message.model_validate(told)
    except ValidationError as bad:
        raise _no_message(bad) from bad


def parsed(content: bytes) -> Message:
    """The message that a whole body is.

    Raises:
        Malformed: it is none.
    """
    try:
        told = json.loads(content)
    except (ValueError, RecursionError) as bad:
        raise Malformed("the server's answer is no message: it is no JSON") from bad
    return message_of(told)


async def streamed(chunks: AsyncIterator[bytes], began: Callable[[], None]) -> Message:
    """The message that a stream of events tells.

    Args:
        chunks: the body, in pieces of any length.
        began: called at each event of the message.

    Raises:
        Malformed: they do not tell one, or not all of it.
        Refusal: the server broke it off with an error.
    """
    message: dict[str, Any] = {}
    async for name, data in _events(chunks):
        if name == "error":
            raise _broken_off(data)
        if name == "message_stop":
            return message_of(message)
        if name not in PARTS:
            continue
        try:
            message = _grown(message, name, json.loads(data))
        except MALFORMED as bad:
            raise Malformed("the server's answer is no stream of events") from bad
        began()
    raise Malformed("the stream broke off")


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, bytes]]:
    """Name and data of each event that has both.

    Source: the living HTML standard, Server-sent events, section 9.2.6.
    """
    name, data = "", list[bytes]()
    async for line in _lines(chunks):
        field, _, value = line.partition(b":")
        if field == b"event":
            name = value.removeprefix(b" ").decode("utf-8", "replace")
        elif field == b"data":
            data.append(value.removeprefix(b" "))
        elif not line:
            if name and data:
                yield name, b"\n".join(data)
            name, data = "", []
    if name and data:
        yield name, b"\n".join(data)


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines; of bytes, unlike of texts, only CR and LF end one."""
    left = b""
    async for chunk in chunks:
        lines = (left + chunk).splitlines(keepends=True)
        # behind a CR the LF may be still to come
        left = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        for line in lines:
            yield line.rstrip(b"\r\n")
    if left:
        yield left.rstrip(b"\r\n")


def _broken_off(data: bytes) -> Refusal:
    """The error that a stream ends with; one that would come again has its own status."""
    try:
        error = json.loads(data)["error"]
        kind, said = str(error["type"]), str(error["message"])
    except MALFORMED:
        kind, said = "", data.decode("utf-8", "replace")
    return Refusal(said, status=FINAL.get(kind, STREAMING), headers={})


def _grown(message: dict[str, Any], name: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """A message with what an event adds; what no reply is made of is left out."""
    match name:
        case "message_start":
            return dict(event["message"])
        case "content_block_start":
            message["content"].append(dict(event["content_block"]))
        case "content_block_delta" if event["delta"]["type"] == "text_delta":
            message["content"][event["index"]]["text"] += event["delta"]["text"]
        case "message_delta":
            message["stop_reason"] = event["delta"].get("stop_reason")
            # totals so far; what a server leaves out stays as it was at the start
            used = {name: count for name, count in event["usage"].items() if count is not None}
            message["usage"] |= used
    return message


def read(message: Message) -> tuple[Usage, Reply]:
    """Usage and reply of a message.

    Raises:
        Malformed: something that decides the bill or the reply is not what it is.
    """
    said = [block.text for block in message.content if block.type == "text"]
    texts = [text for text in said if text is not None]
    if len(texts) < len(said):
        raise Malformed("the server's answer is no message: a text is missing")
    used = message.usage
    written = used.cache_creation_input_tokens or 0
    hour = (used.cache_creation.ephemeral_1h_input_tokens or 0) if used.cache_creation else 0
    try:
        usage = Usage(
            input_tokens=used.input_tokens,
            cache_write_5m_tokens=written - hour,
            cache_write_1h_tokens=hour,
            cache_read_tokens=used.cache_read_input_tokens or 0,
            output_tokens=used.output_tokens,
        )
    except ValidationError as bad:
        raise _no_message(bad) from bad
    reply = Reply(
        text="\n\n".join(texts),
        stop_reason=message.stop_reason,
        model=message.model or "",
        message_id=message.id or "",
    )
    return usage, reply


def _no_message(bad: ValidationError) -> Malformed:
    first = bad.errors()[0]
    field = ".".join(map(str, first["loc"]))
    return Malformed(f"the server's answer is no message: {field}: {first['msg']}")
