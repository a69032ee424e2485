"""PUSB: labels that depend on the row; the threshold is a quantile (Kato, Teshima, Honda, 2019)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from torch import Tensor

from robustpu.base import parameters
from robustpu.methods.nnpu import NNPUClassifier
from robustpu.risks import Surrogate
from robustpu.together import Trained


@parameters
class PUSBClassifier(NNPUClassifier):
    """nnPU with the logistic loss, positive above the (1 - prior) quantile of U.

    Labelled positives need not be a fair sample: it is enough that rows which are more likely
    positive are also more likely labelled. Then the scores are in the right order, though not at
    the right level. Their log-odds are shifted so that a share ``prior`` of the unlabelled rows is
    above a half. Parameters as in :class:`robustpu.NNPUClassifier`, and

    Parameters
    ----------
    threshold
        ``"prior"``, or a number for nnPU's own probabilities.

    Attributes
    ----------
    shift_
        What was taken off the log-odds.

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

    surrogate: str | Surrogate = "logistic"
    threshold: float | str = "prior"

    def _note(self, logit: Tensor, kept: Sequence[Trained], settings: Sequence[Any]) -> None:
        self.shift_ = 0.0
        if self.threshold == "prior":
            unlabeled = self._probability(logit)[~self.is_positive_]
            at = super()._threshold_at(unlabeled)
            # Not quite at a row, so that rounding does not decide on it and its equals.
            odds = special.logit(unlabeled)
            least = odds[unlabeled < at].max(initial=-np.inf) + 1e-9
            most = odds[unlabeled >= at].min(initial=np.inf) - 1e-9
            self.shift_ = float(np.clip(special.logit(at), least, most))

    def _probability(self, logit: Tensor) -> NDArray[np.float64]:
        """Mean over the members of the probability of a positive, its log-odds shifted."""
        mean = super()._probability(logit)
        answer: NDArray[np.float64] = special.expit(special.logit(mean) - self.shift_)
        return answer

    def _threshold_at(self, unlabeled: NDArray[np.float64]) -> float:
        return 0.5 if self.threshold == "prior" else super()._threshold_at(unlabeled)
