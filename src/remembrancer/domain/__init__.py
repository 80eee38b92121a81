"""Frozen values with their rules, on the standard library alone."""
