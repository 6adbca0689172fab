"""Two experiments side by side: what both asked in the same way, as if it were one experiment."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import pandas as pd

from lift.agreement import Judging
from lift.errors import ExperimentError
from lift.frames import CONDITION, DATASET, ITEM, MODEL, SCORES, TRIALS, shape
from lift.journal import Experiment

ItemKey = tuple[str, str]
"""Dataset and item."""


class Recorded(NamedTuple):
    """An experiment with its trials and scores, from the journal or from Langfuse."""

    experiment: Experiment
    trials: pd.DataFrame
    """TRIALS."""
    scores: pd.DataFrame
    """SCORES."""
    items: Mapping[ItemKey, str]
    """Item → hash of what is asked and how it is scored; empty where nobody asked for it."""
    reasons: Mapping[str, Mapping[str, int]] = {}
    """Condition → why trials failed → how many, where that is known."""
    judges: tuple[Judging, ...] = ()
    """Who judged; empty where nothing was judged, or where that is not known."""
    unjudged: int = 0
    """Answers that lack every vote, though others of their dataset have some."""


class Against(NamedTuple):
    """What an experiment is held against, and which items both have."""

    experiment: Experiment
    """The base."""
    condition: str
    """The condition that is compared, the same in both."""
    same: int
    """Items that both asked, and that are compared."""
    differ: tuple[str, ...]
    """Left out, as DATASET/ITEM: items that both have, asked or scored in another way."""
    only_other: tuple[str, ...]
    """Left out: items that the base lacks."""
    only_base: tuple[str, ...]
    """Left out: items that only the base has."""
    models_left_out: tuple[str, ...]
    """Those that one of the two lacks."""


def aligned(other: Recorded, base: Recorded, *, condition: str) -> tuple[Recorded, Against]:
    """Two experiments as one, whose conditions are named like the experiments.

    Only items that are the same in both are kept. A model is compared with itself; where each
    experiment has one model, and it is another, the two are compared.

    Args:
        other: what is measured.
        base: what it is measured from.
        condition: that is compared; both must have it.

    Raises:
        ExperimentError: they are one experiment, or have no item or no model in common.
    """
    if other.experiment.name == base.experiment.name:
        raise ExperimentError(
            "an experiment cannot be held against itself",
            where=base.experiment.name,
            fix="name another one; --base and --other compare conditions of one",
        )
    sides = [_under(one, condition) for one in (other, base)]
    models = _models(*sides)
    found = _common(*sides, condition=condition, models=models)
    if not found.same:
        raise ExperimentError(
            f"the experiments have no item in common: {', '.join(left_out(found))}",
            where=f"{other.experiment.name} and {base.experiment.name}",
            fix="run the same items in both",
        )
    out = {*found.differ, *found.only_other, *found.only_base}
    renamed = [_renamed(one, models=models, out=out) for one in sides]
    trials = shape(pd.concat([one.trials for one in renamed]), TRIALS)
    scores = shape(pd.concat([one.scores for one in renamed]), SCORES)
    judges = tuple(dict.fromkeys((*other.judges, *base.judges)))
    return Recorded(other.experiment, trials, scores, sides[0].items, judges=judges), found


def left_out(found: Against) -> list[str]:
    """What is not compared, in words."""
    counts = {
        "changed": len(found.differ),
        f"not in {found.experiment.name}": len(found.only_other),
        f"only in {found.experiment.name}": len(found.only_base),
        f"models not in both ({', '.join(found.models_left_out)})": len(found.models_left_out),
    }
    return [f"{count} {what}" for what, count in counts.items() if count]


def overlap(found: Against) -> str:
    """What two experiments have in common, and what not."""
    out = ", ".join(left_out(found)) or "nothing"
    return f"{found.condition} of both, {found.same} items; left out: {out}"


def _common(other: Recorded, base: Recorded, *, condition: str, models: Collection[str]) -> Against:
    ours, theirs = other.items, base.items
    both = ours.keys() & theirs.keys()
    differ = {item for item in both if ours[item] != theirs[item]}
    known = {*other.trials[MODEL], *base.trials[MODEL]}
    return Against(
        experiment=base.experiment,
        condition=condition,
        same=len(both) - len(differ),
        differ=_named(differ),
        only_other=_named(ours.keys() - both),
        only_base=_named(theirs.keys() - both),
        models_left_out=tuple(sorted(known.difference(models))),
    )


def _named(items: Collection[ItemKey]) -> tuple[str, ...]:
    return tuple(sorted("/".join(item) for item in items))


def _models(other: Recorded, base: Recorded) -> dict[str, str]:
    """Model → what it is called in the comparison; those of one experiment alone are left out."""
    ours, theirs = set(other.trials[MODEL]), set(base.trials[MODEL])
    if common := ours & theirs:
        return {model: model for model in common}
    if len(ours) == len(theirs) == 1:
        (mine,), (yours,) = ours, theirs
        return dict.fromkeys((mine, yours), f"{mine} − {yours}")
    raise ExperimentError(
        "the experiments have no model in common, and one has several",
        where=f"{', '.join(sorted(ours))}; {', '.join(sorted(theirs))}",
        fix="run one with a model of the other",
    )


def _under(one: Recorded, condition: str) -> Recorded:
    """What was asked under a condition."""
    trials, scores = (frame[frame[CONDITION] == condition] for frame in (one.trials, one.scores))
    asked = set(zip(trials[DATASET], trials[ITEM], strict=True))
    items = {item: hash for item, hash in one.items.items() if item in asked}
    return Recorded(one.experiment, trials, scores, items)


def _renamed(one: Recorded, *, models: Mapping[str, str], out: Collection[str]) -> Recorded:
    """Less what is left out, and the condition is called like the experiment."""

    def kept(frame: pd.DataFrame) -> pd.DataFrame:
        named = frame[DATASET].astype("str") + "/" + frame[ITEM].astype("str")
        chosen = frame[frame[MODEL].isin(list(models)) & ~named.isin(list(out))]
        called = chosen.assign(**{CONDITION: one.experiment.name})
        return called.assign(**{MODEL: called[MODEL].map(dict(models))})

    return one._replace(trials=kept(one.trials), scores=kept(one.scores))
