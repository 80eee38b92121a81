"""The JSON shapes of counts, checks and indexing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from pydantic import AwareDatetime

from remembrancer.interfaces.wire.shape import Of, Wire

if TYPE_CHECKING:
    from remembrancer.jobs.indexer import IndexReport
    from remembrancer.ports.inspection import Finding, Stats


class StatsOut(Wire, Of["Stats"]):
    """`memories` by status, `vectors` by model, `bytes`: the size of the store."""

    events: int
    memories: dict[str, int]
    cues: int
    vectors: dict[str, int]
    truncated: int
    relations: int
    oldest: AwareDatetime | None
    newest: AwareDatetime | None
    bytes: int


class FindingOut(Wire):
    """The result of one check. `repair`: how to fix it; null if nothing is wrong."""

    check: str
    ok: bool
    detail: str
    repair: str | None

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls.copied(finding, repair=None if finding.ok else finding.repair or None)


class DoctorOut(Wire):
    ok: bool
    findings: list[FindingOut]

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Self:
        return cls(ok=all(finding.ok for finding in findings), findings=[FindingOut.of(each) for each in findings])


class IndexReportOut(Wire, Of["IndexReport"]):
    """`reason`: why nothing was indexed, or why some of it failed."""

    indexed: int
    deferred: int
    reason: str
