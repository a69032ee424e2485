"""Weights are stored, loaded and checked."""

import pytest
import torch

from robustpu.pretrained.network import NetworkConfig, PUNetwork
from robustpu.pretrained.weights import MAX_BYTES, WEIGHTS, load_network, read_about, save_weights

SMALL = NetworkConfig(
    cell_width=8, cell_heads=2, n_cell_blocks=1, row_width=8, row_heads=2, n_row_blocks=1
)


def test_weights_come_back_in_half_precision(tmp_path):
    network = PUNetwork(SMALL)
    save_weights(network, tmp_path / "w.safetensors", "0", {"steps": 1})

    loaded = load_network(tmp_path / "w.safetensors")

    for name, weight in network.state_dict().items():
        torch.testing.assert_close(loaded.state_dict()[name], weight.half().float())
    assert not loaded.training
    assert read_about(tmp_path / "w.safetensors")["training"] == {"steps": 1}


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "w.safetensors"
    save_weights(PUNetwork(SMALL), path, "0", {})
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)

    with pytest.raises(ValueError, match="damaged or was changed"):
        load_network(path)


def test_too_many_weights_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("robustpu.pretrained.weights.MAX_BYTES", 10)

    with pytest.raises(ValueError, match="at most 10 are allowed"):
        save_weights(PUNetwork(SMALL), tmp_path / "w.safetensors", "0", {})


def test_the_shipped_file_is_small_and_described():
    about = read_about()

    assert WEIGHTS.stat().st_size == about["bytes"] <= MAX_BYTES
    assert about["n_parameters"] == load_network().n_parameters()
