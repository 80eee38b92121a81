"""The tags of turns recorded by versions that did not recognise what they say: preferences, names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.columns import decoded_tags, encoded_tags
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.memories import next_change
from remembrancer.adapters.relational.schema import NAME_TAGS, PREFERENCE_TAGS
from remembrancer.domain.event import Role
from remembrancer.domain.memory import Analyse, Cue
from remembrancer.domain.names import ALIAS, tags_of_turn
from remembrancer.domain.preference import ALWAYS, INSTRUCTION, PREFERENCE

_AT_ONCE: Final = 1_000
_SINCE: Final = {PREFERENCE_TAGS: (PREFERENCE, INSTRUCTION, ALWAYS), NAME_TAGS: (ALIAS,)}
"""By migration, the tags that turns have had since."""


def fills(analyse: Analyse) -> Mapping[int, Callable[[Connection], None]]:
    """For each migration that introduced tags, a function that adds them to the turns of older versions."""
    return {number: partial(_add, analyse=analyse, tags=tags) for number, tags in _SINCE.items()}


def _add(connection: Connection, *, analyse: Analyse, tags: Collection[str]) -> None:
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
