"""Where else the words of a text stand that is gone: lines of logs, which are silenced, and rows that repeat it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.full_text import phrase
from remembrancer.adapters.relational.rows import TABLES
from remembrancer.domain.erasure import ERASED
from remembrancer.domain.memory import Cue
from remembrancer.domain.quoting import LEAST_QUOTED_CHARS, plain, quoter
from remembrancer.domain.scope import Scope
from remembrancer.ports.exchange import Analyse

TOLD_APART: Final = 12
"""By so many of its words a text is looked for; whether a row holds all of it is seen then."""
_LOGS: Final[tuple[tuple[str, str, str], ...]] = (
    ("exposures", "query", "memory IN (SELECT n FROM memories WHERE workspace = ?)"),
    ("audit", "reason", "memory IN (SELECT n FROM memories WHERE workspace = ?)"),
    ("vector_retries", "error", "cue IN (SELECT n FROM cues WHERE workspace = ?)"),
    ("priority_changes", "reason", "workspace = ?"),
    ("deferrals", "error", "workspace = ?"),
    ("runs", "reason", "workspace = ?"),
    ("runs", "error", "workspace = ?"),
    ("model_calls", "error", "workspace = ?"),
)
"""Tables and columns that may quote what a memory or an event says, and which rows are the workspace's."""


def _tokens(texts: Iterable[str], analyse: Analyse) -> list[str]:
    return list(dict.fromkeys(token for text in texts for token in _words(text, analyse)))


def _words(text: str, analyse: Analyse) -> tuple[str, ...]:
    return analyse(Cue(memory_id=UUID(int=0), ordinal=0, text=text)).tokens


def _said_by_nothing_else(connection: Connection, scope: Scope, tokens: Iterable[str]) -> list[str]:
    """Those of the words that no text of the workspace has that is left."""
    found = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table}_fts f JOIN {table} c ON c.n = f.rowid"
        f" WHERE {table}_fts MATCH ? AND c.workspace = ?)"
        for table in ("cues", *TABLES)
    )
    return [
        token
        for token in tokens
        if not connection.execute(f"SELECT {found}", (phrase([token]), scope.workspace) * 3).get
    ]


def silence(connection: Connection, scope: Scope, texts: Iterable[str], analyse: Analyse) -> int:
    """Put `ERASED` in place of each line of a log that quotes what is gone from the tables. Returns how many."""
    texts = list(texts)
    alone = _said_by_nothing_else(connection, scope, _tokens(texts, analyse))
    quotes = quoter(texts, alone, lambda line: _words(line, analyse))
    silenced = 0
    for table, column, of_workspace in _LOGS:
        lines = connection.execute(
            f"SELECT DISTINCT {column} FROM {table} WHERE {of_workspace} AND {column} <> ''", (scope.workspace,)
        )
        for (line,) in list(lines):
            if quotes(line):
                # Two lines of a log that say no more than this, of one thing at one moment, are one.
                connection.execute(
                    f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {of_workspace} AND {column} = ?",
                    (ERASED, scope.workspace, line),
                )
                silenced += connection.changes()
    return silenced


def repeated(connection: Connection, scope: Scope, texts: Iterable[str], analyse: Analyse) -> tuple[UUID, ...]:
    """What is left of the workspace that holds one of the texts, word for word."""
    found: set[bytes] = set()
    for text in texts:
        words = list(dict.fromkeys(_words(text, analyse)))[:TOLD_APART]
        wanted = plain(text)
        if not words or len(wanted) < LEAST_QUOTED_CHARS:
            continue
        query = " AND ".join(phrase([word]) for word in words)
        rows = [
            *connection.execute(
                "SELECT m.id, ifnull(m.title, '') || ' ' || m.text || ' ' || c.text FROM cues_fts f"
                " JOIN cues c ON c.n = f.rowid JOIN memories m ON m.n = c.memory"
                " WHERE cues_fts MATCH ? AND c.workspace = ?",
                (query, scope.workspace),
            )
        ]
        for table in TABLES:
            rows += connection.execute(
                f"SELECT e.id, e.text FROM {table}_fts f JOIN {table} e ON e.n = f.rowid"
                f" WHERE {table}_fts MATCH ? AND e.workspace = ?",
                (query, scope.workspace),
            )
        found.update(identifier for identifier, held in rows if wanted in plain(held))
    return tuple(UUID(bytes=identifier) for identifier in sorted(found))
