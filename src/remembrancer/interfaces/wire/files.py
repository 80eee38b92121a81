"""The JSON shapes of reading and writing files: exports, imported conversations and vaults."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, JsonValue

from remembrancer.interfaces.wire.erasures import ChoiceOut
from remembrancer.interfaces.wire.journal import EventOut
from remembrancer.interfaces.wire.memories import MemoryOut
from remembrancer.interfaces.wire.shape import Derived, Of, Wire
from remembrancer.interfaces.wire.state import IndexReportOut

if TYPE_CHECKING:
    from remembrancer.domain.event import Event
    from remembrancer.domain.memory import Memory, MemoryDraft
    from remembrancer.engine.exchange import Imported, SubjectExport
    from remembrancer.engine.same_answers import ComparedAnswers
    from remembrancer.engine.vault import SyncReport
    from remembrancer.ingest import ImportedRecord, Problem
    from remembrancer.jobs.indexer import IndexReport
    from remembrancer.policies.vault.files import FileProblem as VaultFinding
    from remembrancer.ports.transfer import (
        BackupReport,
        EncryptionStatus,
        MovedRows,
        MoveReport,
        RestoreReport,
    )


class ExportedOut(Wire):
    path: str
    rows: int


class SubjectExportOut(Wire, Of["SubjectExport"]):
    """The receipt of an export of one subject. `counts`: the rows by kind. `bytes`, `sha256`: of the file. `withheld`:
    memories that were left out because they also say what others said.
    """

    at: AwareDatetime
    by: str
    asked: ChoiceOut
    path: Path
    counts: dict[str, int]
    bytes: int
    sha256: str
    withheld: list[UUID]


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
    """A backup. `rows`: of all workspaces. `bytes`: the size of the file. `sealed`: each row has a key of its own."""

    path: str
    rows: int
    bytes: int
    sealed: bool


class RestoredOut(Wire, Of["RestoreReport"]):
    """A restored store. `set_aside`: the new path of the store that was there before; null if there was none.
    `unreadable`: the rows of a sealed backup whose keys erasures have destroyed.
    """

    path: str
    rows: int
    bytes: int
    set_aside: str | None
    unreadable: int


class EncryptionOut(Wire, Of["EncryptionStatus"]):
    """Whether a store's file is encrypted. `cipher`: null if it is not. `plain_copies`: the names of copies beside it
    that are not.
    """

    path: str
    cipher: str | None
    plain_copies: list[str]


class RekeyedOut(EncryptionOut):
    """A store that was encrypted, decrypted, or encrypted with another key."""

    rows: int
    bytes: int


class KeyFileOut(Wire):
    path: str


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


class WouldStoreOut(Wire):
    """A memory that a dry run found. `successor`: the key of the memory that replaced it."""

    key: str | None
    text: str
    occurred_at: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    project: str | None
    agent: str | None
    session: str | None
    successor: str | None

    @classmethod
    def of(cls, record: ImportedRecord, draft: MemoryDraft) -> Self:
        scope = {part: getattr(record, part) for part in ("project", "agent", "session", "successor")}
        times = {name: getattr(draft, name) for name in ("occurred_at", "valid_from", "valid_until")}
        return cls.model_validate({"key": draft.key, "text": draft.text, **times, **scope})


class IngestedFileOut(Wire):
    """The result of reading one file. `events`, `learnings`, `memories`: the records of the file that are stored now,
    or would be after a dry run. `would_store`: in a dry run, the memories of another system's file. `refused`: why the
    whole file was skipped.
    """

    path: str
    format: str | None
    events: int = 0
    learnings: int = 0
    memories: int = 0
    would_store: list[WouldStoreOut] = Field(default_factory=list[WouldStoreOut])
    problems: list[ImportProblemOut] = Field(default_factory=list[ImportProblemOut])
    refused: str | None = None


class IngestedOut(Wire):
    """The result of reading several files. `new`: the number of events added to the journal. `new_memories`: the number
    of memories added from files of other memory systems. Both are 0 in a dry run. `index`: null if indexing was not
    run.
    """

    files: list[IngestedFileOut]
    dry_run: bool = False
    new: int
    new_memories: int = 0
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
