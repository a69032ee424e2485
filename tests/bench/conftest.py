"""Small experiments that train in well under a second."""

import pytest

from robustpu.bench import plan
from robustpu.bench.train import Machine

SMALL = """
title = "Small"
datasets = ["digits"]
priors = [0.4]
trials = 2
selection = ["oracle", "pu"]

[sizes]
n_positive = 30
n_unlabeled = 60
n_validation = 20
n_test = 40

[methods.pn.fixed]
epochs = 2

[methods.nnpu]
label = "nnPU"
x = 0.5
[methods.nnpu.fixed]
epochs = 3
[methods.nnpu.search]
lr = [1e-2, 1e-3]
"""


@pytest.fixture
def small(tmp_path):
    """Path of a small experiment file."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def cells(small):
    """Cells of the small experiment: pn and nnpu, oracle and pu."""
    return plan.load(small)


@pytest.fixture
def machine():
    return Machine("cpu")
