"""The full-text index of cues and events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.rows import EVENTS, TABLES, EventTable
from remembrancer.domain.event import Event
from remembrancer.domain.journal import searchable_text
from remembrancer.domain.memory import Analyse, Cue


def cues_with_phrase(connection: Connection, workspace: str, words: Sequence[str]) -> list[int]:
    """The numbers of the workspace's cues that contain these words next to each other, in this order."""
    dialect = connection.dialect
    rows = connection.execute(
        f"SELECT c.n FROM {dialect.matches('cues')} f {dialect.then_join} cues c ON c.n = f.n WHERE c.workspace = ?",
        (dialect.phrase(words), workspace),
    )
    return [number for (number,) in rows]


def add_words(connection: Connection, table: EventTable, rows: Iterable[tuple[int, Iterable[str]]]) -> None:
    """Index rows of that table of events, by number, by their tokens. Each word counts once."""
    connection.dialect.add_words(connection, table, [(number, dict.fromkeys(tokens)) for number, tokens in rows])


def add_all_words(connection: Connection, analyse: Analyse) -> None:
    """Index all events of a database without an index of their words."""
    for table in TABLES:
        for row in connection.execute(f"SELECT {EVENTS.select}, e.n FROM {table} e ORDER BY e.n"):
            words = dict.fromkeys(tokens_of(EVENTS.value_of(row[:-1]), analyse))
            connection.dialect.add_words(connection, table, [(row[-1], words)], at_once=True)


def tokens_of(event: Event, analyse: Analyse) -> tuple[str, ...]:
    return analyse(Cue(memory_id=event.id, ordinal=0, text=searchable_text(event))).tokens
