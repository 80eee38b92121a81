"""Project stages: learnings of a stage are retired when the stage ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.event import Event, EventDraft, Role, Severity
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context, every_memory
from remembrancer.engine.record import event_of
from remembrancer.errors import Conflict, NotFound
from remembrancer.policies.learning.learnings import KINDS
from remembrancer.policies.learning.stages import LearningStage
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.values import dataclass

ENTERED: Final = "project.stage"
"""The type of the event that records a project's new stage."""
BATCH: Final = 200
MAX_CHANGES: Final = 10_000
"""The most changes of stage that are searched for a project's last one."""

_PROJECTS: Final = UUID("b3a4b6d8-1c56-4d53-9a52-5e3c0f9f2a47")


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """The result of entering, retiring or restoring a stage. `stage`: the project's stage; None: unknown. `ended`: the
    stage that ended. `moved`: learnings that were retired because of that, or restored, at `at`. `left`: learnings that
    changed meanwhile. `reason`: why nothing was done.
    """

    stage: LearningStage | None
    at: datetime
    ended: LearningStage | None = None
    moved: tuple[UUID, ...] = ()
    left: int = 0
    reason: str = ""


async def current_stage(ctx: Context, scope: Scope) -> LearningStage | None:
    """The project's present stage, as the journal records it; None if it records none."""
    last = await _last(ctx, _project(scope))
    return None if last is None else LearningStage(str(last.payload["stage"]))


async def enter_stage(ctx: Context, scope: Scope, intent: str) -> StageReport:
    """Detect the project's stage in the text of an INTENT.md. If it differs from the present one, that one has ended:
    its learnings are retired, and an event that forms no memory records the new stage.
    """
    validation.text("intent", intent)
    before, now = await current_stage(ctx, scope), ctx.clock()
    if ctx.preset.stages is None:
        return StageReport(stage=before, at=now, reason=f"preset {ctx.preset.name} has no stages")
    stage = ctx.preset.stages.detect(intent)
    if stage is None:
        return StageReport(stage=before, at=now, reason="the text does not show the stage")
    if stage is before:
        return StageReport(stage=stage, at=now, reason=f"the project is in stage {stage.value} already")
    if before is None:
        await _enter(ctx, _project(scope), stage, now)
        return StageReport(stage=stage, at=now)
    # Retire first, then record the stage: after a crash in between, the next call does both again.
    ended = await retire_stage(ctx, scope, before)
    await _enter(ctx, _project(scope), stage, now)
    return StageReport(stage=stage, at=ended.at, ended=before, moved=ended.moved, left=ended.left)


async def retire_stage(ctx: Context, scope: Scope, stage: LearningStage) -> StageReport:
    """Retire the learnings for the task at hand from a stage of this scope's project. `restore_stage` undoes it."""
    now, policy = ctx.clock(), ctx.preset.stages
    if policy is None:
        return StageReport(stage=None, at=now, reason=f"preset {ctx.preset.name} has no stages")
    reason = f"the stage {stage.value} has ended"
    found = await _learnings(ctx, scope, stage, now)
    moved, left = await _move(ctx, scope, found, Status.RETIRED, reason, now)
    nothing = "" if moved or left else f"there are no active learnings of stage {stage.value} only"
    current = await current_stage(ctx, scope)
    return StageReport(stage=current, at=now, ended=stage, moved=moved, left=left, reason=nothing)


async def restore_stage(ctx: Context, scope: Scope, stage: LearningStage, *, at: datetime) -> StageReport:
    """Restore the learnings that were retired with a stage. `at`: the time in the report of the retirement."""
    now, retired_at = ctx.clock(), validation.moment("at", at)
    # As believed just before, because retired memories are not current now.
    found = await _learnings(ctx, scope, stage, retired_at - timedelta(microseconds=1))
    gone = [memory for memory in found if memory.status is Status.RETIRED and memory.retired_at == retired_at]
    moved, left = await _move(ctx, scope, gone, Status.ACTIVE, f"the stage {stage.value} continues", now)
    nothing = "" if moved or left else f"no learning was retired with stage {stage.value} at {retired_at.isoformat()}"
    return StageReport(stage=await current_stage(ctx, scope), at=now, moved=moved, left=left, reason=nothing)


async def _learnings(ctx: Context, scope: Scope, stage: LearningStage, at: datetime) -> list[Memory]:
    """The project's learnings of that stage and of the domain that ends with it, oldest first."""
    policy = ctx.preset.stages
    domain = "" if policy is None else policy.domain.value
    where = Filter(current_at=at, kinds=KINDS, metadata=(("domain", domain), ("phase", stage.value)))
    return [memory async for memory in every_memory(ctx, scope, where) if memory.scope.project == scope.project]


async def _move(
    ctx: Context, scope: Scope, memories: Sequence[Memory], status: Status, reason: str, at: datetime
) -> tuple[tuple[UUID, ...], int]:
    """Set the status of memories. Returns those that were changed, and the number of those that changed meanwhile."""
    moved: list[UUID] = []
    for start in range(0, len(memories), BATCH):
        batch = memories[start : start + BATCH]
        try:
            await _moved(ctx, scope, batch, status, reason, at)
            moved += [memory.id for memory in batch]
        except (Conflict, NotFound):  # a Conflict of one memory must not keep the others from changing
            for memory in batch:
                try:
                    await _moved(ctx, scope, [memory], status, reason, at)
                    moved.append(memory.id)
                except (Conflict, NotFound):
                    continue
    return tuple(moved), len(memories) - len(moved)


async def _moved(
    ctx: Context, scope: Scope, memories: Sequence[Memory], status: Status, reason: str, at: datetime
) -> None:
    # Memories to be restored are not active, so the effect cannot expect their revisions.
    expected = {memory.id: memory.revision for memory in memories} if status is Status.RETIRED else {}
    changes = tuple(StatusChange(memory.id, status, reason) for memory in memories)
    await ctx.store.commit(scope, Effect(expected=expected, status_changes=changes), at=at)


def _project(scope: Scope) -> Scope:
    return Scope(workspace=scope.workspace, project=scope.project)


async def _last(ctx: Context, project: Scope) -> Event | None:
    where = EventFilter(types=frozenset({ENTERED}), archived=True)
    events = await ctx.store.events(Reader(project), where, limit=MAX_CHANGES)
    mine = [event for event in events if event.scope == project and event.payload.get("stage") in set(LearningStage)]
    return max(mine, key=lambda event: event.seq, default=None)


async def _enter(ctx: Context, project: Scope, stage: LearningStage, at: datetime) -> None:
    last = await _last(ctx, project)
    before = 0 if last is None else last.seq
    draft = EventDraft(
        text=f"The project entered the stage {stage.value}.",
        role=Role.SYSTEM,
        type=ENTERED,
        severity=Severity.NOTICE,
        payload={"stage": stage.value},
        # If several processes read the same file at once, only one records the stage.
        key=f"{ENTERED}:{derived_id(_PROJECTS, f'{project.project} {before} {stage.value}')}",
    )
    await ctx.store.append(project, [Entry(event_of(ctx, project, draft, at))])
