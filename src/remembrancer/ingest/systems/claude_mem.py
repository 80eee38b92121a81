"""claude-mem: its SQLite file, with observations, session summaries and the prompts of the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.systems import database
from remembrancer.ingest.systems.record import (
    ForeignMemory,
    ImportedRecord,
    identifier,
    key_of,
    memories,
    optional_time,
    texts,
    turns,
)
from remembrancer.ingest.turn import Turn, bounded

NAME: Final = "claude-mem"
_SUMMARY: Final = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_SESSIONS: Final = ("memory_session_id", "sdk_session_id", "content_session_id", "claude_session_id")
"""The columns that name a session; their names changed between versions."""


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The prompts of the file as turns, then its observations and summaries as memories.

    Raises InvalidInput if it is no readable SQLite file of claude-mem.
    """
    tables = database.columns(path)
    sessions = _sessions(path) if "sdk_sessions" in tables else {}
    for table in ("user_prompts", "observations", "session_summaries"):
        if table not in tables:
            continue
        for row in database.rows(path, f"SELECT * FROM {table} ORDER BY id"):
            place = RecordLocation(path, record=f"{table} {row['id']}")
            try:
                yield from _row(table, row, sessions, place)
            except InvalidInput as error:
                yield place.problem(error)


def _sessions(path: Path) -> dict[str, tuple[str, str | None]]:
    """The session of Claude Code and the project, by each id that a session has."""
    found: dict[str, tuple[str, str | None]] = {}
    for row in database.rows(path, "SELECT * FROM sdk_sessions"):
        ids = [str(row[name]) for name in _SESSIONS if row.get(name)]
        for one in ids:
            found[one] = ids[-1], fields.optional_text(row, "project")
    return found


def _row(
    table: str, row: Mapping[str, object], sessions: Mapping[str, tuple[str, str | None]], place: RecordLocation
) -> Iterator[ImportedRecord | Problem]:
    named = next((str(row[name]) for name in _SESSIONS if row.get(name)), None)
    if named is None:
        raise InvalidInput("session", None, "the id of a session")
    session, project = sessions.get(named, (named, None))
    project = fields.optional_text(row, "project") or project
    key = f"{session}/{table}/{identifier(row)}"
    when = optional_time(row, "created_at_epoch", "created_at")
    if table == "user_prompts":
        text = fields.as_text("prompt_text", row.get("prompt_text"))
        turn = Turn(text=text, key=key_of(NAME, key), occurred_at=when, session=bounded(session))
        yield from turns(turn, place, project=project)
        return
    text, title = _observation(row) if table == "observations" else (_summary(row), "Session summary")
    yield from memories(
        ForeignMemory(
            source=NAME,
            identifier=key,
            title=title,
            text=text,
            tags=_list(row, "concepts"),
            metadata={
                "type": row.get("type") or "session-summary",
                "files_read": _list(row, "files_read"),
                "files_modified": _list(row, "files_modified") or _list(row, "files_edited"),
            },
            occurred_at=when,
            project=project,
            session=session,
        ),
        place,
    )


def _observation(row: Mapping[str, object]) -> tuple[str, str | None]:
    """The text of an observation, and its title, which is its text if it has nothing else."""
    parts = [fields.optional_text(row, name) for name in ("subtitle", "narrative", "text")]
    found = [part for part in parts if part]
    facts = "\n".join(f"- {fact}" for fact in _list(row, "facts"))
    text, title = "\n\n".join([*found, *filter(None, [facts])]), fields.optional_text(row, "title")
    return (text, title) if text else (title or "", None)


def _summary(row: Mapping[str, object]) -> str:
    parts = {name: fields.optional_text(row, name) for name in _SUMMARY}
    return "\n".join(f"{name.replace('_', ' ').capitalize()}: {text}" for name, text in parts.items() if text)


def _list(row: Mapping[str, object], name: str) -> list[str]:
    """A column with a list as JSON, or with texts separated by commas."""
    value = row.get(name)
    if isinstance(value, str) and value.lstrip().startswith("["):
        return texts(name, database.json_of(name, value))
    return texts(name, value or None)
