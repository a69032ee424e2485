"""The page about a user's own table: what was learnt, how sure it is, and the list to act on."""

from robustpu.page.document import render

__all__ = ["render"]
