"""The figures of the docs: which stored results they come from, and whether they are right."""
