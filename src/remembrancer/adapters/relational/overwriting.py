"""Rows that leave no bytes behind in the pages they stood in."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from remembrancer.adapters.relational.connection import Connection

_WORDS = {0: "off", 1: "on", 2: "fast"}


@contextmanager
def overwriting(connection: Connection) -> Generator[None]:
    """What is deleted inside is overwritten with zeros. At other times SQLite only notes that the place is free."""
    usual: int = connection.pragma("secure_delete")
    connection.pragma("secure_delete", "on")
    try:
        yield
    finally:
        connection.pragma("secure_delete", _WORDS[usual])
