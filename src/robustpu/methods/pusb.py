"""PUSB: labels that depend on the row; the threshold is a quantile (Kato, Teshima, Honda, 2019)."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from robustpu.base.classifier import EDGE
from robustpu.methods.nnpu import NNPUClassifier
from robustpu.risks import SURROGATES, Surrogate
from robustpu.thresholds import at_share, parse
from robustpu.validation.parameters import accepted_by, param, parameters, strategy


@parameters
class PUSBClassifier(NNPUClassifier):
    """nnPU with the logistic loss, positive above the (1 - prior) quantile of U.

    Labels need not be selected completely at random: it is enough that rows which are more likely
    positive are also more likely labelled. Then the scores are in the right order, though not at
    the right level. Their log-odds are shifted so that a share ``prior`` of the unlabelled rows is
    above a half. Parameters as in :class:`robustpu.NNPUClassifier`, and

    Parameters
    ----------
    threshold
        ``"prior"``, or as of the others, for nnPU's own probabilities.

    Attributes
    ----------
    calibration_
        What was added to the log-odds.

    Examples
    --------
    >>> from robustpu import PUSBClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PUSBClassifier(prior=0.3, epochs=20, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    surrogate: str | Surrogate = param("logistic", strategy(SURROGATES), fleet=True)
    threshold: float | str = param("prior", accepted_by(parse))

    def check_combination(self) -> None:
        super().check_combination()
        if self.calibrate and self.threshold == "prior":
            raise ValueError(
                "threshold='prior' sets the probabilities of PUSB, and "
                f"calibrate={self.calibrate!r} would, too: leave one of them out."
            )

    def _find_calibration(
        self, probability: NDArray[np.float64], out_of_fold: NDArray[np.float64]
    ) -> float:
        if self.threshold != "prior":
            return super()._find_calibration(probability, out_of_fold)
        unlabeled = probability[~self.is_positive_]
        weight = self.sample_weight_[~self.is_positive_]
        at = np.clip(at_share(unlabeled, self.prior_, weight), EDGE, 1 - EDGE)
        # Not quite at a row, so that rounding does not decide on it and its equals.
        odds = special.logit(unlabeled)
        least = odds[unlabeled < at].max(initial=-np.inf) + 1e-9
        most = odds[unlabeled >= at].min(initial=np.inf) - 1e-9
        return -float(np.clip(special.logit(at), least, most))

    def _find_threshold(self) -> float:
        return 0.5 if self.threshold == "prior" else super()._find_threshold()
