"""Texts outside the erased rows that quote them: log texts, which are overwritten, and other memories and events that
repeat an erased text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final
from uuid import UUID

from remembrancer.adapters import relational
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.rows import CUE_TEXT, INDEXED, TABLES
from remembrancer.domain.erasure import ERASED, LEAST_QUOTED_CHARS, plain, quoter
from remembrancer.domain.memory import Analyse, Cue
from remembrancer.domain.scope import Scope

WORDS_TO_MATCH: Final = 6
"""Candidates for a repeated text contain this many of its words; they are then compared with the whole text."""
_LOGS: Final[tuple[tuple[str, str, str, str], ...]] = (
    ("exposures", "query", "memory IN (SELECT n FROM memories WHERE workspace = ?)", ""),
    ("credits", "task", "workspace = ?", ""),
    ("credits", "note", "workspace = ?", ""),
    ("audit", "reason", "memory IN (SELECT n FROM memories WHERE workspace = ?)", "memory at action"),
    ("vector_retries", "error", "cue IN (SELECT n FROM cues WHERE workspace = ?)", ""),
    ("priority_changes", "reason", "workspace = ?", "workspace event at previous priority changed_by"),
    ("deferrals", "error", "workspace = ?", ""),
    ("runs", "reason", "workspace = ?", ""),
    ("runs", "error", "workspace = ?", ""),
    ("model_calls", "error", "workspace = ?", ""),
)
"""Columns that may quote the text of a memory or an event, as (table, column, condition for the workspace's rows, key).
`key`: if the column is the last one of the table's primary key, the other columns of the key; else empty.
"""


def _words(text: str, analyse: Analyse) -> tuple[str, ...]:
    return analyse(Cue(memory_id=UUID(int=0), ordinal=0, text=text)).tokens


def _only_in(connection: Connection, scope: Scope, texts: Iterable[str], analyse: Analyse) -> Callable[[str], bool]:
    """A predicate: whether a word occurs in these erased texts, and in no remaining text of the workspace."""
    erased = frozenset(word for text in texts for word in _words(text, analyse))
    dialect = connection.dialect
    found = " OR ".join(
        f"EXISTS (SELECT 1 FROM {dialect.matches(table)} f {dialect.then_join} {table} c"
        " ON c.n = f.n WHERE c.workspace = ?)"
        for table in INDEXED
    )

    @cache
    def is_gone(word: str) -> bool:
        bindings = (dialect.all_of([frozenset({word})]), scope.workspace) * len(INDEXED)
        return word in erased and not connection.execute(f"SELECT {found}", bindings).get

    return is_gone


def redact(connection: Connection, scope: Scope, texts: Iterable[str], analyse: Analyse) -> int:
    """Replace by `ERASED` each log text that quotes an erased text. Returns the number of rows."""
    texts = list(texts)
    quotes = quoter(texts, _only_in(connection, scope, texts, analyse), lambda line: _words(line, analyse))
    redacted = 0
    for table, column, of_workspace, key in _LOGS:
        lines = connection.execute(
            f"SELECT DISTINCT {column} FROM {table} WHERE {of_workspace} AND {column} <> ''", (scope.workspace,)
        )
        for (line,) in list(lines):
            if quotes(line):
                rows = f"{of_workspace} AND {column} = ?"
                if key and line != ERASED:  # of two rows that would become equal, one stays
                    same = " AND ".join(f"o.{part} = {table}.{part}" for part in key.split())
                    redacted += connection.count(
                        f"DELETE FROM {table} WHERE {rows}"
                        f" AND EXISTS (SELECT 1 FROM {table} o WHERE {same} AND o.{column} = ?)",
                        (scope.workspace, line, ERASED),
                    )
                redacted += connection.count(
                    f"UPDATE {table} SET {column} = ? WHERE {rows}", (ERASED, scope.workspace, line)
                )
    return redacted + relational.recalls.erase_quoting(connection, scope, quotes)


def repeated(connection: Connection, scope: Scope, texts: Iterable[str], analyse: Analyse) -> tuple[UUID, ...]:
    """The remaining memories and events of the workspace that contain one of the texts, word for word."""
    dialect = connection.dialect
    found: set[bytes] = set()
    for text in texts:
        # Longer words are rarer: fewer rows contain them all.
        words = sorted(dict.fromkeys(_words(text, analyse)), key=len, reverse=True)[:WORDS_TO_MATCH]
        wanted = plain(text)
        if not words or len(wanted) < LEAST_QUOTED_CHARS:
            continue
        query = dialect.all_of([frozenset({word}) for word in words])
        rows = [
            *connection.execute(
                f"SELECT m.id, coalesce(m.title, '') || ' ' || m.text || ' ' || {CUE_TEXT}"
                f" FROM {dialect.matches('cues')} f {dialect.then_join} cues c ON c.n = f.n"
                " JOIN memories m ON m.n = c.memory LEFT JOIN events e ON e.n = c.event WHERE c.workspace = ?",
                (query, scope.workspace),
            )
        ]
        for table in TABLES:
            rows += connection.execute(
                f"SELECT e.id, e.text FROM {dialect.matches(table)} f {dialect.then_join} {table} e"
                " ON e.n = f.n WHERE e.workspace = ?",
                (query, scope.workspace),
            )
        found.update(identifier for identifier, held in rows if wanted in plain(held))
    return tuple(UUID(bytes=identifier) for identifier in sorted(found))
