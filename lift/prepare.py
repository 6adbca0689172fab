"""From settings and a command's wishes to a plan, and what is known before anything is asked."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from lift import forecast, resolve, revisions
from lift import plan as planning
from lift.conditions import DEFAULT, Conditions
from lift.dataset import Dataset, Selection
from lift.errors import UsageError, counted, few
from lift.forecast import Kept
from lift.journal import Call, Journal, trials_of
from lift.judging import Bench
from lift.names import check_names
from lift.paths import exists
from lift.plan import Estimate, Plan
from lift.pricing import BATCH, Price, price_of
from lift.redact import redacted
from lift.replies import Replies
from lift.schema import ANSWER, SETTLED, CacheLife, Status, Trial
from lift.settings import Config, Settings, check_models, credential
from lift.skill import SKILL_FILE, Skill

QUICK_REPEATS = 2
FULL_REPEATS = 1
MOST_REPEATS = 1000

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
"""An experiment's name: safe in file names, addresses and tables."""

FRESH = re.compile(r"-\d{8}T\d{6}Z")
"""What `_stamp` makes, behind a name."""

BATCH_LIFE: CacheLife = "1h"
"""A batch may wait for longer than the short life before it is worked on."""


@dataclass(frozen=True)
class Wanted:
    """What a command asks for, beside the settings."""

    selection: Selection
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    repeats: int | None = None
    experiment: str | None = None
    again: bool = False
    """A fresh experiment of the same plan, with fresh answers."""
    fresh: bool = False
    """Use no answer that was given before."""
    conditions: Conditions = DEFAULT
    judge: bool | None = None
    """True judges every dataset, False none, None those that ask for it."""
    plan_only: bool = False
    """Whether nothing will be asked, so that no key is needed."""
    batch: bool = False
    """By Message Batches, at half price."""


@dataclass(frozen=True)
class Prepared:
    """A plan, and what is known before anything is asked."""

    plan: Plan
    left: tuple[Trial, ...]
    """Trials still to be asked."""
    in_batches: int
    """Trials that a batch asks already."""
    judged: frozenset[str]
    """Names of the datasets with trials that are judged."""
    votes_left: int
    """Votes still to be cast, on answered trials and on those left."""
    estimate: Estimate
    """Of what is left."""
    spent_usd: float
    """By the experiment so far; calls that never reported usage count at their worst."""
    notices: tuple[str, ...]
    """What a person should know before it starts."""
    prices: Mapping[str, Price]
    """Model → price, the judge's included where something is judged."""
    cache_life: CacheLife
    """Of the prompt-cache prefixes."""
    fresh: bool
    """Whether answers given before are left unused."""
    reused: int
    """Trials left whose answer was given before, so that they cost nothing."""


def clock() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def kept_replies(
    config: Config, journal: Journal, backend: str, *, fresh: bool = False
) -> Replies | None:
    """The answers that calls need not be made for; None where replies are canned anyway.

    Args:
        config: says how old they may be, and which server gave them.
        journal: keeps them.
        backend: its name.
        fresh: use none, whatever the settings say.
    """
    known = credential(config)
    if backend == "demo" or known is None:
        return None
    days = 0.0 if fresh else config.settings.cache_max_age
    return Replies(journal, known.base_url, clock=clock, max_age_days=days)


def bench(settings: Settings) -> Bench:
    """Who judges, and how often."""
    return Bench(model=settings.judge_model, votes=settings.judge_votes)


def prices(models: Sequence[str], settings: Settings, backend: str) -> dict[str, Price]:
    """Model → price; nothing costs anything where replies are canned.

    Raises:
        SettingError: a model has no price.
    """
    if backend == "demo":
        return dict.fromkeys(models, Price(input_usd=0, output_usd=0))
    flags = {settings.judge_model: "--judge-model", settings.model: "--model"}
    return {
        model: price_of(model, settings.price, where=flags.get(model, "--model"))
        for model in models
    }


def smoke(config: Config, item: str | None) -> Wanted:
    """One item, asked once under either condition, in an experiment of its own.

    Args:
        config: names the skill.
        item: its id; None for the first quick item, else the first.

    Raises:
        DatasetError: no dataset of the skill has the item.
    """
    skill, datasets = resolve.skill_and_datasets(config, ())
    if item is None:
        items = [one for dataset in datasets for one in dataset.items]
        item = next((one.id for one in items if one.quick), items[0].id)
    dataset = resolve.dataset_with(datasets, item)
    return Wanted(
        Selection(only=(item,)),
        datasets=(dataset.name,),
        repeats=1,
        experiment=f"{skill.name}-smoke-{_stamp()}",
        fresh=True,
        judge=False,
    )


