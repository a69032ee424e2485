"""nnPU: the non-negative risk (Kiryo, Niu, du Plessis, Sugiyama, 2017)."""

from collections.abc import Sequence
from typing import Any

from robustpu.base import parameters
from robustpu.checks import check_number
from robustpu.fleet import Course, Fleet
from robustpu.methods.minimize import minimize, of_batch
from robustpu.naming import identity, pick
from robustpu.neural import NeuralPUClassifier
from robustpu.risks import SURROGATE_SLOPES, SURROGATES, Surrogate, nnpu, nnpu_slope


@parameters
class NNPUClassifier(NeuralPUClassifier):
    """Minimises prior E_P[l(g)] + max(0, E_U[l(-g)] - prior E_P[l(-g)]), ascending when below 0.

    Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    surrogate
        ``"sigmoid"`` (the paper's; on unscaled inputs, or without weight decay at low priors, it
        can collapse to all-negative), ``"logistic"``, or a function of the margin.
    weight_decay
        By default that of the authors' code.
    beta, gamma
        If the estimated risk of the negatives in a batch is below ``-beta``, the step descends on
        ``-gamma`` times it: it *ascends* that risk, which is not the same as clamping it at zero.

    Examples
    --------
    >>> from robustpu import NNPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = NNPUClassifier(prior=0.3, epochs=20, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    surrogate: str | Surrogate = "sigmoid"
    weight_decay: float | None = 5e-3
    beta: float = 0.0
    gamma: float = 1.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        pick("surrogate", self.surrogate, SURROGATES)
        check_number("beta", self.beta, least=0)
        check_number("gamma", self.gamma, least=0, most=1)

    def _fleet_key(self) -> tuple[Any, ...]:
        return (*super()._fleet_key(), identity(self.surrogate))

    @classmethod
    def _train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        surrogate = pick("surrogate", settings[0].surrogate, SURROGATES)
        return minimize(
            fleet,
            settings,
            of_batch(nnpu, surrogate),
            of_batch(nnpu_slope, surrogate) if surrogate in SURROGATE_SLOPES else None,
            beta=[own.beta for own in settings],
            gamma=[own.gamma for own in settings],
        )
