"""Our calls of the Messages API, held to the SDK's; and what a connection makes of odd servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import anthropic
import httpx2
import pytest
import servers
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from servers import Says

from lift.backends import sdk
from lift.backends.bodies import Message, parameters_of, read, streamed
from lift.backends.connection import Connection, refusal_of
from lift.backends.faults import Cut, Fault, Malformed, Refusal, Unsent
from lift.network import VARIABLES
from lift.schema import Request
from lift.settings import Credential

KEY, TOKEN = "sk-" + "fake-" + "1" * 6, "token-" + "fake-" + "2" * 6
REQUEST = Request(
    model="claude-sonnet-5-5",
    system=("base", "<skill>s</skill>"),
    cached_blocks=2,
    cache_life="1h",
    content=("ünï\u2028código", "p"),
    max_tokens=100,
    effort="low",
    output_schema={"type": "object", "properties": {"score": {"type": "number"}}},
)
OWN = {"user-agent", "host", "connection", "accept-encoding", "content-length"}
"""Headers that say who sends, and how: each library has its own."""


def ask(
    credential: Credential, *, seconds: float = 20, began: Callable[[], None] | None = None
) -> Message:
    async def scenario() -> Message:
        connection = Connection(credential)
        try:
            return await connection.message(parameters_of(REQUEST), seconds=seconds, began=began)
        finally:
            await connection.close()

    return asyncio.run(scenario())


def ask_by_sdk(credential: Credential, *, stream: bool) -> anthropic.types.Message:
    async def scenario() -> anthropic.types.Message:
        async with sdk.client_of(credential) as client:
            if not stream:
                return await client.messages.create(**parameters_of(REQUEST))
            async with client.messages.stream(**parameters_of(REQUEST)) as events:
                return await events.get_final_message()

    return asyncio.run(scenario())


def known(**fields: Any) -> dict[str, Any]:
    return {name: SecretStr(value) for name, value in fields.items()}


@pytest.mark.parametrize(
    "fields",
    [
        known(api_key=KEY),
        known(auth_token=TOKEN),
        {},
        known(api_key=KEY) | {"headers": known(**{"X-Team": "evals", "Anthropic-Beta": "b-1"})},
        known(api_key=KEY) | {"headers": known(Authorization="Basic abc")},
    ],
    ids=["key", "token", "none", "headers", "header instead of key"],
)
@pytest.mark.parametrize("path", ["", "/gateway/anthropic"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_it_sends_what_the_sdk_sends(fields: dict[str, Any], path: str, stream: bool):
    with servers.serving() as model:
        credential = Credential(base_url=model.url + path, **fields)
        ask(credential, began=(lambda: None) if stream else None)
        ask_by_sdk(credential, stream=stream)

    ours, theirs = (
        {n: v for n, v in sent.items() if n not in OWN and not n.startswith("x-stainless")}
        for sent in model.headers
    )
    assert ours == theirs
    assert model.calls[0] == model.calls[1]
    assert model.paths[0] == model.paths[1] == f"{path}/v1/messages"


TEXTS = ("hi", "", "é\u2028\x0b\x1c\r\n\n", "data: {}\n\nevent: x", "\U0001f600" * 50)


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_it_reads_what_the_sdk_reads(text: str, stream: bool):
    says = Says(text, input_tokens=7, output_tokens=9, cache_write=11, cache_read=13)
    with servers.serving(lambda *_: says) as model:
        credential = Credential(base_url=model.url, **known(api_key=KEY))
        usage, reply = read(ask(credential, began=(lambda: None) if stream else None))
        theirs = ask_by_sdk(credential, stream=stream)

    assert reply.text == "\n\n".join(b.text for b in theirs.content if b.type == "text") == text
    assert (reply.model, reply.message_id) == (theirs.model, theirs.id)
    assert reply.stop_reason == theirs.stop_reason
    used = theirs.usage
    assert (usage.input_tokens, usage.output_tokens) == (used.input_tokens, used.output_tokens)
    assert usage.cache_write_tokens == used.cache_creation_input_tokens
    assert usage.cache_read_tokens == used.cache_read_input_tokens


def lines_of(*events: dict[str, Any]) -> bytes:
    told = (
        f"event: {e['type']}\r\ndata: {json.dumps(e, ensure_ascii=False)}\r\n\r\n" for e in events
    )
    return "".join(told).encode()


def delta(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": fields}


START: dict[str, Any] = {
    "type": "message_start",
    "message": {
        "id": "m", "type": "message", "role": "assistant", "model": "x", "content": [],
        "stop_reason": None, "usage": {"input_tokens": 3, "output_tokens": 1},
    },
}  # fmt: skip
ENDED: dict[str, Any] = {
    "type": "message_delta",
    "delta": {"stop_reason": "end_turn"},
    "usage": {"output_tokens": 20, "input_tokens": None, "cache_read_input_tokens": 5},
}
STOP = {"type": "message_stop"}
THINKING = {"type": "thinking", "thinking": "", "signature": ""}
TEXT = {"type": "text", "text": ""}
STREAM = lines_of(
    START,
    {"type": "ping"},
    {"type": "content_block_start", "index": 0, "content_block": THINKING},
    delta(0, type="thinking_delta", thinking="hm"),
    delta(0, type="signature_delta", signature="s"),
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": TEXT},
    delta(1, type="text_delta", text="one\u2028"),
    {"type": "something_new", "of": ["later"]},
    delta(1, type="text_delta", text="two"),
    {"type": "content_block_stop", "index": 1},
    ENDED,
    STOP,
)


def told(*chunks: bytes, began: Callable[[], None] = lambda: None) -> Message:
    async def body() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return asyncio.run(streamed(body(), began))


@given(st.lists(st.integers(0, len(STREAM)), max_size=8).map(sorted))
def test_a_stream_may_be_cut_anywhere_into_pieces(cuts: list[int]):
    ends = [*cuts, len(STREAM)]
    usage, reply = read(told(*(STREAM[a:b] for a, b in zip([0, *cuts], ends, strict=True))))

    assert reply.text == "one\u2028two"
    assert reply.stop_reason == "end_turn"
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (3, 20, 5)


@given(st.integers(0, STREAM.index(b"message_stop")))
def test_a_stream_that_ends_early_is_no_message(end: int):
    with pytest.raises(Malformed):
        told(STREAM[:end])


def test_it_has_begun_with_the_first_event_of_the_message():
    begun: list[int] = []
    with pytest.raises(Malformed):
        told(lines_of({"type": "ping"}), began=lambda: begun.append(1))
    assert not begun
    with pytest.raises(Malformed):
        told(lines_of(START), began=lambda: begun.append(1))
    assert begun


@pytest.mark.parametrize(
    "event",
    [
        {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_delta", "index": 0},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": "20"}},
        {"type": "message_start", "message": 7},
        {"type": 7},
        {},
    ],
    ids=str,
)
def test_events_that_are_none(event: dict[str, Any]):
    bad = f"data: {json.dumps(event)}\n\n".encode()
    with pytest.raises(Malformed):
        told(lines_of(START), bad)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"type": "overloaded_error", "message": "busy"}, 200),
        ({"type": "overloaded_error", "message": {"busy": 1}}, 200),
        ({"type": "invalid_request_error", "message": "busy"}, 400),
        ({"message": "busy"}, 200),
        ("busy", 200),
    ],
    ids=str,
)
def test_an_error_within_a_stream(error: Any, status: int):
    with pytest.raises(Refusal, match="busy") as refused:
        told(lines_of(START, {"type": "error", "error": error}))
    assert refused.value.status == status


FORMS = {
    "ping without data": STREAM.replace(b'data: {"type": "ping"}', b"data:"),
    "ping of words": STREAM.replace(b'data: {"type": "ping"}', b"data: still here"),
    "comment": b": hello\r\n\r\n" + STREAM,
    "data without event": b"data: hello\n\n" + STREAM,
    "event without data": b"event: message_start\n\n" + STREAM,
    "two lines of data": STREAM.replace(b', "index"', b',\r\ndata: "index"'),
    "no space": STREAM.replace(b"data: ", b"data:").replace(b"event: ", b"event:"),
    "LF": STREAM.replace(b"\r\n", b"\n"),
    "CR": STREAM.replace(b"\r\n", b"\r"),
    "no last line end": STREAM.rstrip(b"\r\n"),
    "byte by byte": b"",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_of_any_form_that_the_standard_has(form: str):
    whole = FORMS[form] or STREAM
    chunks = [whole] if FORMS[form] else [bytes([byte]) for byte in whole]

    assert read(told(*chunks))[1].text == "one\u2028two"


def answered(status: int, content: bytes, **headers: str) -> Refusal:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    response = httpx2.Response(status, headers=names, content=content)
    return asyncio.run(refusal_of(response))


@pytest.mark.parametrize("charset", ["undefined", "utf-16", "hex", "idna", "nope", "rot13"])
def test_an_error_of_any_charset_is_an_error(charset: str):
    refused = answered(500, b"<html>\xff", content_type=f"text/html; charset={charset}")

    assert (refused.status, refused.said) == (500, "<html>\ufffd")


@pytest.mark.parametrize("status", [401, 429])
def test_a_status_counts_though_its_text_breaks_off(status: int):
    says = Says("x" * 400, status=status, sent=servers.HALF, headers=(("retry-after", "3"),))
    with servers.serving(lambda *_: says) as model, pytest.raises(Refusal) as refused:
        ask(Credential(base_url=model.url))

    assert (refused.value.status, refused.value.headers["retry-after"]) == (status, "3")


@pytest.mark.parametrize(
    ("says", "fault", "words"),
    [
        (Says("slow down", status=429, headers=(("retry-after", "7"),)), Refusal, "slow down"),
        (Says(status=502, text=""), Refusal, "api_error"),
        (Says(status=307, headers=(("location", "http://x.invalid/y"),)), Refusal, "x.invalid"),
        (Says(reset=True), Cut, "broke off"),
        (Says("x" * 500, sent=servers.HALF), Cut, "broke off"),
        (Says(seconds=3), Cut, "timed out"),
        (Says(body=b"<html>"), Malformed, "no JSON"),
        (Says(body=b"[" * 100_000), Malformed, "no JSON"),
        (Says(body=b"[]"), Malformed, "no message"),
        (Says(headers=(("content-encoding", "gzip"),)), Cut, "decompress"),
    ],
    ids=str,
)
def test_what_becomes_of_a_call(says: Says, fault: type[Fault], words: str):
    with servers.serving(lambda *_: says) as model, pytest.raises(fault, match=words) as failed:
        ask(Credential(base_url=model.url), seconds=1.5)

    if isinstance(failed.value, Refusal):
        assert failed.value.status == says.status
        assert failed.value.headers.get("Retry-After") == dict(says.headers).get("retry-after")


def test_where_nobody_listens_nothing_was_sent():
    with pytest.raises(Unsent, match="no connection"):
        ask(Credential(base_url=f"http://127.0.0.1:{servers.refused_port()}"))


@pytest.mark.parametrize("name", ["http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("bare", [False, True], ids=["address", "host alone"])
def test_a_proxy_of_the_environment_is_asked(monkeypatch, name: str, bare: bool):
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.lower(), raising=False)
    with servers.serving(lambda *_: Says("by proxy")) as proxy:
        monkeypatch.setenv(name, proxy.url.removeprefix("http://") if bare else proxy.url)
        (block,) = ask(Credential(base_url="http://api.invalid")).content
        assert block.text == "by proxy"
        assert proxy.paths == ["http://api.invalid/v1/messages"]

        for around in ("other.invalid,api.invalid", "localhost,*", "http://api.invalid", "invalid"):
            monkeypatch.setenv("NO_PROXY", around)
            with pytest.raises(Unsent):
                ask(Credential(base_url="http://api.invalid"))
        assert len(proxy.calls) == 1
