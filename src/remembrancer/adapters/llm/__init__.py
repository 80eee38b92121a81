"""Adapters that ask a language model."""
