"""Every estimator through every check of scikit-learn."""

import inspect
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustpu import (
    Curriculum,
    NNPUClassifier,
    Pacing,
    PUClassifier,
    PUVotingClassifier,
    RobustPUClassifier,
    all_methods,
    methods,
)
from robustpu.base.neural import NeuralPUClassifier
from robustpu.pool.forests import BoostingRanker, ForestRanker

METHODS = all_methods()
CLASSES = list(METHODS.values())

SHORT = {"epochs": 2, "batch_size": 256, "lr": 1e-3, "weight_decay": 0.0, "random_state": 0}
PACING = Pacing(lambda0=0.5, beta=1.0, t_grow=2)
ROBUST = {
    "epochs": 2,
    "batch_size": 256,
    "lr": 1e-3,
    "n_members": 2,
    "pretrain": NNPUClassifier(epochs=2, batch_size=256),
    "curriculum": Curriculum(max_rounds=2, pacing_positive=PACING, pacing_unlabeled=PACING),
    "random_state": 0,
}
# What makes each method quick.
NEURAL = {
    "pn": {},
    "upu": {},
    "nnpu": {},
    "pusb": {},
    "pubn": {},
    "pulns": {"episodes": 2, "warm_epochs": 1},
    "p3mix-e": {"start_epoch": 1},
    "p3mix-c": {"start_epoch": 1},
    "dist-pu": {"mix_epochs": 2},
    "self-pu": {"start_epoch": 1, "stop_epoch": 1, "every": 1},
    "genpu": {},
    "vpu": {},
    "tedn": {"warm_epochs": 1},
    "lbe": {"rounds": 2, "warm_epochs": 1},
}
PAIR = [
    ("networks", NNPUClassifier(epochs=2, batch_size=256)),
    ("trees", METHODS["puet"](n_estimators=5)),
]
# The members of the default, with few trees.
FEW_TREES = [
    *("logistic", "hinges", "laplacian"),
    ("forest", ForestRanker(4)),
    ("boosting", BoostingRanker(2, max_iter=4)),
    ("extra-trees", METHODS["puet"](n_estimators=4)),
]
QUICK = [
    *(METHODS[name](prior=0.5, **SHORT, **given) for name, given in NEURAL.items()),
    RobustPUClassifier(prior=0.5, **ROBUST),
    PUVotingClassifier(PAIR, random_state=0),
    PUClassifier(prior=0.5, members=FEW_TREES, random_state=0),
]


def test_every_method_is_checked_here_or_in_its_own_file():
    here = {type(estimator) for estimator in QUICK}
    for name, method in methods.METHODS.items():
        path = Path(__file__).parent / "methods" / f"test_{method.file}.py"
        assert METHODS[name] in here or "parametrize_with_checks" in path.read_text(), name


def expected_failures(estimator):
    """A row of weight two and a row given twice fall into other mini-batches."""
    reason = "repeated rows change the mini-batches and the held-out rows, weighted ones do not"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch):
    """Forests that estimate a prior are small: how well they do is for the tests of the priors."""
    monkeypatch.setattr("robustpu.priors.crossfit.TREES", 5)


# The checks train for a moment, on noise, and give string labels without pos_label.
@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
@parametrize_with_checks(QUICK, expected_failed_checks=expected_failures)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", CLASSES)
class TestConstructor:
    def test_stores_nothing_but_its_parameters(self, cls):
        names = set(cls().get_params(deep=False))
        assert set(vars(cls())) == names
        assert names == set(inspect.signature(cls).parameters)

    def test_has_a_default_for_every_parameter_and_takes_no_other(self, cls):
        parameters = inspect.signature(cls).parameters.values()
        assert all(parameter.default is not inspect.Parameter.empty for parameter in parameters)
        # The learner of a wrapper, and the estimators of an ensemble, come first, as everywhere.
        first = {"estimator", "estimators"}
        for parameter in parameters:
            is_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            assert is_keyword == (parameter.name not in first)
        with pytest.raises(TypeError, match="no_such_parameter"):
            cls(no_such_parameter=1)

    def test_a_clone_has_equal_parameters(self, cls):
        assert str(clone(cls()).get_params()) == str(cls().get_params())

    def test_set_params_undoes_get_params(self, cls):
        given = cls(prior=0.3, threshold=0.4, pos_label="a", random_state=4)
        copy = cls().set_params(**given.get_params(deep=False))
        assert copy.get_params(deep=False) == given.get_params(deep=False)

    def test_names_only_what_was_changed(self, cls):
        assert repr(cls()) == f"{cls.__name__}()"
        assert repr(cls(prior=0.3, threshold=0.4)) == f"{cls.__name__}(prior=0.3, threshold=0.4)"

    def test_is_tagged_as_a_binary_classifier(self, cls):
        tags = get_tags(cls())
        assert is_classifier(cls())
        assert not tags.classifier_tags.multi_class
        if issubclass(cls, NeuralPUClassifier):
            assert tags.input_tags.sparse
            assert not tags.input_tags.allow_nan

    def test_does_not_validate(self, cls):
        # Values are refused by fit, as everywhere in scikit-learn.
        assert np.isnan(cls(threshold=np.nan).threshold)
