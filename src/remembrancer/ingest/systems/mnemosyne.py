"""Mnemosyne: its SQLite file, and the JSON that it exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.systems import database
from remembrancer.ingest.systems.document import loaded
from remembrancer.ingest.systems.record import ForeignMemory, ImportedRecord, identifier, memories, optional_time, texts

NAME: Final = "mnemosyne"
TABLES: Final = {"working_memory": "working", "episodic_memory": "episodic"}
"""The tables with memories, and the tier of each."""
LEFT_OUT: Final = ("scratchpad", "triples", "consolidation_log", "legacy_memories")
"""Lists of an export, and tables, that are no memories."""
_EVERY_SESSION: Final = "global"
_NO_SESSION: Final = "default"


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The memories of the file, working ones first. Raises InvalidInput if it is neither JSON nor a readable SQLite
    file.
    """
    if database.is_database(path):
        known = database.columns(path)
        given = {table: list(database.rows(path, f"SELECT * FROM {table}")) for table in TABLES if table in known}
        counts = {
            table: next(database.rows(path, f"SELECT count(*) AS n FROM {table}"))["n"]
            for table in LEFT_OUT
            if table in known
        }
    else:
        whole = fields.as_object("file", loaded(path))
        given = {table: fields.optional_list(whole, table) for table in TABLES}
        counts = {name: len(fields.optional_list(whole, name)) for name in LEFT_OUT}
    for table, rows in given.items():
        for number, row in enumerate(rows, start=1):
            place = RecordLocation(path, record=f"{table} {number}")
            try:
                yield from memories(_memory(fields.as_object(table, row), TABLES[table]), place)
            except InvalidInput as error:
                yield place.problem(error)
    for name, count in counts.items():
        if count:
            yield RecordLocation(path, record=name).problem(f"{count} rows that are no memories are left out")


def _memory(row: Mapping[str, object], tier: str) -> ForeignMemory:
    created = optional_time(row, "timestamp", "created_at")
    session = fields.optional_text(row, "session_id")
    successor = fields.optional_text(row, "superseded_by")
    scope = fields.optional_text(row, "scope")
    return ForeignMemory(
        source=NAME,
        identifier=identifier(row),
        text=fields.as_text("content", row.get("content")),
        metadata={
            **fields.optional_object({"metadata": database.json_of("metadata", row.get("metadata_json"))}, "metadata"),
            "tier": tier,
            "source": row.get("source"),
            "scope": scope,
            "summary_of": texts("summary_of", row.get("summary_of")),
            "veracity": None if row.get("veracity") == "unknown" else row.get("veracity"),
            "recall_count": row.get("recall_count") or None,
        },
        occurred_at=created,
        valid_until=optional_time(row, "valid_until"),
        importance=fields.optional_fraction(row, "importance"),
        session=None if scope == _EVERY_SESSION or session == _NO_SESSION else session,
        successor=successor or None,
    )
