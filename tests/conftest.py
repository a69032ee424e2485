"""Tests run on one torch thread each, so that pytest-xdist's workers share the cores."""

import torch

torch.set_num_threads(1)
