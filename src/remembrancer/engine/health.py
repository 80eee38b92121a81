"""Daily health snapshots of a workspace and its crews."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context, answering
from remembrancer.policies import health
from remembrancer.ports.changes import ReadView
from remembrancer.ports.index import SearchRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN_WITHIN: Final = timedelta(days=7)
SEED: Final = 20_251_121
"""The seed of the sample; its value does not matter."""
AHEAD: Final = 2
"""The number of snapshots searched for today's: a process with a fast clock may have taken tomorrow's."""


async def take_snapshots(ctx: Context, scope: Scope, *, force: bool = False) -> tuple[HealthSnapshot, ...]:
    """Measure the health of the workspace and its crews: those without a snapshot of today (UTC), or all with `force`.

    Missed days stay missing. A snapshot without data is taken again on the same day. Returns the new snapshots, the
    workspace's first.
    """
    now = ctx.clock().astimezone(UTC)
    taken: list[HealthSnapshot] = []
    for crew in (None, *await ctx.store.crews(scope)):
        if force or await _is_due(ctx, scope, crew, now.date()):
            snapshot = await _measured(ctx, scope, crew, now)
            await ctx.store.put_snapshot(scope, snapshot)
            taken.append(snapshot)
    return tuple(taken)


async def latest(ctx: Context, scope: Scope, crew: str | None) -> HealthSnapshot | None:
    """The last snapshot of the workspace, or of a crew; None if there is none."""
    return next(iter(await history(ctx, scope, crew, limit=1)), None)


async def history(ctx: Context, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
    """The snapshots of the workspace, or of a crew, newest day first. Days may be missing."""
    return await ctx.store.snapshots(scope, crew, limit=limit)


async def _is_due(ctx: Context, scope: Scope, crew: str | None, today: date) -> bool:
    known = await ctx.store.snapshots(scope, crew, limit=AHEAD)
    return not any(one.day == today and one.score is not None for one in known)


async def _measured(ctx: Context, scope: Scope, crew: str | None, now: datetime) -> HealthSnapshot:
    # Everybody in the workspace may read a snapshot, so it must not depend on private memories: the reader has no
    # agent, and only the crew is set, if any.
    reader = Reader(Scope(workspace=scope.workspace, crew=crew))
    where = Filter(current_at=now, crew=crew)
    ctx = await answering(ctx, scope)
    health_inputs = await ctx.store.health_inputs(reader, where, model=ctx.model, shown_since=now - SHOWN_WITHIN)
    nearest: tuple[float, ...] = ()
    if health_inputs.with_vector:
        nearest = await ctx.store.read(lambda view: _nearest(ctx, view, reader, where, health_inputs.ids))
    metrics = Metrics(
        freshness=health.freshness(now - occurred for occurred in health_inputs.occurred),
        coverage=health.coverage(health_inputs.with_vector, 0 if ctx.model is None else len(health_inputs.ids)),
        coherence=health.coherence(nearest),
        efficiency=health.efficiency(health_inputs.shown),
        # Without automatic relations a preset cannot earn it.
        reachability=None
        if ctx.preset.links is None
        else health.reachability(health_inputs.related, health_inputs.with_vector),
    )
    return HealthSnapshot(crew=crew, day=now.date(), taken_at=now, metrics=metrics, score=health.score(metrics))


def _nearest(ctx: Context, view: ReadView, reader: Reader, where: Filter, ids: tuple[UUID, ...]) -> tuple[float, ...]:
    """The cosine of each sampled memory to its nearest neighbour; memories without a neighbour are left out."""
    if ctx.model is None:
        return ()
    cosines: list[float] = []
    # Two, because the memory itself is usually one of them.
    request = SearchRequest(where=where, depth=2, model=ctx.model)
    for identifier, vector in _sample(view, reader, ctx.model, ids).items():
        found = ctx.index.search(view, reader, request).candidates(vector)
        others = [
            cosine for other, cosine in zip(found.ids, found.similarity.tolist(), strict=True) if other != identifier
        ]
        if others:
            cosines.append(max(others))
    return tuple(cosines)


def _sample(view: ReadView, reader: Reader, model: str, ids: tuple[UUID, ...]) -> dict[UUID, NDArray[np.float32]]:
    """The vectors of the sample: the first memories, in sample order, that have one."""
    order = health.sample_order(ids, SEED)
    sample: dict[UUID, NDArray[np.float32]] = {}
    for start in range(0, len(order), health.SAMPLE):
        page = order[start : start + health.SAMPLE]
        vectors = view.vectors(reader, model, page)
        sample |= {one: vectors[one] for one in page if one in vectors}
        if len(sample) >= health.SAMPLE:
            break
    return dict(list(sample.items())[: health.SAMPLE])
