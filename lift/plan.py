"""What an experiment asks: datasets, conditions and repeats, less what is already answered."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from lift.conditions import DEFAULT
from lift.dataset import Dataset, Item, Selection
from lift.errors import DatasetError, SkillError, few
from lift.pricing import Price, cost_usd, estimated_tokens, worst_case_usd, written
from lift.schema import (
    OLD_SKILL,
    SETTLED,
    WITH_SKILL,
    CacheLife,
    Condition,
    ConditionName,
    Noun,
    Request,
    Status,
    Trial,
    Usage,
    digest,
)
from lift.skill import Skill

SCORING = 1
"""Counts up when the same evidence would get another score."""

Lengths = tuple[float, float, float]
"""Low, middle and high length of an answer, in tokens."""

Asked = tuple[str, str, str]
"""Dataset, condition and model: what answers are alike in."""

TYPICAL_OUTPUT_TOKENS: Lengths = (200, 700, 2000)
"""What is expected where too little is known of a dataset yet."""

FEWEST_ANSWERS = 5
"""From so many on their lengths say more than what is typical."""

SMOKE = re.compile(r"-smoke-\d{8}T\d{6}Z\Z")
"""How the names that `lift smoke` gives its experiments end."""

SECONDS_PER_ANSWER = 20.0
"""About how long an answer of middle length takes."""

SHORT_LIFE_S = 300.0
"""So long a prompt-cache entry lives, unless it is paid to live longer."""


def cache_life(calls: int, *, concurrency: int) -> CacheLife:
    """How long prefixes must live: work that takes longer than the short life wants the long one.

    Reads refresh an entry, but a retry pause, a full queue or a resumed run may outlast it.

    Args:
        calls: to be made.
        concurrency: calls in flight at most.
    """
    return "1h" if calls * SECONDS_PER_ANSWER / concurrency > SHORT_LIFE_S else "5m"


class Estimate(Noun):
    """What a plan will ask, and about what that costs."""

    calls: int = 0
    usd: float = 0.0
    low_usd: float = 0.0
    high_usd: float = 0.0
    worst_usd: float = 0.0
    """The most that one of the answers can cost: a call starts only where that still fits."""

    def times(self, share: float) -> Estimate:
        """The same calls at a share of the price."""
        dollars = self.model_dump(exclude={"calls"})
        return Estimate(calls=self.calls, **{name: share * usd for name, usd in dollars.items()})


@dataclass(frozen=True)
class Plan:
    """Everything that decides what is asked and how it is scored."""

    experiment: str
    skill: Skill
    datasets: tuple[Dataset, ...]
    conditions: tuple[Condition, ...]
    trials: tuple[Trial, ...]
    backend: str
    repeats: int
    hash: str
    old: Skill | None = None
    """What `old_skill` shows."""

    def has(self, trial: Trial) -> bool:
        """Whether a trial, whatever its attempt, is of this plan."""
        return (trial.dataset, trial.item) in self._asked

    def dataset(self, trial: Trial) -> Dataset:
        """The dataset a trial's item is in."""
        return self._asked[trial.dataset, trial.item][0]

    def item(self, trial: Trial) -> Item:
        """The item a trial asks."""
        return self._asked[trial.dataset, trial.item][1]

    def request(
        self, trial: Trial, *, cacheable_tokens: int, cache_life: CacheLife = "5m"
    ) -> Request:
        """What a trial sends to the model.

        Args:
            trial: of this plan.
            cacheable_tokens: the shortest prefix the model's prompt cache takes; a shorter one
                gets no breakpoint.
            cache_life: of that prefix.
        """
        dataset, item = self._asked[trial.dataset, trial.item]
        condition = self._conditions[trial.condition_hash]
        shown = None if condition.skill_hash is None else self._blocks[condition.name]
        return request(
            item.prompt,
            condition,
            system=dataset.system,
            shown=shown,
            cacheable_tokens=cacheable_tokens,
            cache_life=cache_life,
        )

    @cached_property
    def versions(self) -> Mapping[str, Skill]:
        """Condition → the skill that it shows, where it shows one."""
        return {WITH_SKILL: self.skill} | ({OLD_SKILL: self.old} if self.old else {})

    @cached_property
    def _blocks(self) -> Mapping[str, str]:
        return {name: block(one.name, one.body) for name, one in self.versions.items()}

    @cached_property
    def _asked(self) -> Mapping[tuple[str, str], tuple[Dataset, Item]]:
        return {(d.name, item.id): (d, item) for d in self.datasets for item in d.items}

    @cached_property
    def _conditions(self) -> Mapping[str, Condition]:
        return {digest(condition): condition for condition in self.conditions}


