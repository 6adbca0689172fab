"""What a result must reach, as people write it: `rubric<0.8`, `judge<-0.05`, `cost>+50%`.

A threshold says when a command fails: a metric, `<` or `>`, and a number. Without a sign the number
is the metric's own value. With one it is the change from base: in the metric's unit, or with `%`
relative to base. `rubric<-10%` fails where the rubric fell by more than a tenth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from lift.errors import SettingError
from lift.settings import Config

if TYPE_CHECKING:
    import pandas as pd

TABLE = "[tool.lift.thresholds]"
FLAG = "--fail-on"
NOISE = 1e-9
"""What is beyond a bound by less is so by rounding."""


class Metric(StrEnum):
    """What can be asked of a result."""

    RUBRIC = "rubric"
    """Mean score of the trials, 0 to 1."""
    JUDGE = "judge"
    """Mean of the judge's scores, 0 to 1."""
    COST = "cost"
    """US dollars of a trial, on average."""
    LATENCY = "latency"
    """Seconds of a trial, on average."""
    PRECISION = "precision"
    RECALL = "recall"
    F1 = "f1"

    @property
    def is_limit(self) -> bool:
        """True where less is better."""
        return self in (Metric.COST, Metric.LATENCY)

    def shown(self, value: float) -> str:
        """A value with its unit."""
        if self is Metric.COST:
            return f"${value:.4g}"
        return f"{value:.4g} s" if self is Metric.LATENCY else f"{value:.4g}"


COMPARED = (Metric.RUBRIC, Metric.JUDGE, Metric.COST, Metric.LATENCY)
"""Measured by runs and comparisons; they have a base."""
REVIEWED = (Metric.PRECISION, Metric.RECALL, Metric.F1)
"""Measured by the static review."""


class Measured(NamedTuple):
    """A metric under either condition; NaN where it was not measured."""

    base: float
    other: float


class Threshold(NamedTuple):
    """The least, or the most, that is accepted of a metric."""

    metric: Metric
    number: float
    of_base: bool
    """True where the number is a change from base."""
    relative: bool
    """True where that change is a share of base."""

    def bound(self, base: float) -> float:
        """The least or the most of the metric that is accepted, given its base."""
        if not self.of_base:
            return self.number
        return base * (1 + self.number) if self.relative else base + self.number

    def __str__(self) -> str:
        sign = "+" if self.of_base else ""
        number = f"{100 * self.number:{sign}.6g}%" if self.relative else f"{self.number:{sign}.6g}"
        return f"{self.metric}{'>' if self.metric.is_limit else '<'}{number}"


class Drop(NamedTuple):
    """A largest drop that is still accepted."""

    size: float
    """At least 0: absolute points of a score, or a share of base."""
    relative: bool

    def __str__(self) -> str:
        return f"{self.size:.4g} points" if not self.relative else f"{self.size:.4g} of base"

    def allowed(self, base: pd.Series) -> pd.Series:
        """How far each delta may be below zero, in points, given its base."""
        return base * self.size if self.relative else base * 0 + self.size


NUMBER = r"(?P<sign>[+-])?(?P<digits>\d+(?:\.\d*)?|\.\d+)(?P<percent>%)?"
WRITTEN = re.compile(rf"\s*(?P<metric>[A-Za-z0-9_]+)\s*(?P<side>[<>])\s*{NUMBER}\s*")
GRAMMAR = "write rubric<0.8, judge<-0.05, cost>+50%: without a sign a value, with one a change"


def parse(text: str, *, where: str = FLAG) -> Threshold:
    """Read a threshold.

    Args:
        text: as the module's description says.
        where: it was written.

    Raises:
        SettingError: it is none; the text is named.
    """
    match = WRITTEN.fullmatch(text)
    if match is None:
        raise _unusable(text, "is not a threshold", where, GRAMMAR)
    name = match["metric"].lower()
    if name not in set(Metric):
        known = ", ".join(Metric)
        raise _unusable(text, f"has an unknown metric {name!r}", where, f"known: {known}")
    metric = Metric(name)
    side = ">" if metric.is_limit else "<"
    if match["side"] != side:
        raise _unusable(text, f"would fail where {metric} is good", where, f"write {metric}{side}…")
    return _checked(text, metric, match, where)


