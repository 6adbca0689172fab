"""The Anthropic SDK, for what is asked seldom: batches, and which models there are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anthropic
import httpx2

from lift.backends.bodies import MALFORMED
from lift.backends.connection import NO_CREDENTIAL
from lift.backends.faults import Cut, Malformed, Refusal, Unsent, named
from lift.errors import CouldNotRun
from lift.network import from_environment
from lift.settings import Credential, is_loopback


def client_of(credential: Credential) -> anthropic.AsyncAnthropic:
    """The SDK's client for a credential; it repeats nothing.

    Raises:
        CouldNotRun: a proxy or the certificates of the environment cannot be used.
    """
    key, token = credential.api_key, credential.auth_token
    secret = key.get_secret_value() if key else None
    if not key and not token:
        secret = NO_CREDENTIAL
    # proxies and .netrc of the environment are for other hosts than a local server
    trusting = not is_loopback(credential.base_url)
    with from_environment(CouldNotRun, httpx2.InvalidURL):
        http_client = anthropic.DefaultAsyncHttpxClient(trust_env=trusting)
    client = anthropic.AsyncAnthropic(
        api_key=secret,
        auth_token=token.get_secret_value() if token else None,
        base_url=credential.base_url,
        max_retries=0,
        open_telemetry={"traces": False, "propagation": False},  # as nobody asked lift for it
        http_client=http_client,
    )
    # the SDK adds ANTHROPIC_CUSTOM_HEADERS of the environment, wherever the address comes from
    client._custom_headers = {
        name: value.get_secret_value() for name, value in credential.headers.items()
    }
    return client


@contextmanager
def faults() -> Iterator[None]:
    """Make a call in this block: what the SDK raises becomes a fault.

    Raises:
        Unsent, Refusal, Cut, Malformed: there is no answer.
    """
    try:
        yield
    except anthropic.APIStatusError as failed:
        said = failed.api_message or failed.message
        status, headers = failed.status_code, failed.response.headers
        raise Refusal(said, status=status, headers=headers) from failed
    except (TimeoutError, anthropic.APITimeoutError) as failed:
        unsent = isinstance(failed.__cause__, httpx2.ConnectTimeout)
        raise (Unsent if unsent else Cut)("the call timed out") from failed
    # the SDK does not wrap what breaks a body that has begun
    except (anthropic.APIConnectionError, httpx2.HTTPError) as failed:
        cause = failed.__cause__ or failed
        if isinstance(cause, httpx2.ConnectError):
            raise Unsent(f"no connection ({named(cause)})") from failed
        raise Cut(f"the connection broke off ({named(cause)})") from failed
    # nor does it check what it reads
    except (anthropic.AnthropicError, *MALFORMED) as failed:
        raise Malformed(str(failed)) from failed
