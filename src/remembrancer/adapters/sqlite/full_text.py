"""The durable full-text rows: what is asked of FTS5."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.adapters.sqlite.connection import Connection


def cues_with_phrase(connection: Connection, workspace: str, words: Sequence[str]) -> list[int]:
    """The numbers of the workspace's cues that hold these words next to each other, in this order."""
    rows = connection.execute(
        "SELECT c.n FROM cues_fts f JOIN cues c ON c.n = f.rowid WHERE cues_fts MATCH ? AND c.workspace = ?",
        (phrase(words), workspace),
    )
    return [number for (number,) in rows]


def phrase(words: Sequence[str]) -> str:
    """A full-text query for one phrase, whatever characters its words hold."""
    inner = " ".join(words).replace('"', '""')
    return f'"{inner}"'
