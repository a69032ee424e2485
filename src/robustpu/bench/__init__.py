"""Experiments: an experiment file in, cells trained, records stored, tables out."""