def _check_name(name: str | None) -> None:
    if name is not None and not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for an experiment",
            where="--experiment",
            fix="use letters, digits, '.', '_' and '-'; up to 120, the first a letter or digit",
        )


def _check_batch(wanted: Wanted, backend: str) -> None:
    if wanted.batch and backend == "demo":
        raise UsageError(
            "canned demo replies do not go by batch",
            where="--batch",
            fix="set ANTHROPIC_API_KEY, or leave --batch out",
        )


def _check_repeats(repeats: int | None) -> None:
    if repeats is not None and not 1 <= repeats <= MOST_REPEATS:
        raise UsageError(
            f"nothing is asked {repeats} times", where="repeats", fix=f"ask 1 to {MOST_REPEATS}"
        )


def _stamp() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"


def _again(config: Config, name: str) -> str:
    """What is added to an experiment's name for a fresh one.

    That of the latest fresh one where some of it is still to be asked: the same command goes on.
    """
    path = config.path("journal")
    if exists(path):
        with Journal(path) as journal:
            found = [one for one in journal.experiments() if FRESH.fullmatch(one.name, len(name))
                     and one.name.startswith(name)]  # fmt: skip
        latest = max(found, key=lambda one: one.name, default=None)
        if latest and latest.answered + latest.errored < latest.planned:
            return latest.name.removeprefix(name)
    return f"-{_stamp()}"


def prepare(config: Config, wanted: Wanted) -> Prepared:
    """Read skill and datasets and make the plan; asks nothing and writes nothing.

    Raises:
        UsageError: a setting, the skill, a dataset, a filter or a name is wrong.
        CredentialError: the messages backend has no key.
    """
    _check_name(wanted.experiment)
    _check_repeats(wanted.repeats)
    check_models(wanted.models)
    settings = config.settings
    skill, found = resolve.skill_and_datasets(config, wanted.datasets)
    names, revision = wanted.conditions
    old = revisions.old(skill, revision) if revision else None
    _check_batch(wanted, settings.backend)
    backend, datasets, notices = resolve.answering(
        config, found, wanted.selection, conditions=names, plan_only=wanted.plan_only
    )
    if old:
        notices += (f"old_skill is {old.source}",)
    if unshown := _unshown(skill):
        notices += (unshown,)
    _check_batch(wanted, backend)
    make = partial(
        planning.make,
        skill,
        datasets,
        selection=wanted.selection,
        models=wanted.models or (settings.model,),
        repeats=wanted.repeats or (QUICK_REPEATS if wanted.selection.quick else FULL_REPEATS),
        backend=backend,
        max_tokens=settings.max_tokens,
        effort=settings.effort or None,
        conditions=names,
        old=old.skill if old else None,
        experiment=wanted.experiment,
    )
    plan = make()
    if wanted.again:
        plan = make(again=_again(config, plan.experiment))
    check_names(plan)
    return _prepared(config, wanted, plan, notices)


def _prepared(config: Config, wanted: Wanted, plan: Plan, notices: tuple[str, ...]) -> Prepared:
    settings = config.settings
    judged = frozenset(d.name for d in plan.datasets if _judged(d, wanted.judge))
    judges = [settings.judge_model] if judged else []
    known = prices([*(c.model for c in plan.conditions), *judges], settings, plan.backend)
    so_far = _so_far(config, plan.experiment)
    in_batches = trials_of(so_far.in_batches) & {trial.key for trial in plan.trials}
    left = planning.left(plan.trials, so_far.ended, in_batches)
    if in_batches and not wanted.batch:
        notices += (f"{counted(len(in_batches), 'trial')} in a batch: lift collect",)
    if so_far.waiting and not wanted.batch:
        waits = f"{counted(so_far.waiting, 'call')} waiting for a batch will be made now instead"
        notices += (f"{waits}, at twice its price; lift collect goes on with the batches",)
    fresh = wanted.fresh or wanted.again
    if not settings.cache_max_age and not wanted.again and so_far.reused:
        stay = "came from equal requests before and stay; --again asks for fresh ones"
        notices += (f"{counted(so_far.reused, 'answer')} of it {stay}",)
    done = [t for t in plan.trials if so_far.ended.get(t.key, (0, None))[1] in SETTLED]
    needed = {
        which: sum(_votes(plan, trial, judged, settings) for trial in trials)
        for which, trials in (("left", left), ("done", done))
    }
    votes_in_batches = sum(call.part != ANSWER for call in so_far.in_batches)
    cast = sum(so_far.votes.get(trial.key, 0) for trial in done)
    missing = max(0, sum(needed.values()) - cast - votes_in_batches)
    lacking = needed["done"] > cast
    if lacking:
        notices += so_far.replaced
    life = BATCH_LIFE if wanted.batch else None
    kept, estimate = _forecast(
        config, plan, left, known, judged, votes=missing, lacking=lacking, fresh=fresh, life=life
    )
    paid = [trial for trial in left if trial.key not in kept.answers]
    if wanted.batch:
        estimate = estimate.times(BATCH)
    if tight := forecast.tight(estimate, so_far.spent_usd, settings.max_cost_usd):
        notices += (tight,)
    return Prepared(
        plan=plan,
        left=tuple(left),
        in_batches=len(in_batches),
        judged=judged,
        votes_left=missing,
        estimate=estimate,
        spent_usd=so_far.spent_usd,
        notices=notices,
        prices=known,
        cache_life=life or planning.cache_life(len(paid), concurrency=settings.concurrency),
        fresh=fresh,
        reused=len(left) - len(paid),
    )


