"""Labelling: which positives carry a label, completely at random or by a named bias.

A mechanism takes the candidates' rows, their posterior p(y=1|x) and a generator, and returns how
likely each is to be labelled, up to a factor.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, minmax_scale, scale
from sklearn.utils import _safe_indexing

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.intp]
Generator: TypeAlias = np.random.Generator


def choose(weights: Floats, n_positive: int, rng: Generator) -> Rows:
    """Places of n_positive draws without replacement, in proportion to the weights."""
    drawable = np.flatnonzero(weights > 0)
    if len(drawable) < n_positive or not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError(
            "labeling must give finite weights of at least 0, and more than 0 to n_positive="
            f"{n_positive} candidates or more. Above 0 are {len(drawable)} of {len(weights)}, the "
            f"least is {weights.min()} and the largest {weights.max()}."
        )
    # The largest of log(weight) + Gumbel noise are such draws.
    noisy = np.log(weights[drawable]) + rng.gumbel(size=len(drawable))
    return drawable[np.argsort(-noisy)[:n_positive]]


def propensity(
    labeling: str | Callable[[Any, Floats], ArrayLike] | ArrayLike,
    X: Any,
    is_positive: NDArray[np.bool_],
    candidates: Rows,
    rng: Generator,
) -> Floats:
    """How likely each candidate is to be labelled, up to a factor, shape (len(candidates),)."""
    rows = _safe_indexing(X, candidates)
    if isinstance(labeling, str):
        if labeling not in LABELINGS:
            raise ValueError(
                f"labeling must be one of {', '.join(LABELINGS)}, a function, or an array of "
                f"weights; it is {labeling!r}."
            )
        blind = labeling in _WITHOUT_POSTERIOR
        posterior = np.ones(len(is_positive)) if blind else _posterior(X, is_positive)
        return LABELINGS[labeling](rows, posterior[candidates], rng)
    if callable(labeling):
        given, shape = labeling(rows, _posterior(X, is_positive)[candidates]), candidates.shape
    else:
        given, shape = labeling, is_positive.shape
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != shape:
        raise ValueError(f"labeling must give weights of shape {shape}, not {weights.shape}.")
    return weights if callable(labeling) else weights[candidates]


def _posterior(X: Any, is_positive: NDArray[np.bool_]) -> Floats:
    """p(y=1|x) of every row, by a logistic regression on the truth, shape (n,)."""
    features = _matrix(X)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    posterior = model.fit(features, is_positive).predict_proba(features)[:, 1]
    # The 20th power of less would be zero, and a row of weight zero is never drawn.
    return np.asarray(np.clip(posterior, 1e-12, 1))


def _matrix(X: Any) -> Floats:
    """X as numbers, all axes but the first flattened, shape (n, d)."""
    numbers = np.asarray(X, dtype=np.float64)
    return numbers.reshape(len(numbers), -1)


def _scar(X: Any, posterior: Floats, rng: Generator) -> Floats:
    """1, whatever the row."""
    return np.ones(len(posterior))


def _easy_first(X: Any, posterior: Floats, rng: Generator, *, power: int) -> Floats:
    """p^power."""
    return posterior**power


def _hard_first(X: Any, posterior: Floats, rng: Generator) -> Floats:
    """(1.5 - p)^10: 1 at the boundary, 0.001 where p = 1."""
    return (1.5 - posterior) ** 10


def _attributes(X: Any, posterior: Floats, rng: Generator) -> Floats:
    """(prod_k scaled(x_k))^(1/K), each of the K attributes scaled to [0.2, 0.8]."""
    scaled = minmax_scale(_matrix(X), (0.2, 0.8))
    return np.asarray(np.exp(np.log(scaled).mean(axis=1)))


def _logistic(X: Any, posterior: Floats, rng: Generator) -> Floats:
    """sigmoid(2 z), z a random linear function of x with mean 0 and deviation 1."""
    features = scale(_matrix(X))
    score = features @ rng.standard_normal((features.shape[1], 1))
    z = scale(score)[:, 0]
    return np.asarray(1 / (1 + np.exp(-2 * z)))


LABELINGS: dict[str, Callable[[Any, Floats, Generator], Floats]] = {
    "scar": _scar,
    "pusb": partial(_easy_first, power=20),
    "lbe-a": partial(_easy_first, power=10),
    "lbe-b": _hard_first,
    "attributes": _attributes,
    "logistic": _logistic,
}
_WITHOUT_POSTERIOR = {"scar", "attributes", "logistic"}
