"""The store's contract, one module for each side of it. `testing.store_contract` puts them together."""

import pytest

_PARTS = (
    "access",
    "base",
    "before",
    "journal",
    "machine",
    "memories",
    "neighbours",
    "search",
    "surroundings",
    "transfer",
    "vectors",
    "visibility",
    "wall",
    "words",
    "world",
)

# pytest rewrites the asserts of test modules only; without this a failing test would not show the values.
pytest.register_assert_rewrite(*(f"{__name__}.{part}" for part in _PARTS))
