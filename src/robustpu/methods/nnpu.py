"""nnPU: the non-negative risk (Kiryo, Niu, du Plessis, Sugiyama, 2017)."""

from collections.abc import Sequence
from typing import Any

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Course, Fleet
from robustpu.methods.minimize import minimize, of_batch
from robustpu.risks import SURROGATE_GRADS, SURROGATES, Surrogate, nnpu, nnpu_grad
from robustpu.validation.names import pick
from robustpu.validation.parameters import number, param, parameters, strategy


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
    balanced_prior
        Share of positives in the population whose risk is minimised, and by which the epoch is
        chosen; None for that of the data. 0.5 is for rare positives (Su, Chen, Xu, 2021): both
        classes weigh the same. Probabilities are then those of that population;
        ``calibrate=True`` brings their mean back to the prior.

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

    surrogate: str | Surrogate = param("sigmoid", strategy(SURROGATES), fleet=True)
    weight_decay: float = param(5e-3, number(least=0))
    beta: float = param(0.0, number(least=0))
    gamma: float = param(1.0, number(least=0, most=1))
    balanced_prior: float | None = param(None, number(above=0, below=1, optional=True))

    def share_to_minimize(self) -> float:
        return self.population_prior_ if self.balanced_prior is None else float(self.balanced_prior)

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        surrogate = pick("surrogate", settings[0].surrogate, SURROGATES)
        return minimize(
            fleet,
            settings,
            of_batch(nnpu, surrogate),
            of_batch(nnpu_grad, surrogate) if surrogate in SURROGATE_GRADS else None,
            beta=[member.beta for member in settings],
            gamma=[member.gamma for member in settings],
        )
