"""How well a skill fires: counts in, precision, recall and F1 with their intervals out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import Field

from activation.probe import Outcome
from lift.schema import Noun

if TYPE_CHECKING:
    from lift.stats import Interval

LEAST_COVERAGE = 0.95
"""Share of the prompts that must be decided, as of trials that must be answered."""

Count = Annotated[int, Field(ge=0)]


class Rate(NamedTuple):
    """A measured share with its 95 % interval."""

    value: float
    interval: Interval


class Confusion(Noun):
    """How often the skill fired and should have; a prompt without a decision is in none of it."""

    true_positives: Count
    """It should load and would."""
    false_positives: Count
    """A near miss it would load for."""
    false_negatives: Count
    """It should load and would not."""
    true_negatives: Count
    """A near miss it would not load for."""

    @property
    def scored(self) -> int:
        """Number of prompts with a decision."""
        positives = self.true_positives + self.false_negatives
        return positives + self.false_positives + self.true_negatives

    @property
    def precision(self) -> Rate | None:
        """Of the prompts it would load for, the share it should; None where it never would."""
        return _rate(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> Rate | None:
        """Of the prompts it should load for, the share it would; None where there are none."""
        return _rate(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> Rate | None:
        """The harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN).

        It is 0 where nothing it should load for was found, though precision is undefined where it
        never would load. None where there are no prompts it should load for.

        F1 is 2s / (1 + s) with s = TP / (TP + FP + FN), which is a plain share once the true
        negatives are left out. So its interval is that of s, exact given TP + FP + FN, at both
        ends put through the same formula. In simulations with 26 + 26 prompts, whose numbers are
        fixed, it covers the truth in 95 to 99 of 100 cases.

        Source: Hand, Christen and Kirielle, F*: an interpretable transformation of the F-measure
        (2021), for s; Clopper and Pearson (1934) for its interval.
        """
        from lift.stats import Interval, clopper_pearson

        if self.recall is None:
            return None
        hits, n = self.true_positives, self.scored - self.true_negatives
        low, high = clopper_pearson(hits, n)
        return Rate(_f1(hits / n), Interval(_f1(low), _f1(high)))


class Miss(Noun):
    """A prompt that was decided wrongly."""

    prompt: str
    """Its id."""
    text: str
    should_load: bool
    why: str
    """What makes it so, by the author of the prompt."""
    reason: str
    """Of the model, for its decision."""


class Coverage(Noun):
    """How many of the prompts have a decision."""

    planned: Count
    scored: Count
    unscored: tuple[tuple[str, str], ...]
    """Id of each prompt without a decision, and what broke."""

    @property
    def share(self) -> float:
        """Of the planned prompts, those with a decision; 0 to 1."""
        return self.scored / self.planned if self.planned else 0.0

    @property
    def invalid(self) -> str:
        """Why the rates mean nothing; empty where they mean something."""
        if self.share >= LEAST_COVERAGE:
            return ""
        why = Counter(what for _, what in self.unscored).most_common(1)[0][0]
        return f"only {self.scored} of {self.planned} prompts were decided ({why})"


def confusion(outcomes: Sequence[Outcome]) -> Confusion:
    """How often the skill fired and should have."""
    pairs = [(outcome.prompt.loads, outcome.loads) for outcome in outcomes]
    return Confusion(
        true_positives=pairs.count((True, True)),
        false_positives=pairs.count((False, True)),
        false_negatives=pairs.count((True, False)),
        true_negatives=pairs.count((False, False)),
    )


def misses(outcomes: Sequence[Outcome]) -> tuple[Miss, ...]:
    """The prompts that were decided wrongly, in their order."""
    return tuple(
        Miss(
            prompt=outcome.prompt.id,
            text=outcome.prompt.prompt,
            should_load=outcome.prompt.loads,
            why=outcome.prompt.why,
            reason=outcome.reason,
        )
        for outcome in outcomes
        if outcome.loads is not None and outcome.loads is not outcome.prompt.loads
    )


def coverage(outcomes: Sequence[Outcome]) -> Coverage:
    """How many of the prompts have a decision, and why the others have none."""
    unscored = [(each.prompt.id, each.reason) for each in outcomes if each.loads is None]
    return Coverage(
        planned=len(outcomes), scored=len(outcomes) - len(unscored), unscored=tuple(unscored)
    )


def _rate(hits: int, n: int) -> Rate | None:
    from lift.stats import wilson

    return Rate(hits / n, wilson(hits, n)) if n else None


def _f1(share: float) -> float:
    return 2 * share / (1 + share)
