"""Column names, once, and the grain and types of every frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lift.schema import ALL as ALL  # dataset and category of the row over everything

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENT = "experiment"
DATASET = "dataset"
ITEM = "item"
CATEGORY = "category"
CONDITION = "condition"
MODEL = "model"
REPEAT = "repeat"
ATTEMPT = "attempt"
STATUS = "status"
WHY = "why"
COST_USD = "cost_usd"
SECONDS = "seconds"
INPUT_TOKENS = "input_tokens"
OUTPUT_TOKENS = "output_tokens"
EVALUATOR = "evaluator"
VALUE = "value"
PASSED = "passed"
WEIGHT = "weight"
JUDGED = "judged"
SCORE = "score"
NAME = "name"
LABEL = "label"
AUTHOR = "author"
COMMENT = "comment"
BASE = "base"
OTHER = "other"
DELTA = "delta"
ITEMS = "items"
LOW = "low"
HIGH = "high"
P = "p"
WINS = "wins"
TIES = "ties"
LOSSES = "losses"
PLANNED = "planned"
ANSWERED = "answered"
COVERAGE_BASE = "coverage_base"
COVERAGE_OTHER = "coverage_other"
METRIC = "metric"
FAILED = "failed"
FAILED_BASE = "failed_base"
FAILED_OTHER = "failed_other"

Columns = Mapping[str, str]
"""Column → type; a category is a name that many rows share."""

OF_TRIAL: Columns = {
    DATASET: "category",
    ITEM: "category",
    CATEGORY: "category",
    CONDITION: "category",
    MODEL: "category",
    REPEAT: "int64",
}
TRIAL = [*OF_TRIAL]
"""What tells the trials of an experiment apart."""

# One row per planned trial, as its latest attempt ended. status is ok, failed, errored, skipped,
# or planned where it has not been asked yet; tokens and dollars are of all calls it took.
TRIALS: Columns = {
    **OF_TRIAL,
    ATTEMPT: "int64",
    STATUS: "category",
    COST_USD: "float64",
    SECONDS: "float64",
    INPUT_TOKENS: "int64",
    OUTPUT_TOKENS: "int64",
}

# One row per (trial, evaluator) of the latest attempt; value is 0 to 1, NaN is not scored. A
# judge's value is the mean of its votes.
SCORES: Columns = {
    **OF_TRIAL,
    EVALUATOR: "category",
    VALUE: "float64",
    WEIGHT: "float64",
    JUDGED: "bool",
}

# One row per annotation that a person gave a trial's latest attempt in Langfuse, those of a name in
# the order of their times. name is of the score (human_passed, ...); value is a number, 1 or 0
# where it is yes or no, NaN where it is a category; label is that category, else empty; author is
# the person's id there.
ANNOTATIONS: Columns = {
    DATASET: "str",
    ITEM: "str",
    CATEGORY: "str",
    CONDITION: "str",
    MODEL: "str",
    REPEAT: "int64",
    NAME: "str",
    VALUE: "float64",
    LABEL: "str",
    AUTHOR: "str",
    COMMENT: "str",
}

# One row per scored trial: the weighted mean of its evaluators, 0 to 1.
TRIAL_SCORES: Columns = {
    **OF_TRIAL,
    SCORE: "float64",
}

# One row per (model, dataset, item) that is scored under both conditions: the mean over repeats
# on either side, 0 to 1, and other minus base.
DELTAS: Columns = {
    MODEL: "category",
    DATASET: "category",
    ITEM: "category",
    CATEGORY: "category",
    BASE: "float64",
    OTHER: "float64",
    DELTA: "float64",
}

# One row per (model, dataset, evaluator, item) that an evaluator scored under both conditions, as
# DELTAS; judges are among the evaluators.
EVALUATED: Columns = {
    MODEL: "category",
    DATASET: "category",
    EVALUATOR: "category",
    JUDGED: "bool",
    ITEM: "category",
    BASE: "float64",
    OTHER: "float64",
    DELTA: "float64",
}

# One row per (model, dataset, evaluator) that is no judge: base, other and delta are means over the
# `items` that it scored under both conditions, 0 to 1.
EVALUATORS: Columns = {
    MODEL: "str",
    DATASET: "str",
    EVALUATOR: "str",
    BASE: "float64",
    OTHER: "float64",
    DELTA: "float64",
    ITEMS: "int64",
}

# One row per (model, dataset, category), and one per model whose dataset and category are ALL.
# base, other and delta are means over the `items` pairs, NaN where there is none; wins, ties and
# losses count items. low and high are the ends of the 95 % interval of delta in points, NaN where
# the data set no limit; p is two-sided, 0 to 1, corrected for the number of categories, NaN where
# there is no test. Both are for items like these from 6 items on, else for these items only.
# coverage is answered trials over planned trials, 0 to 1; failed counts those among them that the
# model answered badly: cut off, or refused.
CATEGORIES: Columns = {
    MODEL: "str",
    DATASET: "str",
    CATEGORY: "str",
    BASE: "float64",
    OTHER: "float64",
    DELTA: "float64",
    LOW: "float64",
    HIGH: "float64",
    P: "float64",
    ITEMS: "int64",
    WINS: "int64",
    TIES: "int64",
    LOSSES: "int64",
    COVERAGE_BASE: "float64",
    COVERAGE_OTHER: "float64",
    FAILED_BASE: "int64",
    FAILED_OTHER: "int64",
}

# One row per (model, metric): the mean over all items under either condition, and other minus base;
# NaN is not measured. rubric is the trials' score and judge the judge's, both 0 to 1, of the items
# that have one on both sides; cost (US dollars) and latency (seconds) are of an answered trial.
MEASURES: Columns = {
    MODEL: "str",
    METRIC: "str",
    BASE: "float64",
    OTHER: "float64",
    DELTA: "float64",
}


def shape(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """The frame's named columns, in order and typed, with a fresh index."""
    return frame[list(columns)].astype(dict(columns)).reset_index(drop=True)


def of(rows: Iterable[Mapping[str, Any]], columns: Columns) -> pd.DataFrame:
    """A frame of rows that have at least these columns."""
    import pandas as pd

    return shape(pd.DataFrame(list(rows), columns=list(columns)), columns)
