"""What training has saved, and the mean of several."""

from pathlib import Path
from typing import Any

import torch

from robustpu.pretrained import NetworkConfig, PUNetwork


def read_checkpoints(paths: list[Path]) -> list[dict[str, Any]]:
    """Read what training has saved."""
    return [torch.load(path, map_location="cpu", weights_only=True) for path in paths]


def mean_network(states: list[dict[str, Any]]) -> PUNetwork:
    """Checkpoints -> one network for use, with the mean of their weights.

    That is a network only if all were trained from the same one.
    """
    network = PUNetwork(NetworkConfig(**states[0]["network_config"]))
    weights = [state["network"] for state in states]
    network.load_state_dict(
        {name: torch.stack([one[name] for one in weights]).mean(0) for name in weights[0]}
    )
    return network.requires_grad_(False).eval()
