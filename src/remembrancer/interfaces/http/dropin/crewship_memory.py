"""Crewship's memory routes: health, search, and learning rules on request."""

from __future__ import annotations

import asyncio
import re
import secrets
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Final, Literal

from fastapi import Depends, Query, Request
from pydantic import Field

from remembrancer.domain import validation
from remembrancer.domain.event import Event, Severity
from remembrancer.domain.recall import Hit
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.consolidate import Consolidation
from remembrancer.errors import InvalidInput, NotFound, RemembrancerError
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.access import ReadableMemory, WritableMemory
from remembrancer.interfaces.http.background import Background
from remembrancer.interfaces.http.dropin.router import ForeignBody, foreign_router, in_its_words
from remembrancer.interfaces.http.v1 import MISSING
from remembrancer.interfaces.wire import crewship
from remembrancer.values import dataclass

LONGEST_BACK: Final = timedelta(days=36_500)
ALLOWED: Final = "a length of time such as 24h, 1h30m, 7d or 2w, of more than 0 and at most 100 years"

_SECONDS: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3_600.0,
    "d": 86_400.0,
    "w": 604_800.0,
}
_PART: Final = re.compile(r"([0-9]{1,18}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})(ns|us|µs|ms|s|m|h|d|w)")
_WHOLE: Final = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(argument: str, value: str) -> timedelta:
    """The duration that `value` denotes. Raises InvalidInput.

    >>> parse_duration("since", "1d12h30m").total_seconds() / 3600
    36.5
    """
    seconds = 0.0
    if len(value) <= 100 and _WHOLE.fullmatch(value):
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(value))
    if not 0 < seconds <= LONGEST_BACK.total_seconds():
        raise InvalidInput(argument, value, ALLOWED)
    return timedelta(seconds=seconds)


TRIGGERED: Final = "system.consolidation_triggered"
COMPLETED: Final = "system.consolidation_completed"
LONGEST: Final = timedelta(minutes=10)
"""The time limit of a consolidation."""
HYBRID: Final = "hybrid"

router = foreign_router("Crewship")


def background(request: Request) -> Background:
    return request.app.state.background


class HybridIn(ForeignBody):
    """A question about the journal and the memories."""

    query: Annotated[str, Field(examples=["OOM in checkout"])]
    limit: Annotated[int, Field(strict=True, ge=1, le=50)] = 10
    scope: Literal["", "own", "crew_shared"] = ""
    crew_id: str | None = None


class CrewshipConsolidateIn(ForeignBody):
    """A request to consolidate. `since`: how far to look back, as a duration in Go's notation, also with days and
    weeks.
    """

    crew_id: str | None = None
    since: Annotated[str, Field(examples=["24h", "1h30m", "7d"])] = "24h"


@router.get("/api/v1/memory/health", summary="Read the memory's health")
async def health(
    memory: ReadableMemory,
    crew_id: Annotated[str | None, Query(description="The crew. Default: the whole workspace.")] = None,
) -> crewship.CrewshipHealthOut:
    """The latest daily snapshot. Nothing is measured by this request."""
    crew = validation.optional_name("crew_id", crew_id or None)
    return crewship.CrewshipHealthOut.of(memory.scope.workspace, crew, await memory.health.latest(crew))


@router.post(
    "/api/v1/memory/search/hybrid", summary="Search by meaning and by words", response_model_exclude_unset=True
)
async def hybrid(memory: ReadableMemory, body: HybridIn) -> crewship.CrewshipHybridOut:
    """The memories that answer, best first: those formed from the journal (`episodic`), and others (`fts`)."""
    crew = validation.optional_name("crew_id", body.crew_id or None)
    of_crew = memory if crew is None else memory.scoped(crew=crew)
    with in_its_words({"reach": "scope"}):
        found = await of_crew.recall(
            body.query,
            limit=body.limit,
            reach=body.scope or None,
            ranking=HYBRID if HYBRID in memory.presets.in_use.rankings else None,
        )
    hits = [crewship.CrewshipHitOut.of(hit, await _entry(of_crew, hit)) for hit in found]
    return crewship.CrewshipHybridOut.of(body.query, hits)


