"""How good is a model, without negatives? Estimates from held-out labelled and unlabelled rows.

:func:`evaluate` gives every metric with an interval; a function a metric, such as :func:`accuracy`,
gives a plain number; :func:`scorer` and :class:`PUKFold` bring them to scikit-learn.

**What a metric is about.** In case-control data the unlabelled rows are a sample of the population;
in single-set data labelled and unlabelled rows together are. With r the recall on labelled rows,
q the share of unlabelled rows predicted positive and c the labelled share of the population
(c = n_P / (n_P + n_U) if single-set, 0 if case-control):

    population_prior = c + (1 - c) prior        population_rate = c r + (1 - c) q

- accuracy, zero_one_risk, precision, f1, lee_liu and average_precision are about the population;
- recall, specificity, balanced_accuracy and auc are the same in any mixture of the two classes;
- precision_at_k, lift_at_k and positives_at_k are about the given unlabelled rows, ranked by
  score: the list that one acts on.

To evaluate the unlabelled rows of single-set data alone, say ``scenario="case-control"``.

**Assumptions.** Labels must be selected completely at random (SCAR), the model must not have been
fitted on the rows, and the prior must be right: an error of the prior goes straight into the
precision. Intervals are for given numbers of labelled and unlabelled rows; they come from those of
the parts (shares: Wilson; AUC: DeLong; average precision: delta method), with no resampling.
"""

from robustpu.metrics.bins import Reliability, reliability
from robustpu.metrics.differences import auc_difference
from robustpu.metrics.estimates import Estimate
from robustpu.metrics.evaluation import Evaluation, evaluate
from robustpu.metrics.presence import boyce_index, tss
from robustpu.metrics.rates import collapse
from robustpu.metrics.refuting import largest_prior
from robustpu.metrics.scorers import one_standard_error, scorer
from robustpu.metrics.splitting import PUKFold, PUTimeSplit
from robustpu.metrics.values import (
    METRICS,
    accuracy,
    auc,
    average_precision,
    balanced_accuracy,
    f1,
    lee_liu,
    lift_at_k,
    positives_at_k,
    precision,
    precision_at_k,
    recall,
    specificity,
    zero_one_risk,
)

__all__ = [
    "Estimate",
    "Evaluation",
    "METRICS",
    "PUKFold",
    "PUTimeSplit",
    "Reliability",
    "accuracy",
    "auc",
    "auc_difference",
    "average_precision",
    "balanced_accuracy",
    "boyce_index",
    "collapse",
    "evaluate",
    "f1",
    "largest_prior",
    "lee_liu",
    "lift_at_k",
    "one_standard_error",
    "positives_at_k",
    "precision",
    "precision_at_k",
    "recall",
    "reliability",
    "scorer",
    "specificity",
    "tss",
    "zero_one_risk",
]
