"""The durable full-text rows: what is asked of FTS5."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.rows import EVENT_COLUMNS, TABLES, Table, event_of
from remembrancer.domain.event import Event
from remembrancer.domain.journal import searchable_text
from remembrancer.domain.memory import Cue
from remembrancer.ports.exchange import Analyse


def cues_with_phrase(connection: Connection, workspace: str, words: Sequence[str]) -> list[int]:
    """The numbers of the workspace's cues that hold these words next to each other, in this order."""
    rows = connection.execute(
        "SELECT c.n FROM cues_fts f JOIN cues c ON c.n = f.rowid WHERE cues_fts MATCH ? AND c.workspace = ?",
        (phrase(words), workspace),
    )
    return [number for (number,) in rows]


def add_words(connection: Connection, table: Table, number: int, tokens: Iterable[str]) -> None:
    """What a search of the journal finds row `number` of that table by."""
    connection.execute(
        f"INSERT INTO {table}_fts (rowid, words) VALUES (?, ?)", (number, " ".join(dict.fromkeys(tokens)))
    )


def add_all_words(connection: Connection, analyse: Analyse) -> None:
    """Those of all events of a file that has none yet."""
    for table in TABLES:
        for row in connection.execute(f"SELECT {EVENT_COLUMNS}, e.n FROM {table} e ORDER BY e.n"):
            add_words(connection, table, row[-1], tokens_of(event_of(row[:-1]), analyse))


def tokens_of(event: Event, analyse: Analyse) -> tuple[str, ...]:
    return analyse(Cue(memory_id=event.id, ordinal=0, text=searchable_text(event))).tokens


def all_of(words: Sequence[frozenset[str]]) -> str:
    """A full-text query for one word of each set."""
    return " AND ".join("(" + " OR ".join(phrase([word]) for word in sorted(one)) + ")" for one in words)


def phrase(words: Sequence[str]) -> str:
    """A full-text query for one phrase, whatever characters its words hold."""
    inner = " ".join(words).replace('"', '""')
    return f'"{inner}"'
