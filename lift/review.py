"""The static review of a skill, given the settings: lint, and whether it fires when it should."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path

from activation import probe
from activation.lint import LintReport, lint
from activation.metrics import Confusion, Coverage, Miss, confusion, coverage, misses
from activation.probe import Choice, Outcome
from activation.prompts import TriggerPrompts, discover
from lift.backends import demo
from lift.budget import Budget
from lift.dataset import discover_all
from lift.errors import DatasetError, SkillError
from lift.journal import Journal
from lift.paths import as_name
from lift.perform import Calls, backend_of, interruptible
from lift.prepare import clock, kept_replies, prices
from lift.resolve import backend_name, skill_path
from lift.runner import Run
from lift.schema import Noun, digest
from lift.settings import Config
from lift.skill import Skill, load
from lift.thresholds import Measured, Metric
from lift.worklist import Job


class Activation(Noun):
    """Whether a skill fires when it should."""

    dataset: str
    """Name of the trigger prompts."""
    model: str
    """Id of the model that was asked."""
    canned: bool
    confusion: Confusion
    coverage: Coverage
    misses: tuple[Miss, ...]
    outcomes: tuple[Outcome, ...]
    cost_usd: float
    """Of the calls made now; kept answers cost nothing."""


class Review(Noun):
    """A static review."""

    skill: str
    tree_hash: str
    description: str
    lint: LintReport | None
    activation: Activation | None
    skipped: str
    """Why activation was not asked, where it was wanted; else empty."""
    at_ms: int
    """When it ended; Unix time in milliseconds."""

    @property
    def hash(self) -> str:
        """Identifies what it says, whenever it was said."""
        decisions = (
            [(outcome.prompt.id, outcome.loads) for outcome in self.activation.outcomes]
            if self.activation
            else []
        )
        model = self.activation.model if self.activation else ""
        return digest([self.skill, self.tree_hash, self.lint, model, decisions])


def measured(found: Review) -> dict[Metric, Measured]:
    """What thresholds may ask of a review; nothing where activation was not asked."""
    if found.activation is None:
        return {}
    counts = found.activation.confusion
    rates = {
        Metric.PRECISION: counts.precision, Metric.RECALL: counts.recall, Metric.F1: counts.f1
    }  # fmt: skip
    return {
        metric: Measured(math.nan, rate.value if rate else math.nan)
        for metric, rate in rates.items()
    }


def target(config: Config, wanted: str | None) -> Path:
    """The skill to review: a path or a name, or the only one that has trigger prompts or items.

    Raises:
        SkillError: there is none; or none is named, and not exactly one has datasets.
    """
    if wanted or config.settings.skill:
        return skill_path(config, wanted or config.settings.skill)
    found = discover_all(config.path("datasets_dir"))
    names = sorted({one.skill for one in found if isinstance(one, TriggerPrompts)})
    names = names or sorted({one.skill for one in found})
    if len(names) == 1:
        return skill_path(config, names[0], found)
    raise SkillError(
        f"several skills have datasets: {', '.join(names)}" if names else "no skill named",
        where=str(config.path("datasets_dir")),
        fix="name one: lift lint PATH",
    )


def review(config: Config, path: Path, *, linted: bool, activated: bool) -> Review:
    """Lint a skill, and ask for each of its trigger prompts whether it would load.

    Args:
        config: names model, ceiling and journal.
        path: the skill; whatever is there, lint says what is wrong with it.
        linted: whether to lint.
        activated: whether to ask.

    Raises:
        SkillError, DatasetError: only activation is wanted, and it cannot be asked.
        CeilingReached, CouldNotRun, Interrupted: see Run.all.
    """
    report = lint(path) if linted else None
    skill, activation, skipped = None, None, ""
    try:
        skill = load(path)
        if activated:
            activation = _activation(config, skill)
    except (SkillError, DatasetError) as unusable:
        if report is None:
            raise
        skipped = str(unusable.what) if activated else ""
    return Review(
        skill=skill.name if skill else as_name(path.resolve().name),
        tree_hash=skill.tree_hash if skill else "",
        description=skill.description if skill else "",
        lint=report,
        activation=activation,
        skipped=skipped,
        at_ms=clock(),
    )


def _activation(config: Config, skill: Skill) -> Activation:
    prompts = _prompts(config, skill)
    entry = probe.listed(skill)
    backend = backend_name(config)
    if backend == "demo":  # a reply to a prompt that there is not is a slip of the pen
        ids = [prompt.id for prompt in prompts.prompts]
        demo.load(config.path("datasets_dir"), prompts.name, items=ids)
    model = config.settings.judge_model
    choices: list[Choice] = []
    with Journal(config.path("journal")) as journal:
        jobs = probe.jobs(prompts, entry, choices.append, model=model, keep=journal.keep_reply)
        asyncio.run(_ask(config, journal, prompts, backend, jobs))
    outcomes = probe.outcomes(prompts, choices)
    return Activation(
        dataset=prompts.name,
        model=model,
        canned=backend == "demo",
        confusion=confusion(outcomes),
        coverage=coverage(outcomes),
        misses=misses(outcomes),
        outcomes=outcomes,
        cost_usd=sum(choice.evidence.cost_usd for choice in choices),
    )


def _prompts(config: Config, skill: Skill) -> TriggerPrompts:
    folder = config.path("datasets_dir")
    found = [prompts for prompts in discover(folder) if prompts.skill == skill.name]
    if found:
        return found[0]
    raise DatasetError(
        f"no trigger prompts for the skill {skill.name!r}",
        where=str(folder),
        fix="write a module that ends in DATASET = TriggerPrompts(...)",
    )


async def _ask(
    config: Config, journal: Journal, prompts: TriggerPrompts, backend: str, jobs: Sequence[Job]
) -> None:
    known = prices([config.settings.judge_model], config.settings, backend)
    calls = Calls(prompts.name, backend, [prompts.name], known)
    run = Run(
        opened=lambda: backend_of(config, calls),
        budget=Budget(config.settings.max_cost_usd),
        clock=clock,
        replies=kept_replies(config, journal, backend),
    )
    try:
        await interruptible(run, jobs, workers=config.settings.concurrency)
    finally:
        await run.close()
