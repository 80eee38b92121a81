"""Protocols of what the engine needs from adapters: stores, indexes, models and files."""
