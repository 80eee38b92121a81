"""Names of speakers: those that a question was read to mean, and those learned from what was said."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final
from uuid import UUID

from remembrancer.domain.event import Role
from remembrancer.values import dataclass

ALIAS: Final = "alias"
"""The tag of a memory that says another name of somebody. Names are read from the texts of these memories."""


class NameMatch(StrEnum):
    """The way a name in a question was matched with a speaker: as spelled, without regard to capitals and accents; as
    another spelling or a short form; or because a memory says so.
    """

    SPELLED = "spelled"
    FORM = "form"
    LEARNED = "learned"


@dataclass(frozen=True, slots=True)
class LearnedName:
    """A further name of a speaker. `speaker`: the actor of its turns; None: the turns of this `role` that name none.

    `said_in`: the memory that says it last.
    """

    name: str
    speaker: str | None
    role: Role | None
    said_in: UUID


@dataclass(frozen=True, slots=True)
class NamedSpeaker:
    """A name in a question, as written there, and the `speaker` it was read as: an actor, or the role of turns without
    one. `match`: how it was matched. `said_in`: the memory from which the name was learned; None: it was matched
    otherwise.
    """

    name: str
    speaker: str
    match: NameMatch
    said_in: UUID | None = None


def tags_of_turn(role: Role | None, tags: Iterable[str]) -> tuple[str, ...]:
    """Those of the tags found in a text (`IndexedCue.tags`) that its memory gets when it is a turn of this role: a
    user's all of them, an assistant's only `ALIAS`.
    """
    if role is Role.USER:
        return tuple(dict.fromkeys(tags))
    return (ALIAS,) if role is Role.ASSISTANT and ALIAS in tags else ()