def _forecast(
    config: Config,
    plan: Plan,
    left: Sequence[Trial],
    known: Mapping[str, Price],
    judged: Collection[str],
    *,
    votes: int,
    lacking: bool,
    fresh: bool,
    life: CacheLife | None,
) -> tuple[Kept, Estimate]:
    """What equal requests were given before, and what the rest will cost."""
    settings, path = config.settings, config.path("journal")
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(path)) if exists(path) else None
        kept = forecast.NOTHING
        replies = kept_replies(config, journal, plan.backend) if journal and not fresh else None
        if replies:
            kept = forecast.kept(
                replies, plan, left, prices=known, judged=judged, bench=bench(settings),
                lacking=lacking,
            )  # fmt: skip
        paid = [trial for trial in left if trial.key not in kept.answers]
        known_lengths = (
            forecast.lengths(journal, plan, effort=settings.effort or None)
            if journal and paid
            else {}
        )
        life = life or planning.cache_life(len(paid), concurrency=settings.concurrency)
        estimate = planning.estimate(plan, paid, known, cache_life=life, lengths=known_lengths)
        if cast := max(0, votes - kept.votes):
            model = settings.judge_model
            each = forecast.vote_usd(journal, judged, model=model, price=known[model])
            estimate = forecast.with_votes(estimate, cast, each)
        return kept, estimate


def _unshown(skill: Skill) -> str:
    """Says which of the skill's files the model is told of, and not shown; empty where none is."""
    others = set(skill.files) - {SKILL_FILE} if skill.root.is_dir() else ()
    named = [redacted(path) for path in sorted(others) if path in skill.body]
    return f"the model is shown {SKILL_FILE} alone, not {few(named, 3)}" if named else ""


def unconfirmed(
    experiment: str, estimate: Estimate, settings: Settings, *, fix: str
) -> UsageError | None:
    """The error of calls that nobody said yes to; None where they are cheap enough to need no yes.

    Args:
        experiment: its name.
        estimate: of the calls.
        settings: above which cost a yes is needed.
        fix: how it is said.
    """
    usd, limit = estimate.usd, settings.confirm_above_usd
    if usd <= limit:
        return None
    return UsageError(
        f"about ${usd:.2f} is more than confirm_above_usd, ${limit:.2f}",
        where=experiment,
        fix=fix,
    )


@dataclass(frozen=True)
class _SoFar:
    ended: Mapping[str, tuple[int, Status]]
    votes: Mapping[str, int]
    """Key of a trial's first attempt → how many it has."""
    spent_usd: float
    in_batches: Collection[Call]
    reused: int = 0
    """Answers that were given to equal requests before."""
    waiting: int = 0
    """Calls that wait for a batch."""
    replaced: tuple[str, ...] = ()
    """Says which votes are replaced where others are cast."""


def _so_far(config: Config, experiment: str) -> _SoFar:
    path = config.path("journal")
    if not exists(path):
        return _SoFar({}, {}, 0.0, ())
    with Journal(path) as journal:
        return _SoFar(
            journal.ended(experiment),
            journal.votes_cast(
                experiment,
                model=config.settings.judge_model,
                most=config.settings.judge_votes,
            ),
            sum(journal.spent_usd(experiment)),
            journal.in_batches(experiment),
            sum(one.answers for one in journal.reused(experiment)),
            journal.waiting(experiment),
            tuple(
                f"{counted(one.votes, 'vote')} of {one.model} will be replaced;"
                f" --judge-model {one.model} keeps them"
                for one in journal.judges(experiment)
                if one.votes and one.model != config.settings.judge_model
            ),
        )


def _judged(dataset: Dataset, wanted: bool | None) -> bool:
    has_criteria = any(item.judge for item in dataset.items)
    return has_criteria and (dataset.judge if wanted is None else wanted)


def _votes(plan: Plan, trial: Trial, judged: frozenset[str], settings: Settings) -> int:
    has_criteria = trial.dataset in judged and plan.item(trial).judge is not None
    return settings.judge_votes if has_criteria else 0
