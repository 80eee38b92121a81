"""Rows that cannot be turned into values."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final


class UnreadableRow(Exception):
    """A row holds values that this program never writes: the database is damaged, or another program wrote to it.

    `Backend.translated` turns it into StoreUnavailable.
    """


UNREADABLE: Final = (ValueError, TypeError, ArithmeticError)
"""What the constructors of domain values raise for such a row."""


def unreadable(error: Exception) -> UnreadableRow:
    return UnreadableRow(f"a row holds what was never written to it: {error}")


@contextmanager
def as_written() -> Generator[None]:
    """Wrap the making of values from rows. Raises UnreadableRow for a row that this program never writes."""
    try:
        yield
    except UNREADABLE as error:
        raise unreadable(error) from error
