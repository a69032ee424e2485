"""Objects <-> JSON: the closed list of what a folder may hold besides plain values."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from robustpu.base.neural import NeuralPUClassifier
from robustpu.methods.trees import Forest
from robustpu.persist.classifiers import CLASSIFIERS
from robustpu.persist.errors import ModelFolderError
from robustpu.persist.forests import decode_forest, decode_tree, encode_forest, encode_tree
from robustpu.persist.functions import (
    decode_function,
    decode_given,
    decode_partial,
    encode_function,
    parameter,
)
from robustpu.persist.kind import Kind
from robustpu.persist.learners import LEARNERS
from robustpu.persist.networks import decode_networks, encode_networks
from robustpu.persist.pool import RANKERS, decode_trees, encode_trees
from robustpu.persist.reading import MODEL
from robustpu.persist.values import TAG, Decoder, Encoder, Json, escaped, fields, refuse
from robustpu.pool.trees import Trees
from robustpu.validation.parameters import check_parameters
from robustpu.validation.schema import Place, SchemaError


def _check_pacing(pacing: Any) -> str | None:
    try:
        pacing.check()
    except (ValueError, TypeError) as error:
        return str(error)
    return None


# Rounds of a curriculum, which cost time before anything else can refuse them.
MOST_ROUNDS: Final = 100_000


def _check_curriculum(curriculum: Any) -> str | None:
    if not isinstance(curriculum.max_rounds, int) or curriculum.max_rounds > MOST_ROUNDS:
        return f"max_rounds is {curriculum.max_rounds!r}"
    try:
        check_parameters(curriculum)
    except Exception as error:
        # Whatever it says to values that no constructor looks at.
        return str(error)
    return None


# Where the class lies, which is only imported if it is needed.
VECTORIZER: Final = "robustpu.tables.vectorizer"
KINDS: Final[Mapping[str, Kind]] = {
    **CLASSIFIERS,
    **LEARNERS,
    **RANKERS,
    "Pacing": Kind("robustpu.pacing", "Pacing", check=_check_pacing),
    "Curriculum": Kind("robustpu.curriculum", "Curriculum", check=_check_curriculum),
}


def encode_other(encoder: Encoder, value: Any, path: str) -> Json:
    """Make JSON of what is no plain value."""
    if isinstance(value, Forest):
        return encode_forest(encoder, value, path)
    if isinstance(value, Tree):
        return encode_tree(encoder, value, path)
    if isinstance(value, Trees):
        return encode_trees(encoder, value, path)
    if type(value).__module__ == VECTORIZER:
        return {TAG: "vectorizer", "state": encoder.encode(value.state(), f"{path}/state")}
    if isinstance(value, np.random.RandomState):
        return _encode_random(encoder, value, path)
    name = _name_of(type(value))
    if name is not None:
        return _encode_object(encoder, name, value, path)
    if not callable(value) or hasattr(value, "get_params"):
        refuse(path, f"{type(value).__name__} cannot be stored. {_advice(value)}")
    return encode_function(encoder, value, path)


def _advice(value: Any) -> str:
    if hasattr(value, "fit"):
        known = ", ".join(LEARNERS)
        return (
            "Learners that can be read without pickle, and so without running what a stranger "
            f"wrote, are {known}, and the classifiers of this library: take one of them, or keep "
            "the model with joblib, for yourself alone."
        )
    return "Numbers, texts, lists, dictionaries and arrays of them can be."


def _name_of(cls: type[Any]) -> str | None:
    """Find the name that folders have for a class."""
    for name, kind in KINDS.items():
        if cls.__name__ == kind.name and kind.load() is cls:
            return name
    return None


def _encode_object(encoder: Encoder, name: str, value: Any, path: str) -> Json:
    kind = KINDS[name]
    parameters = value.get_params(deep=False)
    node: dict[str, Json] = {
        TAG: "object",
        "class": name,
        "parameters": {
            key: encoder.encode(parameter_value, f"{path}/parameters/{escaped(key)}")
            for key, parameter_value in parameters.items()
        },
        "fitted": None,
    }
    made = vars(type(value)(**parameters))
    fitted = {key: attribute for key, attribute in vars(value).items() if key not in made}
    network, state = fitted.pop("network_", None), fitted.pop("state_", None)
    if not kind.fitted or kind.fitted.keys() - kind.optional - fitted.keys():
        # Never fitted, or a fit failed on the way.
        return node
    unknown = fitted.keys() - kind.fitted.keys()
    if unknown:
        told = ", ".join(sorted(unknown))
        refuse(path, f"{kind.name} has attributes that are not known here: {told}.")
    node["fitted"] = {
        key: encoder.encode(fitted[key], f"{path}/fitted/{key}")
        for key in kind.fitted
        if key in fitted
    }
    if network is not None and state is not None:
        node["fitted"]["networks"] = encode_networks(
            encoder, network, state, f"{path}/fitted/networks"
        )
    return node


def decode_object(decoder: Decoder, node: dict[str, Json], path: str) -> Any:
    """Make an object of a class of the closed list, by its constructor, and set what it learnt."""
    name, parameters, fitted = fields(node, path, "class", "parameters", "fitted")
    if not isinstance(name, str) or name not in KINDS:
        refuse(path, f"{str(name)[:60]!r} is no class that a model folder may hold.")
    kind = KINDS[name]
    cls = kind.load()
    if not isinstance(parameters, dict):
        refuse(path, "its parameters are not a dictionary.")
    # Not all have to be there: a parameter may be younger than the folder.
    unknown = parameters.keys() - set(cls._get_param_names())
    if unknown:
        told = ", ".join(sorted(name[:60] for name in unknown))
        refuse(path, f"{kind.name} has no parameters {told} in this version.")
    values = {
        key: decoder.decode(parameter_value, f"{path}/parameters/{escaped(key)}")
        for key, parameter_value in parameters.items()
    }
    try:
        model = cls(**values)
    except TypeError as error:
        refuse(path, f"{error}.")
    if fitted is not None:
        _set_fitted(decoder, kind, model, fitted, path)
    wrong = kind.check(model)
    if wrong is not None:
        refuse(path, f"{kind.name}: {wrong}")
    return model


def _set_fitted(decoder: Decoder, kind: Kind, model: Any, fitted: Json, path: str) -> None:
    if not isinstance(fitted, dict) or not kind.fitted:
        refuse(path, "what it has learnt is not a dictionary.")
    is_neural = isinstance(model, NeuralPUClassifier)
    known = {*kind.fitted, "networks"} if is_neural else {*kind.fitted}
    wrong = (known - kind.optional - fitted.keys()) | (fitted.keys() - known)
    if wrong:
        told = ", ".join(sorted(name[:60] for name in wrong))
        refuse(f"{path}/fitted", f"attributes are missing or not known: {told}.")
    sizes: dict[str, int] = {}
    for key, read in kind.fitted.items():
        if key not in fitted:
            continue
        value = decoder.decode(fitted[key], f"{path}/fitted/{key}")
        try:
            read(value, Place(f"{path}/fitted/{key}", sizes))
        except SchemaError as error:
            raise ModelFolderError(f"{MODEL}: {error}") from None
        setattr(model, key, value)
    if is_neural:
        is_given = parameter(f"{path}/parameters/module") in decoder.used
        where = f"{path}/fitted/networks"
        given = model.module, model.input_shape_, sizes["m"], is_given
        model.network_, model.state_ = decode_networks(decoder, fitted["networks"], where, *given)


def _encode_random(encoder: Encoder, value: np.random.RandomState, path: str) -> Json:
    state: Any = value.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        refuse(path, f"a random state of the kind {state['bit_generator']} cannot be stored.")
    encoder.arrays[f"{path}/key"] = state["state"]["key"]
    rest = [int(state["state"]["pos"]), int(state["has_gauss"]), float(state["gauss"])]
    return {TAG: "random", "position": rest[0], "has_gauss": rest[1], "gauss": rest[2]}


def _decode_random(decoder: Decoder, node: dict[str, Json], path: str) -> np.random.RandomState:
    position, has_gauss, gauss = fields(node, path, "position", "has_gauss", "gauss")
    key: NDArray[Any] = decoder.take(f"{path}/key")
    if key.dtype != np.uint32 or key.shape != (624,):
        refuse(path, f"its key is of type {key.dtype} and shape {key.shape}.")
    if type(position) is not int or not 0 <= position <= 624:
        refuse(path, "its position is not a number from 0 to 624.")
    if has_gauss not in (0, 1) or not isinstance(gauss, float):
        refuse(path, "its last draw is not a number.")
    random = np.random.RandomState()
    random.set_state(("MT19937", key, position, int(has_gauss), decoder.decode(gauss, path)))
    return random


def _decode_vectorizer(decoder: Decoder, node: dict[str, Json], path: str) -> Any:
    # pyarrow is an extra.
    from robustpu.tables import TableError, Vectorizer

    (state,) = fields(node, path, "state")
    try:
        return Vectorizer.from_state(decoder.decode(state, f"{path}/state"))
    except TableError as error:
        refuse(path, str(error))


OTHERS: Final = {
    "forest": decode_forest,
    "function": decode_function,
    "given": decode_given,
    "object": decode_object,
    "partial": decode_partial,
    "random": _decode_random,
    "tree": decode_tree,
    "trees": decode_trees,
    "vectorizer": _decode_vectorizer,
}
