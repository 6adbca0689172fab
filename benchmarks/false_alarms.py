"""How often each rule is wrong, where the truth is known: the study behind docs/statistics.md.

Items differ in difficulty: the logit of an item's chance to pass a check is normal with standard
deviation 1.5. A score is one check (pass or fail) or the share of 5 checks (graded); a skill adds a
shift to the logit of every item, 1.0 for a mean delta of 0.17. Run it as

    python benchmarks/false_alarms.py                   # 20,000 draws a cell, as in the docs
    python benchmarks/false_alarms.py --draws 500       # a quick look
    python benchmarks/false_alarms.py --check           # exit 1 if a bound does not hold
    python benchmarks/false_alarms.py --into docs/statistics.md   # replace the table there
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lift.stats import MARGIN, Scope, Split, detectable
from lift.stats.shared import Labelings, flips, labels, p_values

SEED = 20_261_129
DRAWS = 20_000
FLIPS = 4_000
RESAMPLES = 2_000
LEVEL = 0.05
SPREAD = 1.5
"""Standard deviation of the items' logits."""
SHIFT = 1.0
"""Of the logit: a mean delta of 0.17."""
BROKEN = 0.1
"""Share of the items that break in the sparse effects."""
HARD = -2.0
"""Mean logit of the items where power is measured; at 0 no delta above 0.5 is possible, and 10
items of pass or fail cannot show less."""

BEGIN = "<!-- benchmarks/false_alarms.py: begin -->"
END = "<!-- benchmarks/false_alarms.py: end -->"

Array = npt.NDArray[np.float64]
Rng = np.random.Generator


class Shape(NamedTuple):
    """What a simulated dataset looks like."""

    items: int
    checks: int
    """1 for pass or fail, 5 for graded."""
    repeats: int

    @property
    def step(self) -> float:
        """Smallest step of one trial's score."""
        return 1 / self.checks


class Bound(NamedTuple):
    """What a share must lie between."""

    low: float = 0.0
    high: float = 1.0
    errors: int = 0
    """Simulation standard errors that are allowed for on top."""

    def holds(self, share: float, draws: int) -> bool:
        """Whether a share of so many draws is within the bound; fewer draws get 3 errors."""
        errors = self.errors if draws >= DRAWS else 3
        return (
            self.low - errors * _error(self.low, draws)
            <= share
            <= self.high + errors * _error(self.high, draws)
        )

    def __str__(self) -> str:
        if self == FREE:
            return "none"
        if self.low and self.high < 1:
            return f"{self.low:.0%} to {self.high:.0%}"
        return f"≥ {self.low:.0%}" if self.low else f"≤ {self.high:.0%} + {self.errors} SE"


FREE = Bound()
ALARM = Bound(high=LEVEL, errors=3)
COVERED = Bound(low=0.93)
POWERED = Bound(low=0.7, high=0.9)


class Measure(NamedTuple):
    """One row of the table per kind of score and number of repeats."""

    name: str
    bound: Bound
    share: Callable[[Shape, int, Rng], float | None]
    """Of the draws; None where the rule does not apply to the shape."""
    fixed: bool = False
    """True where scores do not vary, so that their kind and the repeats do not matter."""


class Row(NamedTuple):
    """A measure for one kind of score and number of repeats, over all numbers of items."""

    measure: Measure
    checks: int
    repeats: int
    shares: tuple[float | None, ...]

    def failing(self, draws: int) -> list[bool]:
        """Per number of items whether the bound is broken."""
        holds = self.measure.bound.holds
        return [share is not None and not holds(share, draws) for share in self.shares]


SIZES = (5, 10, 20, 50)
CHECKS = (1, 5)
REPEATS = (1, 2, 3)


def difficulties(shape: Shape, draws: int, rng: Rng, *, mean: float = 0.0) -> Array:
    """Logits of the items of each draw."""
    return rng.normal(mean, SPREAD, (draws, shape.items))


def chance(logits: Array) -> Array:
    """Of passing a check."""
    return np.asarray(1 / (1 + np.exp(-logits)))


def trials(chances: Array, shape: Shape, rng: Rng) -> Array:
    """Scores, one per draw, item and repeat."""
    passed = rng.binomial(shape.checks, chances[..., None], (*chances.shape, shape.repeats))
    return np.asarray(passed / shape.checks)


