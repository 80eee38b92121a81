"""Everything specific to SQLite. The rest of the package works for any relational database."""

# pyright: reportUnusedImport=false
from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.modules import loaded_when_used

if TYPE_CHECKING:
    from . import backups, doctor, row_keys  # noqa: F401

__getattr__ = loaded_when_used(__name__)
