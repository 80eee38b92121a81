"""Embedders: adapters that turn text into vectors."""
