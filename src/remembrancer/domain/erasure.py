"""What somebody wants gone, what that takes with it, and the receipt that says what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.event import Event
from remembrancer.domain.memory import Memory, MemoryWrite
from remembrancer.domain.scope import Scope
from remembrancer.errors import InvalidInput

MAX_IDS: Final = 1_000
"""Memories or events that are named in one go."""
ERASED: Final = "(erased)"
"""What stands in a log where it quoted something that is gone."""
PARTS: Final = ("project", "crew", "agent", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is to be erased, chosen in exactly one way: memories by `ids`, entries of the journal by `events`, or all of
    a `project`, `crew`, `agent` or `session`; of several of these parts, what belongs to each of them.

    `before`: of such a part, only what happened before then. Nothing chosen is InvalidInput: it never means everything.
    """

    ids: frozenset[UUID] = frozenset()
    events: frozenset[UUID] = frozenset()
    project: str | None = None
    crew: str | None = None
    agent: str | None = None
    session: str | None = None
    before: datetime | None = None

    def __post_init__(self) -> None:
        checked = object.__setattr__  # the only door into a frozen value; used while it is being made
        for part in PARTS:
            validation.optional_name(part, getattr(self, part))
        checked(self, "before", validation.optional_moment("before", self.before))
        ways = [bool(self.ids), bool(self.events), bool(self.parts)]
        if sum(ways) != 1:
            raise InvalidInput(
                "what to erase",
                "nothing" if not any(ways) else "several at once",
                "one of ids, events, or a project, crew, agent or session",
            )
        if self.before is not None and not self.parts:
            raise InvalidInput("before", self.before.isoformat(), "nothing beside ids or events: it narrows a scope")
        for argument, ids in (("ids", self.ids), ("events", self.events)):
            if len(ids) > MAX_IDS:
                raise InvalidInput(argument, f"{len(ids)} ids", f"at most {MAX_IDS}")

    @property
    def parts(self) -> Mapping[str, str]:
        """The parts of a scope that are set, by name."""
        return {part: value for part in PARTS if (value := getattr(self, part)) is not None}


@dataclass(frozen=True, slots=True)
class Trace:
    """A memory and what it hangs together with, whatever its status and visibility.

    `events`: what it was formed from, as far as it is in the journal; `turns`: those of them that are cues of it.
    `sources`: the memories it was derived from; `derived`: those that were derived from it.
    """

    memory: Memory
    events: tuple[UUID, ...] = ()
    turns: frozenset[UUID] = frozenset()
    sources: frozenset[UUID] = frozenset()
    derived: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class EventTrace:
    """An entry of the journal, or what the archive has of it, and the memories that were formed from it."""

    event: Event
    memories: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Traces:
    """What hangs together, as far as it was looked up."""

    memories: Mapping[UUID, Trace] = field(default_factory=lambda: MappingProxyType[UUID, Trace]({}))
    events: Mapping[UUID, EventTrace] = field(default_factory=lambda: MappingProxyType[UUID, EventTrace]({}))

    def with_(self, more: Traces) -> Traces:
        return Traces({**self.memories, **more.memories}, {**self.events, **more.events})


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """All that one erasure writes, decided before.

    `memories`, `events` go, with whatever belongs to them. `retold` are memories that stay under their id and say only
    what their other events do: each is at the revision before the one written, and `MemoryWrite.event_ids` are all that
    it is formed from then; nothing is kept of what it said before. `restored` come back into recall: what took their
    place is gone. `redrawn` are to be drawn from anew: what was drawn from them is gone.
    """

    memories: frozenset[UUID] = frozenset()
    events: frozenset[UUID] = frozenset()
    retold: tuple[MemoryWrite, ...] = ()
    restored: frozenset[UUID] = frozenset()
    redrawn: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Removed:
    """How many rows of each kind went, and what stays although it holds a text that went, word for word."""

    counts: Mapping[str, int]
    repeated: tuple[UUID, ...] = ()
    """Memories and events, by id."""


@dataclass(frozen=True, slots=True)
class Left:
    """What an erasure could not reach: `what` it is, `why` something may be left there, and what to `do` about it."""

    what: str
    why: str
    do: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """The receipt. It holds ids and numbers, the parts of scopes that were asked for, and no text of what went.

    `by`: a role and, where it has one, the agent's name. `counts`: rows by kind. `memories`: those that were asked for;
    `derived`: those that went with them; `events`: entries of the journal and the archive; `retold`: episodes that say
    the rest anew; `restored`: what came back into recall; `redrawn`: what will be drawn from anew; `apart`: what they
    were drawn from and that stays, for it says something else; `repeated`: memories and events that stay although one
    of the texts stands in them, word for word. Ids in order.

    `purged_at`: since when the store's files hold no trace; None: they may still. `dry_run`: nothing was done.
    """

    id: UUID
    at: datetime
    by: str
    asked: Choice
    counts: Mapping[str, int]
    memories: tuple[UUID, ...] = ()
    derived: tuple[UUID, ...] = ()
    events: tuple[UUID, ...] = ()
    retold: tuple[UUID, ...] = ()
    restored: tuple[UUID, ...] = ()
    redrawn: tuple[UUID, ...] = ()
    apart: tuple[UUID, ...] = ()
    repeated: tuple[UUID, ...] = ()
    left: tuple[Left, ...] = ()
    purged_at: datetime | None = None
    dry_run: bool = False


def completed(receipt: Erasure, removed: Removed) -> Erasure:
    """The receipt with what the store has counted."""
    return replace(receipt, counts=removed.counts, repeated=removed.repeated)


def owner_matches(choice: Choice, scope: Scope) -> bool:
    """Whether a row of that scope belongs to every part that is chosen."""
    return all(getattr(scope, part) == value for part, value in choice.parts.items())
