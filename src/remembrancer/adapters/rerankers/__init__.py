"""Rerankers: adapters that score texts by their relevance to a question."""
