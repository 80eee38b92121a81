"""Adapters for language models."""
