"""The audit trail: who did what, when."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Query

from remembrancer.facade import MAX_LISTED
from remembrancer.interfaces.http.access import Administering
from remembrancer.interfaces.http.given import Moment, Name
from remembrancer.interfaces.http.v1 import router_of
from remembrancer.interfaces.wire.audit import AuditCheckOut, AuditHeadOut, AuditOut

router = router_of("audit")


@router.get("/v1/audit", summary="List who did what")
async def audit(
    memory: Administering,
    since: Annotated[Moment | None, Query(description="Only entries at or after that time.")] = None,
    until: Annotated[Moment | None, Query(description="Only entries before that time.")] = None,
    actor: Annotated[
        Name | None, Query(description="Only of this principal (`process`, `key:ID`), or with this name in the entry.")
    ] = None,
    verb: Annotated[Name | None, Query(description="Only this call or job, such as `erase` or `keys.create`.")] = None,
    row: Annotated[UUID | None, Query(description="Only entries that name this memory, event or other row.")] = None,
    after: Annotated[int, Query(ge=0, description="Only entries with a higher number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED, description="The maximum number.")] = 100,
) -> AuditOut:
    """The entries of the audit trail, oldest first: one for each change of the workspace. They hold no text."""
    page = await memory.audit.list(since=since, until=until, actor=actor, verb=verb, row=row, after=after, limit=limit)
    return AuditOut.of(page)


@router.get("/v1/audit/head", summary="The last entry's hash")
async def audit_head(memory: Administering) -> AuditHeadOut:
    """The number and the hash of the last entry, to be kept elsewhere."""
    return AuditHeadOut(head=str(await memory.audit.head()))


@router.get("/v1/audit/check", summary="Check the audit trail")
async def audit_check(
    memory: Administering,
    head: Annotated[
        list[str] | None, Query(max_length=100, description="A head noted before, SEQ:HASH; may be repeated.")
    ] = None,
) -> AuditCheckOut:
    """Compute the chain of hashes again, and compare it with heads noted before. Reads the whole trail."""
    return AuditCheckOut.of(await memory.audit.verify(head or ()))
