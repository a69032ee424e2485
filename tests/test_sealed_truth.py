"""Truth is sealed: no method fitted without ``eval_set`` can tell who the hidden positives are.

And determinism: the same ``random_state`` gives the same model, bit for bit.
"""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from robustpu import (
    Curriculum,
    NNPUClassifier,
    PNClassifier,
    RobustPUClassifier,
    UPUClassifier,
    datasets,
    make_pu,
)

N, N_POSITIVE = 300, 70
COMMON = {
    "scenario": "single-set",
    "module": "mlp",
    "standardize": True,
    "batch_size": 32,
    "lr": 3e-3,
    "validation_fraction": 0.2,
    "n_members": 2,
    # Never far from the prior, so that there is nothing to warn of.
    "threshold": "prior",
}
ESTIMATORS = {
    "PN": PNClassifier(epochs=8, patience=3, **COMMON),
    "uPU": UPUClassifier(epochs=8, patience=3, surrogate="sigmoid", **COMMON),
    "nnPU": NNPUClassifier(epochs=8, patience=3, surrogate="logistic", **COMMON),
    "Robust-PU": RobustPUClassifier(
        pretrain=NNPUClassifier(epochs=4, batch_size=32, surrogate="logistic"),
        curriculum=Curriculum(max_rounds=4, balance=True),
        epochs=2,
        patience=2,
        **COMMON,
    ),
    "Robust-PU, paper": RobustPUClassifier(
        **{**COMMON, "n_members": 1},
        pretrain=NNPUClassifier(epochs=4, batch_size=32, surrogate="sigmoid"),
        curriculum=Curriculum(max_rounds=4),
        epochs=2,
    ),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


class Problem:
    """A table of which all rows are used and the same rows are labelled, whatever the truth.

    The rows of U are all rows without a label; only who of them is positive is open.
    """

    def __init__(self, permute):
        table = datasets.load("spambase")
        rng = np.random.default_rng(0)
        rows = rng.permutation(len(table.target))[:N]
        X, y = table.data[rows], table.target[rows]
        labelled = rng.permutation(np.flatnonzero(y == 1))[:N_POSITIVE]
        unlabelled = np.setdiff1d(np.arange(N), labelled)
        if permute:
            y[unlabelled] = rng.permutation(y[unlabelled])
        data = make_pu(
            X,
            y,
            n_positive=N_POSITIVE,
            n_unlabeled=N - N_POSITIVE,
            prior=y[unlabelled].mean(),
            scenario="single-set",
            labeling=np.isin(np.arange(N), labelled).astype(float),
            random_state=0,
        )
        # make_pu shuffles; in the order of the table, the two problems can be compared.
        place = np.empty(N, dtype=int)
        place[data.y == 1], place[data.y == 0] = data.rows.positive, data.rows.unlabeled
        order = np.argsort(place)
        self.X, self.y, self.y_true = data.X[order], data.y[order], data.y_true[order]
        self.prior = data.prior

    def fit(self, name, eval_set=None, **parameters):
        model = clone(ESTIMATORS[name]).set_params(
            **{"prior": self.prior, "random_state": 0, **parameters}
        )
        return model.fit(self.X, self.y, eval_set=eval_set)


@pytest.fixture(scope="module")
def honest():
    return Problem(permute=False)


@pytest.fixture(scope="module")
def permuted():
    return Problem(permute=True)


def same_model(one, two, X):
    """Whether two models are equal to the last bit."""
    pairs = [
        (one.predict_proba(X), two.predict_proba(X)),
        (one.state_.flat.numpy(), two.state_.flat.numpy()),
        (one.member_scores_, two.member_scores_),
        (one.probability_, two.probability_),
        (one.threshold_, two.threshold_),
        (one.prior_, two.prior_),
    ]
    return one.history_ == two.history_ and all(np.array_equal(a, b) for a, b in pairs)


def test_only_the_truth_of_the_unlabelled_rows_differs(honest, permuted):
    np.testing.assert_array_equal(honest.X, permuted.X)
    np.testing.assert_array_equal(honest.y, permuted.y)
    assert honest.prior == permuted.prior
    assert (honest.y_true[honest.y == 1] == 1).all()
    assert (permuted.y_true[honest.y == 1] == 1).all()
    moved = honest.y_true[honest.y == 0] != permuted.y_true[honest.y == 0]
    # About 2 prior (1 - prior) of the rows, here of prior 0.2.
    assert 0.2 < moved.mean() < 0.45


@every_estimator
def test_permuting_the_truth_changes_no_bit(honest, permuted, name):
    assert same_model(honest.fit(name), permuted.fit(name), honest.X)


def test_nor_does_it_where_the_prior_is_estimated(honest, permuted):
    one, two = (problem.fit("nnPU", prior="auto") for problem in (honest, permuted))
    assert same_model(one, two, honest.X)
    # Nor what is said about the share.
    assert one.prior_interval() == two.prior_interval()
    assert one.prior_ != honest.prior


@every_estimator
def test_an_oracle_does_see_the_truth(honest, permuted, name):
    """The test above could fail: what is selected by the truth differs with it."""
    models = [
        problem.fit(name, eval_set=(problem.X, problem.y_true)) for problem in (honest, permuted)
    ]
    assert [model.selection_ for model in models] == ["oracle", "oracle"]
    assert not same_model(*models, honest.X)


@every_estimator
def test_the_same_random_state_gives_the_same_bits(honest, name):
    one = honest.fit(name, random_state=3)
    # Neither read nor touched: the random state of the process.
    torch.manual_seed(77)
    np.random.seed(77)  # noqa: NPY002
    before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    assert same_model(one, honest.fit(name, random_state=3), honest.X)
    assert torch.equal(torch.random.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    generator = np.random.RandomState(3)
    assert same_model(one, honest.fit(name, random_state=generator), honest.X)


@every_estimator
@pytest.mark.parametrize("validation_fraction", [0.0, 0.2])
def test_another_random_state_gives_another_model(honest, name, validation_fraction):
    one, two = (
        honest.fit(name, random_state=seed, validation_fraction=validation_fraction)
        for seed in (3, 4)
    )
    one, two = (model.predict_proba(honest.X) for model in (one, two))
    # Another start and another order of the rows: nearly every answer moves, and visibly.
    assert np.mean(one != two) > 0.9
    assert abs(one - two).max() > 1e-3


def test_members_of_one_model_differ(honest):
    one, two = honest.fit("nnPU", validation_fraction=0.0).state_.flat
    assert (one != two).float().mean() > 0.9
