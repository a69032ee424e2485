"""The whole scorer of a model as one ONNX file: raw rows in, probabilities out."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from robustpu import __version__
from robustpu.base.classifier import BasePUClassifier
from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet.network import LinearStack
from robustpu.labels import positive_index
from robustpu.methods.auto import PUClassifier
from robustpu.methods.bagging import BaggingPUClassifier
from robustpu.methods.puet import PUExtraTreesClassifier
from robustpu.methods.voting import PUVotingClassifier, is_standardised
from robustpu.methods.vpu import VPUClassifier
from robustpu.modules.rows import Scale
from robustpu.persist.places import whole

if TYPE_CHECKING:
    from robustpu.persist.graph import Graph


def to_onnx(
    model: BasePUClassifier,
    path: str | os.PathLike[str],
    *,
    dtype: str = "float64",
    overwrite: bool = False,
) -> None:
    """Write a file of ONNX, opset 17 and ai.onnx.ml 3: scaling, networks, trees, mean, calibration.

    Its input ``X`` is (rows, ...), any number of rows as ``fit`` takes them; its output
    ``probability`` is (rows,), of being positive. ``threshold_``, the labels and the names of the
    columns are among its metadata. Rows are not checked: what ``predict_proba`` would refuse,
    such as missing values, has answers that mean nothing.

    Parameters
    ----------
    model
        A fitted classifier that trains networks, PU extra-trees, bagged trees, or the default.
    path
        The file, usually ``*.onnx``.
    dtype
        Of input and output, ``"float64"`` or ``"float32"``. Inside, the precision is that of the
        model. Rows that single precision cannot hold may fall on the other side of a split.
    overwrite
        Whether to replace a file that is there.

    Raises
    ------
    ValueError
        The model is around another scikit-learn learner, or has layers of its own.

    Examples
    --------
    >>> import onnx.reference, tempfile
    >>> from robustpu import NNPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = NNPUClassifier(prior=0.3, epochs=20, random_state=0).fit(pu.X, pu.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_onnx(model, f"{folder}/model.onnx")
    ...     scorer = onnx.reference.ReferenceEvaluator(f"{folder}/model.onnx")
    >>> (probability,) = scorer.run(None, {"X": pu.X_test})
    >>> bool(np.abs(probability - model.predict_proba(pu.X_test)[:, 1]).max() < 1e-5)
    True
    """
    if not isinstance(model, BasePUClassifier):
        raise TypeError(f"to_onnx takes a classifier of this library, not {type(model).__name__}.")
    check_is_fitted(model)
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float64' or 'float32'; it is {dtype!r}.")
    path = Path(path)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} is there already: give another path, or overwrite=True.")
    try:
        from robustpu.persist.graph import Graph
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'robustpu[onnx]'.") from error
    graph = Graph()
    rows = graph.cast("X", "float64")
    shape = getattr(model, "input_shape_", (model.n_features_in_,))
    proto = graph.model(shape, dtype, _probability(graph, model, rows), _notes(model))
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as draft:
        draft.write_bytes(proto.SerializeToString())


def _probability(graph: "Graph", model: Any, rows: str) -> str:
    """Add a classifier, and name its probabilities of being positive, (rows,)."""
    if any(getattr(model, name, None) is not None for name in ("projection_", "wide_")):
        raise ValueError(
            "to_onnx takes models of dense rows with at most 1,000 columns; those of this one are "
            "projected to fewer."
        )
    if isinstance(model, PUClassifier):
        answer = _pool(graph, model, rows)
    elif isinstance(model, PUVotingClassifier):
        answer = _voting(graph, model, rows)
    elif isinstance(model, PUExtraTreesClassifier):
        answer = _trees(graph, model, rows)
    elif _is_bag_of_trees(model):
        answer = _bagged(graph, model, rows)
    elif isinstance(model, NeuralPUClassifier) and _is_usual(type(model)):
        answer = _networks(graph, model, rows)
    else:
        raise ValueError(
            "to_onnx takes models of networks, PU extra-trees and bagged trees; "
            f"{type(model).__name__} predicts in another way. A scikit-learn learner in it can be "
            "converted by skl2onnx."
        )
    return _shifted(graph, answer, model.calibration_)


def _pool(graph: "Graph", model: PUClassifier, rows: str) -> str:
    """The default: a pool of a table, or an ensemble of images."""
    from robustpu.persist.export_pool import pool

    if model.ensemble_ is not None:
        return _probability(graph, model.ensemble_, rows)
    return pool(graph, model, rows, _probability)


def _voting(graph: "Graph", model: Any, rows: str) -> str:
    """Weighted mean of the classifiers of an ensemble."""
    standardised = _standardised(graph, rows, model.input_scale_)
    terms = []
    for estimator, weight in zip(model.estimators_, model.weights_, strict=True):
        if weight > 0:
            given = standardised if is_standardised(estimator) else rows
            probability = _probability(graph, estimator, given)
            terms.append(graph.add("Mul", probability, graph.constant(float(weight))))
    total = terms[0]
    for term in terms[1:]:
        total = graph.add("Add", total, term)
    return total


def _is_bag_of_trees(model: Any) -> bool:
    return isinstance(model, BaggingPUClassifier) and all(
        isinstance(learner, DecisionTreeClassifier) for learner in model.estimators_
    )


def _is_usual(cls: Any) -> bool:
    """Tell whether rows are scored as here: a class that does it otherwise must be taught here."""
    return cls.predict_rows is NeuralPUClassifier.predict_rows and cls.member_probability in (
        NeuralPUClassifier.member_probability,
        VPUClassifier.member_probability,
    )


def _shifted(graph: "Graph", answer: str, shift: float) -> str:
    """p e^b / (1 - p + p e^b), as ``calibration.shifted`` has it."""
    if shift == 0:
        return answer
    lifted = graph.add("Mul", answer, graph.constant(np.exp(shift)))
    rest = graph.add("Sub", graph.constant(1.0), answer)
    return graph.add("Div", lifted, graph.add("Add", rest, lifted))


def _trees(graph: "Graph", model: Any, rows: str) -> str:
    from robustpu.persist.layers import trees

    answer = trees(graph, model.forest_, rows)
    # A tie counts as positive.
    tie = graph.add("Equal", answer, graph.constant(0.5))
    return graph.add("Where", tie, graph.constant(np.nextafter(0.5, 1)), answer)


def _bagged(graph: "Graph", model: Any, rows: str) -> str:
    """As ``elkan_noto.posterior`` and ``to_population`` have it."""
    from robustpu.persist.layers import learner_trees

    number = graph.constant
    score = learner_trees(graph, model.estimators_, rows)
    rest = graph.add("Max", graph.add("Sub", number(1.0), score), number(1e-12))
    frequency = model.label_frequency_
    ratio = graph.add("Div", score, rest)
    ratio = graph.add("Mul", ratio, number((1 - frequency) / frequency))
    beyond = graph.add("Max", graph.add("Sub", ratio, number(0.98)), number(0.01))
    bent = graph.add("Sub", number(1.0), graph.add("Div", number(1e-4), beyond))
    share = graph.add("Where", graph.add("Less", ratio, number(0.99)), ratio, bent)
    prior, population = model.prior_, model.population_prior_
    positive = graph.add("Mul", share, number(population / prior))
    other = graph.add("Sub", number(1.0), share)
    negative = graph.add("Mul", other, number((1 - population) / (1 - prior)))
    return graph.add("Div", positive, graph.add("Add", positive, negative))


def _networks(graph: "Graph", model: Any, rows: str) -> str:
    rows = _standardised(graph, rows, model.input_scale_)
    chain = isinstance(model.network_, LinearStack)
    logit = _stack(graph, model, rows) if chain else _one_by_one(graph, model, rows)
    each = graph.add("Sigmoid", graph.cast(logit, "float64"))  # (members, rows)
    if isinstance(model, VPUClassifier):
        each = graph.add("Div", each, graph.constant(model.scale_[:, None]))
        each = graph.add("Min", each, graph.constant(1.0))
    return graph.add("ReduceMean", each, axes=[0], keepdims=0)


def _standardised(graph: "Graph", rows: str, scale: Scale | None) -> str:
    if scale is None:
        return rows
    centred = graph.add("Sub", rows, graph.constant(scale[0]))
    return graph.add("Div", centred, graph.constant(scale[1]))


def _stack(graph: "Graph", model: Any, rows: str) -> str:
    """All members at once, linear layers in double precision: logits (members, rows)."""
    views = model.network_.views(model.state_.flat)
    x = graph.add("Unsqueeze", graph.add("Flatten", rows, axis=1), graph.constant([0], np.int64))
    weights = [name for name in views if name.endswith("weight")]
    for place, name in enumerate(weights):
        # Stored in single precision, which halves the file and loses nothing.
        weight = graph.cast(graph.array(views[name].numpy()), "float64")
        bias = views[f"{name.removesuffix('weight')}bias"].unsqueeze(1).numpy()
        product = graph.add("MatMul", x, weight)
        x = graph.add("Add", product, graph.cast(graph.array(bias), "float64"))
        if place < len(weights) - 1:
            x = graph.add("Relu", x)
    return graph.add("Squeeze", x, graph.constant([2], np.int64))


def _one_by_one(graph: "Graph", model: Any, rows: str) -> str:
    """One member after the other, in single precision: logits (members, rows)."""
    from robustpu.persist.layers import layer

    x = graph.cast(rows, "float32")
    shape = graph.constant([1, -1], np.int64)
    logits = []
    for member in range(len(model.kept_)):
        module = model.network_.write(model.state_, member).eval()
        if any(weight.dtype != torch.float32 for weight in module.parameters()):
            raise ValueError("to_onnx knows networks in single precision only.")
        logits.append(graph.add("Reshape", layer(graph, module, x), shape))
    return graph.add("Concat", *logits, axis=0)


def _notes(model: Any) -> dict[str, str]:
    """What the file says about itself."""
    names = getattr(model, "feature_names_in_", None)
    place = positive_index(model.classes_, model.pos_label)
    notes = {
        "robustpu": __version__,
        "class": type(model).__name__,
        "classes": json.dumps(model.classes_.tolist()),
        "positive_class": json.dumps(model.classes_.tolist()[place]),
        "threshold": repr(float(model.threshold_)),
        "prior": repr(float(model.prior_)),
    }
    return notes if names is None else {**notes, "columns": json.dumps(names.tolist())}
