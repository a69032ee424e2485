"""Rows, names and priors that no classifier can use: each is refused in one clear sentence."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from robustpu import (
    CollapseWarning,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUExtraTreesClassifier,
    estimate_prior,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
Y = (np.arange(60) < 20).astype(int)
DAYS = np.arange(180).reshape(60, 3).astype("datetime64[D]")
CLASSIFIERS = {
    "nnpu": NNPUClassifier(prior=0.3, epochs=1, random_state=0),
    "puet": PUExtraTreesClassifier(prior=0.3, n_estimators=5, random_state=0),
    "elkan-noto": ElkanNotoClassifier(prior=0.3, random_state=0),
}


@pytest.fixture(params=CLASSIFIERS)
def classifier(request):
    with warnings.catch_warnings():
        # So little training collapses now and then.
        warnings.simplefilter("ignore")
        yield CLASSIFIERS[request.param]


@pytest.mark.parametrize("rows", [DAYS, DAYS - DAYS[0]], ids=["dates", "durations"])
def test_dates_are_no_numbers(classifier, rows):
    with pytest.raises(ValueError, match="X holds dates or durations, expected numbers"):
        classifier.fit(rows, Y)
    classifier.fit(X, Y)
    with pytest.raises(ValueError, match="X holds dates or durations, expected numbers"):
        classifier.predict_proba(rows)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", ["nnpu", "puet"])
def test_a_column_of_dates_is_named(name, frame):
    with pytest.raises(ValueError, match="column 'when' of X holds dates or durations"):
        CLASSIFIERS[name].fit(frame({"a": X[:, 0], "when": DAYS[:, 0].astype("M8[us]")}), Y)


def test_a_repeated_name_is_named(classifier):
    frame = pd.DataFrame(X, columns=["a", "b", "b"])
    with pytest.raises(ValueError, match="X has 2 columns named 'b': rename them"):
        classifier.fit(frame, Y)
    classifier.fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    with pytest.raises(ValueError, match="X has 2 columns named 'b': rename them"):
        classifier.predict_proba(frame)


@pytest.mark.parametrize("name", ["nnpu", "puet"])
def test_enormous_numbers_do_not_warn(name):
    huge = np.where(RANDOM.random(X.shape) < 0.5, 1e308, -1e308)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        model = CLASSIFIERS[name].fit(huge, Y)
        assert np.isfinite(model.predict_proba(huge)).all()


@pytest.mark.parametrize(
    ("prior", "scenario"),
    [(1 - 1e-9, "case-control"), (1 - 1e-9, "single-set"), (1e-50, "case-control")],
)
def test_a_prior_that_single_precision_cannot_hold(prior, scenario):
    with pytest.raises(ValueError, match=f"the prior is {prior!r}, which single precision"):
        NNPUClassifier(prior=prior, scenario=scenario).fit(X, Y)


@pytest.mark.parametrize("kind", [object, str, "category"])
def test_a_column_of_text_is_named(kind):
    """By networks and by the estimate of the prior, which take numbers."""
    y = np.arange(20) < 5
    frame = pd.DataFrame({"age": range(20), "town": ["Bern", "Rome"] * 10}).astype({"town": kind})
    said = r"^X has columns of text: 'town'\. Make numbers of them with .*Vectorizer"
    with pytest.raises(ValueError, match=said):
        NNPUClassifier(prior=0.2).fit(frame, y)
    with pytest.raises(ValueError, match=said):
        estimate_prior(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        CLASSIFIERS["puet"].fit(frame.assign(town="1"), y)
