"""The JSON shapes of erasures: what was asked for, what went, and what nobody here could reach."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime

from remembrancer.interfaces.wire import Wire

if TYPE_CHECKING:
    from remembrancer.domain.erasure import Choice, Erasure, Left


class ChoiceOut(Wire):
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
        return cls(
            ids=sorted(choice.ids),
            events=sorted(choice.events),
            project=choice.project,
            crew=choice.crew,
            agent=choice.agent,
            session=choice.session,
            before=choice.before,
        )


class LeftOut(Wire):
    """What could not be reached from here, why something may be left there, and what to do about it."""

    what: str
    why: str
    do: str

    @classmethod
    def of(cls, left: Left) -> Self:
        return cls(what=left.what, why=left.why, do=left.do)


class ErasureOut(Wire):
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

    @classmethod
    def of(cls, erasure: Erasure) -> Self:
        return cls(
            id=erasure.id,
            at=erasure.at,
            by=erasure.by,
            asked=ChoiceOut.of(erasure.asked),
            counts=dict(erasure.counts),
            memories=list(erasure.memories),
            derived=list(erasure.derived),
            events=list(erasure.events),
            retold=list(erasure.retold),
            restored=list(erasure.restored),
            redrawn=list(erasure.redrawn),
            apart=list(erasure.apart),
            repeated=list(erasure.repeated),
            left=[LeftOut.of(one) for one in erasure.left],
            purged_at=erasure.purged_at,
            dry_run=erasure.dry_run,
        )


class ErasuresOut(Wire):
    """Receipts, newest first."""

    erasures: list[ErasureOut]

    @classmethod
    def of(cls, erasures: Iterable[Erasure]) -> Self:
        return cls(erasures=[ErasureOut.of(one) for one in erasures])
