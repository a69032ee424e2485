"""Methods: one paper a file."""
