"""Checks of a plan before anything is trained; messages name the place in the file."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robustpu.base.classifier import BasePUClassifier
from robustpu.base.neural import NeuralPUClassifier
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.folder import data_folder
from robustpu.datasets.integrity import state
from robustpu.methods.auto import PUClassifier
from robustpu.modules import build
from robustpu.split import make_pu
from robustpu.validation.names import suggest
from robustpu.validation.parameters import check_parameters

if TYPE_CHECKING:
    from robustpu.bench.plan import Cell
    from robustpu.bench.protocol import Sizes


def absent(names: Iterable[str], data_dir: Path | None) -> str:
    """Say which data sets are missing on this machine, and what to do; empty if none is.

    Parameters
    ----------
    names
        Data sets.
    data_dir
        Folder of those that are not bundled.

    Examples
    --------
    >>> absent(["spambase", "digits"], None)
    ''
    """
    root = data_folder(data_dir)
    states = {name: state(SOURCES[name], root) for name in dict.fromkeys(names)}
    lacking = {
        name: found for name, found in states.items() if found.startswith(("missing", "damaged"))
    }
    if not lacking:
        return ""
    listed = [
        name if found == "missing" else f"{name} ({found})" for name, found in lacking.items()
    ]
    where = "" if data_dir is None else f" --data-dir {shlex.quote(str(data_dir))}"
    return (
        f"not in {root}: {', '.join(listed)}. Get them by `robustpu datasets fetch "
        f"{' '.join(lacking)}{where}`, say where they are by --data-dir, or leave them out by "
        "--only."
    )


def check_sizes(cell: "Cell") -> None:
    """Refuse sizes that the data set is too small for, and empty parts that are needed.

    Parameters
    ----------
    cell
        A cell of the plan.
    """
    _check_rows(cell.dataset, cell.prior, cell.sizes)
    if cell.selection == "oracle" and cell.sizes.n_validation == 0:
        raise ValueError(f"{cell.dataset}: selection 'oracle' needs n_validation above 0.")


@cache
def _check_rows(dataset: str, prior: float, sizes: "Sizes") -> None:
    source = SOURCES[dataset]
    truth = np.arange(source.rows) < source.positives
    try:
        make_pu(truth[:, None], truth, prior=prior, random_state=0, **asdict(sizes))
    except ValueError as error:
        raise ValueError(f"{dataset}: {error}") from None
    if not 0 < round(prior * sizes.n_test) < sizes.n_test:
        raise ValueError(
            f"{dataset}: prior={prior} of n_test={sizes.n_test} rows leaves a class without rows. "
            "Raise n_test."
        )


def check_settings(cell: "Cell") -> None:
    """Refuse settings that the estimator does not have or does not accept.

    Parameters
    ----------
    cell
        A cell of the plan.
    """
    where = f"[methods.{cell.method}]"
    try:
        known = cell.blank().get_params()
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    for key, value in _all_values(cell):
        if key not in known:
            raise ValueError(
                f"{cell.estimator} has no parameter {key!r}, in {where}{suggest(key, known)}"
            )
        # In Python any text is true, even "false".
        if isinstance(known[key], bool) and not isinstance(value, bool):
            raise ValueError(f"{where}: {key} must be true or false; it is {value!r}.")
    if cell.average > len(cell.candidates):
        raise ValueError(
            f"{where}: average = {cell.average}, but {cell.dataset} has {len(cell.candidates)} "
            f"candidates. Raise its budget, or leave it out: not_on = [{cell.dataset!r}]."
        )
    for candidate in cell.candidates:
        try:
            estimator = cell.build(candidate)
            check_parameters(estimator)
            _check_shape(estimator, SOURCES[cell.dataset].shape)
        except (ValueError, TypeError, AttributeError) as error:
            tried = f" with {dict(candidate)}" if candidate else ""
            raise ValueError(f"{where} on {cell.dataset}{tried}: {error}") from None
        has_no_scores = cell.selection == "pu" and estimator.validation_fraction == 0
        if has_no_scores and len(cell.candidates) > 1:
            raise ValueError(
                f"{where}: with validation_fraction = 0, selection 'pu' cannot choose a candidate. "
                "Raise it, or search nothing."
            )


def _check_shape(estimator: BasePUClassifier, shape: tuple[int, ...]) -> None:
    """Refuse a method or a network that does not accept rows of this shape."""
    if isinstance(estimator, NeuralPUClassifier | PUClassifier):
        _check_network(estimator.module, shape)
    elif len(shape) > 1:
        raise ValueError(f"it takes tables, not images of shape {shape}; leave it out by not_on.")


# Candidates share their network; building one takes milliseconds.
@cache
def _check_network(module: Any, shape: tuple[int, ...]) -> None:
    build(module, shape, seed=0)


def _all_values(cell: "Cell") -> Iterator[tuple[str, Any]]:
    for settings in (cell.fixed, *cell.candidates):
        yield from settings.items()