def deltas(base: Array, other: Array, shape: Shape, rng: Rng) -> Array:
    """Item deltas of scores with these chances, one per draw and item."""
    checks = shape.checks * shape.repeats
    return np.asarray((rng.binomial(checks, other) - rng.binomial(checks, base)) / checks)


@functools.cache
def quadrature() -> tuple[Array, Array]:
    """Points of a standard normal distribution and their weights."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    return nodes, weights / weights.sum()


def truth(shape: Shape, *, mean: float, shift: float) -> tuple[float, Split]:
    """The mean delta and the variances of a shift, by quadrature over the items."""
    nodes, weights = quadrature()
    base = chance(mean + SPREAD * nodes)
    other = chance(mean + SPREAD * nodes + shift)
    delta = float(weights @ (other - base))
    between = float(weights @ (other - base) ** 2) - delta**2
    noise = (base * (1 - base) + other * (1 - other)) / 2
    return delta, Split(max(0.0, between), float(weights @ noise) / shape.checks, None)


def solved(gap: Callable[[float], float], *, most: float = 20.0) -> float | None:
    """The shift at which a gap that begins below 0 closes, by halving; None where it does not."""
    low, high = 0.0, most
    if gap(high) < 0:
        return None
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if gap(middle) >= 0 else (middle, high)
    return high


def shift_for(delta: float, shape: Shape) -> float:
    """The shift of the logits that has a mean delta, -0.4 to 0.4."""
    size = solved(lambda shift: truth(shape, mean=0.0, shift=shift)[0] - abs(delta))
    return float(np.copysign(size or 0.0, delta))


@functools.cache
def shared_flips(items: int) -> Labelings:
    """Sign flips of so many items."""
    return flips(items, draws=FLIPS, seed=SEED)


@functools.cache
def shared_labels(items: int, repeats: int) -> Labelings:
    """Permuted labels of so many items."""
    return labels(items, repeats, draws=FLIPS, seed=SEED)


def flip_p(rows: Array) -> Array:
    """Of the sign-flip test, per draw."""
    return p_values(rows, shared_flips(rows.shape[1]))


def label_p(base: Array, other: Array, shape: Shape) -> Array:
    """Of the permuted labels, per draw."""
    rows = np.concatenate([other, base], axis=2).reshape(len(base), -1)
    return p_values(rows, shared_labels(shape.items, shape.repeats))


def called(p: Array) -> float:
    """Share of HELPS or HURTS."""
    return float((p <= LEVEL).mean())


def unchanged(shape: Shape, draws: int, rng: Rng) -> Array:
    """Item deltas where the skill changes nothing."""
    base = chance(difficulties(shape, draws, rng))
    return deltas(base, base, shape, rng)


def shifted(shape: Shape, draws: int, rng: Rng, *, shift: float) -> Array:
    """Item deltas where the skill shifts the logits; half of the draws up and half down."""
    logits = difficulties(shape, draws, rng)
    turns = np.where(np.arange(draws) % 2, -shift, shift)[:, None]
    return deltas(chance(logits), chance(logits + turns), shape, rng)


def alarms_like_these(shape: Shape, draws: int, rng: Rng) -> float:
    """HELPS or HURTS on items like these, where the skill changes nothing."""
    return called(flip_p(unchanged(shape, draws, rng)))


def alarms_these_only(shape: Shape, draws: int, rng: Rng) -> float | None:
    """HELPS or HURTS on these items, where the skill changes nothing."""
    if shape.repeats == 1:
        return None
    base = chance(difficulties(shape, draws, rng))
    return called(label_p(trials(base, shape, rng), trials(base, shape, rng), shape))


def covers_nothing(shape: Shape, draws: int, rng: Rng) -> float:
    """The interval holds 0, where the skill changes nothing."""
    return 1 - called(flip_p(unchanged(shape, draws, rng)))


def covers_effect(shape: Shape, draws: int, rng: Rng) -> float:
    """The interval holds the true mean delta of a shift."""
    logits = difficulties(shape, draws, rng)
    delta, _ = truth(shape, mean=0.0, shift=SHIFT)
    found = deltas(chance(logits), chance(logits + SHIFT), shape, rng)
    return 1 - called(flip_p(found - delta))


def no_difference(rows: Array) -> float:
    """Share of NO DIFFERENCE: with two pseudo-items, both margins are rejected around the mean."""
    padded = np.column_stack([rows, np.ones(len(rows)), -np.ones(len(rows))])
    left = padded[np.abs(padded.mean(axis=1)) < MARGIN - 1e-9]
    for edge in (MARGIN, -MARGIN):
        if len(left):
            left = left[flip_p(left - edge) <= LEVEL]
    return len(left) / len(rows)


def same_at_margin(shape: Shape, draws: int, rng: Rng) -> float:
    """NO DIFFERENCE, where a shift of all items changes the mean by the margin."""
    return no_difference(shifted(shape, draws, rng, shift=shift_for(MARGIN, shape)))


def same_beyond(shape: Shape, draws: int, rng: Rng) -> float:
    """NO DIFFERENCE, where a shift of all items changes the mean by twice the margin."""
    return no_difference(shifted(shape, draws, rng, shift=shift_for(2 * MARGIN, shape)))


def same_while_some_break(shape: Shape, draws: int, rng: Rng) -> float:
    """NO DIFFERENCE, where one item in ten never passes any more: 0.05 of the mean."""
    base = chance(difficulties(shape, draws, rng))
    whole = rng.random(base.shape) >= BROKEN
    return no_difference(deltas(base, base * whole, shape, rng))


def same_while_saturated(share: float) -> Callable[[Shape, int, Rng], float]:
    """NO DIFFERENCE, where this share of items breaks and all others always pass."""

    def measured(shape: Shape, draws: int, rng: Rng) -> float:
        broken = rng.random((draws, shape.items)) < share
        return no_difference(-broken.astype(float))

    return measured


def detects_like_these(shape: Shape, draws: int, rng: Rng) -> float | None:
    """HELPS on items like these, at the detectable effect of the true variances."""
    return _detects(shape, draws, rng, scope=Scope.LIKE_THESE)


def detects_these_only(shape: Shape, draws: int, rng: Rng) -> float | None:
    """HELPS on these items, at the detectable effect of the true variances."""
    return _detects(shape, draws, rng, scope=Scope.THESE_ONLY)


def skewed(shape: Shape, draws: int, rng: Rng) -> float:
    """HELPS or HURTS, where one item in ten breaks and the others gain as much in sum."""
    base = chance(difficulties(shape, draws, rng))
    whole = rng.random(base.shape) >= BROKEN
    gain = BROKEN / (1 - BROKEN)  # mean chance is 0.5, so the mean delta is 0
    other = np.where(whole, base + gain * (1 - base), 0.0)
    return called(flip_p(deltas(base, other, shape, rng)))


def skewed_bare(shape: Shape, draws: int, rng: Rng) -> float:
    """The same without noise: every item that does not break gains the same."""
    whole = rng.random((draws, shape.items)) >= BROKEN
    return called(flip_p(np.where(whole, BROKEN / (1 - BROKEN), -1.0)))


def bootstrap_alarms(shape: Shape, draws: int, rng: Rng) -> float:
    """0 is outside the percentile bootstrap, where the skill changes nothing."""
    rows = unchanged(shape, draws, rng)
    counts = rng.multinomial(shape.items, np.full(shape.items, 1 / shape.items), RESAMPLES)
    weights = counts.T / shape.items
    parts = [rows[start : start + 500] @ weights for start in range(0, draws, 500)]
    tails = [np.minimum((p < 1e-10).mean(axis=1), (p > -1e-10).mean(axis=1)) for p in parts]
    return float((np.concatenate(tails) < LEVEL / 2).mean())


def negative(shape: Shape, draws: int, rng: Rng) -> float:
    """The mean delta is negative, where the skill changes nothing."""
    return float((unchanged(shape, draws, rng).mean(axis=1) < -1e-10).mean())


def _detects(shape: Shape, draws: int, rng: Rng, *, scope: Scope) -> float | None:
    def gap(shift: float) -> float:
        delta, split = truth(shape, mean=HARD, shift=shift)
        items, repeats = shape.items, shape.repeats
        return delta - detectable(split, items=items, repeats=repeats, scope=scope, step=shape.step)

    shift = solved(gap) if shape.items >= 10 else None
    if shift is None:
        return None
    logits = difficulties(shape, draws, rng, mean=HARD)
    base, other = chance(logits), chance(logits + shift)
    if scope is Scope.LIKE_THESE:
        return called(flip_p(deltas(base, other, shape, rng)))
    return called(label_p(trials(base, shape, rng), trials(other, shape, rng), shape))


MEASURES = (
    Measure("false alarms, items like these", ALARM, alarms_like_these),
    Measure("false alarms, these items only", ALARM, alarms_these_only),
    Measure("interval covers, no effect", COVERED, covers_nothing),
    Measure("interval covers, mean delta 0.17", COVERED, covers_effect),
    Measure("NO DIFFERENCE at ±0.05, all items shift", ALARM, same_at_margin),
    Measure("NO DIFFERENCE at ±0.10, all items shift", ALARM, same_beyond),
    Measure("NO DIFFERENCE at −0.05, 10 % of items break", ALARM, same_while_some_break),
    Measure(
        "NO DIFFERENCE at −0.10, 10 % of saturated items break",
        ALARM,
        same_while_saturated(BROKEN),
        fixed=True,
    ),
    Measure("power at the detectable effect, items like these", POWERED, detects_like_these),
    Measure("power at the detectable effect, these items only", POWERED, detects_these_only),
    Measure(
        "NO DIFFERENCE at −0.05, 5 % of saturated items break",
        FREE,
        same_while_saturated(MARGIN),
        fixed=True,
    ),
    Measure("false alarms, skewed effects with mean 0", FREE, skewed),
    Measure("false alarms, the same without noise", FREE, skewed_bare, fixed=True),
    Measure("false alarms of the percentile bootstrap", FREE, bootstrap_alarms),
    Measure('false alarms of "any negative delta fails"', FREE, negative),
)


def rows(draws: int) -> Iterator[Row]:
    """Every measure for every kind of score and number of repeats."""
    for place, measure in enumerate(MEASURES):
        for checks in CHECKS[:1] if measure.fixed else CHECKS:
            for repeats in REPEATS[:1] if measure.fixed else REPEATS:
                shapes = [Shape(items, checks, repeats) for items in SIZES]
                seeds = [[SEED, place, *shape] for shape in shapes]
                shares = [
                    measure.share(shape, draws, np.random.default_rng(seed))
                    for shape, seed in zip(shapes, seeds, strict=True)
                ]
                if any(share is not None for share in shares):
                    yield Row(measure, checks, repeats, tuple(shares))


def table(found: Iterable[Row], draws: int) -> Iterator[str]:
    """The rows as lines of Markdown; a share that breaks its bound is bold."""
    heads = ["measure", "scores", "repeats", *(f"{n} items" for n in SIZES), "bound"]
    yield f"| {' | '.join(heads)} |"
    yield f"|---|---|---:|{'---:|' * len(SIZES)}---|"
    for row in found:
        kind = "graded" if row.checks > 1 else "pass/fail"
        head = ["–", "–"] if row.measure.fixed else [kind, str(row.repeats)]
        cells = ["–" if share is None else f"{share:.1%}" for share in row.shares]
        marked = [
            f"**{cell}**" if fails else cell
            for cell, fails in zip(cells, row.failing(draws), strict=True)
        ]
        yield f"| {' | '.join([row.measure.name, *head, *marked, str(row.measure.bound)])} |"


def put(text: str, lines: list[str]) -> str:
    """The text with what is between its markers replaced by the lines."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return "\n".join([before + BEGIN, *lines, END + after])


