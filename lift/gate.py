"""Accept or reject: a result held against the best one recorded for its model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from lift.errors import counted
from lift.schema import Noun, Unit
from lift.verdict import Claim, Verdict

SCHEMA: Literal["skill-eval-baseline/1"] = "skill-eval-baseline/1"
FEWEST_REPEATS = 3
"""A record with fewer is noise: refused unless that is allowed, and then the ledger says so."""

LEVEL = 0.05


class Best(Noun):
    """The best accepted score of one model."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    score: Unit
    """Mean with the skill."""
    without: Unit | None = None
    """Mean without it, in the same run."""
    trigger_rate: Unit | None = None
    """Share of with-skill trials that loaded the skill; None where it cannot but be loaded."""
    run: str = ""
    """Name of the experiment."""
    date: str = ""
    """Day that the experiment began, as YYYY-MM-DD."""
    repeats: int | None = None
    dataset_hash: str | None = None
    evaluator_hash: str | None = None
    exposure: str | None = None


class Baseline(Noun):
    """What is recorded for a skill, or for an item of a suite."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    schema_: Annotated[Literal["skill-eval-baseline/1"], Field(alias="schema")] = SCHEMA
    item: str
    """Name of the skill, or of the suite's item."""
    best: dict[str, Best] = Field(default_factory=dict)
    """Model → its best."""


class Candidate(Noun):
    """A result that asks to be accepted."""

    model: str
    best: Best
    """What would be recorded."""
    claim: Claim
    partial: bool = False
    """True where the ceiling or an interrupt left trials unasked."""
    canned: bool = False
    """True where the replies are the demo's."""
    reused: int = 0
    """Answers, of any condition and model, that equal requests were given before."""


class Ruling(Noun):
    """What the gate says of a candidate."""

    accepted: bool
    reasons: tuple[str, ...]
    """Why it is rejected, each condition that does not hold; empty where it is accepted."""
    notes: tuple[str, ...] = ()
    """What was not checked, and why."""
    before: Unit | None = None
    """Best recorded score of that model."""
    after: Unit


def rule(
    candidate: Candidate,
    baseline: Baseline,
    *,
    confident: bool = False,
    rebase: bool = False,
) -> Ruling:
    """Accept a candidate, or say every condition that does not hold. Equal is not higher.

    Args:
        candidate: what asks.
        baseline: what is recorded; a model without a record is only held against its own run.
        confident: p ≤ 0.05 is wanted too.
        rebase: the record is of other items, checks or exposure, and is to be replaced.
    """
    found = candidate.best
    recorded = baseline.best.get(candidate.model)
    best = None if rebase else recorded
    changed = _changed(found, best) if best else []
    reasons = _unusable(candidate)
    if best and changed:
        what = " and ".join(changed)
        reasons.append(
            f"recorded with another {what}: ask what {best.run} asked, or --rebase records anew"
        )
    elif best and not found.score > best.score:
        reasons.append(f"{found.score:.4f} is not higher than the best, {best.score:.4f}")
    if found.without is None or not found.score > found.without:
        without = "nothing" if found.without is None else f"{found.without:.4f}"
        reasons.append(f"{found.score:.4f} is not higher than without the skill, {without}")
    reasons += _triggers(found, best)
    if confident and not (candidate.claim.p is not None and candidate.claim.p <= LEVEL):
        reasons.append(f"p is not {LEVEL} or less")
    return Ruling(
        accepted=not reasons,
        reasons=tuple(reasons),
        notes=(
            *_notes(found, best, recorded),
            *_reused(candidate),
            *([] if confident else _chance(candidate.claim)),
        ),
        before=recorded.score if recorded else None,
        after=found.score,
    )


def raised(baseline: Baseline, candidate: Candidate) -> Baseline:
    """The baseline with the candidate as its model's best."""
    best = baseline.best | {candidate.model: candidate.best}
    return baseline.model_copy(update={"best": dict(sorted(best.items()))})


def _unusable(candidate: Candidate) -> list[str]:
    reasons = []
    if candidate.canned:
        reasons.append("canned demo replies prove nothing about a skill")
    if candidate.partial:
        reasons.append("the run is partial")
    if candidate.claim.verdict is Verdict.INVALID:
        reasons.append(f"the run is invalid: {candidate.claim.says}")
    return reasons


def _changed(found: Best, best: Best) -> list[str]:
    kinds = {
        "dataset": (found.dataset_hash, best.dataset_hash),
        "evaluator": (found.evaluator_hash, best.evaluator_hash),
        "exposure": (found.exposure, best.exposure),
    }
    return [kind for kind, (now, then) in kinds.items() if then is not None and now != then]


def _triggers(found: Best, best: Best | None) -> list[str]:
    if best is None or best.trigger_rate is None or found.trigger_rate is None:
        return []
    if found.trigger_rate >= best.trigger_rate:
        return []
    return [f"the trigger rate fell from {best.trigger_rate:.2f} to {found.trigger_rate:.2f}"]


def _chance(claim: Claim) -> tuple[str, ...]:
    """That means alone decided, where the difference may well be none."""
    if claim.p is not None and claim.p <= LEVEL:
        return ()
    sure = "there is no test of it" if claim.p is None else f"p = {claim.p:.3f}"
    return (f"it may be chance: {sure}; --confident wants p ≤ {LEVEL} too",)


def _reused(candidate: Candidate) -> tuple[str, ...]:
    """That a record would rest on older answers."""
    if not candidate.reused:
        return ()
    answers = counted(candidate.reused, "answer")
    return (f"{answers} of the experiment came from earlier runs; --no-cache asks for new ones",)


def _notes(found: Best, best: Best | None, recorded: Best | None) -> tuple[str, ...]:
    if best is None and recorded:
        return (f"not held against the record, {recorded.score:.4f} of {recorded.run}: --rebase",)
    if best is None:
        return ("no record for this model yet: held against its own run without the skill",)
    if (best.trigger_rate is None) != (found.trigger_rate is None):
        return ("the trigger rate was not compared: one of the two has none",)
    return ()
