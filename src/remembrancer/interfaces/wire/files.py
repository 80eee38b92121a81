"""The JSON shapes of what is read from and written to files: exports, imported conversations, vaults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from pydantic import Field

from remembrancer.interfaces.wire.journal import EventOut
from remembrancer.interfaces.wire.shape import Of, Wire
from remembrancer.interfaces.wire.state import IndexReportOut

if TYPE_CHECKING:
    from remembrancer.domain.event import Event
    from remembrancer.engine.exchange import Imported
    from remembrancer.engine.vault import SyncReport
    from remembrancer.ingest import Problem
    from remembrancer.jobs.indexer import IndexReport
    from remembrancer.policies.vault.files import Finding as VaultFinding


class ExportedOut(Wire):
    path: str
    rows: int


class ImportedOut(Wire, Of["Imported"]):
    """`new`: how many of the file's rows were not there before (or would be added, in a dry run)."""

    rows: int
    new: int
    dry_run: bool


class ProblemOut(Wire):
    """One record that was left out."""

    path: str
    line: int | None
    record: str | None
    message: str

    @classmethod
    def of(cls, problem: Problem) -> Self:
        return cls.copied(problem, path=str(problem.path))


class ObservedOut(Wire):
    events: list[EventOut]
    problems: list[ProblemOut]

    @classmethod
    def of(cls, events: Iterable[Event], problems: Iterable[Problem]) -> Self:
        return cls(
            events=[EventOut.of(event) for event in events],
            problems=[ProblemOut.of(problem) for problem in problems],
        )


class IngestedFileOut(Wire):
    """`events`: how many records of it are in the journal now. `refused`: why the whole file was left out."""

    path: str
    format: str | None
    events: int = 0
    learnings: int = 0
    problems: list[ProblemOut] = Field(default_factory=list[ProblemOut])
    refused: str | None = None


class IngestedOut(Wire):
    """`new`: how many events the journal gained. `index`: null where indexing was left for later."""

    files: list[IngestedFileOut]
    new: int
    index: IndexReportOut | None


class VaultFindingOut(Wire, Of["VaultFinding"]):
    """A place in a vault, or the id of a memory, and what is to be said of it. `line` counts from 1."""

    path: str
    line: int | None
    message: str


class VaultOut(Wire):
    """What a sync did, or with `dry_run` would do; the counts are those of `engine.vault.SyncReport`.

    `index`: null where indexing was left for later.
    """

    vault: str
    dry_run: bool
    files: int
    read: int
    entries: int
    chunks: int
    added: int
    changed: int
    retired: int
    restored: int
    written: int
    waiting: int
    findings: list[VaultFindingOut]
    conflicts: list[VaultFindingOut]
    left: list[VaultFindingOut]
    index: IndexReportOut | None

    @property
    def did_something(self) -> bool:
        return any((self.added, self.changed, self.retired, self.restored, self.written, self.conflicts))

    @classmethod
    def of(cls, report: SyncReport, index: IndexReport | None) -> Self:
        return cls.copied(report, index=index)
