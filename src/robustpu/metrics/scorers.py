"""Metrics as scorers of scikit-learn: for cross_val_score, GridSearchCV and their kin."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest

from robustpu import labels
from robustpu.metrics.sample import sample_of
from robustpu.metrics.values import METRICS, estimate_of
from robustpu.scenario import check_prior, check_scenario
from robustpu.validation.names import suggest
from robustpu.validation.numbers import check_number

# The smaller the better.
ERRORS = frozenset({"zero_one_risk"})
# Near a rate of zero these explode, so one fold could outweigh all others.
RATIOS = frozenset({"precision", "f1", "lee_liu", "average_precision"})


@dataclass(frozen=True)
class Scorer:
    """(estimator, X, y) -> a metric; what :func:`scorer` makes.

    With metadata routing, ``set_score_request(sample_weight=True)`` asks for sample weights.

    Attributes
    ----------
    name, prior, threshold, scenario, pos_label, k
        As given to :func:`scorer`.
    request
        Whether sample weights are requested, or under which name; None: not said.
    """

    name: str
    prior: float | None = None
    threshold: float | None = None
    scenario: str | None = None
    pos_label: labels.Label | None = None
    k: int | None = None
    request: bool | str | None = None

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        model = _innermost(estimator)
        prior = getattr(model, "prior_", None) if self.prior is None else self.prior
        if prior is None:
            raise ValueError(
                f"scorer({self.name!r}) needs a prior: {type(model).__name__} has no prior_. Give "
                "prior=, the share of positives among the unlabelled rows."
            )
        given = self.pos_label
        pos_label = getattr(model, "pos_label", None) if given is None else given
        neg_label = getattr(model, "neg_label", None)
        score, middle = _scores(estimator, X, pos_label, neg_label)
        threshold, scenario = self.threshold, self.scenario
        if threshold is None:
            # That of an estimator is one of probabilities.
            threshold = getattr(model, "threshold_", middle) if middle else middle
        if scenario is None:
            scenario = str(getattr(model, "scenario", "case-control"))
        sample = sample_of(
            y,
            score,
            prior=prior,
            threshold=threshold,
            scenario=scenario,
            pos_label=pos_label,
            neg_label=neg_label,
            sample_weight=sample_weight,
            k=self.k,
        )
        estimate = estimate_of(self.name, sample)
        value = estimate.value if self.name in RATIOS else estimate.raw
        return -value if self.name in ERRORS else value

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Request sample weights by scikit-learn's metadata routing, and return a scorer that does.

        Parameters
        ----------
        sample_weight
            Whether they are wanted, or the name that they are given by.
        """
        return replace(self, request=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn what is requested."""
        found = MetadataRequest(owner=type(self).__name__)
        found.score.add_request(param="sample_weight", alias=self.request)
        return found

    def _accept_sample_weight(self) -> bool:
        """Answer searches over several metrics, which ask their scorers."""
        return True


def scorer(
    name: str,
    *,
    prior: float | None = None,
    threshold: float | None = None,
    scenario: str | None = None,
    pos_label: labels.Label | None = None,
    k: int | None = None,
) -> Scorer:
    """(estimator, X, y) -> the metric on these rows, the larger the better.

    The zero-one risk is negated. Metrics that are unbiased are not cut to their range here, so
    that their mean over folds is unbiased too; ratios are cut. Rows with the ``neg_label`` of the
    estimator are left out.

    Parameters
    ----------
    name
        One of :data:`robustpu.metrics.METRICS`.
    prior
        Share of positives among the unlabelled rows; by default the fitted ``prior_`` of the
        estimator. Candidates that differ in their priors must be compared at one prior: the
        accuracy grows with it, so a search would choose the largest.
    threshold
        By default the fitted ``threshold_``, or else what ``predict`` goes by: 0.5 for
        probabilities, 0 for decision values.
    scenario, pos_label
        By default those of the estimator, or else "case-control" and the larger label.
    k
        Length of the list for the metrics at k, of the rows of a fold; by default the number of
        positives expected among its unlabelled rows.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(900) < 500
    >>> X, y = rng.normal(2.0 * truth[:, None], 1, (900, 2)), np.arange(900) < 250
    >>> auc = scorer("auc", prior=250 / 650)
    >>> round(float(cross_val_score(LogisticRegression(), X, y, scoring=auc).mean()), 1)
    1.0
    """
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}{suggest(name, METRICS)}")
    if prior is not None:
        check_prior(prior)
    if scenario is not None:
        check_scenario(scenario)
    check_number("threshold", threshold, optional=True)
    check_number("k", k, least=1, whole=True, optional=True)
    return Scorer(name, prior, threshold, scenario, pos_label, k)


def _innermost(estimator: Any) -> Any:
    """The classifier inside pipelines and searches."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        else:
            return estimator


def _scores(
    estimator: Any, X: Any, pos_label: labels.Label | None, neg_label: labels.Label | None
) -> tuple[NDArray[np.float64], float]:
    """Scores of the positive class, (n,), and the threshold of predict."""
    place = labels.positive_index(np.asarray(estimator.classes_), pos_label, neg_label)
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, place], 0.5
    if hasattr(estimator, "decision_function"):
        decision = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return (decision if place == 1 else -decision), 0.0
    raise ValueError(
        f"{type(estimator).__name__} has neither predict_proba nor decision_function: give a "
        "classifier that has one of them."
    )


def one_standard_error(results: Mapping[str, Any]) -> int:
    """The first candidate whose mean score is within one standard error of the best.

    For ``refit=`` of GridSearchCV and RandomizedSearchCV: scores without negatives are noisy, and
    of candidates within the noise the simplest is chosen. List the simple ones first.

    Parameters
    ----------
    results
        ``cv_results_`` of the search, with one metric.

    Returns
    -------
    place
        Its place among the candidates.

    Examples
    --------
    >>> scores = {"split0_test_score": np.array([0.80, 0.84]),
    ...           "split1_test_score": np.array([0.82, 0.78]),
    ...           "split2_test_score": np.array([0.81, 0.84])}
    >>> one_standard_error(scores)
    0
    """
    names = [name for name in results if re.fullmatch(r"split\d+_test_score", name)]
    if not names:
        raise ValueError("results must be cv_results_ of a search with one metric.")
    scores = np.array([results[name] for name in names], dtype=np.float64)
    mean = np.where(np.isfinite(scores).all(0), scores.mean(0), -np.inf)
    best = int(np.argmax(mean))
    error = scores[:, best].std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    return int(np.flatnonzero(mean >= mean[best] - error)[0])
