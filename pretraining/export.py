"""Write a checkpoint's weights, or the mean of several, as the package's weights file.

PYTHONPATH=../src:. python export.py weights.safetensors run/checkpoint.pt --version 2
"""

import argparse
from pathlib import Path

import torch
from evaluate import load_checkpoints

from robustpu.pretrained import save_weights


def main() -> None:
    """Read options and write the file and its description."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("checkpoints", type=Path, nargs="+")
    parser.add_argument("--version", required=True)
    options = parser.parse_args()
    states = [
        torch.load(path, map_location="cpu", weights_only=True) for path in options.checkpoints
    ]
    training = {
        name: [round(state[key]) for state in states]
        for name, key in (("steps", "step"), ("tables", "n_tables"), ("seconds", "seconds"))
    }
    network = load_checkpoints(options.checkpoints, "cpu")
    save_weights(network, options.weights, options.version, training)


if __name__ == "__main__":
    main()
