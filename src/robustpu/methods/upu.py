"""uPU: the unbiased risk (du Plessis, Niu, Sugiyama, 2014 and 2015)."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from robustpu.base import parameters
from robustpu.fleet import Course, Fleet
from robustpu.methods.minimize import minimize, of_batch
from robustpu.naming import identity, pick
from robustpu.neural import NeuralPUClassifier
from robustpu.risks import SURROGATE_SLOPES, SURROGATES, Surrogate, nnpu_slope, upu


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

    surrogate: str | Surrogate = "sigmoid"
    weight_decay: float | None = 5e-3

    def _check_parameters(self) -> None:
        super()._check_parameters()
        pick("surrogate", self.surrogate, SURROGATES)

    def _fleet_key(self) -> tuple[Any, ...]:
        return (*super()._fleet_key(), identity(self.surrogate))

    @classmethod
    def _train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        surrogate = pick("surrogate", settings[0].surrogate, SURROGATES)
        slope = partial(nnpu_slope, beta=math.inf)
        return minimize(
            fleet,
            settings,
            of_batch(upu, surrogate),
            of_batch(slope, surrogate) if surrogate in SURROGATE_SLOPES else None,
        )
