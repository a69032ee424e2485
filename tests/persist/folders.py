"""Small models, and folders that are damaged on purpose."""

import contextlib
import hashlib
import json
import struct
import warnings
from functools import cache

import numpy as np
import pytest
import torch
from sklearn.tree import DecisionTreeClassifier
from torch import nn

import robustpu
from robustpu import (
    Curriculum,
    ModelFolderError,
    NNPUClassifier,
    PUExtraTreesClassifier,
    all_methods,
    datasets,
    make_pu,
)
from robustpu.pool.forests import BoostingRanker, ForestRanker
from robustpu.pool.trees import Trees

METHODS = all_methods()
SHORT = {"epochs": 2, "batch_size": 256, "lr": 1e-3, "weight_decay": 0.0, "random_state": 0}
# Every kind of member of the default, with few trees.
SMALL_POOL = [
    "logistic",
    "hinges",
    "laplacian",
    ("forest", ForestRanker(8)),
    ("boosting", BoostingRanker(2)),
    ("extra-trees", PUExtraTreesClassifier(n_estimators=6)),
]
# What makes each method quick.
QUICK = {
    "pulns": {**SHORT, "episodes": 1, "warm_epochs": 1},
    "p3mix-e": {**SHORT, "start_epoch": 1},
    "p3mix-c": {**SHORT, "start_epoch": 1},
    "dist-pu": {**SHORT, "mix_epochs": 1},
    "self-pu": {**SHORT, "start_epoch": 1, "stop_epoch": 1, "every": 1},
    "tedn": {**SHORT, "warm_epochs": 1},
    "lbe": {**SHORT, "rounds": 2, "warm_epochs": 1},
    "auto": {"members": SMALL_POOL, "random_state": 0},
    "robust-pu": {
        "epochs": 1,
        "batch_size": 256,
        "n_members": 3,
        "pretrain": NNPUClassifier(epochs=1, batch_size=256),
        "curriculum": Curriculum(max_rounds=2),
        "random_state": 0,
    },
    "spy": {"n_draws": 2, "random_state": 0},
    "pebl": {"n_draws": 2, "random_state": 0},
    "elkan-noto": {"random_state": 0},
    "bagging": {"n_estimators": 4, "random_state": 0},
    "puet": {"n_estimators": 6, "random_state": 0},
    "pretrained": {"n_members": 1, "random_state": 0},
    "robust-pu-meta": {"estimator": DecisionTreeClassifier(max_depth=3), "random_state": 0},
}


@cache
def data():
    """8 columns, 40 positives, 80 unlabelled rows, 50 rows to ask about."""
    table = datasets.load("breast_cancer")
    return make_pu(
        table.data[:, :8],
        table.target,
        n_positive=40,
        n_unlabeled=80,
        prior=0.3,
        n_test=50,
        random_state=0,
    )


@cache
def fitted(name):
    """A fitted model of a method; do not change it."""
    pu = data()
    with warnings.catch_warnings():
        # So little training collapses now and then.
        warnings.simplefilter("ignore")
        return METHODS[name](prior=0.3, **QUICK.get(name, SHORT)).fit(pu.X, pu.y)


def seal(folder):
    """Make sizes and checksums of a folder right again, as one who tampers with it would."""
    model = folder / "model.json"
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        content = json.loads(model.read_text())
        size = (folder / "arrays.safetensors").stat().st_size
        if content["files"]["arrays.safetensors"] != size:
            content["files"]["arrays.safetensors"] = size
            model.write_text(json.dumps(content))
    seal_sums(folder)


def seal_sums(folder, left_out=()):
    """Make checksums right again, but not of files that are too large; sizes stay as they are."""
    names = sorted(path.name for path in folder.iterdir() if path.name != "SHA256SUMS")
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        if name not in left_out
        else f"{'0' * 64}  {name}\n"
        for name in names
    ]
    (folder / "SHA256SUMS").write_text("".join(lines))


def edit(folder, change, left_out=()):
    """Change model.json as JSON, and seal the folder."""
    path = folder / "model.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    seal_sums(folder, left_out)


def header_of(content):
    """Header of a safetensors file, and its data."""
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def with_header(header, data):
    """A safetensors file of a header and data."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def edit_array(folder, name, change):
    """Replace an array, and seal the folder."""
    from safetensors.numpy import load_file, save_file

    path = folder / "arrays.safetensors"
    arrays = load_file(path)
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    save_file(arrays, path)
    seal(folder)


def again(model, folder, **given):
    """Save a model, and load it."""
    robustpu.save(model, folder / "model")
    return robustpu.load(folder / "model", **given)


def refused(folder, match):
    """All ways to read the folder refuse it, and name the folder."""
    with pytest.raises(ModelFolderError, match=match) as found:
        robustpu.load(folder)
    assert str(found.value).startswith(f"{folder}: ")
    assert "unforeseen" not in str(found.value)


def same(one, other):
    """Whether two values are equal down to the last bit and type."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Trees):
        # What is compiled for scoring is made of the rest.
        return same(one.__getstate__(), other.__getstate__())
    if isinstance(one, np.ndarray):
        equal = one.tobytes() == other.tobytes() if one.dtype != object else (one == other).all()
        return one.dtype == other.dtype and one.shape == other.shape and equal
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float | np.generic):
        return repr(one) == repr(other)
    is_plain = hasattr(one, "__dict__") and not isinstance(one, nn.Module) and not callable(one)
    # A pacing can be called, and is compared by its parameters all the same.
    if is_plain or hasattr(one, "get_params"):
        mine, yours = vars(one), vars(other)
        return mine.keys() == yours.keys() and all(same(mine[key], yours[key]) for key in mine)
    if hasattr(one, "__getstate__") and type(one).__name__ == "Tree":
        mine, yours = one.__getstate__(), other.__getstate__()
        return all(np.array_equal(mine[key], yours[key]) for key in mine)
    return True if isinstance(one, nn.Module) else one == other
