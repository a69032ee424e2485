"""What the network is compared with: two plain learners, and PUClassifier."""

import warnings

import numpy as np
from problems import Problem
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robustpu import PUClassifier


def logistic(problem: Problem) -> np.ndarray:
    """Labelled against unlabelled, C = 0.05, balanced."""
    model = make_pipeline(
        _inputs(problem), LogisticRegression(C=0.05, class_weight="balanced", max_iter=500)
    )
    model.fit(problem.X, problem.is_positive)
    return model.predict_proba(np.concatenate([problem.X, problem.X_test]))[:, 1]


def trees(problem: Problem) -> np.ndarray:
    """Balanced extra-trees, 200 of them, leaves of 3."""
    forest = ExtraTreesClassifier(
        200,
        min_samples_leaf=3,
        class_weight="balanced_subsample",
        bootstrap=True,
        random_state=0,
        n_jobs=1,
    )
    model = make_pipeline(_inputs(problem), forest)
    model.fit(problem.X, problem.is_positive)
    scores = model.predict_proba(np.concatenate([problem.X, problem.X_test]))[:, 1]
    # Out of bag for the training rows, so that the threshold is fair.
    inputs = model[0].transform(problem.X)
    votes, counts = np.zeros(len(problem.X)), np.zeros(len(problem.X))
    for tree, sampled in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        out = np.setdiff1d(np.arange(len(problem.X)), sampled)
        votes[out] += tree.predict_proba(inputs[out])[:, 1]
        counts[out] += 1
    scores[: len(problem.X)] = votes / np.maximum(counts, 1)
    return scores


def default(problem: Problem, prior: float | str) -> np.ndarray:
    """Probabilities of the test rows by PUClassifier."""
    inputs = _inputs(problem)
    X, X_test = inputs.fit_transform(problem.X), inputs.transform(problem.X_test)
    model = PUClassifier(prior=prior, scenario=problem.scenario, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, problem.is_positive.astype(int))
    return model.predict_proba(X_test)[:, 1]


def _inputs(problem: Problem) -> ColumnTransformer:
    """Standardised numbers and one-hot categories."""
    category = np.flatnonzero(problem.is_category)
    number = np.flatnonzero(~problem.is_category)
    return make_column_transformer(
        (make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), number),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=5), category),
    )
