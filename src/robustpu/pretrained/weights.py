"""The weights file: half precision, in safetensors, with a checksum and a version beside it."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save

from robustpu.pretrained.network import NetworkConfig, PUNetwork

WEIGHTS = Path(__file__).with_name("weights.safetensors")
MAX_BYTES = 16_000_000


def save_weights(network: PUNetwork, path: Path, version: str, training: dict[str, Any]) -> None:
    """Write the weights in half precision, and ``<name>.json`` that describes them.

    Parameters
    ----------
    network
        Whose weights are stored.
    path
        The safetensors file.
    version
        Version of these weights; changes whenever they do.
    training
        What the model card says about the training: steps, tables, seconds, seed.
    """
    tensors = {name: weight.half().contiguous() for name, weight in network.state_dict().items()}
    content = save(tensors)
    if len(content) > MAX_BYTES:
        raise ValueError(f"weights take {len(content)} bytes; at most {MAX_BYTES} are allowed")
    path.write_bytes(content)
    about = {
        "version": version,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "n_parameters": network.n_parameters(),
        "license": "BSD-3-Clause",
        "network": network.describe(),
        "training": training,
    }
    path.with_suffix(".json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def read_about(path: Path = WEIGHTS) -> dict[str, Any]:
    """Return what stands beside a weights file."""
    about: dict[str, Any] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return about


def load_network(path: Path = WEIGHTS, device: torch.device | str = "cpu") -> PUNetwork:
    """Read a weights file, after its checksum; the network is ready for use.

    Raises
    ------
    ValueError
        If the file's SHA-256 is not the one stored beside it.
    """
    return _load(path.resolve(), str(device))


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Return the weights of a file in single precision, by name, after its checksum."""
    about = read_about(path)
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != about["sha256"]:
        raise ValueError(
            f"{path.name} has SHA-256 {found}, expected {about['sha256']}: the file is damaged or "
            "was changed; install robustpu again"
        )
    return {name: weight.float() for name, weight in load(content).items()}


@lru_cache(maxsize=4)
def _load(path: Path, device: str) -> PUNetwork:
    network = PUNetwork(NetworkConfig(**read_about(path)["network"]))
    network.load_state_dict(read_weights(path))
    network.requires_grad_(False)
    return network.to(device).eval()
