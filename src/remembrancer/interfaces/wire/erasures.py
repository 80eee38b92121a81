"""The JSON shapes of erasures: the request, the receipt, and copies that could not be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime

from remembrancer.domain.event import Origin
from remembrancer.interfaces.wire.shape import Derived, Many, Of, Wire

if TYPE_CHECKING:
    from remembrancer.domain.erasure import Erasure, ErasureSelection, UnreachedPlace


class SelectedOut(Wire):
    """The parts that selected rows have: parts of their scope, who said them, their kind (of events: the type), and
    their origin; null: any.
    """

    project: str | None
    crew: str | None
    agent: str | None
    session: str | None
    actor: str | None
    kind: str | None
    origin: Origin | None


class ChoiceOut(Derived, SelectedOut):
    """A selection of rows to erase: memories by `ids`, entries of the journal by `events`, or the rows that have all of
    the other parts.
    """

    ids: list[UUID]
    events: list[UUID]
    before: AwareDatetime | None

    @classmethod
    def of(cls, choice: ErasureSelection) -> Self:
        return cls.copied(choice, ids=sorted(choice.ids), events=sorted(choice.events))


class UnreachedPlaceOut(Wire, Of["UnreachedPlace"]):
    """A place that the erasure could not reach: what it is, why data may remain there, and what to do about it."""

    what: str
    why: str
    do: str


class ErasureOut(Wire, Of["Erasure"]):
    """The receipt of an erasure. `counts`: erased rows by kind. `purged_at`: when the database's files were cleared of
    all traces; null: traces may remain.

    `dry_run`: nothing was erased; the receipt shows what would be.
    """

    id: UUID
    at: AwareDatetime
    by: str
    asked: ChoiceOut
    counts: dict[str, int]
    memories: list[UUID]
    derived: list[UUID]
    events: list[UUID]
    rebuilt: list[UUID]
    restored: list[UUID]
    requeued: list[UUID]
    kept_sources: list[UUID]
    repeated: list[UUID]
    left: list[UnreachedPlaceOut]
    purged_at: AwareDatetime | None
    dry_run: bool


class ErasuresOut(Wire, Many["Erasure"]):
    """Receipts, newest first."""

    erasures: list[ErasureOut]
