"""Training resumes exactly where it ended."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from batches import BatchConfig
from checkpoints import mean_network, read_checkpoints
from optimizers import learning_rate, orthogonalize
from train import TrainConfig, Trainer

from robustpu.pretrained import NetworkConfig

NETWORK = NetworkConfig(
    cell_width=8, cell_heads=2, n_cell_blocks=1, row_width=8, row_heads=2, n_row_blocks=1
)
BATCHES = BatchConfig(cells=600, max_context=80, max_columns=5, n_shapes=2, per_shape=2)
SHAPES = ((4, 64, 16, 4),)
STEPS = TrainConfig(steps=6, warmup=2, report_every=3, validate_every=6, save_every=6)


@pytest.mark.parametrize("group", [3, 1])
def test_resuming_is_exact(tmp_path, group):
    network = replace(NETWORK, group=group)

    def trainer(name):
        folder = tmp_path / name
        return Trainer(STEPS, BATCHES, network, folder, "cpu", compiled=False, validation=SHAPES)

    whole = trainer("whole")
    whole.run()
    trainer("part").run(3)

    resumed = trainer("part")
    assert resumed.step == 3
    resumed.run()

    for name, weight in whole.network.state_dict().items():
        assert torch.equal(weight, resumed.network.state_dict()[name]), name
    assert whole.n_tables == resumed.n_tables


def test_mean_of_checkpoints(tmp_path):
    for seed in (0, 1):
        steps, folder = replace(STEPS, steps=1, seed=seed), tmp_path / str(seed)
        Trainer(steps, BATCHES, NETWORK, folder, "cpu", compiled=False, validation=SHAPES).run()
    states = read_checkpoints([tmp_path / str(seed) / "checkpoint.pt" for seed in (0, 1)])

    mean = mean_network(states).state_dict()

    first, second = (state["network"] for state in states)
    assert not torch.equal(first["cell_role"], second["cell_role"])
    for name, weight in mean.items():
        torch.testing.assert_close(weight, (first[name] + second[name]) / 2)


def test_the_rate_falls_once():
    rates = [learning_rate(step, 1.0, 5, 50, 20) for step in range(50)]

    assert rates[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert set(rates[5:31]) == {1.0}
    assert all(after < before for before, after in pairwise(rates[30:]))


def test_orthogonalize_makes_singular_values_near_one():
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonalize(torch.randn(2, 12, 30)))

    assert values.min() > 0.6
    assert values.max() < 1.3
