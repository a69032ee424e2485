"""The paper's protocol: how many rows of each data set go where, and which network learns them."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from robustpu import datasets
from robustpu.split import PUData, make_pu
from robustpu.validation.names import pick


@dataclass(frozen=True)
class Sizes:
    """Numbers of rows of each part."""

    n_positive: int
    n_unlabeled: int
    n_validation: int
    n_test: int


@dataclass(frozen=True)
class Protocol:
    """How a data set is used."""

    sizes: Sizes
    module: str


_IMAGES = Sizes(2000, 4000, 500, 5000)
_TABLES = Sizes(400, 800, 100, 1000)

# Section 4.1 of the paper. It does not use the last two: their sizes are ours, and suit priors
# from 0.2 to 0.6. Alzheimer has 960 positives, enough for disjoint parts at 0.2 but not at 0.4 and
# 0.6: an experiment has to lower its sizes.
PROTOCOLS: dict[str, Protocol] = {
    "mnist": Protocol(_IMAGES, "mlp"),
    "fashion-mnist": Protocol(_IMAGES, "mlp"),
    "cifar10": Protocol(_IMAGES, "all_conv"),
    "stl10": Protocol(Sizes(1000, 2000, 500, 5000), "all_conv_half"),
    "mushrooms": Protocol(_TABLES, "mlp"),
    "shuttle": Protocol(_TABLES, "mlp"),
    "shuttle-minority": Protocol(_TABLES, "mlp"),
    "spambase": Protocol(_TABLES, "mlp"),
    "alzheimer": Protocol(_TABLES, "resnet50_half"),
    "digits": Protocol(Sizes(100, 300, 100, 500), "mlp"),
    "breast_cancer": Protocol(Sizes(40, 100, 40, 100), "mlp"),
}


def split(
    dataset: str,
    prior: float,
    trial: int,
    sizes: Sizes | None = None,
    validation: str = "disjoint",
    data_dir: Path | None = None,
) -> PUData:
    """Draw the positive-unlabelled problem of one trial; all its parts have the prior of U.

    Parameters
    ----------
    dataset
        A key of ``PROTOCOLS``.
    prior
        Share of positives among the unlabelled rows, and in validation and test.
    trial
        Decides every draw.
    sizes
        By default the protocol's.
    validation
        ``"disjoint"``: rows of its own. ``"overlapping"``: rows drawn once more from all but the
        test rows, training rows among them, as the authors' code does.
    data_dir
        Where the data sets lie that are not bundled.

    Examples
    --------
    >>> pu = split("spambase", prior=0.4, trial=0)
    >>> pu.X.shape, pu.X_validation.shape, int(pu.y_test.sum())
    ((1200, 57), (100, 57), 400)
    """
    sizes = sizes or PROTOCOLS[dataset].sizes
    pu = _draw(dataset, prior, trial, sizes, validation, data_dir)
    return replace(
        pu,
        X=as_floats(pu.X),
        X_validation=as_floats(pu.X_validation),
        X_test=as_floats(pu.X_test),
    )


@lru_cache(maxsize=1)
def splits(
    dataset: str,
    prior: float,
    trials: tuple[int, ...],
    sizes: Sizes,
    validation: str = "disjoint",
    data_dir: Path | None = None,
) -> tuple[PUData, ...]:
    """Draw the problems of these trials, images still in bytes; the latest are remembered.

    Parameters as those of ``split``; ``as_floats`` makes rows fit for a network.
    """
    return tuple(_draw(dataset, prior, trial, sizes, validation, data_dir) for trial in trials)


@lru_cache(maxsize=1)
def digest(dataset: str, data_dir: Path | None = None) -> str:
    """Digest of the rows and labels that the splits are drawn from.

    Parameters
    ----------
    dataset
        A key of ``PROTOCOLS``.
    data_dir
        Where the data sets lie that are not bundled.
    """
    table = _table(dataset, data_dir)
    whole = hashlib.blake2b(digest_size=8)
    for part in (table.data, table.target):
        whole.update(np.ascontiguousarray(part).data)
    return whole.hexdigest()


def size(dataset: str, data_dir: Path | None = None) -> int:
    """Count the rows that the splits are drawn from; files may lack a part of a data set.

    Parameters as those of ``digest``.

    Examples
    --------
    >>> size("spambase")
    4601
    """
    return len(_table(dataset, data_dir).target)


def as_floats(X: NDArray[Any]) -> NDArray[Any]:
    """Scale the bytes of images to [0, 1]; a table is left to the estimator's own scaling.

    Examples
    --------
    >>> as_floats(np.array([[0, 255]], dtype=np.uint8)).tolist()
    [[0.0, 1.0]]
    """
    return X.astype(np.float32) / np.float32(255) if X.dtype == np.uint8 else X


# The cells of an experiment come data set by data set.
@lru_cache(maxsize=1)
def _table(dataset: str, data_dir: Path | None) -> Bunch:
    return datasets.load(dataset, raw=True, data_dir=data_dir)


def _draw(
    dataset: str,
    prior: float,
    trial: int,
    sizes: Sizes,
    validation: str,
    data_dir: Path | None,
) -> PUData:
    draw_validation = pick("validation", validation, VALIDATIONS)
    table = _table(dataset, data_dir)
    pu = make_pu(table.data, table.target, prior=prior, random_state=trial, **asdict(sizes))
    return draw_validation(pu, table, prior, trial)


def _disjoint(pu: PUData, table: Bunch, prior: float, trial: int) -> PUData:
    return pu


def _overlapping(pu: PUData, table: Bunch, prior: float, trial: int) -> PUData:
    """Draw the validation rows afresh; the other parts stay as they are, so trials stay paired."""
    # Another stream than that of the split, which is seeded by the trial too.
    random = np.random.default_rng([trial, 1])
    rest = random.permutation(np.setdiff1d(np.arange(len(table.target)), pu.rows.test))
    size = len(pu.y_validation)
    n_positive = round(prior * size)
    positive, negative = rest[table.target[rest] == 1], rest[table.target[rest] == 0]
    rows = random.permutation(
        np.concatenate([positive[:n_positive], negative[: size - n_positive]])
    )
    return replace(
        pu,
        X_validation=table.data[rows],
        y_validation=table.target[rows].astype(np.int64),
        rows=replace(pu.rows, validation=rows),
    )


VALIDATIONS: dict[str, Callable[[PUData, Bunch, float, int], PUData]] = {
    "disjoint": _disjoint,
    "overlapping": _overlapping,
}