def main(arguments: list[str]) -> int:
    """Print the table; 1 if a bound is to be checked and does not hold."""
    parser = argparse.ArgumentParser(description="How often each rule is wrong.")
    parser.add_argument("--draws", type=int, default=DRAWS, help="simulated runs per cell")
    parser.add_argument("--check", action="store_true", help="exit 1 if a bound does not hold")
    parser.add_argument("--into", type=Path, help="page whose table is to be replaced")
    options = parser.parse_args(arguments)
    found: list[Row] = []
    lines: list[str] = []
    for line in table(_kept(rows(options.draws), found), options.draws):
        print(line, flush=True)
        lines.append(line)
    broken = sum(sum(row.failing(options.draws)) for row in found)
    summary = f"{options.draws:,} draws a cell, {FLIPS:,} labelings; bounds broken: {broken}."
    print(f"\n{summary}")
    if options.into:
        page = put(options.into.read_text("utf-8"), [*lines, "", summary])
        options.into.write_text(page, "utf-8")
    return 1 if options.check and broken else 0


def _kept(found: Iterable[Row], kept: list[Row]) -> Iterator[Row]:
    for row in found:
        kept.append(row)
        yield row


def _error(share: float, draws: int) -> float:
    return float(np.sqrt(share * (1 - share) / draws))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
