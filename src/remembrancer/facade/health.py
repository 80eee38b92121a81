"""`rem.health`: health snapshots, row counts, forecasts of fading, and checks of the store."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.domain.health import HealthSnapshot
from remembrancer.facade.view import MAX_LISTED, Identifier, View, listed
from remembrancer.ports.inspection import Finding, Stats

if TYPE_CHECKING:
    from remembrancer.engine.fading import DecayForecast, FadingCurve
    from remembrancer.engine.search_state import SearchState


class AsyncHealthApi(View):
    """Health of the store. Its methods write nothing; `rem.maintain` takes the snapshots."""

    async def latest(self, crew: str | None = None) -> HealthSnapshot | None:
        """The latest health snapshot of the workspace, or of a crew; None before the first one."""
        return await engine.health.latest(self._ctx, self._scope, validation.optional_name("crew", crew))

    async def history(self, crew: str | None = None, limit: int = 30) -> tuple[HealthSnapshot, ...]:
        """The health snapshots of the workspace, or of a crew, newest first; at most one a day. `limit`:
        1 to 10,000.
        """
        named = validation.optional_name("crew", crew)
        return await engine.health.history(self._ctx, self._scope, named, limit=listed(limit))

    async def stats(self) -> Stats:
        """Counts of the rows that the caller may see."""
        return await engine.inspect.stats(self._ctx, self._reader())

    async def decay(self, limit: int = 20) -> tuple[DecayForecast, ...]:
        """Current memories that are not pinned, weakest first by the preset's forgetting curve, each with the time at
        which it counts as faded.

        `limit`: 1 to 10,000. Reads the state of every current memory.
        """
        return await engine.fading.decay(self._ctx, self._reader(), limit=listed(limit))

    async def fading(self, limit: int = 20, within: timedelta = timedelta(days=30)) -> tuple[DecayForecast, ...]:
        """Current memories that will fade `within` this time if they are not used; soonest first.

        `limit`: 1 to 10,000; `within`: up to a hundred years. Reads the state of every current memory.
        """
        ahead = validation.duration("within", within, timedelta(days=36_500))
        return await engine.fading.fading(self._ctx, self._reader(), limit=listed(limit), within=ahead)

    async def forecasts(self, memories: Iterable[Identifier]) -> tuple[DecayForecast, ...]:
        """The strength of the given memories, whatever their status, and when each counts as faded; in the given order.

        Memories that the caller may not see are left out. At most 10,000.
        """
        ids = await self._all_identified("memories", memories)
        validation.whole("memories", len(ids), 0, MAX_LISTED)
        return await engine.fading.forecasts(self._ctx, self._reader(), ids)

    async def curve(self, memory_id: Identifier, *, days: float = 180, points: int = 181) -> FadingCurve:
        """One memory's strength over time, by the preset's forgetting curve. Raises NotFound.

        Returns `points` (2 to 10,000) evenly spaced values, from `days` (0.01 to 36,500) ago to `days` from now; it
        begins later if the memory's earlier state is not known.
        """
        return await engine.fading.fading_curve(
            self._ctx,
            self._reader(),
            await self._identified("memory_id", memory_id),
            around=timedelta(days=validation.number("days", days, 0.01, 36_500)),
            points=validation.whole("points", points, 2, MAX_LISTED),
        )

    async def search_state(self) -> SearchState:
        """The present search mode of recall: `vector`, `vector-degraded` (the embedder does not answer) or
        `sparse-only` (no embedder), with the reason.

        Calls the embedder and waits for its answer.
        """
        return await engine.search_state.search_state(await engine.context.answering(self._ctx, self._scope))

    async def doctor(self, *, mend: bool = False) -> tuple[Finding, ...]:
        """Check the store, the index, the embedder and the models. Returns the result of each check.

        An index outside of the database, as in Qdrant, is compared with the records point by point. `mend`: write the
        points that it lacks or has wrong, and delete those that are left over.
        """
        findings = await engine.inspect.doctor(self._ctx, self._reader(), mend=mend)
        failing = self._indexer.last_error
        return (*findings, Finding("index sweep", ok=False, detail=failing)) if failing else findings
