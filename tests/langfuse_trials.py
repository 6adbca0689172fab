"""Experiments in a journal that tests publish: answered, scored, judged, some errored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from langfuse_project import PUBLIC_KEY, SECRET_KEY, Langfuse
from pydantic import SecretStr

from lift import plan as planning
from lift.dataset import Dataset, Item, Selection
from lift.evaluators import Rubric
from lift.journal import Journal, Record
from lift.langfuse import runs
from lift.langfuse.client import Connection, LangfuseCredential
from lift.langfuse.publish import Outbox, Sent
from lift.langfuse.runs import Facts, Run
from lift.plan import Plan
from lift.schema import Evidence, Reply, Score, Status, Trial, Usage, Vote
from lift.skill import Skill

START_MS = 1_790_000_000_000

SKILL = Skill(
    name="greet", description="d", body="b", root=Path("s"), files=(), tree_hash="5" * 64
)  # fmt: skip


def dataset(items: int = 3, *, name: str = "greetings", prompt: str = "Greet {n}.") -> Dataset:
    return Dataset(
        name=name,
        skill="greet",
        items=[
            Item(
                id=f"greet-{n}",
                category="short" if n % 3 else "long",
                prompt=prompt.format(n=n),
                rubric=Rubric(must_use=["hello"]),
                judge_criteria="It is polite.",
                tags=["polite"],
            )
            for n in range(items)
        ],
    )


def planned(
    items: int = 3,
    *,
    models: Collection[str] = ("m1",),
    repeats: int = 1,
    experiment: str = "exp",
    backend: str = "messages",
    datasets: Collection[Dataset] = (),
) -> Plan:
    return planning.make(
        SKILL, list(datasets) or [dataset(items)], selection=Selection(), models=list(models),
        repeats=repeats, backend=backend, max_tokens=10, effort=None, experiment=experiment,
    )  # fmt: skip


def chance(*parts: object) -> float:
    """A number from 0 to 1 that the parts decide."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16) / 0xFFFFFFFF


def answered(trial: Trial, *, text: str = "hello", at_ms: int = 0, **more: Any) -> Evidence:
    began = START_MS + at_ms + int(chance(trial.key, "start") * 60_000)
    return Evidence(
        status=Status.OK,
        reply=Reply(text=text, stop_reason="end_turn", model=f"{trial.model}-20260101"),
        usage=Usage(
            input_tokens=7, cache_read_tokens=100, cache_write_5m_tokens=50, output_tokens=11
        ),
        cost_usd=chance(trial.key, "cost") / 100,
        started_ms=began,
        ended_ms=began + 1 + int(chance(trial.key, "time") * 9000),
    ).model_copy(update=more)


def errored(trial: Trial, why: str = "the connection was reset") -> Evidence:
    return answered(trial, status=Status.ERRORED, why=why, reply=None, cost_usd=0.0, usage=Usage())


def checks(trial: Trial) -> list[Score]:
    value = chance(trial.key, "value")
    return [
        Score(evaluator="rubric", value=value, passed=value >= 0.5, why="2 of 3 checks hold"),
        Score(evaluator="style", value=chance(trial.key, "s"), why="fine", weight=0.3),
        Score(evaluator="silent", value=None, why="not gathered", weight=2.0),
    ]


def vote(trial: Trial, number: int = 1, *, why: str = "polite enough") -> Vote:
    said = answered(trial, text='{"score": 4}', at_ms=20_000, cost_usd=0.5)
    return Vote(
        evaluator="judge", number=number, evidence=said, value=0.8 if number == 1 else 0.6,
        why=why, model="judge-1", prompt_hash="9" * 64,
    )  # fmt: skip


def record(
    journal: Journal,
    plan: Plan,
    *,
    fails: Callable[[Trial], bool] = lambda _trial: False,
    asked: Callable[[Trial], bool] = lambda _trial: True,
    votes: int = 0,
) -> None:
    """Record a plan's trials as answered, or as errored where they fail; votes of a judge too."""
    journal.begin(plan, now_ms=START_MS)
    for trial in filter(asked, plan.trials):
        if fails(trial):
            journal.record(trial, errored(trial), [])
            continue
        journal.record(trial, answered(trial), checks(trial))
        for number in range(1, votes + 1):
            journal.record_vote(trial, vote(trial, number))


def known(journal: Journal) -> Facts:
    """What of the whole experiment goes into its spans and scores."""
    return runs.facts(journal.experiment("exp"), journal.trials("exp"))


def run_of(found: Record, facts: Facts) -> Run:
    return runs.run_of(runs.parts(found.trial), facts.experiment, project="p", dataset_id="ds")


def connected(langfuse: Langfuse, **more: Any) -> Connection:
    """A connection in a hurry."""
    hurry: dict[str, Any] = {"deadline_s": 5.0, "timeout_s": 2.0, "pause_s": 0.001, "seed": 0}
    credential = LangfuseCredential(
        public_key=PUBLIC_KEY, secret_key=SecretStr(SECRET_KEY), base_url=langfuse.url
    )
    return Connection(credential, **{"sleep": lambda _seconds: None, **hurry, **more})


class Clock:
    """A time that goes on while one sleeps, and only then."""

    def __init__(self) -> None:
        self.now_ms = START_MS

    def sleep(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)

    def __call__(self) -> int:
        return self.now_ms


def sent(
    journal: Journal,
    langfuse: Langfuse,
    experiment: str = "exp",
    *,
    clock: Clock | None = None,
    **more: Any,
) -> Sent:
    """What publishing says; `timeout_s` and `deadline_s` are the connection's."""
    time = clock or Clock()
    hurry = {key: more.pop(key) for key in ("timeout_s", "deadline_s") if key in more}
    with connected(langfuse, sleep=time.sleep, **hurry) as connection:
        redact, now_ms = more.pop("redact", lambda value: value), more.pop("now_ms", time)
        outbox = Outbox(journal, experiment, connection, redact=redact, now_ms=now_ms)
        return outbox.send(**{"seconds": 60.0, "settles": True, **more})
