"""Adapters that turn text into vectors."""
