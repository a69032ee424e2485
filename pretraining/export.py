"""Write a checkpoint's weights, or the mean of several, as the package's weights file.

PYTHONPATH=../src:. python export.py weights.safetensors run/checkpoint.pt --version 2
"""

import argparse
from pathlib import Path

from checkpoints import mean_network, read_checkpoints

from robustpu.pretrained import save_weights


def main() -> None:
    """Read options and write the file and its description."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("checkpoints", type=Path, nargs="+")
    parser.add_argument("--version", required=True)
    options = parser.parse_args()
    states = read_checkpoints(options.checkpoints)
    about = {"from_version": states[0]["from_version"], "device": states[0]["device"]}
    names = {"seeds": "seed", "steps": "step", "tables": "n_tables", "seconds": "seconds"}
    training = about | {
        name: [round(state[key]) for state in states] for name, key in names.items()
    }
    network = mean_network(states)
    save_weights(network, options.weights, options.version, training)


if __name__ == "__main__":
    main()
