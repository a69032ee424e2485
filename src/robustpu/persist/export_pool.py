"""Pools of rankers as ONNX operators."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from robustpu.methods.auto import PUClassifier
from robustpu.methods.puet import PUExtraTreesClassifier
from robustpu.pool.basis import FAR, WIDTH
from robustpu.pool.crossfit import SURE
from robustpu.pool.forests import EDGE, BagRanker, ForestRanker
from robustpu.pool.ridge import RidgeRanker

if TYPE_CHECKING:
    from robustpu.persist.graph import Graph

Probability = Callable[["Graph", Any, str], str]


def pool(graph: "Graph", model: PUClassifier, rows: str, probability: Probability) -> str:
    """Add a fitted pool, and name its probabilities, (rows,).

    Parameters
    ----------
    graph, rows
        Where to, and the name of the rows, (rows, d), in double precision.
    model
        Fitted on a table of numbers.
    probability
        Adds a classifier of this library.
    """
    if model.vectorizer_ is not None:
        raise ValueError(
            "to_onnx takes models of numbers, and this one was fitted on text, categories, dates "
            "or gaps: fit it on Vectorizer().fit_transform(X), and vectorize rows before."
        )
    total = graph.constant(0.0)
    for learner, weight, (mean, scale) in zip(
        model.members_, model.weights_, model.member_scale_, strict=True
    ):
        if weight == 0:
            continue
        score = graph.add("Sub", _score(graph, learner, rows, probability), graph.constant(mean))
        factor = graph.constant(weight / scale / model.score_scale_)
        total = graph.add("Add", total, graph.add("Mul", score, factor))
    slope, shift = model.link_
    scaled = graph.add("Mul", total, graph.constant(slope))
    return graph.add("Sigmoid", graph.add("Add", scaled, graph.constant(shift)))


def _score(graph: "Graph", learner: Any, rows: str, probability: Probability) -> str:
    if isinstance(learner, RidgeRanker):
        found = _ridge(graph, learner, rows)
        return graph.add("Add", found, graph.constant(learner.intercept_))
    if isinstance(learner, BagRanker):
        return _bag(graph, learner, rows)
    if isinstance(learner, PUExtraTreesClassifier):
        return _log_odds(graph, probability(graph, learner, rows), SURE)
    is_logistic = isinstance(learner, Pipeline) and [
        type(step).__name__ for _, step in learner.steps
    ] == ["StandardScaler", "LogisticRegression"]
    if not is_logistic:
        raise ValueError(
            f"to_onnx does not know the member {type(learner).__name__}: leave it out of members=."
        )
    scaler, logistic = (step for _, step in learner.steps)
    Z = graph.add("Sub", rows, graph.constant(scaler.mean_))
    Z = graph.add("Div", Z, graph.constant(scaler.scale_))
    found = graph.add("MatMul", Z, graph.constant(logistic.coef_[0]))
    return graph.add("Add", found, graph.constant(logistic.intercept_[0]))


def _ridge(graph: "Graph", ranker: RidgeRanker, rows: str) -> str:
    number = graph.constant
    Z = graph.add("Div", graph.add("Sub", rows, number(ranker.mean_)), number(ranker.scale_))
    Z = graph.add("Clip", Z, number(-FAR), number(FAR))
    learned, coef = ranker.fitted_, ranker.coef_
    if "landmarks" in learned:
        apart = graph.add(
            "Sub", graph.add("Unsqueeze", Z, number([1], np.int64)), number(learned["landmarks"])
        )
        distance = graph.add(
            "ReduceSum", graph.add("Abs", apart), number([2], np.int64), keepdims=0
        )
        kernel = graph.add("Exp", graph.add("Mul", distance, number(-WIDTH / len(ranker.mean_))))
        return graph.add("MatMul", kernel, number(coef))
    width, columns = len(ranker.mean_), learned["columns"].astype(np.int64)
    total = graph.add("MatMul", Z, number(coef[:width]))
    if not len(columns):
        return total
    part = graph.add("Gather", Z, number(columns, np.int64), axis=1)
    beyond = graph.add(
        "Sub", graph.add("Unsqueeze", part, number([2], np.int64)), number(learned["knots"])
    )
    bent = graph.add(
        "Mul", graph.add("Relu", beyond), number(coef[width:].reshape(len(columns), -1))
    )
    return graph.add(
        "Add", total, graph.add("ReduceSum", bent, number([1, 2], np.int64), keepdims=0)
    )


def _bag(graph: "Graph", ranker: BagRanker, rows: str) -> str:
    from robustpu.persist.layers import packed_trees

    Z = graph.add("Sub", rows, graph.constant(ranker.mean_))
    Z = graph.add("Div", Z, graph.constant(ranker.scale_))
    mean = packed_trees(graph, ranker.trees_, Z)
    if isinstance(ranker, ForestRanker):
        return _log_odds(graph, mean, EDGE)
    # The mean is over all trees, a score over the boostings.
    n_trees = len(ranker.trees_.start) - 1
    return graph.add("Mul", mean, graph.constant(n_trees / ranker.n_estimators))


def _log_odds(graph: "Graph", probability: str, edge: float) -> str:
    inside = graph.add("Clip", probability, graph.constant(edge), graph.constant(1 - edge))
    rest = graph.add("Sub", graph.constant(1.0), inside)
    return graph.add("Log", graph.add("Div", inside, rest))
