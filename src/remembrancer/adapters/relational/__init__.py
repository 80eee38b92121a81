"""The record store on a relational database: portable statements, and SQLite as the first dialect.

`from remembrancer.adapters import relational` loads nothing else: `relational.journal` is loaded on first use.
"""

# pyright: reportUnusedImport=false
from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.modules import loaded_when_used

if TYPE_CHECKING:
    from . import (  # noqa: F401
        access,
        archive,
        candidates,
        effect,
        embeddings,
        exporting,
        full_text,
        health,
        importing,
        index_files,
        inspection,
        journal,
        lookup,
        memories,
        outcomes,
        recalls,
        removing,
        retention,
        reviews,
        rows,
        spaces,
        streams,
        tracing,
        trail,
        turn_tags,
        work,
    )

__getattr__ = loaded_when_used(__name__)
