"""Whether a server takes the credential and has a model: asked without spending anything."""

from __future__ import annotations

import asyncio

from lift.backends import sdk
from lift.backends.faults import Cut, Malformed, Refusal, Unsent
from lift.errors import CouldNotRun, CredentialError
from lift.settings import Credential

SECONDS = 10.0


def serves(credential: Credential, model: str) -> bool:
    """Whether the server says that it has the model; False where it does not tell.

    Raises:
        CredentialError: it refuses the key.
        CouldNotRun: it cannot be reached.
    """
    return asyncio.run(_serves(credential, model))


async def _serves(credential: Credential, model: str) -> bool:
    client = sdk.client_of(credential)
    try:
        with sdk.faults():
            await client.models.retrieve(model, timeout=SECONDS)
    except Refusal as answered:
        if answered.status in (401, 403):
            raise CredentialError(
                f"the server refuses the key with status {answered.status}",
                fix="check ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) and the address",
            ) from answered
        return False
    except (Unsent, Cut) as broken:
        raise CouldNotRun(
            "the server cannot be reached", fix="check ANTHROPIC_BASE_URL and the network"
        ) from broken
    except Malformed:  # a server that has other addresses alone
        return False
    finally:
        await client.close()
    return True
