"""Examples of the responses of the drop-in routes and the probes, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from remembrancer.domain.event import Event, Origin, Priority, Role, Severity
from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.journal import JournalPage, ListingPosition, PriorityChange
from remembrancer.domain.scope import Scope
from remembrancer.engine.search_state import SearchMode
from remembrancer.interfaces.wire.crewship import (
    CrewshipConsolidationOut,
    CrewshipCountOut,
    CrewshipEntryOut,
    CrewshipEpisodeOut,
    CrewshipHealthOut,
    CrewshipHitOut,
    CrewshipHybridOut,
    CrewshipJournalOut,
    CrewshipPriorityOut,
)
from remembrancer.interfaces.wire.plastmem import (
    PlastmemAcceptedOut,
    PlastmemEpisodeOut,
    PlastmemFactOut,
    PlastmemMessageOut,
    PlastmemRetrievedOut,
)
from remembrancer.interfaces.wire.probes import AliveOut, ReadyOut
from remembrancer.interfaces.wire.shape import Wire
from remembrancer.policies.health import score

_AT: Final = datetime(2026, 3, 4, 9, 12, 30, tzinfo=UTC)
_EVENT: Final = Event(
    id=UUID("01981c0d-3b1e-7c55-a2f0-6d5c4b3a2918"),
    scope=Scope(workspace="acme", project="checkout", crew="platform", agent="coder", session="run-17"),
    seq=12,
    occurred_at=_AT,
    recorded_at=_AT,
    type="peer.escalation",
    severity=Severity.ERROR,
    priority=Priority.HIGH,
    actor="Ana",
    role=Role.ASSISTANT,
    text="Checkout ran out of memory during the deploy",
    payload={"state": "pending"},
    refs={},
    key=None,
    origin=Origin.ASSISTANT,
)
_METRICS: Final = Metrics(freshness=92.0, coverage=100.0, coherence=61.5, efficiency=None, reachability=40.0)
_CONVERSATION: Final = "11111111-2222-4333-8444-555555555555"
_EPISODE: Final = PlastmemEpisodeOut(
    id=UUID("01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"),
    conversation_id=_CONVERSATION,
    messages=[PlastmemMessageOut(role="user", content="I moved to Lisbon last week", timestamp=1_772_615_550_000)],
    title="The user has moved to Lisbon",
    summary="The user tells that they moved to Lisbon the week before.",
    stability=2.998,
    difficulty=2.118,
    surprise=0.6,
    start_at=_AT,
    end_at=_AT + timedelta(minutes=4),
    created_at=_AT + timedelta(hours=2),
    last_reviewed_at=_AT + timedelta(hours=2),
    consolidated_at=None,
    score=0.71,
)
_FACT: Final = PlastmemFactOut(
    id=UUID("01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a"),
    conversation_id=_CONVERSATION,
    category="identity",
    fact="The user lives in Lisbon",
    keywords=[],
    source_episodic_ids=[_EPISODE.id],
    valid_at=_AT + timedelta(minutes=4),
    invalid_at=None,
    score=0.83,
)
_HIT: Final = CrewshipHitOut(
    source="episodic",
    score=0.93,
    episodic=CrewshipEpisodeOut(
        entry_id=str(_EVENT.id),
        score=0.81,
        age=172_800.0,
        summary=_EVENT.text,
        entry_type=_EVENT.type,
        agent_id="coder",
        payload={"state": "pending"},
    ),
)
_SHOWN: Final[tuple[Wire, ...]] = (
    AliveOut(status="ok", version="1.0.0", episodic=SearchMode.VECTOR, degraded={}),
    ReadyOut(status="ready", reasons=[]),
    CrewshipEntryOut.of(_EVENT),
    CrewshipJournalOut.of(JournalPage(events=(_EVENT,), next=ListingPosition.of(_EVENT).cursor)),
    CrewshipCountOut(total=1_204),
    CrewshipPriorityOut.of(
        PriorityChange(
            event_id=_EVENT.id,
            previous=Priority.NORMAL,
            priority=Priority.HIGH,
            by="LEAD",
            reason="post-mortem",
            at=_AT,
        )
    ),
    CrewshipHealthOut.of(
        "acme",
        "platform",
        HealthSnapshot(crew="platform", day=_AT.date(), taken_at=_AT, metrics=_METRICS, score=score(_METRICS)),
    ),
    CrewshipConsolidationOut(accepted=True, triggered=True, worker_id="csd_9f1c2a7b30d4e586"),
    _HIT,
    CrewshipHybridOut.of("OOM in checkout", [_HIT]),
    PlastmemAcceptedOut(accepted=True),
    _EPISODE,
    _FACT,
    PlastmemRetrievedOut(semantic=[_FACT], episodic=[_EPISODE]),
)

FOREIGN_EXAMPLES: Final[Mapping[str, Any]] = {
    type(one).__name__: one.model_dump(mode="json", exclude_unset=True) for one in _SHOWN
}
"""By the name of the shape."""