@router.post(
    "/api/v1/consolidate/run",
    status_code=HTTPStatus.ACCEPTED,
    summary="Consolidate memories",
    response_model_exclude_unset=True,
    responses=MISSING,
)
async def consolidate(
    memory: WritableMemory,
    working: Annotated[Background, Depends(background)],
    body: CrewshipConsolidateIn | None = None,
) -> crewship.CrewshipConsolidationOut:
    """Learn rules from recent events, in the background, for at most ten minutes.

    The journal records the start and the result (`system.consolidation_triggered`, `system.consolidation_completed`).
    Only one can run in a workspace at a time (409).
    """
    asked = body or CrewshipConsolidateIn()
    crew = validation.optional_name("crew_id", asked.crew_id or None)
    since = memory.now - parse_duration("since", asked.since)
    if (
        crew is not None
        and crew not in await memory.context.store.crews(memory.scope)
        and not await memory.journal.count(crew=crew)
    ):
        raise NotFound("crew", crew)
    name = f"consolidation of {memory.scope.workspace}"
    working.refuse_second(name)
    run = _Run(memory, f"csd_{secrets.token_hex(8)}", crew, since)
    idle = run.why_not()
    if idle:
        await run.log_begin()
        await run.log_end("skipped-no-summarizer", {"reason": idle})
        return crewship.CrewshipConsolidationOut(accepted=True, triggered=False, note=idle)
    # Started before its beginning is logged, so that no second one can start meanwhile.
    working.begin(name, run.whole())
    return crewship.CrewshipConsolidationOut(accepted=True, triggered=True, worker_id=run.worker_id)


@dataclass(frozen=True, slots=True)
class _Run:
    """One consolidation on request. `crew` None: of the whole workspace."""

    memory: AsyncRemembrancer
    worker_id: str
    crew: str | None
    since: datetime

    def why_not(self) -> str:
        """Why there is nothing to do; empty if there is."""
        preset = self.memory.presets.in_use
        of_all = (preset.facts, preset.clusters, preset.compaction) if self.crew is None else ()
        if preset.rules is None and not any(of_all):
            return f"preset {preset.name} has no consolidation" + (" of one crew alone" if self.crew else "")
        alone = () if self.crew is not None else (preset.clusters, preset.compaction)
        if self.memory.context.llm is None and not any(alone):
            return "no summarizer: no language model is set (llm)"
        return ""

    async def whole(self) -> None:
        await self.log_begin()
        try:
            async with asyncio.timeout(LONGEST.total_seconds()):
                report = await self.memory.consolidate(self.since, crew=self.crew)
        except TimeoutError:
            await self.log_end("timed-out", {"reason": f"not done after {LONGEST}"})
        except RemembrancerError as error:
            await self.log_end("enumerate-failed", {"reason": str(error)})
        except asyncio.CancelledError:
            await self.log_end("interrupted", {"reason": "the server was stopped"})
            raise
        else:
            await self.log_end(*_outcome(report))

    async def log_begin(self) -> None:
        await self._view.journal.log(
            TRIGGERED,
            "A consolidation was requested.",
            payload={"worker_id": self.worker_id, "crew_id": self.crew, "since": self.since.isoformat()},
        )

    async def log_end(self, status: str, details: dict[str, JsonValue]) -> None:
        await self._view.journal.log(
            COMPLETED,
            f"A consolidation ended: {status}.",
            severity=Severity.INFO if status == "ok" else Severity.WARN,
            payload={"worker_id": self.worker_id, "crew_id": self.crew, "status": status, **details},
        )

    @property
    def _view(self) -> AsyncRemembrancer:
        return self.memory if self.crew is None else self.memory.scoped(crew=self.crew)


def _outcome(report: Consolidation) -> tuple[str, dict[str, JsonValue]]:
    """The status, and the counts of each kind of work."""
    details: dict[str, JsonValue] = {}
    if report.rules is not None:
        rules: list[JsonValue] = [str(one) for one in report.rules.learned]
        details |= {"rules_count": len(rules), "rules": rules, "entries_scanned": report.rules.entries}
    parts = (report.rules, report.facts, report.clusters, report.compaction)
    reasons = [report.reason, *(part.reason for part in parts if part is not None)]
    failed = any(part.failed for part in parts[:3] if part is not None)
    reason = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
    if reason:
        details["reason"] = reason
    return ("failed" if failed else "ok"), details


async def _entry(memory: AsyncRemembrancer, hit: Hit) -> Event | None:
    """The entry from which a hit was formed, and the best matching one if there are several. None if there is none, or
    the caller may not read it.
    """
    ids = [cue.event_id for cue in (hit.cue, *hit.turns) if cue.event_id is not None]
    try:
        return await memory.journal.get(ids[0]) if ids else None
    except NotFound:
        return None
