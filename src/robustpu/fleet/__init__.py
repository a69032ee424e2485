"""The engine: many networks of one architecture trained together."""

from robustpu.fleet.adam import Adam
from robustpu.fleet.batches import (
    Batch,
    Partners,
    cross_entropy,
    cross_entropy_grad,
    soft_cross_entropy,
    soft_cross_entropy_grad,
)
from robustpu.fleet.best import Best, Course
from robustpu.fleet.choice import network_for
from robustpu.fleet.engine import Criterion, Fleet, Member, Rows
from robustpu.fleet.lane import Risk
from robustpu.fleet.network import Network, State
from robustpu.fleet.pool import Mapped, Part, Pool

__all__ = [
    "Adam",
    "Batch",
    "Best",
    "Course",
    "Criterion",
    "Fleet",
    "Mapped",
    "Member",
    "Network",
    "Part",
    "Partners",
    "Pool",
    "Risk",
    "Rows",
    "State",
    "cross_entropy",
    "cross_entropy_grad",
    "network_for",
    "soft_cross_entropy",
    "soft_cross_entropy_grad",
]
