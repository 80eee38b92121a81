"""The JSON shapes of Crewship's routes, with the fields that Crewship documents."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, Self

from pydantic import AwareDatetime, Field, JsonValue

from remembrancer.domain.event import Priority, Role, Severity
from remembrancer.interfaces.wire.shape import Wire
from remembrancer.policies.health import Metric, advice, shares, values, why_absent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remembrancer.domain.event import Event
    from remembrancer.domain.health import HealthSnapshot
    from remembrancer.domain.journal import JournalPage, PriorityChange
    from remembrancer.domain.recall import Hit


ActorType = Literal["agent", "user", "system", "keeper", "sidecar", "orchestrator"]


ACTOR_TYPES: Final[Mapping[Role, ActorType]] = {
    Role.USER: "user",
    Role.ASSISTANT: "agent",
    Role.SYSTEM: "system",
    Role.TOOL: "sidecar",
}
"""The actor type of each role. No role corresponds to `keeper` and `orchestrator`."""


class CrewshipEntryOut(Wire):
    """An entry of the journal. `ts`: UTC with milliseconds. `mission_id` is the project, `trace_id` the session.

    `span_id` and `expires_at` are always null: entries have no span and do not expire.
    """

    id: str
    workspace_id: str
    crew_id: str | None
    agent_id: str | None
    mission_id: str | None
    ts: str = Field(pattern=r"^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$")
    entry_type: str
    severity: Severity
    priority: Priority
    actor_type: ActorType
    actor_id: str | None
    summary: str
    payload: dict[str, JsonValue]
    refs: dict[str, JsonValue]
    trace_id: str | None
    span_id: None
    expires_at: None

    @classmethod
    def of(cls, event: Event) -> Self:
        return cls.copied(
            event,
            id=str(event.id),
            workspace_id=event.scope.workspace,
            crew_id=event.scope.crew,
            agent_id=event.scope.agent,
            mission_id=event.scope.project,
            ts=_ts(event.occurred_at),
            entry_type=event.type,
            actor_type=ACTOR_TYPES[event.role],
            actor_id=event.actor,
            summary=event.text,
            trace_id=event.scope.session,
            span_id=None,
            expires_at=None,
        )


class CrewshipJournalOut(Wire):
    """A page. `next_cursor`: present if there are more entries. `count`: the number of entries on the page."""

    entries: list[CrewshipEntryOut]
    next_cursor: str | None = None
    count: int

    @classmethod
    def of(cls, page: JournalPage) -> Self:
        entries = [CrewshipEntryOut.of(event) for event in page.events]
        if page.next is None:
            return cls(entries=entries, count=len(entries))
        return cls(entries=entries, count=len(entries), next_cursor=page.next)


class CrewshipCountOut(Wire):
    """The number of entries."""

    total: int


class CrewshipPriorityOut(Wire):
    id: str
    priority: Priority
    previous: Priority
    reason: str

    @classmethod
    def of(cls, change: PriorityChange) -> Self:
        return cls.copied(change, id=str(change.event_id))


class CrewshipMetricsOut(Wire):
    """The health metrics, each from 0 to 100; null if there was nothing to measure."""

    freshness: float | None
    coverage: float | None
    coherence: float | None
    efficiency: float | None
    reachability: float | None


class CrewshipHealthDetailsOut(Wire):
    """Explanations of a health score. `weights`: the weight of each metric in `overall`. `absent`: why a metric has no
    value. `advice`: how to improve the weakest metric. `reason`: why there is no snapshot.
    """

    snapshot_date: str | None
    weights: dict[Metric, float]
    absent: dict[Metric, str]
    advice: str
    reason: str


class CrewshipHealthOut(Wire):
    """The latest snapshot of the workspace, or of a crew. `computed_at` and `overall` are null if there is no snapshot;
    `overall` is also null if no metric could be measured.
    """

    workspace_id: str
    crew_id: str | None
    computed_at: AwareDatetime | None
    overall: float | None
    metrics: CrewshipMetricsOut
    details: CrewshipHealthDetailsOut

    @classmethod
    def of(cls, workspace: str, crew: str | None, snapshot: HealthSnapshot | None) -> Self:
        if snapshot is None:
            measured: dict[Metric, float | None] = dict.fromkeys(Metric)
            reason = "no snapshot has been taken yet: `remembrancer maintain` does, and so does a worker, once a day"
            details = CrewshipHealthDetailsOut(snapshot_date=None, weights={}, absent={}, advice="", reason=reason)
        else:
            metrics, measured = snapshot.metrics, dict(values(snapshot.metrics))
            details = CrewshipHealthDetailsOut(
                snapshot_date=snapshot.day.isoformat(),
                weights=shares(metrics),
                absent={metric: why for metric in Metric if (why := why_absent(metrics, metric))},
                advice=advice(metrics),
                reason="",
            )
        return cls(
            workspace_id=workspace,
            crew_id=crew,
            computed_at=None if snapshot is None else snapshot.taken_at,
            overall=None if snapshot is None else snapshot.score,
            metrics=CrewshipMetricsOut(**{metric.value: value for metric, value in measured.items()}),
            details=details,
        )


class CrewshipConsolidationOut(Wire):
    """The answer to a request to consolidate. `triggered`: the consolidation has started, and the journal reports its
    result under `worker_id` (`csd_` and 16 hexadecimal digits). Otherwise `note` says why it has not.
    """

    accepted: bool
    triggered: bool
    worker_id: str | None = None
    note: str | None = None


class CrewshipEpisodeOut(Wire):
    """An entry of the journal, or the memory formed from it. `score`: the cosine similarity, from 0 to 1; 0 if the
    entry or the question has no vector. `age` in seconds.
    """

    entry_id: str
    score: float
    age: float
    summary: str
    entry_type: str
    agent_id: str | None
    payload: dict[str, JsonValue]


class CrewshipNoteOut(Wire):
    """A memory that was written by hand or read from a file. `path`: its source, if known."""

    id: str
    path: str | None
    content: str


class CrewshipHitOut(Wire):
    """A hit. `source`: which of `fts` and `episodic` is present."""

    source: Literal["fts", "episodic"]
    score: float
    fts: CrewshipNoteOut | None = None
    episodic: CrewshipEpisodeOut | None = None

    @classmethod
    def of(cls, hit: Hit, event: Event | None) -> Self:
        memory = hit.memory
        if event is None:
            note = CrewshipNoteOut(id=str(memory.id), path=memory.source, content=memory.text)
            return cls(source="fts", score=hit.score, fts=note)
        episode = CrewshipEpisodeOut(
            entry_id=str(event.id),
            score=max(0.0, hit.explanation.signals.get("similarity") or 0.0),
            age=hit.age.total_seconds(),
            summary=memory.text,
            entry_type=event.type,
            agent_id=event.scope.agent,
            payload=dict(event.payload),
        )
        return cls(source="episodic", score=hit.score, episodic=episode)


class CrewshipHybridOut(Wire):
    query: str
    count: int
    hits: list[CrewshipHitOut]

    @classmethod
    def of(cls, query: str, hits: Iterable[CrewshipHitOut]) -> Self:
        found = list(hits)
        return cls(query=query, count=len(found), hits=found)


def _ts(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
