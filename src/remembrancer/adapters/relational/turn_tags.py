"""The tags of turns recorded by versions that did not recognise what they say: preferences, names."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.columns import decoded_tags, encoded_tags
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.memories import next_change
from remembrancer.domain.event import Role
from remembrancer.domain.memory import Analyse, Cue
from remembrancer.domain.names import ALIAS, tags_of_turn
from remembrancer.domain.preference import ALWAYS, INSTRUCTION, PREFERENCE

_AT_ONCE: Final = 1_000


def add_preferences(connection: Connection, analyse: Analyse) -> None:
    """Add the tags of preferences and instructions to the turns that state one."""
    _add(connection, analyse, {PREFERENCE, INSTRUCTION, ALWAYS})


def add_names(connection: Connection, analyse: Analyse) -> None:
    """Add the tag `alias` to the turns that say another name of somebody."""
    _add(connection, analyse, {ALIAS})


def _add(connection: Connection, analyse: Analyse, tags: AbstractSet[str]) -> None:
    """Give each memory of a turn those of the `tags` that `analyse` finds, after the tags that it has."""
    last = 0
    while rows := list(
        connection.execute(
            "SELECT n, workspace, id, role, text, tags FROM memories WHERE n > ? AND role IN (?, ?) ORDER BY n LIMIT ?",
            (last, Role.USER.value, Role.ASSISTANT.value, _AT_ONCE),
        )
    ):
        for number, workspace, identifier, role, text, encoded in rows:
            had = decoded_tags(encoded)
            read = analyse(Cue(memory_id=UUID(bytes=identifier), ordinal=0, text=text)).tags
            found = [tag for tag in tags_of_turn(Role(role), read) if tag in tags]
            if not set(found) <= set(had):
                connection.execute(
                    "UPDATE memories SET tags = ?, change = ? WHERE n = ?",
                    (encoded_tags(tuple(dict.fromkeys((*had, *found)))), next_change(connection, workspace), number),
                )
            last = number
