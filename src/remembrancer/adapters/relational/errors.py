"""Rows that cannot be turned into values."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from remembrancer.ports.changes import UnreadableRow

UNREADABLE: Final = (ValueError, TypeError, ArithmeticError)
"""What the constructors of domain values raise for such a row."""


@contextmanager
def as_written() -> Generator[None]:
    """Wrap the making of values from rows. Raises UnreadableRow for a row that this program never writes."""
    try:
        yield
    except UNREADABLE as error:
        raise UnreadableRow(error) from error
