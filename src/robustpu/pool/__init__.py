"""A pool of learners that rank rows, labelled against unlabelled, and the weights of each."""

from robustpu.pool.members import EFFORTS, MEMBERS

__all__ = ["EFFORTS", "MEMBERS"]
