"""Everything that doctor looks at, in the order a person sets it up."""

from __future__ import annotations

from collections.abc import Iterator

from lift.dataset import discover_all
from lift.doctor import Finding, failed, machine, noted, ok
from lift.doctor.langfuse import langfuse
from lift.doctor.model import model
from lift.doctor.records import journal
from lift.errors import LiftError
from lift.settings import CREDENTIALS, DEFAULT, Config, variable


def examine(config: Config) -> Iterator[Finding]:
    """What is set up, and what is not; each as soon as it is known."""
    yield machine.versions()
    yield _datasets(config)
    yield model(config)
    yield from langfuse(config)
    yield from journal(config)
    yield machine.git(config.root)
    yield machine.claude(config.root)


def settings(config: Config) -> list[dict[str, str]]:
    """Each setting with its value and where that came from; of a credential, only the latter."""
    found = [
        {"setting": name, "variable": variable(name), "value": str(value), "from": origin}
        for name, value in config.settings
        for origin in [config.origins[name]]
    ]
    for name in CREDENTIALS:
        sources = list(config.variables.get(name, ()))
        shown = "set, not shown" if sources else "not set"
        origin = sources[0] if sources else DEFAULT
        found.append({"setting": name, "variable": name, "value": shown, "from": origin})
    return found


def _datasets(config: Config) -> Finding:
    name, folder = "datasets", config.path("datasets_dir")
    try:
        found = discover_all(folder)
    except LiftError as bad:
        return failed(name, f"{bad.what} ({bad.where})", bad.fix or "correct the module")
    if not found:
        return noted(name, f"none in {folder}", "write one: docs/writing-a-dataset.md")
    skills = ", ".join(sorted({one.skill for one in found}))
    return ok(name, f"{len(found)} in {folder}, for {skills}")
