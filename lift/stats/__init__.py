"""Statistics of paired comparisons: numbers in, numbers out.

numpy and scipy.special only; no frame, no file, no clock, and every random draw has a seed.
"""

from lift.stats.agreement import Kappa, cohen_kappa
from lift.stats.bootstrap import bootstrap
from lift.stats.intervals import Change, Interval
from lift.stats.labels import permute_labels
from lift.stats.power import Need, Scope, detectable, items_for, power, repeats_for
from lift.stats.shares import FEW, Moved, clopper_pearson, holm, mcnemar, moved, wilson
from lift.stats.signflip import MARGIN, Equivalence, equivalent, sign_flip
from lift.stats.variance import (
    PRIOR,
    PRIOR_BETWEEN,
    PRIOR_WITHIN,
    Split,
    split_variance,
    step,
    tempered,
)

__all__ = [
    "FEW",
    "MARGIN",
    "PRIOR",
    "PRIOR_BETWEEN",
    "PRIOR_WITHIN",
    "Change",
    "Equivalence",
    "Interval",
    "Kappa",
    "Moved",
    "Need",
    "Scope",
    "Split",
    "bootstrap",
    "clopper_pearson",
    "cohen_kappa",
    "detectable",
    "equivalent",
    "holm",
    "items_for",
    "mcnemar",
    "moved",
    "permute_labels",
    "power",
    "repeats_for",
    "sign_flip",
    "split_variance",
    "step",
    "tempered",
    "wilson",
]
