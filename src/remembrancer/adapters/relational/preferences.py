"""The tags of turns recorded by versions that did not recognise preferences."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.columns import decoded_tags, encoded_tags
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.memories import next_change
from remembrancer.domain.event import Role
from remembrancer.domain.memory import Analyse, Cue

_AT_ONCE: Final = 1_000


def add_tags(connection: Connection, analyse: Analyse) -> None:
    """Give each memory of a user's turn the tags that `analyse` finds, after those that it has."""
    last = 0
    while rows := list(
        connection.execute(
            "SELECT n, workspace, id, text, tags FROM memories WHERE n > ? AND role = ? ORDER BY n LIMIT ?",
            (last, Role.USER.value, _AT_ONCE),
        )
    ):
        for number, workspace, identifier, text, tags in rows:
            had = decoded_tags(tags)
            found = analyse(Cue(memory_id=UUID(bytes=identifier), ordinal=0, text=text)).tags
            if not set(found) <= set(had):
                connection.execute(
                    "UPDATE memories SET tags = ?, change = ? WHERE n = ?",
                    (encoded_tags(tuple(dict.fromkeys((*had, *found)))), next_change(connection, workspace), number),
                )
            last = number
