"""Erasure: look up what depends on the selection, decide what to remove, and remove it in one transaction.

Then the store's files are purged. If another process prevents that, the receipt says so, and the next erasure or
`maintain` tries again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.erasure import Erasure, ErasureSelection, Removal, Traces, UnreachedPlace, completed
from remembrancer.domain.event import Event
from remembrancer.domain.memory import MemoryWrite
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Caller, Context
from remembrancer.engine.journal import still_said
from remembrancer.errors import Conflict, OnHold
from remembrancer.policies.admission.formation import memory_id_of
from remembrancer.policies.consolidation.extractive import AttributedText
from remembrancer.policies.erasure.erasing import ErasurePlan, erasure_plan, not_looked_up
from remembrancer.policies.segmentation.episodes import told_without
from remembrancer.policies.vault.changes import VAULT

ATTEMPTS: Final = 8
"""The maximum number of tries of an erasure if concurrent writers changed the rows."""

EXPORTS: Final = UnreachedPlace(
    "exports, copies of the database, and files that were ingested",
    "these files are yours; the memory does not know where they are",
    "delete them or make them anew; importing or ingesting them again would restore the erased data",
)
BUT_SEALED_BACKUPS: Final = replace(
    EXPORTS, what="exports, copies of the database that are not sealed backups, and files that were ingested"
)
SOURCES: Final = UnreachedPlace(
    "sources of erased memories",
    "some sources stay, because their text differs; a job may derive the same memories from them again",
    "erase those in `kept_sources` as well, or `forget` the derived memories: a forgotten one is not derived again",
)
PROVIDERS: Final = UnreachedPlace(
    "logs of model providers",
    "a language model was asked about this workspace, and its provider may keep what it was sent",
    "ask the provider to delete it",
)
VAULTS: Final = UnreachedPlace(
    "files of a vault",
    "some of these memories were entries in a folder of markdown files, which only you edit",
    "delete the entries there before the next sync, which would remember them again",
)
FILES: Final = "the database's own files"


async def erase(ctx: Context, caller: Caller, choice: ErasureSelection, *, dry_run: bool) -> Erasure:
    """Erase the selection in the caller's workspace, whatever its visibility, and everything that depends on it.

    A dry run writes nothing and returns the receipt that the erasure would have. Raises NotFound for an unknown id,
    OnHold if a legal hold forbids it, and Conflict if concurrent writers keep deriving memories from the rows.
    """
    receipt = await erase_rows(ctx, caller.scope, choice, by=caller.name, dry_run=dry_run)
    return receipt if dry_run else await finish(ctx, caller.scope, receipt)


Selected = tuple[frozenset[UUID], frozenset[UUID]]
"""The ids of selected memories, and those of selected events."""


async def erase_rows(
    ctx: Context,
    scope: Scope,
    choice: ErasureSelection,
    *,
    by: str,
    only: Selected | None = None,
    dry_run: bool = False,
) -> Erasure:
    """Erase the rows as `erase` does, but do not purge the files. `only`: these of the selected rows; None: all.

    Decides again if concurrent writers changed the rows. Raises the same errors.
    """
    attempt = 1
    while True:
        selected = only or await ctx.store.lying_in(scope, choice)
        found, graph = await gather(ctx, scope, choice, selected)
        left = await _left(ctx, scope, graph, found)
        receipt = _receipt(ctx, choice, found, left, by=by, dry_run=dry_run)
        try:
            removed = await ctx.store.erase(scope, await _removal(ctx, found, graph), receipt)
        except OnHold:
            raise
        except Conflict:
            if attempt == ATTEMPTS:
                raise
            attempt += 1
        else:
            break
    if not dry_run:
        for each in (ctx, ctx.before):
            if each is not None:
                each.tails.forget(scope.workspace, map(memory_id_of, receipt.events))
    return completed(receipt, removed)


async def finish(ctx: Context, scope: Scope, receipt: Erasure) -> Erasure:
    """Purge the files; return the receipt with `purged_at`, or with the reason why the purge failed."""
    now = ctx.clock()
    why = await purge(ctx, scope, at=now)
    return replace(receipt, left=(*receipt.left, in_files(why))) if why else replace(receipt, purged_at=now)


async def purge(ctx: Context, scope: Scope, *, at: datetime) -> str:
    """Remove the remains of erased rows from the files of the index and the store. Does nothing if it has been done.

    Returns "" if nothing is left, otherwise the reason why something may be.
    """
    return await ctx.index.purge(ctx.store, scope) or await ctx.store.purge(scope, at=at)


async def erasures(ctx: Context, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
    """The receipts, newest first. If the purge is not done yet, `left` says so."""
    kept = await ctx.store.erasures(scope, limit=limit)
    return tuple(
        replace(one, left=(*one.left, in_files("the purge has not run yet"))) if one.purged_at is None else one
        for one in kept
    )


def in_files(why: str) -> UnreachedPlace:
    return UnreachedPlace(
        FILES,
        f"the rows are gone, but traces of them may still be on the disk: {why}",
        "run `remembrancer maintain` when no other program has the database open",
    )


async def gather(
    ctx: Context, scope: Scope, choice: ErasureSelection, selected: Selected
) -> tuple[ErasurePlan, Traces]:
    """The rows to remove if these are erased, and everything that was looked up to decide it."""
    memories, events = selected
    asked = graph = await ctx.store.traces(scope, memories=memories, events=events)
    empty: frozenset[UUID] = frozenset()
    while True:
        found = erasure_plan(choice, asked, graph, empty=empty)
        memories, events = not_looked_up(found, graph)
        more = await ctx.store.traces(scope, memories=memories, events=events)
        if more.memories or more.events:
            graph = graph.with_(more)
            continue
        told_out = {one for one in found.rebuilt if not await _left_of(ctx, graph, found, one)}
        if not told_out:
            return found, graph
        empty |= told_out


async def _removal(ctx: Context, found: ErasurePlan, graph: Traces) -> Removal:
    return Removal(
        memories=found.memories,
        events=found.events,
        rebuilt=tuple([await _anew(ctx, graph, found, one) for one in sorted(found.rebuilt)]),
        restored=found.restored,
        requeued=found.requeued,
    )


async def _left_of(ctx: Context, graph: Traces, found: ErasurePlan, episode: UUID) -> tuple[Event, ...]:
    """The remaining events of an episode, in the order of its stream."""
    trace = graph.memories[episode]
    events = [graph.events[one].event for one in trace.events if one not in found.events and one in graph.events]
    ordered: Sequence[Event] = sorted(events, key=lambda event: event.seq)
    return await still_said(ctx, Reader(trace.memory.scope), ordered)


async def _anew(ctx: Context, graph: Traces, found: ErasurePlan, episode: UUID) -> MemoryWrite:
    trace = graph.memories[episode]
    left = await _left_of(ctx, graph, found, episode)
    turns = [AttributedText(event.actor or event.role.value, without_recalled(event.beginning)) for event in left]
    return told_without(trace.memory, left, turns, searched=bool(trace.turns))


def _receipt(
    ctx: Context,
    choice: ErasureSelection,
    found: ErasurePlan,
    left: tuple[UnreachedPlace, ...],
    *,
    by: str,
    dry_run: bool,
) -> Erasure:
    now = ctx.clock()
    return Erasure(
        id=ctx.new_id(now),
        at=now,
        by=by,
        asked=choice,
        counts={},
        memories=tuple(sorted(found.asked)),
        derived=tuple(sorted(found.memories - found.asked)),
        events=tuple(sorted(found.events)),
        rebuilt=tuple(sorted(found.rebuilt)),
        restored=tuple(sorted(found.restored)),
        requeued=tuple(sorted(found.requeued)),
        kept_sources=tuple(sorted(found.kept_sources)),
        left=left,
        dry_run=dry_run,
    )


async def _left(ctx: Context, scope: Scope, graph: Traces, found: ErasurePlan) -> tuple[UnreachedPlace, ...]:
    """The places that an erasure cannot reach."""
    left = [SOURCES] if found.kept_sources else []
    left.append(BUT_SEALED_BACKUPS if ctx.sealed_backups else EXPORTS)
    left += [
        UnreachedPlace(
            "a backup",
            f"{copy} is a copy of the whole database, made before the erasure",
            "delete it when you no longer need it",
        )
        for copy in await ctx.store.copies(scope)
    ]
    stood = [graph.memories[one].memory for one in found.memories | found.rebuilt]
    if any(VAULT in memory.metadata for memory in stood):
        left.append(VAULTS)
    if await ctx.store.spending(scope):
        left.append(PROVIDERS)
    return tuple(left)
