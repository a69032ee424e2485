"""PN: unlabelled rows are taken as negative, and ordinary cross-entropy is minimised."""

from collections.abc import Sequence
from typing import Any

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Course, Fleet, cross_entropy, cross_entropy_grad
from robustpu.methods.minimize import minimize


class PNClassifier(NeuralPUClassifier):
    """The baseline that takes every unlabelled row as a negative.

    Parameters as in :class:`robustpu.RobustPUClassifier`. The prior is used for held-out
    selection and for ``threshold="prior"`` only.

    Examples
    --------
    >>> from robustpu import PNClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PNClassifier(prior=0.3, epochs=20, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        return minimize(fleet, settings, cross_entropy, cross_entropy_grad)
