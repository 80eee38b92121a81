"""The JSON shapes of reading and writing files: exports, imported conversations and vaults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from pydantic import Field, JsonValue

from remembrancer.interfaces.wire.journal import EventOut
from remembrancer.interfaces.wire.memories import MemoryOut
from remembrancer.interfaces.wire.shape import Derived, Of, Wire
from remembrancer.interfaces.wire.state import IndexReportOut

if TYPE_CHECKING:
    from remembrancer.domain.event import Event
    from remembrancer.domain.memory import Memory
    from remembrancer.engine.exchange import Imported
    from remembrancer.engine.same_answers import ComparedAnswers
    from remembrancer.engine.vault import SyncReport
    from remembrancer.ingest import Problem
    from remembrancer.jobs.indexer import IndexReport
    from remembrancer.policies.vault.files import FileProblem as VaultFinding
    from remembrancer.ports.transfer import BackupReport, MovedRows, MoveReport, RestoreReport


class ExportedOut(Wire):
    path: str
    rows: int


class LeftOutSetting(Wire):
    """A key of another system's configuration that has no setting here, and why."""

    key: str
    reason: str


class ConfigOut(Wire):
    """Another system's configuration as settings. `path`: the file they were written to; null for none."""

    settings: dict[str, JsonValue]
    left_out: list[LeftOutSetting]
    path: str | None


class BackupOut(Wire, Of["BackupReport"]):
    """A backup. `rows`: of all workspaces. `bytes`: the size of the file."""

    path: str
    rows: int
    bytes: int


class RestoredOut(Wire, Of["RestoreReport"]):
    """A restored store. `set_aside`: the new path of the store that was there before; null if there was none."""

    path: str
    rows: int
    bytes: int
    set_aside: str | None


class MovedRowsOut(Wire, Of["MovedRows"]):
    """The rows of one table and workspace in both stores: how many, and the SHA-256 of their contents."""

    table: str
    workspace: str
    rows: int
    digest: str
    target_rows: int
    target_digest: str


class ComparedAnswersOut(Wire, Of["ComparedAnswers"]):
    """The questions asked of both stores. `answered`: those with hits. `difference`: the first; "" if there is none."""

    asked: int
    answered: int
    difference: str


class MovedOut(Wire):
    """A store moved into another database, or compared with it. In a dry run, `copied_rows` and `removed_rows` say what
    would be done.

    `difference`: the first row that differs, by table and key; "" if none does. `written`: the tables of the source
    that were written to meanwhile; `written_memories`: how many memories. `answers`: null if none were compared.
    `ok`: whether everything is equal.
    """

    source: str
    target: str
    dry_run: bool
    rows: int
    copied_rows: int
    removed_rows: int
    tables: list[MovedRowsOut]
    difference: str
    written: list[str]
    written_memories: int
    answers: ComparedAnswersOut | None
    ok: bool

    @classmethod
    def of(cls, report: MoveReport, answers: ComparedAnswers | None, *, dry_run: bool) -> Self:
        ok = report.is_whole and (answers is None or not answers.difference)
        return cls.copied(report, answers=answers, dry_run=dry_run, ok=ok)


class ImportedOut(Wire, Of["Imported"]):
    """The result of an import. `new`: the rows that did not exist before; in a dry run, the rows that would be
    added.
    """

    rows: int
    new: int
    dry_run: bool


class ImportProblemOut(Derived):
    """One record that was not imported."""

    path: str
    line: int | None
    record: str | None
    message: str

    @classmethod
    def of(cls, problem: Problem) -> Self:
        return cls.copied(problem, path=str(problem.path))


class ObservedOut(Wire):
    events: list[EventOut]
    problems: list[ImportProblemOut]

    @classmethod
    def of(cls, events: Iterable[Event], problems: Iterable[Problem]) -> Self:
        return cls.model_validate({"events": tuple(events), "problems": tuple(problems)})


class RememberedOut(Wire):
    memories: list[MemoryOut]
    problems: list[ImportProblemOut]

    @classmethod
    def of(cls, memories: Iterable[Memory], problems: Iterable[Problem]) -> Self:
        return cls.model_validate({"memories": tuple(memories), "problems": tuple(problems)})


class IngestedFileOut(Wire):
    """The result of reading one file. `events`: the records of the file that are in the journal now. `refused`: why the
    whole file was skipped.
    """

    path: str
    format: str | None
    events: int = 0
    learnings: int = 0
    problems: list[ImportProblemOut] = Field(default_factory=list[ImportProblemOut])
    refused: str | None = None


class IngestedOut(Wire):
    """The result of reading several files. `new`: the number of events added to the journal. `index`: null if indexing
    was not run.
    """

    files: list[IngestedFileOut]
    new: int
    index: IndexReportOut | None


class VaultFindingOut(Wire, Of["VaultFinding"]):
    """A message about a place in a vault, or about a memory by its id. `line` counts from 1."""

    path: str
    line: int | None
    message: str


class VaultOut(Wire):
    """The result of a sync, or with `dry_run` what a sync would do. `engine.vault.SyncReport` describes the counts.

    `index`: null if indexing was not run.
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
