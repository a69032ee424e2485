"""Sparse rows: checked, scaled but not centred, and a bounded table of them for other learners."""
