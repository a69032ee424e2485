"""Functions that a folder may name: the strategies of this library."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from robustpu.hardness import HARDNESS
from robustpu.methods.bagging import CORRECTIONS
from robustpu.modules import MODULES, AllConv, halved
from robustpu.modules.resnet import ResNet50
from robustpu.pacing import PACING
from robustpu.persist.values import TAG, Decoder, Encoder, Json, fields, refuse
from robustpu.priors import PRIORS
from robustpu.risks import SURROGATES
from robustpu.weighting import WEIGHTING

TABLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "module": {**MODULES, "AllConv": AllConv, "ResNet50": ResNet50, "halved": halved},
    "hardness": HARDNESS,
    "weighting": WEIGHTING,
    "pacing": PACING,
    "surrogate": SURROGATES,
    "prior": PRIORS,
    "correction": CORRECTIONS,
}
FUNCTIONS: Final[dict[str, Any]] = {
    f"{table}:{name}": function
    for table, functions in TABLES.items()
    for name, function in functions.items()
}
# Numbers in an argument, such as the widths of layers.
LONGEST: Final = 64
# Letters of the name of a parameter.
LONGEST_NAME: Final = 200


def encode_function(encoder: Encoder, value: Any, path: str) -> Json:
    """Name a function of this library, or note that the user has to give it again."""
    name = name_of(value)
    if name is not None:
        return {TAG: "function", "name": name}
    if isinstance(value, partial) and name_of(value.func) is not None:
        function = {TAG: "function", "name": name_of(value.func)}
        keywords = encoder.encode(value.keywords, f"{path}/keywords")
        given = encoder.encode(list(value.args), f"{path}/arguments")
        return {TAG: "partial", "function": function, "arguments": given, "keywords": keywords}
    name = parameter(path)
    if path.startswith("model/fitted/estimators_/"):
        # The classifiers of an ensemble have the functions of those that were given.
        name = next((known for known, given in encoder.given.items() if given is value), name)
    encoder.given[name] = value
    told = getattr(value, "__qualname__", type(value).__qualname__)
    was = f"{getattr(value, '__module__', '?')}.{told}"[:200]
    return {TAG: "given", "was": was, "name": name}


def name_of(value: Any) -> str | None:
    """Find the name of a function of this library.

    Examples
    --------
    >>> from robustpu import hardness
    >>> name_of(hardness.focal)
    'hardness:focal'
    """
    return next((name for name, function in FUNCTIONS.items() if function is value), None)


def parameter(path: str) -> str:
    """Name a parameter as ``set_params`` does.

    Examples
    --------
    >>> parameter("model/parameters/pretrain/parameters/surrogate")
    'pretrain__surrogate'
    """
    skipped = ("model", "parameters", "fitted")
    return "__".join(part.rstrip("_") for part in path.split("/") if part not in skipped)


def decode_function(decoder: Decoder, node: dict[str, Json], path: str) -> Any:
    """Find a function of this library by its name."""
    (name,) = fields(node, path, "name")
    if not isinstance(name, str) or name not in FUNCTIONS:
        refuse(path, f"{str(name)[:60]!r} is no function of this library.")
    return FUNCTIONS[name]


def decode_partial(decoder: Decoder, node: dict[str, Json], path: str) -> Any:
    """Make a function with arguments; it is not called."""
    function, arguments, keywords = fields(node, path, "function", "arguments", "keywords")
    if not isinstance(function, dict) or function.get(TAG) != "function":
        refuse(path, "it names no function.")
    if not isinstance(arguments, list) or not isinstance(keywords, dict) or TAG in keywords:
        refuse(path, "its arguments are not a list and a dictionary.")
    if max(len(arguments), len(keywords)) > LONGEST:
        refuse(path, "it has too many arguments.")
    return partial(
        decode_function(decoder, function, path),
        *decoder.decode(arguments, f"{path}/arguments"),
        **decoder.decode(keywords, f"{path}/keywords"),
    )


def decode_given(decoder: Decoder, node: dict[str, Json], path: str) -> Any:
    """Take what the caller gave for a function that was not stored."""
    was, name = fields(node, path, "was", "name")
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        refuse(path, "it names no parameter.")
    if name not in decoder.given:
        refuse(
            path,
            f"it was a function of the user's, {str(was)[:200]!r}, which no folder stores. Give it "
            f"again: load(path, {name}=...).",
        )
    decoder.used.add(name)
    return decoder.given[name]


def makes_modules(value: Any) -> bool:
    """Tell whether a function of this library makes a network of the shape of a row.

    Examples
    --------
    >>> from robustpu.modules import mlp
    >>> makes_modules(partial(mlp, hidden=(8,))), makes_modules(HARDNESS["focal"])
    (True, False)
    """
    if isinstance(value, str):
        return value in MODULES
    if isinstance(value, partial) and name_of(value) is None:
        arguments = [*value.args, *value.keywords.values()]
        return makes_modules(value.func) and all(map(_is_size, arguments))
    return (name_of(value) or "").startswith("module:")


def _is_size(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= LONGEST and all(map(_is_size, value))
    if isinstance(value, int | float):
        return True
    return makes_modules(value)
