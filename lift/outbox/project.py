"""The Langfuse project that the settings name, and how long its server is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from lift.errors import SettingError
from lift.langfuse.client import Connection, LangfuseCredential
from lift.langfuse.pace import Pace, limits
from lift.settings import Config, langfuse_keys


class Patience(NamedTuple):
    """How long a server is waited for."""

    deadline_s: float
    """Of one request, all its tries together."""
    timeout_s: float
    """Of one try."""
    tries: int
    waits_s: float = 0.0
    """How long it may make a request wait, beside the deadline, when it takes no more now."""


COMMAND = Patience(deadline_s=30.0, timeout_s=10.0, tries=4, waits_s=300.0)
"""Of a command that does nothing else."""
BESIDE = Patience(deadline_s=5.0, timeout_s=4.0, tries=2)
"""While trials are asked: there is a next time."""
AFTER = Patience(deadline_s=6.0, timeout_s=4.0, tries=3)
"""When something else is done: somebody waits for the command to end."""


def connection(
    config: Config, patience: Patience = COMMAND, *, sleep: Callable[[float], None] = time.sleep
) -> Connection | None:
    """The Langfuse project of the settings; None where no keys are set.

    Args:
        config: names it.
        patience: how long its server is waited for.
        sleep: waits so many seconds.

    Raises:
        SettingError: the keys do not fit together, or one is malformed.
    """
    keys = langfuse_keys(config)
    if keys is None:
        return None
    credential = LangfuseCredential(**dict(keys))
    return Connection(
        credential,
        deadline_s=patience.deadline_s,
        timeout_s=patience.timeout_s,
        tries=patience.tries,
        waits_s=patience.waits_s,
        pace=Pace(limits(config.settings.langfuse_limit, credential.base_url), sleep=sleep),
        sleep=sleep,
    )


def required(
    config: Config, patience: Patience = COMMAND, *, sleep: Callable[[float], None] = time.sleep
) -> Connection:
    """The Langfuse project of the settings; see `connection`.

    Raises:
        SettingError: no keys are set, or they do not fit together.
    """
    found = connection(config, patience, sleep=sleep)
    if found is None:
        raise SettingError(
            "no Langfuse keys are set",
            where="environment and .env",
            fix="set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY",
        )
    return found