def _checked(text: str, metric: Metric, match: re.Match[str], where: str) -> Threshold:
    relative, signed = match["percent"] is not None, match["sign"] is not None
    number = float(f"{match['sign'] or ''}{match['digits']}") / (100 if relative else 1)
    if relative and not signed:
        raise _unusable(
            text,
            "has a share of base without a sign",
            where,
            "write -10% for a drop, +10% for a rise",
        )
    if signed and metric in REVIEWED:
        raise _unusable(text, "asks for a change, and a review has no base", where, "drop the sign")
    if not metric.is_limit and not relative and abs(number) > 1:
        raise _unusable(text, f"asks for what cannot be: {metric} is 0 to 1", where, GRAMMAR)
    return Threshold(metric, number, of_base=signed, relative=relative)


def _unusable(text: str, why: str, where: str, fix: str) -> SettingError:
    return SettingError(f"{text.strip()!r} {why}", where=where, fix=fix)


def parse_drop(text: str) -> Drop:
    """Read a largest drop: `10%` is relative to base, `0.10` is absolute points.

    Raises:
        SettingError: it is neither, or below 0.
    """
    relative = text.strip().endswith("%")
    try:
        size = float(text.strip().removesuffix("%")) / (100 if relative else 1)
    except ValueError:
        size = -1.0
    if 0 <= size <= 1:
        return Drop(size, relative)
    raise SettingError(
        f"{text!r} is not a drop",
        where="--max-drop",
        fix="10% is relative to base, 0.10 is absolute points of a score",
    )


def least(metric: Metric, number: float) -> Threshold:
    """A threshold that wants so much of a metric."""
    return Threshold(metric, number, of_base=False, relative=False)


def asked(
    config: Config, given: Sequence[str], metrics: Sequence[Metric] = COMPARED
) -> list[Threshold]:
    """What a command must hold: its own thresholds, and those of the settings.

    Args:
        config: has those of the settings; for a metric that is given too they do not count.
        given: on the command line.
        metrics: that the command measures.

    Raises:
        SettingError: one is malformed, or asks for what the command does not measure.
    """
    own = [parse(text) for text in given]
    for text, threshold in zip(given, own, strict=True):
        if threshold.metric not in metrics:
            by = "lift compare and lift run" if threshold.metric in COMPARED else (
                "lift static and lift activation"
            )  # fmt: skip
            raise _unusable(text, "is of what is not measured here", FLAG, f"it is by {by}")
    named = {threshold.metric for threshold in own}
    others = [one for one in _set(config) if one.metric in metrics and one.metric not in named]
    return own + others


def _set(config: Config) -> list[Threshold]:
    """The thresholds of the settings, be they a table or a text."""
    found, where = (
        config.settings.thresholds,
        f"thresholds, from the {config.origins['thresholds']}",
    )
    if isinstance(found, str):
        return [parse(text, where=where) for text in found.split(",") if text.strip()]
    return [
        parse(_text(metric, value), where=TABLE)
        for metric, values in found.items()
        for value in (values if isinstance(values, list) else [values])
    ]


def _text(metric: str, value: object) -> str:
    """A threshold of the table, as it is written on the command line."""
    side = ">" if metric.lower() in (Metric.COST, Metric.LATENCY) else "<"
    return f"{metric}{side}{value}"


def missed(thresholds: Iterable[Threshold], measured: Mapping[Metric, Measured]) -> list[str]:
    """What does not hold, each with the measured and the wanted value; what was not measured too.

    Args:
        thresholds: asked for.
        measured: of one model.
    """
    return [
        line
        for threshold in thresholds
        if (line := _missed(threshold, measured.get(threshold.metric)))
    ]


def _missed(threshold: Threshold, measured: Measured | None) -> str:
    metric = threshold.metric
    base, other = measured or (math.nan, math.nan)
    bound = threshold.bound(base)
    over = other - bound if metric.is_limit else bound - other
    if over <= NOISE:
        return ""
    if math.isnan(over):
        return f"{metric} was not measured, {threshold} was asked for"
    wanted = f"wanted at {'most' if metric.is_limit else 'least'} {metric.shown(bound)}"
    from_base = f" ({threshold}, base {metric.shown(base)})" if threshold.of_base else ""
    return f"{metric} is {metric.shown(other)}, {wanted}{from_base}"
