"""A network trained once on synthetic positive-unlabelled tables; nothing is trained at use."""

from robustpu.pretrained.inference import EncodedTable
from robustpu.pretrained.network import NetworkConfig, PUNetwork
from robustpu.pretrained.weights import load_network, read_about, save_weights

__all__ = [
    "EncodedTable",
    "NetworkConfig",
    "PUNetwork",
    "load_network",
    "read_about",
    "save_weights",
]
