"""`rem.health`: how the memory is doing: its snapshots, its counts, what fades, and what is broken."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.domain.health import HealthSnapshot
from remembrancer.facade.view import MAX_LISTED, Identifier, View, identifiers, listed
from remembrancer.ports.inspection import Finding, Stats

if TYPE_CHECKING:
    from remembrancer.engine.fading import DecayForecast, FadingCurve
    from remembrancer.engine.search_state import SearchState


class AsyncHealthApi(View):
    """Reads only: `rem.maintain` takes the snapshots."""

    async def latest(self, crew: str | None = None) -> HealthSnapshot | None:
        """The latest health snapshot of the workspace, or of a crew; None before the first one."""
        return await engine.health.latest(self._ctx, self._scope, validation.optional_name("crew", crew))

    async def history(self, crew: str | None = None, limit: int = 30) -> tuple[HealthSnapshot, ...]:
        """The health snapshots, at most one a day, newest first. `limit`: 1 to 10,000."""
        named = validation.optional_name("crew", crew)
        return await engine.health.history(self._ctx, self._scope, named, limit=listed(limit))

    async def stats(self) -> Stats:
        """Counts of what this caller may see."""
        return await engine.inspect.stats(self._ctx, self._reader())

    async def decay(self, limit: int = 20) -> tuple[DecayForecast, ...]:
        """Current memories, weakest first by the preset's curve, each with the time at which it counts as faded.

        `limit`: 1 to 10,000. Reads the state of every current memory.
        """
        return await engine.fading.decay(self._ctx, self._reader(), limit=listed(limit))

    async def fading(self, limit: int = 20, within: timedelta = timedelta(days=30)) -> tuple[DecayForecast, ...]:
        """Current memories that have not faded and will do so `within` this time unless used; soonest first.

        `limit`: 1 to 10,000, `within`: up to a hundred years. Reads the state of every current memory.
        """
        ahead = validation.duration("within", within, timedelta(days=36_500))
        return await engine.fading.fading(self._ctx, self._reader(), limit=listed(limit), within=ahead)

    async def forecasts(self, memories: Iterable[Identifier]) -> tuple[DecayForecast, ...]:
        """The strength of some memories, whatever their status, and when each counts as faded; in the given order.

        Memories that this caller may not see are left out. At most 10,000; reads no others.
        """
        ids = identifiers("memories", memories)
        validation.whole("memories", len(ids), 0, MAX_LISTED)
        return await engine.fading.forecasts(self._ctx, self._reader(), ids)

    async def curve(self, memory_id: Identifier, *, days: float = 180, points: int = 181) -> FadingCurve:
        """One memory's strength over time, by the preset's curve. Raises NotFound.

        At so many `points` (2 to 10,000), evenly spaced from `days` (0.01 to 36,500) ago, or from when the memory's
        state is known, to `days` from now.
        """
        return await engine.fading.fading_curve(
            self._ctx,
            self._reader(),
            validation.identifier("memory_id", memory_id),
            around=timedelta(days=validation.number("days", days, 0.01, 36_500)),
            points=validation.whole("points", points, 2, MAX_LISTED),
        )

    async def search_state(self) -> SearchState:
        """How recall searches now, and why: `vector`, `vector-degraded` (the embedder does not answer) or
        `sparse-only` (there is no embedder).

        Asks the embedder, and takes as long as its answer does.
        """
        return await engine.search_state.search_state(self._ctx)

    async def doctor(self) -> tuple[Finding, ...]:
        """The checks that were made, and what each found."""
        findings = await engine.inspect.doctor(self._ctx, self._reader())
        failing = self._indexer.last_error
        return (*findings, Finding("index sweep", ok=False, detail=failing)) if failing else findings
