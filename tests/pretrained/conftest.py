"""The training code lies beside the package, not in it."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "pretraining"))


@pytest.fixture(scope="session")
def perturbed():
    """Make a network of one in which, as all new ones, nothing attends to anything yet."""

    def perturb(network):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            for weight in network.parameters():
                if not weight.any():
                    torch.nn.init.normal_(weight, std=0.3)
        return network.requires_grad_(False)

    return perturb
