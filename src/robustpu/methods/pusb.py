"""PUSB: labels that depend on the row; the threshold is a quantile (Kato, Teshima, Honda, 2019)."""

from robustpu.base import parameters
from robustpu.methods.nnpu import NNPUClassifier
from robustpu.risks import Surrogate


@parameters
class PUSBClassifier(NNPUClassifier):
    """nnPU with the logistic loss, positive above the (1 - prior) quantile of U.

    Labelled positives need not be a fair sample: it is enough that rows which are more likely
    positive are also more likely labelled. Then the scores are in the right order, though not at
    the right level, and the threshold that makes a share ``prior`` of the unlabelled rows positive
    is the right one. Parameters as in :class:`robustpu.NNPUClassifier`.

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
