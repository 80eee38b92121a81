"""The records in a relational database: portable statements, and SQLite as the first dialect.

What few programs do, such as exporting, is loaded when it is first done.
"""

# pyright: reportUnusedImport=false
from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.modules import loaded_when_used

if TYPE_CHECKING:
    from remembrancer.adapters.relational import archive, exporting, importing, removing  # noqa: F401

__getattr__ = loaded_when_used(__name__)
