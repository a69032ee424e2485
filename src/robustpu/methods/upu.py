"""uPU: the unbiased risk (du Plessis, Niu, Sugiyama, 2014 and 2015)."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Course, Fleet
from robustpu.methods.minimize import minimize, of_batch
from robustpu.risks import SURROGATE_GRADS, SURROGATES, Surrogate, nnpu_grad, upu
from robustpu.validation.names import pick
from robustpu.validation.parameters import number, param, parameters, strategy


@parameters
class UPUClassifier(NeuralPUClassifier):
    """Minimises prior E_P[l(g)] + E_U[l(-g)] - prior E_P[l(-g)].

    The risk is unbiased, and unbounded below: a flexible network drives it to minus infinity, so
    the selected epoch matters. Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    surrogate
        ``"sigmoid"``, ``"logistic"``, or a function of the margin.
    weight_decay
        By default that of the nnPU authors' code, whose deep version of uPU this is.

    Examples
    --------
    >>> from robustpu import UPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = UPUClassifier(prior=0.3, epochs=20, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    surrogate: str | Surrogate = param("sigmoid", strategy(SURROGATES), fleet=True)
    weight_decay: float = param(5e-3, number(least=0))

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        surrogate = pick("surrogate", settings[0].surrogate, SURROGATES)
        grad = partial(nnpu_grad, beta=math.inf)
        return minimize(
            fleet,
            settings,
            of_batch(upu, surrogate),
            of_batch(grad, surrogate) if surrogate in SURROGATE_GRADS else None,
        )
