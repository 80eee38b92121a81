"""How candidates are scored, cut off and ordered."""
