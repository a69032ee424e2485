"""Drawing, for pages and pictures."""
