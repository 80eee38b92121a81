"""Frozen values and their rules. Uses only the standard library."""