def block(skill: str, body: str) -> str:
    """How a skill is shown to the model.

    Args:
        skill: its name.
        body: its text after the frontmatter.
    """
    return f'<skill name="{skill}">\n{body.strip()}\n</skill>'


def request(
    prompt: str,
    condition: Condition,
    *,
    system: str,
    shown: str | None,
    cacheable_tokens: int,
    cache_life: CacheLife,
) -> Request:
    """What is sent to ask a prompt under a condition.

    Args:
        prompt: of the item.
        condition: how it is asked.
        system: first block of the system prompt.
        shown: the skill's block; None where none is shown.
        cacheable_tokens: the shortest prefix the model's prompt cache takes; a shorter one gets
            no breakpoint.
        cache_life: of that prefix.
    """
    blocks = (system,) if shown is None else (system, shown)
    shared = 0 if shown is None else len(blocks)
    long_enough = sum(map(estimated_tokens, blocks)) >= cacheable_tokens
    return Request(
        model=condition.model,
        system=blocks,
        cached_blocks=shared if long_enough else 0,
        cache_life=cache_life,
        content=(prompt,),
        max_tokens=condition.max_tokens,
        effort=condition.effort,
    )


def make(
    skill: Skill,
    datasets: Sequence[Dataset],
    *,
    selection: Selection,
    models: Sequence[str],
    repeats: int,
    backend: str,
    max_tokens: int,
    effort: str | None,
    conditions: Sequence[ConditionName] = DEFAULT.names,
    old: Skill | None = None,
    experiment: str | None = None,
    again: str = "",
) -> Plan:
    """The plan of an experiment.

    Args:
        skill: what is tested.
        datasets: what is asked; items the selection does not take are left out.
        selection: which items.
        models: ids of the models that answer.
        repeats: how often each item is asked under each condition; at least 1.
        backend: its name; canned and real answers never share an experiment.
        max_tokens: of an answer.
        effort: passed to the model; None leaves it to the model.
        conditions: names of those that are asked.
        old: what `old_skill` shows, where that is one of them.
        experiment: its name; None derives one from everything that is asked.
        again: added to the name, for a fresh experiment of the same plan.

    Raises:
        DatasetError: the selection leaves no item.
        SkillError: the old skill shows the model what the new one shows.
    """
    if old and WITH_SKILL in conditions:
        _check_changed(old, skill)
    shown = {WITH_SKILL: skill, OLD_SKILL: old}
    models = list(dict.fromkeys(models))
    chosen = tuple(d for d in (_chosen(d, selection) for d in datasets) if d)
    if not chosen:
        items = [item for dataset in datasets for item in dataset.items]
        tags = few(tag for item in items for tag in item.tags)
        raise DatasetError(
            "the filters leave no item to ask",
            where=f"datasets {few(d.name for d in datasets)}",
            fix=f"there are the categories {few(item.category for item in items)}, the items"
            f" {few(item.id for item in items)}, and {f'the tags {tags}' if tags else 'no tags'}",
        )
    sides = tuple(
        Condition(
            name=name,
            model=model,
            skill_hash=version.tree_hash if (version := shown.get(name)) else None,
            max_tokens=max_tokens,
            effort=effort,
        )
        for model in models
        for name in conditions
    )
    identity = _identity(chosen, sides, repeats, backend)
    name = (experiment or f"{skill.name}-{identity[:8]}") + again
    trials = _trials(name, chosen, sides, repeats)
    return Plan(name, skill, chosen, sides, trials, backend, repeats, identity, old)


def _check_changed(old: Skill, new: Skill) -> None:
    if block(old.name, old.body) != block(new.name, new.body):
        return
    same = old.tree_hash == new.tree_hash
    raise SkillError(
        "old_skill and with_skill are the same"
        if same
        else "old_skill and with_skill differ only in what the model is not shown",
        where=f"{old.root} and {new.root}",
        fix="name an older revision, or edit the skill first: this would compare it with itself",
    )


