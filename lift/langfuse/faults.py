"""What a request to Langfuse may end in, other than an answer: in words, and whether to repeat."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import httpx

from lift.errors import CouldNotRun
from lift.redact import redacted

PARTIAL = 207
"""Status of an answer that says of each thing in a list whether it was taken."""

LONGEST_WORDS = 300
"""Of a server, in a message."""

V4_MODE = "run the server in v4 write mode (LANGFUSE_MIGRATION_V4_*), or use Langfuse Cloud"

ADDRESS = "set LANGFUSE_BASE_URL to the server's own address"

V4_ONLY = ("/api/public/experiment", "/api/public/v2/observations", "/api/public/v3/scores")
"""What a server outside of v4 write mode does not have."""

ELSEWHERE = "already exists in another dataset"
"""What a server says of an item's id that another dataset uses: repeating it changes nothing."""


class LangfuseError(CouldNotRun):
    """Langfuse cannot be used: no answer, or none that can be read."""


class Unreachable(LangfuseError):
    """Nobody answers at the address; nothing was sent."""


class Unclear(LangfuseError):
    """The request broke off after it was sent, or the server failed: it may have been taken."""


class Failed(Unclear):
    """The server answered that it failed: it may have taken the request, and is done with it."""


class Refused(LangfuseError):
    """The server answered that it does not take the request.

    Args:
        what: what happened.
        status: of the answer.
    """

    def __init__(self, what: str, *, status: int, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.status = status


class Fault(NamedTuple):
    """A try that failed."""

    error: LangfuseError
    again: bool
    """Whether another try may help, and does no harm."""
    wait_s: float = 0.0
    """How long the server asks to wait."""
    busy: bool = False
    """Whether it takes no more of anything now."""


def of_break(broken: Exception, *, where: str, repeatable: bool) -> Fault:
    """A try without an answer.

    Args:
        broken: what httpx raised.
        where: method and address.
        repeatable: whether the server may be given the request twice.
    """
    fix = "check LANGFUSE_BASE_URL and the network; what is unsent stays in the journal"
    if isinstance(broken, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return Fault(LangfuseError(f"not an address: {broken}", where=where, fix=fix), again=False)
    if isinstance(broken, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        what = f"Langfuse cannot be reached: {_words(broken)}"
        return Fault(Unreachable(what, where=where, fix=fix), again=True)
    what = f"Langfuse gave no answer: {_words(broken)}"
    return Fault(Unclear(what, where=where, fix=fix), again=repeatable)


def of_answer(response: httpx.Response, *, repeatable: bool) -> Fault:
    """An answer that is no success.

    Args:
        response: what the server said.
        repeatable: whether the server may be given the request twice.
    """
    status, where = response.status_code, _where(response)
    said = _said(response)
    if status in (429, 503) or (status == 409 and ELSEWHERE not in said):
        busy = _refused(response, f"Langfuse takes no more now: {said}", fix="try again later")
        wait_s = _retry_after_s(response)
        told = status == 429 or (status == 503 and wait_s > 0)
        return Fault(busy, again=True, wait_s=wait_s, busy=told)
    if status == PARTIAL:
        some = Failed(f"Langfuse took a part at most: {said}", where=where, fix="try again later")
        return Fault(some, again=repeatable)
    if status == 408 or status >= 500:
        what = f"Langfuse failed with status {status}: {said}"
        fix = "try again later, or look at the server's log"
        # a gateway that tells of a failure, or a time-out, does not know how the server fares
        kind = Unclear if status in (408, 502, 504) else Failed
        failed = kind(what, where=where, fix=fix)
        return Fault(failed, again=repeatable, wait_s=_retry_after_s(response))
    if response.is_redirect or is_page(response):
        return Fault(page(response), again=False)
    return Fault(_refused(response, *_explained(response, said)), again=False)


def is_page(response: httpx.Response) -> bool:
    """Whether it is a web page, as another kind of server, a proxy or a login gives it."""
    return "html" in response.headers.get("content-type", "")


def page(response: httpx.Response) -> LangfuseError:
    """An answer that is not the API's."""
    what = f"not the Langfuse API: status {response.status_code} and no JSON"
    if response.is_redirect:
        what = f"not the Langfuse API: it leads to {brief(response.headers.get('location', ''))}"
    return LangfuseError(what, where=_where(response), fix=ADDRESS)


def is_entry(value: Any) -> bool:
    """Whether it is something that the API lists: all of it has an id."""
    return isinstance(value, dict) and "id" in value


def odd(where: str) -> LangfuseError:
    """An answer in JSON that is not the API's.

    Args:
        where: method and address.
    """
    what = "not the Langfuse API: its answer lacks what was asked for"
    return LangfuseError(what, where=where, fix=ADDRESS)


def _refused(response: httpx.Response, what: str, fix: str) -> Refused:
    return Refused(what, status=response.status_code, where=_where(response), fix=fix)


def _explained(response: httpx.Response, said: str) -> tuple[str, str]:
    """What happened, and how to fix it."""
    status, path = response.status_code, response.request.url.path
    if status == 401:
        keys = "LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY belong to LANGFUSE_BASE_URL"
        return f"Langfuse refuses the key: {said}", f"check that {keys}"
    if status == 403:
        return f"Langfuse forbids it: {said}", "look at the project's rights and usage limits"
    if status == 404 and path.startswith(V4_ONLY):
        return f"this Langfuse has no experiments: {said}", V4_MODE
    if status == 409:
        return f"Langfuse refuses the item: {said}", "rename the dataset, or delete the other item"
    return f"Langfuse refuses the request with status {status}: {said}", "update lift or the server"


def _where(response: httpx.Response) -> str:
    request = response.request
    return f"{request.method} {str(request.url).partition('?')[0]}"


def _said(response: httpx.Response) -> str:
    """The server's own words, on one line."""
    try:
        body = response.json()
    except ValueError:
        return response.reason_phrase or "no reason given"
    if not isinstance(body, dict):
        return "no reason given"
    words = [str(body.get("message", "")), *_details(body.get("error"))]
    return brief(": ".join(filter(None, words))) or "no reason given"


def brief(text: str) -> str:
    """A server's words on one line, as far as they matter; masked before they are cut.

    Half of a secret would not be known for one any more.
    """
    return redacted(" ".join(text.split()))[:LONGEST_WORDS]


def _details(error: Any) -> list[str]:
    """The first reason of a list of them."""
    if isinstance(error, list) and error and isinstance(error[0], dict):
        return [str(error[0].get("message", ""))]
    return []


def _words(broken: Exception) -> str:
    if isinstance(broken, httpx.TimeoutException):
        return "it takes too long"
    return str(broken) or type(broken).__name__


def _retry_after_s(response: httpx.Response) -> float:
    said = response.headers.get("retry-after", "")
    try:
        if said.isdecimal():
            return float(said)
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0
