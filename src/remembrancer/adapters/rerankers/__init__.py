"""Adapters that judge texts by a question."""
