"""The contracts of a store and of an index, one module per topic.

`testing.store_contract` and `testing.index_contract` compose them by role.
"""

import pkgutil

import pytest

# pytest rewrites asserts in test modules only. Without this line a failing test would not show the compared values.
pytest.register_assert_rewrite(*(f"{__name__}.{part.name}" for part in pkgutil.iter_modules(__path__)))
