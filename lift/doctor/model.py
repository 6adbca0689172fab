"""The model: its credential, and whether the server takes it."""

from __future__ import annotations

from lift.doctor import Finding, failed, noted, ok
from lift.errors import CouldNotRun, SettingError
from lift.settings import Config, credential

NAME = "model"


def model(config: Config) -> Finding:
    """Whether trials can be answered; asks the server for the model, which costs nothing."""
    try:
        known = credential(config)
    except SettingError as bad:
        return failed(NAME, bad.what, bad.fix)
    if known is None:
        return noted(NAME, "no key is set: replies are canned", "set ANTHROPIC_API_KEY")
    from lift.backends.reach import serves

    wanted = config.settings.model
    try:
        told = serves(known, wanted)
    except CouldNotRun as problem:
        return failed(NAME, f"{problem.what} ({known.base_url})", problem.fix)
    if told:
        return ok(NAME, f"{wanted} at {known.base_url}")
    return ok(NAME, f"a key for {known.base_url}, which does not tell whether it has {wanted}")
