"""The JSON shapes of the audit trail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime

from remembrancer.interfaces.wire.shape import Of, Wire

if TYPE_CHECKING:
    from remembrancer.domain.audit import AuditCheck, AuditEntry
    from remembrancer.engine.audit import AuditPage


class AuditEntryOut(Wire, Of["AuditEntry"]):
    """An entry of the audit trail: who did what, when. It holds no text.

    `principal`: `process` (nobody had to show a key), `key:ID`, or `oauth`. `door`: python, cli, http, mcp or job.
    `verb`: the call, or the job. `names`: of the principal and the scope; null: erased. `ids`: the rows it is about, by
    kind. `hash`: of the chain up to here.
    """

    seq: int
    at: AwareDatetime
    principal: str
    door: str
    verb: str
    names: dict[str, str | None]
    ids: dict[str, list[UUID]]
    counts: dict[str, int]
    model: str | None
    hash: str


class AuditOut(Wire, Of["AuditPage"]):
    """Entries, oldest first. `next`: the `after` of the next page; null on the last one."""

    entries: list[AuditEntryOut]
    next: int | None


class AuditHeadOut(Wire):
    """The last entry. `head`: SEQ:HASH; noted elsewhere, it shows later whether the trail was cut or written anew."""

    head: str


class AuditCheckOut(Wire):
    """A check of the whole chain. `whole`: whether nothing is wrong. `head`: SEQ:HASH of the last entry that is right.

    `problem`: what is wrong first, `broken_at`: at which entry. `names`, `erased`: how many names the entries refer to,
    and how many of these were erased.
    """

    whole: bool
    entries: int
    head: str
    names: int
    erased: int
    broken_at: int | None
    problem: str

    @classmethod
    def of(cls, check: AuditCheck) -> Self:
        return cls.copied(check, whole=check.is_whole, head=str(check.head))
