"""Synchronising a vault of markdown files with memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Final
from uuid import UUID

from remembrancer.domain.memory import Status
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context
from remembrancer.engine.vault_world import VaultContents, gather
from remembrancer.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from remembrancer.language.cues import analysed
from remembrancer.policies.vault.changes import Change, Terms, Trust, effect_of
from remembrancer.policies.vault.files import FileProblem, parsed, with_edits
from remembrancer.policies.vault.index import Known, VaultIndex, index_of, index_text
from remembrancer.policies.vault.merging import Base
from remembrancer.policies.vault.planning import VaultPlan, planned
from remembrancer.ports.vault import Content, VaultFiles
from remembrancer.values import dataclass

PINNED_TAG: Final = "institutional"
"""The tag of memories from institutional files, if the preset has no tag for pinned memories."""

_CHANGES_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """The result of a sync, or of a dry run.

    `files`: their number; `read`: those that were parsed because the file or the store may have changed; `entries` and
    `chunks`: of all files. Memories: `added`; `changed` in text or strength; `retired`; `restored`. `written`: entries
    changed in, or added to, files. `waiting`: learnings that are in no file, if no file was to be written.

    `findings`: problems in the files; a file with any is read as far as possible and not written to. `conflicts`: files
    that changed on disk meanwhile; they were not written to, and the next sync merges them. `left`: what could not be
    done, and why.
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
    findings: tuple[FileProblem, ...]
    conflicts: tuple[FileProblem, ...]
    left: tuple[FileProblem, ...]


async def sync(ctx: Context, scope: Scope, files: VaultFiles) -> SyncReport:
    """Synchronise files and memories: each side gets the other side's changes since the last sync.

    The vault is the workspace's or, if the scope has a project, that project's folder; narrower scope parts are
    ignored. Raises InvalidInput if it is not a folder, or if the folder is new and memories were synced from it before.
    """
    return await _run(ctx, files, _terms(ctx, scope, files, Trust.BOTH), dry_run=False)


async def check(ctx: Context, scope: Scope, files: VaultFiles) -> SyncReport:
    """Report problems in the files, and what a sync would do. Writes nothing."""
    return await _run(ctx, files, _terms(ctx, scope, files, Trust.BOTH), dry_run=True)


async def rebuild(ctx: Context, scope: Scope, files: VaultFiles) -> SyncReport:
    """Set the vault's memories to the contents of its files, as if the store were new. Writes no file.

    Strength that is in no header is lost, and so are changes in the store that were not synced yet; other metadata,
    provenance and revisions stay.
    """
    return await _run(ctx, files, _terms(ctx, scope, files, Trust.FILES), dry_run=False)


def _terms(ctx: Context, scope: Scope, files: VaultFiles, trust: Trust) -> Terms:
    return Terms(
        workspace=scope.workspace,
        project=scope.project,
        vault=files.name,
        pinned_tag=ctx.preset.pinned_tag or PINNED_TAG,
        now=ctx.clock(),
        trust=trust,
    )


@dataclass(slots=True)
class _Outcome:
    """The result of carrying out a plan. `written`: files as written. `unedited`: entries whose edit failed. `missed`:
    memories whose change failed. `stale`: files to be read again.
    """

    written: dict[str, Content] = field(default_factory=dict[str, Content])
    entries: int = 0
    unedited: set[UUID] = field(default_factory=set[UUID])
    missed: set[UUID] = field(default_factory=set[UUID])
    stale: set[str] = field(default_factory=set[str])
    findings: list[FileProblem] = field(default_factory=list[FileProblem])
    conflicts: list[FileProblem] = field(default_factory=list[FileProblem])
    left: list[FileProblem] = field(default_factory=list[FileProblem])


async def _run(ctx: Context, files: VaultFiles, terms: Terms, *, dry_run: bool) -> SyncReport:
    kept = await files.index()
    index = VaultIndex() if terms.trust is Trust.FILES else index_of(kept)
    gathered = await gather(ctx, files, terms, index)
    plan = planned(gathered.world, terms)
    if gathered.scan.new and plan.gone:
        known = "the memory" if len(plan.gone) == 1 else f"the {len(plan.gone):,} memories"
        allowed = (
            f"the folder of {known} synced before, which is not at this path: check it; to retire them, make the "
            "folder yourself and sync again"
        )
        raise InvalidInput("vault", files.name, allowed)
    changes = [*(change for each in plan.files.values() for change in each.changes), *plan.gone]
    outcome = _Outcome(entries=sum(len(each.edits) + len(each.appended) for each in plan.files.values()))
    if not dry_run:
        outcome = await _write(files, gathered, plan)
        changes = [change for change in changes if change.memory.id not in outcome.missed]
        await _commit(ctx, terms, changes, outcome)
        changes = [change for change in changes if change.memory.id not in outcome.missed]
        after = index_text(_index_after(gathered, plan, outcome))
        if after != kept:
            await files.put_index(after)
    return _report(gathered, plan, changes, outcome, terms, dry_run=dry_run)


async def _write(files: VaultFiles, gathered: VaultContents, plan: VaultPlan) -> _Outcome:
    """Write the files before the memories: a memory must not name a file entry that does not exist."""
    outcome = _Outcome()
    for path, each in sorted(plan.files.items()):
        if not each.edits and not each.appended:
            continue
        ids = {edit.learning.id for edit in each.edits}
        new = {learning.id for learning in each.appended}
        read = gathered.world.read.get(path)
        file = parsed(path, "") if read is None else read.file
        if file.findings:
            outcome.unedited |= ids
            outcome.missed |= new
            outcome.stale.add(path)
            continue
        text = with_edits(file, each.edits, each.appended)
        if isinstance(text, FileProblem):
            _stayed(outcome, text, ids, new)
            continue
        expected = None if read is None else gathered.contents[path].digest
        try:
            outcome.written[path] = await files.replace(path, text, expected=expected)
        except Conflict as error:
            outcome.conflicts.append(FileProblem(path, None, str(error)))
            # The file changed after its changes were decided.
            outcome.missed |= {change.memory.id for change in each.changes} | ids | new
            outcome.stale.add(path)
        except (InvalidInput, StoreUnavailable) as error:
            _stayed(outcome, FileProblem(path, None, str(error)), ids, new)
        else:
            outcome.entries += len(ids) + len(new)
    return outcome


