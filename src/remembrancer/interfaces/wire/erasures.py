"""The JSON shapes of erasures: what was asked for, what was erased, and what could not be reached."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime

from remembrancer.interfaces.wire.shape import Derived, Of, Wire

if TYPE_CHECKING:
    from remembrancer.domain.erasure import Choice, Erasure, Left


class ChoiceOut(Derived):
    """What was asked for: memories by `ids`, entries of the journal by `events`, or parts of a scope."""

    ids: list[UUID]
    events: list[UUID]
    project: str | None
    crew: str | None
    agent: str | None
    session: str | None
    before: AwareDatetime | None

    @classmethod
    def of(cls, choice: Choice) -> Self:
        return cls.copied(choice, ids=sorted(choice.ids), events=sorted(choice.events))


class LeftOut(Wire, Of["Left"]):
    """What could not be reached from here, why something may be left there, and what to do about it."""

    what: str
    why: str
    do: str


class ErasureOut(Wire, Of["Erasure"]):
    """A receipt. `counts`: rows by kind. `purged_at`: since when the files hold no trace; null: they may still.

    `dry_run`: nothing was done, and this is what would be.
    """

    id: UUID
    at: AwareDatetime
    by: str
    asked: ChoiceOut
    counts: dict[str, int]
    memories: list[UUID]
    derived: list[UUID]
    events: list[UUID]
    retold: list[UUID]
    restored: list[UUID]
    redrawn: list[UUID]
    apart: list[UUID]
    repeated: list[UUID]
    left: list[LeftOut]
    purged_at: AwareDatetime | None
    dry_run: bool


class ErasuresOut(Wire):
    """Receipts, newest first."""

    erasures: list[ErasureOut]

    @classmethod
    def of(cls, erasures: Iterable[Erasure]) -> Self:
        return cls(erasures=[ErasureOut.of(one) for one in erasures])
