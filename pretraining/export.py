"""Write a checkpoint's weights as the package's weights file.

PYTHONPATH=../src:. python export.py run/checkpoint.pt weights.safetensors --version 2
"""

import argparse
from pathlib import Path

import torch
from evaluate import load_checkpoint

from robustpu.pretrained import save_weights


def main() -> None:
    """Read options and write the file and its description."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    state = torch.load(options.checkpoint, map_location="cpu", weights_only=True)
    training = {
        "steps": state["step"],
        "tables": state["n_tables"],
        "seconds": round(state["seconds"]),
        "seed": options.seed,
    }
    network = load_checkpoint(options.checkpoint, "cpu")
    save_weights(network, options.weights, options.version, training)


if __name__ == "__main__":
    main()