def _stayed(outcome: _Outcome, finding: FileProblem, edited: set[UUID], new: set[UUID]) -> None:
    """Note a file that could not be written: its changes stay in the store until the next sync."""
    outcome.findings.append(finding)
    outcome.unedited |= edited
    outcome.missed |= new
    outcome.stale.add(finding.path)


async def _commit(ctx: Context, terms: Terms, changes: Sequence[Change], outcome: _Outcome) -> None:
    scope = Scope(workspace=terms.workspace)
    changes = await _with_turns(ctx, scope, changes)
    for change in changes:
        if change.revised is not None and change.read is not None and not change.revises_what_holds(terms.now):
            try:
                await ctx.store.revise(scope, change.revised, expected_revision=change.read.revision, at=terms.now)
            except (Conflict, InvalidInput, NotFound) as error:
                _missed(outcome, change, error)
    for start in range(0, len(changes), _CHANGES_AT_ONCE):
        several = [one for one in changes[start : start + _CHANGES_AT_ONCE] if one.memory.id not in outcome.missed]
        await _commit_all(ctx, scope, several, outcome, terms)


async def _with_turns(ctx: Context, scope: Scope, changes: Sequence[Change]) -> list[Change]:
    """Keep the cues of a memory's turns when a file changes its text."""
    revised = [change.memory.id for change in changes if change.revised is not None]
    cues = await ctx.store.cues(Reader(scope), revised)
    kept: list[Change] = []
    for each in changes:
        change = each
        turns = tuple(analysed(cue) for cue in cues.get(change.memory.id, ()) if cue.event_id is not None)
        if change.revised is not None and turns:
            change = replace(change, revised=replace(change.revised, cues=(*change.revised.cues, *turns)))
        kept.append(change)
    return kept


async def _commit_all(ctx: Context, scope: Scope, changes: Sequence[Change], outcome: _Outcome, terms: Terms) -> None:
    """Commit all changes at once; if that fails, in halves, so that one failing change does not block the others."""
    if not changes:
        return
    try:
        await ctx.store.commit(scope, effect_of(changes, terms.now), at=terms.now)
    except (Conflict, InvalidInput, NotFound) as error:
        if len(changes) == 1:
            _missed(outcome, changes[0], error)
            return
        middle = len(changes) // 2
        await _commit_all(ctx, scope, changes[:middle], outcome, terms)
        await _commit_all(ctx, scope, changes[middle:], outcome, terms)


def _missed(outcome: _Outcome, change: Change, error: Exception) -> None:
    outcome.left.append(FileProblem(change.path, None, str(error)))
    outcome.missed.add(change.memory.id)
    outcome.stale.add(change.path)


def _index_after(gathered: VaultContents, plan: VaultPlan, outcome: _Outcome) -> VaultIndex:
    """The index after the sync. An entry whose change failed keeps its previous state, for the next merge."""
    world = gathered.world
    before = world.index.bases()
    files: dict[str, Known] = dict(world.unchanged)
    files |= {path: known for path, known in world.index.files.items() if world.is_unclear(path)}
    for path, each in plan.files.items():
        content = outcome.written.get(path) or gathered.contents.get(path)
        if content is None:
            continue
        kept = outcome.unedited | outcome.missed
        bases: dict[UUID, Base] = {}
        for identifier, base in each.agreed.items():
            known = before.get(identifier) if identifier in kept else base
            if known is not None:
                bases[identifier] = known
        files[path] = Known(
            modified=-1 if each.again or path in outcome.stale else content.stat.modified,
            size=content.stat.size,
            digest=content.digest,
            bases=bases,
            chunks=tuple(each.chunks),
        )
    return VaultIndex(files)


def _report(
    gathered: VaultContents,
    plan: VaultPlan,
    changes: Sequence[Change],
    outcome: _Outcome,
    terms: Terms,
    *,
    dry_run: bool,
) -> SyncReport:
    world = gathered.world
    planned_files = plan.files.values()
    entries = sum(len(known.bases) for known in world.unchanged.values())
    entries += sum(len(read.file.entries) for read in world.read.values())
    statuses = [change.status_change.status for change in changes if change.status_change is not None]
    findings = [*gathered.findings, *(one for each in planned_files for one in each.findings), *outcome.findings]
    left = [*plan.left, *(one for each in planned_files for one in each.left), *outcome.left]
    return SyncReport(
        vault=terms.vault,
        dry_run=dry_run,
        files=len(gathered.scan.files),
        read=len(world.read),
        entries=entries + sum(len(each.appended) for each in planned_files),
        chunks=sum(len(known.chunks) for known in world.unchanged.values())
        + sum(len(one.chunks) for one in planned_files),
        added=sum(change.inserted is not None for change in changes),
        changed=sum(change.revised is not None or change.strength is not None for change in changes),
        retired=sum(status is not Status.ACTIVE for status in statuses),
        restored=sum(status is Status.ACTIVE for status in statuses),
        written=outcome.entries,
        waiting=plan.waiting,
        findings=tuple(findings),
        conflicts=tuple(outcome.conflicts),
        left=tuple(left),
    )
