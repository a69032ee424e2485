"""Experiments: a file in, cells trained, records out."""
