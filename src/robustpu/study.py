"""The old name of :mod:`robustpu.workflow`, for ``from robustpu.study import fit_table``."""

import sys

import robustpu

sys.modules[__name__] = robustpu.__getattr__("study")
