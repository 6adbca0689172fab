"""Score configs: what people can score with is there, once."""

from __future__ import annotations

from typing import Any

import pytest
from langfuse_project import CONFIGS, Fault, Langfuse
from langfuse_trials import connected

from lift.langfuse import configs
from lift.langfuse.scores import RESERVED

NAMES = ["human_passed", "human_rubric", "human_verdict"]


def made(langfuse: Langfuse) -> list[str]:
    with connected(langfuse) as connection:
        return configs.ensure(connection)


def test_each_is_made_once(langfuse: Langfuse):
    assert made(langfuse) == NAMES
    assert made(langfuse) == []

    assert [config["name"] for config in langfuse.configs] == NAMES
    assert not {config["name"] for config in langfuse.configs} & RESERVED


def test_they_are_what_the_sdk_sends():
    from langfuse.api import CreateScoreConfigRequest

    names = {
        getattr(field.metadata[0], "alias", name) if field.metadata else name
        for name, field in CreateScoreConfigRequest.model_fields.items()
    }
    for config in configs.CONFIGS:
        assert set(config) - names == set()
        assert len(config["name"]) <= 35


@pytest.mark.parametrize("archived", [True, False])
def test_one_that_somebody_made_or_put_away_stays_as_it_is(langfuse: Langfuse, archived: bool):
    theirs = {"id": "1", "name": "human_rubric", "dataType": "NUMERIC", "isArchived": archived}
    langfuse.configs = [dict(theirs)]

    assert made(langfuse) == ["human_passed", "human_verdict"]
    assert langfuse.configs[0] == theirs


def test_one_on_the_second_page_is_seen(langfuse: Langfuse):
    langfuse.configs = [{"id": str(number), "name": f"c{number}"} for number in range(150)]
    langfuse.configs += [{"id": name, "name": name} for name in NAMES]

    assert made(langfuse) == []


@pytest.mark.parametrize("fault", [{"reset": True}, {"status": 500}], ids=["reset", "500"])
def test_one_whose_answer_was_lost_is_made_once(langfuse: Langfuse, fault: dict[str, Any]):
    langfuse.faults = [Fault(CONFIGS, method="POST", times=1, stored=True, **fault)]

    made(langfuse)

    assert [config["name"] for config in langfuse.configs] == NAMES


def test_of_two_that_were_made_at_once_the_first_stays(langfuse: Langfuse):
    with connected(langfuse) as one, connected(langfuse) as other:
        for connection in (one, other):  # each saw that there was none
            for config in configs.CONFIGS:
                connection.post(CONFIGS, config)
        mine = [config["id"] for config in langfuse.configs[3:]]
        configs._undouble(other, mine)
        configs._undouble(one, [config["id"] for config in langfuse.configs[:3]])

    assert [config["isArchived"] for config in langfuse.configs] == [False] * 3 + [True] * 3
