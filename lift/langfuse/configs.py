"""What people can score a trial with in the UI: its drawer offers score configs only.

Their names differ from those of lift's own scores, which carry no config: a server drops a score
that does not fit its config without a word.
"""

from __future__ import annotations

from typing import Any

from lift.langfuse.client import Connection

CONFIGS_PATH = "/api/public/score-configs"

Config = dict[str, Any]

CONFIGS: tuple[Config, ...] = (
    {
        "name": "human_passed",
        "dataType": "BOOLEAN",
        "description": "Is the answer good enough? Compare with lift's score `passed`.",
    },
    {
        "name": "human_rubric",
        "dataType": "NUMERIC",
        "minValue": 0,
        "maxValue": 1,
        "description": "Share of what was expected that the answer shows. Compare with `rubric`.",
    },
    {
        "name": "human_verdict",
        "dataType": "CATEGORICAL",
        "categories": [
            {"label": "wrong", "value": 0},
            {"label": "partly right", "value": 1},
            {"label": "right", "value": 2},
        ],
        "description": "The answer as a whole.",
    },
)


def missing(connection: Connection) -> list[str]:
    """Names of the configs that the project lacks; one that was archived is not lacking.

    Raises:
        LangfuseError: it cannot be asked.
    """
    names = {config.get("name") for config in _listed(connection)}
    return [config["name"] for config in CONFIGS if config["name"] not in names]


def ensure(connection: Connection) -> list[str]:
    """Have the project hold the configs, each once; returns the names of those that are new.

    Raises:
        LangfuseError: it cannot be asked or written.
    """
    wanted = missing(connection)
    made = [_made(connection, config) for config in CONFIGS if config["name"] in wanted]
    if made:
        _undouble(connection, [config["id"] for config in made])
    return wanted


def _made(connection: Connection, config: Config) -> Config:
    def found() -> Config | None:
        same = (there for there in _listed(connection) if there.get("name") == config["name"])
        return next(same, None)

    return connection.make(CONFIGS_PATH, config, found=found)


def _undouble(connection: Connection, mine: list[str]) -> None:
    """Archive those of mine that another process made at the same time: the first one stays."""
    known: dict[str, list[Config]] = {}
    for config in _listed(connection):
        if not config.get("isArchived"):
            known.setdefault(config.get("name", ""), []).append(config)
    for same in known.values():
        in_order = sorted(same, key=lambda c: (c.get("createdAt", ""), c["id"]))
        for config in in_order[1:]:
            if config["id"] in mine:
                connection.patch(f"{CONFIGS_PATH}/{config['id']}", {"isArchived": True})


def _listed(connection: Connection) -> list[Config]:
    return list(connection.numbered(CONFIGS_PATH, {}))
