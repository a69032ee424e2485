"""The engine: many networks of one architecture trained together."""

from robustpu.fleet.adam import Adam
from robustpu.fleet.best import Best, Course
from robustpu.fleet.cross_entropy import (
    cross_entropy,
    cross_entropy_slope,
    soft_cross_entropy,
    soft_cross_entropy_slope,
)
from robustpu.fleet.engine import Criterion, Fleet, Member, Rows
from robustpu.fleet.lane import Batch, Partners, Risk
from robustpu.fleet.network import Network, State, network_for
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
    "cross_entropy_slope",
    "network_for",
    "soft_cross_entropy",
    "soft_cross_entropy_slope",
]