def left(
    trials: Iterable[Trial],
    ended: Mapping[str, tuple[int, Status]],
    in_batches: Container[str] = (),
) -> list[Trial]:
    """The trials still to be asked, each with its next attempt number.

    Args:
        trials: as planned, first attempts.
        ended: key of a planned trial → its latest attempt and how that ended.
        in_batches: keys of planned trials that a batch asks already.
    """
    todo: list[Trial] = []
    for trial in trials:
        attempt, status = ended.get(trial.key, (0, None))
        if status in SETTLED or trial.key in in_batches:
            continue
        # a skipped attempt never began, so it is not counted
        number = attempt if status is Status.SKIPPED else attempt + 1
        todo.append(trial.model_copy(update={"attempt": number}))
    return todo


def estimate(
    plan: Plan,
    trials: Sequence[Trial],
    prices: Mapping[str, Price],
    *,
    cache_life: CacheLife = "5m",
    lengths: Mapping[Asked, Lengths] = MappingProxyType({}),
) -> Estimate:
    """What the trials will cost, with one prompt-cache write per prefix.

    Args:
        plan: the trials' plan.
        trials: those still to be asked.
        prices: model → price.
        cache_life: of the prefixes.
        lengths: of answers that are known; the others are expected to be of typical length.
    """
    totals, worst_usd = [0.0, 0.0, 0.0], 0.0
    written: set[str] = set()
    for trial in trials:
        price = prices[trial.model]
        request = plan.request(
            trial, cacheable_tokens=price.cacheable_tokens, cache_life=cache_life
        )
        spent = _expected_input(request, first=request.prefix not in written)
        if request.prefix:
            written.add(request.prefix)
        asked = (trial.dataset, trial.condition, trial.model)
        for index, tokens in enumerate(lengths.get(asked, TYPICAL_OUTPUT_TOKENS)):
            answer = Usage(output_tokens=round(min(tokens, request.max_tokens)))
            totals[index] += cost_usd(spent + answer, price)
        worst_usd = max(worst_usd, worst_case_usd(request, price))
    low, middle, high = totals
    return Estimate(calls=len(trials), usd=middle, low_usd=low, high_usd=high, worst_usd=worst_usd)


def lengths(seen: Mapping[Asked, Sequence[int]], *, max_tokens: int) -> dict[Asked, Lengths]:
    """How long answers will be, by those that were given.

    Args:
        seen: how many tokens each had.
        max_tokens: that an answer may have now.

    Returns:
        The first and the last decile, around the mean; nothing of what has too few answers.
    """
    found: dict[Asked, Lengths] = {}
    for asked, tokens in seen.items():
        ordered, tail = sorted(min(one, max_tokens) for one in tokens), len(tokens) // 10
        if len(ordered) >= FEWEST_ANSWERS:
            mean = sum(ordered) / len(ordered)
            found[asked] = (min(ordered[tail], mean), mean, max(ordered[-1 - tail], mean))
    return found


def _expected_input(request: Request, *, first: bool) -> Usage:
    shared = sum(map(estimated_tokens, request.system[: request.cached_blocks]))
    rest = sum(map(estimated_tokens, (*request.system[request.cached_blocks :], *request.content)))
    if first:
        return Usage(input_tokens=rest) + written(shared, request)
    return Usage(input_tokens=rest, cache_read_tokens=shared)


def _chosen(dataset: Dataset, selection: Selection) -> Dataset | None:
    items = tuple(item for item in dataset.items if selection.takes(item))
    return dataset.model_copy(update={"items": items}) if items else None


def _identity(
    datasets: Sequence[Dataset], conditions: Sequence[Condition], repeats: int, backend: str
) -> str:
    return digest(
        {
            "datasets": [
                {"name": d.name, "system": d.system, "items": [item.hash for item in d.items]}
                for d in datasets
            ],
            "conditions": [digest(condition) for condition in conditions],
            "repeats": repeats,
            "backend": backend,
            "scoring": SCORING,
        }
    )


def _trials(
    experiment: str,
    datasets: Sequence[Dataset],
    conditions: Sequence[Condition],
    repeats: int,
) -> tuple[Trial, ...]:
    hashes = [(condition, digest(condition)) for condition in conditions]
    return tuple(
        Trial(
            experiment=experiment,
            dataset=dataset.name,
            item=item.id,
            category=item.category,
            condition=condition.name,
            model=condition.model,
            repeat=repeat,
            item_hash=asked,
            condition_hash=condition_hash,
        )
        for repeat in range(1, repeats + 1)
        for dataset in datasets
        for item, asked in [(item, digest([dataset.system, item.hash])) for item in dataset.items]
        for condition, condition_hash in hashes
    )
