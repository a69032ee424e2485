"""Checks of what users give: numbers, names of strategies, text to print."""
