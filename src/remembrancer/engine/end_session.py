"""Ending a session: form its last episode, extract learnings, and count and review the use of memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect
from remembrancer.domain.event import Origin
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import MemoryDraft, MemoryWrite, Status, Tier
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.context import Context
from remembrancer.engine.extract import ExtractReport, expect, extract
from remembrancer.engine.review import ReviewReport, review
from remembrancer.engine.segment import SegmentedStream, segment_stream
from remembrancer.errors import Conflict, NotFound
from remembrancer.policies.admission.formation import memory_of_draft, own_cue
from remembrancer.policies.forgetting.reinforcement import after_exposure
from remembrancer.values import dataclass

REINFORCED: Final = "session.reinforced"
"""The kind of the archived memory that lists the memories counted for a session."""
MEMORIES: Final = "memories"
BATCH: Final = 1_000
"""The most memories in one such list."""

_SESSIONS: Final = UUID("a9d2b6c4-0f3e-4c6b-8a57-1e7f9c2d4b60")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinforceReport:
    """The result of counting a session's exposures. `reinforced`: memories counted by this call. `left`: memories that
    another process counted first. `reason`: why none.
    """

    reinforced: tuple[UUID, ...] = ()
    left: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndReport:
    """The report of each part, with the reason if it did nothing. `segmented`: None if the preset forms no episodes."""

    session: str
    segmented: SegmentedStream | None
    extracted: ExtractReport
    reinforced: ReinforceReport
    reviewed: ReviewReport


async def end_session(ctx: Context, reader: Reader, session: str) -> EndReport:
    """End a session of this reader's scope. A repeated call does only what was not done before. Memories that the
    reader may not see are neither counted nor reviewed; the job `review` reviews them.

    If the process dies before extraction ends, the job `extract` continues it.
    """
    scope = reader.scope
    stream = scope.narrowed(session=validation.name("session", session))
    await expect(ctx, scope, session=session)
    # First the fast parts, which no background job would make up for; then the parts that may wait minutes for a model.
    reinforced = await reinforce_session(ctx, replace(reader, scope=stream))
    return EndReport(
        session=session,
        segmented=None if ctx.preset.segmentation is None else await segment_stream(ctx, stream, ended=True),
        extracted=await extract(ctx, scope, session=session),
        reinforced=reinforced,
        reviewed=await review(ctx, scope, reader=reader),
    )


async def reinforce_session(ctx: Context, reader: Reader) -> ReinforceReport:
    """Count each memory that was exposed in the session of the reader's scope once, by the preset's rules, if the
    reader may see it.

    The counted memories are listed in an archived memory of the kind `session.reinforced`, which is written together
    with the counts, under an id derived from the session and its owner. So neither a crash nor another process leads to
    a second count.
    """
    stream = reader.scope
    dynamics = ctx.preset.dynamics
    if not dynamics.per_session:
        return ReinforceReport(reason=f"preset {ctx.preset.name} counts each exposure when it is logged")
    counted, ordinal = await _counted(ctx, stream)
    exposed = [one for one in await ctx.store.exposed_in(stream, dynamics.counted) if one not in counted]
    seen = await ctx.store.get(reader, exposed)
    fresh = [memory_id for memory_id in exposed if memory_id in seen]
    reinforced: list[UUID] = []
    for start in range(0, len(fresh), BATCH):
        batch, now = fresh[start : start + BATCH], ctx.clock()
        effect = Effect(
            inserted=(_account(stream, ordinal, batch, now),),
            adjusted=dict.fromkeys(batch, partial(after_exposure, exposure=dynamics.counted, at=now)),
        )
        try:
            await ctx.store.commit(stream, effect, at=now)
        except (Conflict, NotFound):  # another process wrote first, or a memory was erased; the next call handles it
            return ReinforceReport(reinforced=tuple(reinforced), left=len(fresh) - start)
        reinforced += batch
        ordinal += 1
    nothing = "" if reinforced else f"every memory {dynamics.counted.value} in the session is counted already"
    return ReinforceReport(reinforced=tuple(reinforced), reason=nothing)


async def _counted(ctx: Context, stream: Scope) -> tuple[frozenset[UUID], int]:
    """The memories already counted for the session, and the ordinal of the next list."""
    everybody = Reader(Scope(workspace=stream.workspace))
    counted: set[UUID] = set()
    ordinal = 0
    while True:
        identifier = _account_id(stream, ordinal)
        account = (await ctx.store.get(everybody, [identifier])).get(identifier)
        if account is None:
            return frozenset(counted), ordinal
        named = account.metadata.get(MEMORIES)
        counted |= {UUID(str(one)) for one in named} if isinstance(named, list) else set()
        ordinal += 1


def _account(stream: Scope, ordinal: int, counted: Sequence[UUID], now: datetime) -> MemoryWrite:
    named: list[JsonValue] = [str(memory_id) for memory_id in counted]
    draft = MemoryDraft(
        text=f"The session {stream.session} has reinforced {len(counted)} memories.",
        kind=REINFORCED,
        tier=Tier.EPISODIC,
        origin=Origin.SYSTEM,
        importance=0.0,
        metadata={MEMORIES: named},
    )
    formed = memory_of_draft(draft, scope=stream, identifier=_account_id(stream, ordinal), now=now).memory
    archived = replace(formed, status=Status.ARCHIVED, retired_at=now)
    return MemoryWrite(archived, (own_cue(archived),))


def _account_id(stream: Scope, ordinal: int) -> UUID:
    owner = [f"{part} {getattr(stream, part)}" for part in ("project", "crew", "agent") if getattr(stream, part)]
    return derived_id(_SESSIONS, "\n".join([f"{stream.workspace} {ordinal} {stream.session}", *owner]))
