"""What people try first: learners that take unlabelled rows as negatives."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustpu.base.learners import scores
from robustpu.base.wrapper import WrapperPUClassifier
from robustpu.training import TrainingData
from robustpu.training.data import Floats
from robustpu.validation.parameters import parameters


@parameters
class NaivePUClassifier(WrapperPUClassifier):
    """g(x), the probability of a label: unlabelled rows are taken as negatives.

    Under SCAR it ranks as well as any, and its probabilities are too low. Parameters as in
    :class:`robustpu.ElkanNotoClassifier`.

    Examples
    --------
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 30
    >>> model = NaivePUClassifier(prior=0.2, threshold="prior", random_state=0).fit(X, y)
    >>> int(model.predict_proba(X)[:, 1].argmax())
    39
    """

    def fit_learners(self, data: TrainingData, random: np.random.RandomState) -> None:
        self.estimator_ = self.fitted_learner(data.X, data.is_positive, data.weight, random)

    def score_rows(self, X: Any) -> Floats:
        return scores(self.estimator_, X)


def boosting() -> Any:
    """LightGBM where it is installed, else scikit-learn's; with its defaults."""
    if find_spec("lightgbm") is None:
        return HistGradientBoostingClassifier()
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


LEARNERS: Final[Mapping[str, Callable[[], Any]]] = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "boosting": boosting,
}


def make_baseline(name: str, prior: float, scenario: str, seed: int) -> NaivePUClassifier:
    """A naive baseline, not fitted.

    Parameters
    ----------
    name
        A key of ``LEARNERS``.
    prior, scenario, seed
        As of any classifier; the ranking does not depend on the first two.
    """
    return NaivePUClassifier(
        LEARNERS[name](), prior=prior, scenario=scenario, calibrate=False, random_state=seed
    )
