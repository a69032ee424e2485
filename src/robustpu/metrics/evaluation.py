"""All metrics at once, with intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from robustpu.labels import Label
from robustpu.metrics import ranking, rates
from robustpu.metrics.estimates import Estimate
from robustpu.metrics.refuting import largest_prior
from robustpu.metrics.sample import Sample, sample_of
from robustpu.scenario import from_to

# Metrics that are left out where the share of positives is not known.
NEED_PRIOR = (rates.FORMULAS.keys() | ranking.RANKINGS.keys()) - {"recall", "lift_at_k"}
# Those that checked rows tell.
BY_CHECKS = ("precision", "precision_at_k", "positives_at_k")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Mapping[str, Estimate]):
    """Estimates by the name of the metric; prints as a table.

    Attributes
    ----------
    estimates
        An :class:`Estimate` for each of :data:`robustpu.metrics.METRICS`; where the share of
        positives is not known, for those that do not need it.
    scenario
        As given.
    sample
        The evaluated rows, with the prior, threshold, k and level.
    rate
        Share of the unlabelled rows that are predicted positive.
    collapse
        "negative" or "positive" if nearly all rows are predicted so, see
        :func:`robustpu.metrics.collapse`; else None.
    auc_of_labeled
        Chance that a labelled row outranks an unlabelled one, which needs no prior.
    is_prior_known
        If not, there are only metrics that do not need the share of positives.
    """

    estimates: dict[str, Estimate]
    scenario: str
    sample: Sample
    rate: float
    collapse: str | None
    auc_of_labeled: Estimate
    is_prior_known: bool = True

    def __getitem__(self, name: str) -> Estimate:
        if not self.is_prior_known and name in NEED_PRIOR - self.estimates.keys():
            raise KeyError(
                f"{name} needs the share of positives, which these rows do not tell. Give prior= "
                "to the classifier, or prior_interval= here."
            )
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    @property
    def beats_chance(self) -> bool:
        """Whether the interval of ``auc_of_labeled`` lies above 0.5, whatever the prior."""
        return ranking.beats_chance(self.auc_of_labeled)

    @property
    def clipped(self) -> tuple[str, ...]:
        """Names of the metrics whose value had to be cut to their range."""
        return tuple(name for name, estimate in self.items() if estimate.clipped)

    def __str__(self) -> str:
        sample = self.sample
        checked = f", {sample.n_checked:,} of them checked" if sample.n_checked else ""
        head = (
            f"{len(sample.positive):,} labelled positives, {len(sample.unlabeled):,} unlabelled "
            f"rows{checked}, {self.scenario}\nprior {self._shown_prior()}, threshold "
            f"{sample.threshold:.3g}, k {sample.k:,}, intervals of {sample.level:.0%}"
        )
        lines = [f"{'':18}{'value':>9}{'low':>9}{'high':>9}"]
        for name, estimate in self.items():
            numbers = (estimate.value, estimate.low, estimate.high)
            mark = " *" if estimate.clipped else ""
            lines.append(f"{name:18}" + "".join(f" {x:8.3f}" for x in numbers) + mark)
        return "\n".join([head, *lines, *self.remarks()])

    __repr__ = __str__

    def _shown_prior(self) -> str:
        low, high = self.sample.priors
        if not self.is_prior_known:
            return f"unknown, {from_to(low, f'{low:.3g}', f'{high:.3g}')}"
        return f"{self.sample.prior:.3g}" + ("" if low == high else f" [{low:.3g}, {high:.3g}]")

    def remarks(self, *, alarms: bool = True) -> list[str]:
        """Warnings about these figures: clipped values, a refuted prior.

        Parameters
        ----------
        alarms
            Whether to say also that the ranking is no better than chance, and that the model has
            collapsed.
        """
        remarks = []
        if alarms and not self.beats_chance:
            remarks.append(ranking.chance_doubt(self.auc_of_labeled, self.sample.level))
        if self.clipped:
            wrong = "labels that are not selected completely at random"
            if self.sample.propensity is not None:
                wrong = "wrong propensities"
            remarks.append(
                f"* out of range before it was cut: few rows, a wrong prior, or {wrong}."
            )
        if self.sample.posterior is not None:
            remarks.append(
                f"Precision rests on {self.sample.n_checked} checked rows; at k it is that of rows "
                "that are still unlabelled."
            )
        if not self.is_prior_known:
            such = "precision" if self.sample.posterior is None else "accuracy"
            remarks.append(
                "These rows do not tell the share of positives: metrics that need it, such as "
                f"{such}, are left out."
            )
            return remarks
        sample = self.sample
        most = largest_prior(
            sample.positive,
            sample.unlabeled,
            weight_positive=sample.weight_hidden,
            weight_unlabeled=sample.weight_unlabeled,
        )
        if sample.priors[0] > most:
            labels = "labels that are selected completely at random"
            if sample.propensity is not None:
                labels = "the propensities"
            remarks.append(
                f"The prior of {sample.prior:.1%} and {labels} cannot both hold: these scores then "
                f"allow at most {most:.1%} positives among the unlabelled rows. If the prior is "
                "wrong, precision is lower than shown here; if the labels are biased, most of "
                "these figures are wrong."
            )
        if alarms and self.collapse is not None:
            remarks.append(
                f"{self.rate:.1%} of the unlabelled rows are predicted positive: the model has "
                f"probably collapsed to all-{self.collapse}."
            )
        return remarks


def evaluate(
    y: ArrayLike,
    score: ArrayLike,
    *,
    prior: float,
    prior_interval: Sequence[float] | None = None,
    threshold: float = 0.5,
    scenario: str = "case-control",
    pos_label: Label | None = None,
    neg_label: Label | None = None,
    checked: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labeled_share: float | None = None,
    k: int | None = None,
    level: float = 0.9,
    is_prior_known: bool = True,
    propensity: ArrayLike | None = None,
) -> Evaluation:
    """Every metric with an interval, from rows that the model was not fitted on.

    Labels must be selected completely at random, or with known propensities, and both sets must
    be held out alike: :class:`PUKFold` keeps their shares.

    Parameters
    ----------
    y
        Two labels, labelled positive and unlabelled, as in fit; shape (n,).
    score
        Probabilities of being positive, or any scores that grow with them; shape (n,).
    prior
        Share of positives among the unlabelled rows.
    prior_interval
        Ends of the prior's own interval, if it was estimated: it is taken to be of the same level
        and its error independent of these rows, and widens the intervals. It may begin at 0.
    threshold
        Rows with at least this score are predicted positive.
    scenario
        "case-control" or "single-set", as in fit. In single-set data the metrics are about labelled
        and unlabelled rows together, except those at k.
    pos_label
        The label of the labelled positives; by default the larger.
    neg_label, checked
        The label of known negatives, and which rows owe their label to a check, as in fit, (n,).
        Checked rows count as the unlabelled rows that they were, and from ten of them on they tell
        the precision. Other known negatives are left out.
    sample_weight
        A row of weight 2 counts as two rows, except that there is no more information in it.
    labeled_share
        Share of labelled rows in the population of single-set data; by default that of these rows,
        which differs from it if labelled and unlabelled rows were not held out alike.
    k
        Length of the list for the metrics at k; by default the number of positives expected among
        the unlabelled rows.
    level
        Chance with which an interval holds the truth.
    is_prior_known
        If not, only metrics that do not need the prior are returned.
    propensity
        As in fit, of labels that are not selected completely at random; ``sample_weight`` does not
        have it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(2, 1, 700), rng.normal(0, 1, 600)
    >>> score = np.concatenate([positive, negative])
    >>> print(evaluate(np.arange(1300) < 300, score, prior=0.4, threshold=1))
    300 labelled positives, 1,000 unlabelled rows, case-control
    prior 0.4, threshold 1, k 400, intervals of 90%
                          value      low     high
    recall                0.817    0.777    0.851
    precision             0.783    0.724    0.844
    f1                    0.800    0.754    0.842
    accuracy              0.836    0.796    0.873
    specificity           0.849    0.799    0.897
    balanced_accuracy     0.833    0.794    0.868
    zero_one_risk         0.164    0.127    0.204
    lee_liu               1.599    1.422    1.770
    auc                   0.917    0.878    0.955
    average_precision     0.890    0.752    1.000
    precision_at_k        0.800    0.727    0.870
    lift_at_k             2.000    1.818    2.175
    positives_at_k      320.000  290.805  348.059
    """
    sample = sample_of(
        y,
        score,
        prior=prior,
        prior_interval=prior_interval,
        threshold=threshold,
        scenario=scenario,
        pos_label=pos_label,
        neg_label=neg_label,
        checked=checked,
        sample_weight=sample_weight,
        labeled_share=labeled_share,
        k=k,
        level=level,
        propensity=propensity,
    )
    rate = rates.rates_of(sample).rate
    found = rates.estimates(sample) | ranking.estimates(sample)
    area = ranking.auc_of_labeled(sample)
    if not is_prior_known:
        by_checks = () if sample.posterior is None else BY_CHECKS
        found = {
            "recall": found["recall"],
            "lift_at_k": ranking.lift_at_k(replace(sample, prior=ranking.prior_of_lift(sample))),
            "auc_of_labeled": area,
            **{name: found[name] for name in by_checks},
        }
    return Evaluation(
        estimates=found,
        scenario=scenario,
        sample=sample,
        rate=rate,
        collapse=rates.collapse(rate, sample.prior, len(sample.unlabeled)),
        auc_of_labeled=area,
        is_prior_known=is_prior_known,
    )
