"""An example of each response shape, for the OpenAPI document. They are made from domain values, so they are valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from remembrancer.domain.api_key import Right
from remembrancer.domain.audit import AuditCheck, AuditEntry, AuditHead
from remembrancer.domain.erasure import Erasure, ErasureSelection, UnreachedPlace
from remembrancer.domain.event import Event, Origin, Priority, Role, Severity
from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.job import Job, Run
from remembrancer.domain.journal import JournalPage, ListingPosition, PriorityChange
from remembrancer.domain.listing import MemoryPage, MemoryPlace
from remembrancer.domain.memory import Cue, Memory, Revision, Tier
from remembrancer.domain.outcome import Credit, CreditBasis, TaskOutcome, TaskResult
from remembrancer.domain.query import QuestionKind
from remembrancer.domain.recall import Shortfall, Stage
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.retention import LegalHold, RetentionRule
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.domain.spending import Spent
from remembrancer.domain.strength import Strength, Usage
from remembrancer.domain.vector_space import SpaceRole
from remembrancer.engine.audit import AuditPage
from remembrancer.engine.fading import DecayForecast, FadingCurve
from remembrancer.engine.inspect import MemoryDetails, WhyNot
from remembrancer.engine.promote import Candidate
from remembrancer.engine.retain import DueRows
from remembrancer.engine.search_state import SearchMode
from remembrancer.interfaces.wire import comparison, crewship, journal, memories, plastmem
from remembrancer.interfaces.wire.audit import AuditCheckOut, AuditEntryOut, AuditHeadOut, AuditOut
from remembrancer.interfaces.wire.embedder import EmbedderOut, VectorSpaceOut
from remembrancer.interfaces.wire.erasures import ErasureOut, ErasuresOut
from remembrancer.interfaces.wire.files import ImportedOut, VaultFindingOut, VaultOut
from remembrancer.interfaces.wire.jobs import DoneOut, JobReportOut, JobsOut, MaintenanceOut, PromotableOut, SpendingOut
from remembrancer.interfaces.wire.keys import KeyOut, KeysOut, NewKeyOut
from remembrancer.interfaces.wire.recall import ExplanationOut, HitOut, PartOut, WhyNotOut
from remembrancer.interfaces.wire.recall_fields import HitFieldsOut, RecallFieldsOut
from remembrancer.interfaces.wire.retention import HoldOut, HoldsOut, RuleOut, RulesOut
from remembrancer.interfaces.wire.shape import AgeOut, Wire
from remembrancer.interfaces.wire.state import (
    AliveOut,
    DoctorOut,
    FindingOut,
    HealthOut,
    MemoryHealthOut,
    ReadyOut,
    StatsOut,
)
from remembrancer.jobs.overview import JobState
from remembrancer.policies.health import score
from remembrancer.ports.inspection import Stats
from remembrancer.ports.memories import Audited

_AT: Final = datetime(2026, 3, 4, 9, 12, 30, tzinfo=UTC)
_LATER: Final = _AT + timedelta(days=2)
_SCOPE: Final = Scope(workspace="acme", crew="platform", agent="coder", session="monday")
_EVENT: Final = Event(
    id=UUID("01981c0d-3b1e-7c55-a2f0-6d5c4b3a2918"),
    scope=_SCOPE,
    seq=12,
    occurred_at=_AT,
    recorded_at=_AT,
    type="mission.status_change",
    severity=Severity.ERROR,
    priority=Priority.PIN,
    actor="ci",
    role=Role.TOOL,
    text="Deploy of checkout failed: OOM in the payment worker",
    payload={"mission": "checkout", "exit_code": 137},
    refs={"run": "4711"},
    key="ci-4711",
    origin=Origin.TOOL,
)
_CHANGE: Final = PriorityChange(
    event_id=_EVENT.id,
    previous=Priority.NORMAL,
    priority=Priority.PIN,
    by="LEAD ana",
    reason="the contract hangs on it",
    at=_LATER,
)
_MEMORY: Final = Memory(
    id=UUID("01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"),
    scope=_SCOPE,
    visibility=Visibility.WORKSPACE,
    tier=Tier.SEMANTIC,
    kind="decision",
    title=None,
    text="Checkout needs 2 GiB in production",
    source="runbook.md",
    origin=Origin.USER,
    occurred_from=_AT,
    occurred_to=_AT,
    recorded_at=_AT,
    topic_key="checkout-memory",
    revision=2,
    tags=("checkout",),
    metadata={"ticket": "OPS-4711"},
    strength=Strength(
        importance=0.9, confidence=0.6, usage=Usage(retrieved=3, shown=2, helped=1, last_shown_at=_LATER)
    ),
)
_CREDIT: Final = Credit(
    memory_id=_MEMORY.id,
    outcome_id=UUID("01981d33-0b1e-7c44-9a5e-1f2e3d4c5b6a"),
    at=_LATER,
    result=TaskResult.SUCCESS,
    basis=CreditBasis.NAMED,
    share=0.5,
    scope=_MEMORY.scope,
    task="raise the memory limit of checkout",
    worked=0.5,
    confidence_before=0.55,
    confidence=0.6,
    stability_before=2.3065,
    stability=2.3065,
)
_OTHER: Final = replace(
    _MEMORY,
    id=UUID("01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a"),
    text="The payment worker loads the whole price list",
    topic_key=None,
    revision=1,
    occurred_from=_AT - timedelta(days=1),
    occurred_to=_AT - timedelta(days=1),
)
_CUE: Final = Cue(memory_id=_MEMORY.id, ordinal=0, text=_MEMORY.text, heading="Wednesday 4 March 2026")
_RELATION: Final = Relation(_OTHER.id, _MEMORY.id, RelationKind.SUPPORTS, 0.8, _LATER)
_PARTS: Final = PartOut(
    label="sum",
    value=0.74,
    contribution=0.74,
    multiplied=False,
    parts=[
        PartOut(label="lexical", value=0.92, contribution=0.46, multiplied=False, parts=[]),
        PartOut(label="similarity", value=0.56, contribution=0.28, multiplied=False, parts=[]),
    ],
)
_QUESTION: Final = "why did checkout run out of memory?"
_HIT: Final = HitOut(
    rank=1,
    score=0.74,
    age=AgeOut.of(_LATER - _AT),
    memory=memories.MemoryOut.of(_MEMORY),
    cue=memories.CueOut.of(_CUE),
    turns=[],
    via=None,
    journal_only=False,
    replies_to=None,
    newer=None,
    probability=0.91,
    explanation=ExplanationOut(
        reason="the word 'checkout'; close in meaning",
        groups={"meaning": 0.28, "words": 0.46},
        parts=_PARTS,
        signals={"lexical": 0.92, "similarity": 0.56},
        ranks={"lexical": 1, "dense": 2},
        matched=["checkout"],
    ),
)
_FORECAST: Final = DecayForecast(memory=_MEMORY, strength=0.81, below=0.3, falls_at=_LATER + timedelta(days=40))
_HEAD: Final = AuditHead(1_204, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
_AUDITED: Final = AuditEntry(
    seq=1_204,
    at=_LATER,
    principal="key:01981c10-4c1d-7e2a-b1c0-9a8b7c6d5e4f",
    door="http",
    verb="forget",
    names={"agent": "coder", "session": None},
    ids={"memories": (_MEMORY.id,)},
    counts={},
    model=None,
    hash=_HEAD.hash,
)
_KEY: Final = KeyOut(
    id=UUID("01981c10-4c1d-7e2a-b1c0-9a8b7c6d5e4f"),
    workspace="acme",
    name="ci",
    right=Right.WRITE,
    usable=True,
    created_at=_AT,
    expires_at=_AT + timedelta(days=90),
    revoked_at=None,
    project=None,
    crew=None,
    agent="coder",
    session=None,
    role=None,
)
_METRICS: Final = Metrics(freshness=88.0, coverage=100.0, coherence=61.5, efficiency=None, reachability=34.0)
_HEALTH: Final = HealthOut.of(
    HealthSnapshot(crew=None, day=_LATER.date(), taken_at=_LATER, metrics=_METRICS, score=score(_METRICS))
)
_MERGED: Final = JobReportOut(
    done=1, failed=0, left=0, reason="", details={"merged": [str(_MEMORY.id)], "left": 0, "dry_run": False}
)
_ERASURE: Final = Erasure(
    id=UUID("01981c11-0f3d-7b6c-8e5a-1c2d3e4f5a6b"),
    at=_LATER,
    by="AGENT",
    asked=ErasureSelection(ids=frozenset({_MEMORY.id})),
    counts={"memories": 2, "events": 1, "cues": 3},
    memories=(_MEMORY.id,),
    derived=(_OTHER.id,),
    events=(_EVENT.id,),
    left=(
        UnreachedPlace(
            what="backups",
            why="copies made before are files of their own",
            do="delete those that are older than this receipt",
        ),
    ),
    purged_at=_LATER,
)
_RULE: Final = RetentionRule(
    id=UUID("01981c12-2a4e-7c7d-9f6b-2d3e4f5a6b7c"),
    kind="message",
    origin=Origin.WEB,
    after=timedelta(days=30),
    by="LEAD",
    created_at=_LATER,
)
_HOLD: Final = LegalHold(
    id=UUID("01981c13-3b5f-7d8e-a07c-3e4f5a6b7c8d"),
    session="support-4711",
    reason="case 12/2026",
    by="LEAD",
    placed_at=_LATER,
)
_ENTRY: Final = replace(
    _EVENT,
    scope=Scope(workspace="acme", project="checkout", crew="platform", agent="coder", session="run-17"),
    type="peer.escalation",
    priority=Priority.HIGH,
    actor="Ana",
    role=Role.ASSISTANT,
    text="Checkout ran out of memory during the deploy",
    payload={"state": "pending"},
    refs={},
    key=None,
    origin=Origin.ASSISTANT,
)
_PRIORITY: Final = replace(_CHANGE, priority=Priority.HIGH, by="LEAD", reason="post-mortem", at=_AT)
_CREW_METRICS: Final = replace(_METRICS, freshness=92.0, reachability=40.0)
_CONVERSATION: Final = "11111111-2222-4333-8444-555555555555"
_EPISODE: Final = plastmem.PlastmemEpisodeOut(
    id=UUID("01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"),
    conversation_id=_CONVERSATION,
    messages=[
        plastmem.PlastmemMessageOut(role="user", content="I moved to Lisbon last week", timestamp=1_772_615_550_000)
    ],
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
_FACT: Final = plastmem.PlastmemFactOut(
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
_CREWSHIP_HIT: Final = crewship.CrewshipHitOut(
    source="episodic",
    score=0.93,
    episodic=crewship.CrewshipEpisodeOut(
        entry_id=str(_ENTRY.id),
        score=0.81,
        age=172_800.0,
        summary=_ENTRY.text,
        entry_type=_ENTRY.type,
        agent_id="coder",
        payload={"state": "pending"},
    ),
)


def _place(preset: str, rank: int, returned: bool) -> comparison.PlaceOut:
    return comparison.PlaceOut(
        preset=preset,
        returned=returned,
        rank=rank,
        score=0.74,
        stage=Stage.RETURNED if returned else Stage.LIMIT,
        reason=None if returned else f"ranked {rank}, but the limit is 5",
        leading="words and meaning",
        groups={"meaning": 0.3, "words": 0.44},
        parts=_PARTS,
    )


_SHAPES: Final[tuple[Wire, ...]] = (
    journal.EventsOut.of([_EVENT]),
    journal.JournalPageOut.of(JournalPage(events=(_EVENT,), next=ListingPosition.of(_EVENT).cursor)),
    journal.JournalCountOut(total=1204),
    journal.JournalEntryOut.of(_EVENT, [_CHANGE]),
    journal.PriorityChangeOut.of(_CHANGE),
    memories.MemoryOut.of(_MEMORY),
    memories.MemoriesOut.of([_OTHER, _MEMORY]),
    memories.MemoryPageOut.of(MemoryPage(memories=(_MEMORY, _OTHER), next=MemoryPlace.of(_OTHER).cursor)),
    memories.MemoryDetailsOut.of(
        MemoryDetails(
            memory=_MEMORY,
            cues=(_CUE,),
            events=(_EVENT,),
            revisions=(
                Revision(
                    memory_id=_MEMORY.id,
                    number=1,
                    title=None,
                    text="Checkout needs 1 GiB in production",
                    replaced_at=_LATER,
                ),
            ),
            relations=(_RELATION,),
            audit=(Audited(_MEMORY.id, "superseded", f"by {_OTHER.id}", _LATER),),
            reviews=(),
            credits=(_CREDIT,),
        )
    ),
    memories.FeedbackOut.of(_MEMORY.id, _MEMORY.strength, _MEMORY.status),
    memories.TaskOutcomeOut.of(TaskOutcome(id=_CREDIT.outcome_id, result=_CREDIT.result, credits=(_CREDIT,))),
    memories.RelationOut.of(_RELATION),
    memories.CurveOut.of(
        FadingCurve(
            forecast=_FORECAST, now=_LATER, points=((_AT, 0.9), (_LATER, 0.81), (_LATER + timedelta(days=2), 0.76))
        )
    ),
    WhyNotOut.of(
        WhyNot(
            memory=_OTHER,
            returned=False,
            reason="ranked 7, but the limit is 5 (at most 200)",
            stage=Stage.LIMIT,
            score=0.31,
            rank=7,
            shortfall=Shortfall("score", 0.31, 0.44),
            advice="Ask for 7 answers or more.",
        )
    ),
    RecallFieldsOut(
        query=_QUESTION,
        asked_at=_LATER,
        hits=[HitFieldsOut.model_validate(_HIT.model_dump())],
        pinned=[],
        below_threshold=[],
        degraded={},
        timings_ms={"lexical": 1.8, "dense": 2.4, "rank": 0.9},
        kind=QuestionKind.FACT,
        names=[],
        searched=_QUESTION,
        embedded=_QUESTION,
        terms=["checkout", "run", "memori"],
        legs={"lexical": 14, "dense": 100},
        rendered=None,
        rendered_pinned=None,
    ),
    comparison.ComparisonOut(
        query=_QUESTION,
        asked_at=_LATER,
        answers=[
            comparison.AnswerOut(preset="default", limit=5, hits=[_MEMORY.id], degraded={}),
            comparison.AnswerOut(preset="ours", limit=5, hits=[], degraded={}),
        ],
        memories=[
            comparison.ComparedOut(
                memory=memories.MemoryOut.of(_MEMORY),
                cue=memories.CueOut.of(_CUE),
                places=[_place("default", 1, True), _place("ours", 6, False)],
                why="ours weighs importance, default the words",
            )
        ],
        overlaps=[comparison.OverlapOut(presets=("default", "ours"), share=0.0)],
    ),
    memories.DecayForecastsOut.of([_FORECAST]),
    StatsOut.of(
        Stats(
            events=1204,
            memories={"active": 1180, "retired": 12},
            cues=1310,
            vectors={"local:all-minilm-l6-v2": 1310},
            truncated=0,
            relations=402,
            oldest=_AT,
            newest=_LATER,
            bytes=6_291_456,
        )
    ),
    MemoryHealthOut(crew=None, latest=_HEALTH, history=[_HEALTH]),
    JobsOut.of(
        [
            JobState(
                job=Job.INDEX,
                last=Run(job=Job.INDEX, started_at=_LATER, ended_at=_LATER + timedelta(seconds=2), done=40),
                next_run=_LATER + timedelta(minutes=1),
                backlog=0,
                failures=(),
            )
        ]
    ),
    EmbedderOut(
        answers="all-MiniLM-L6-v2/int8",
        embedder="ollama/embeddinggemma",
        before="all-MiniLM-L6-v2/int8",
        spaces=[
            VectorSpaceOut(
                model="all-MiniLM-L6-v2/int8",
                role=SpaceRole.ANSWERS,
                since=_AT,
                here=True,
                vectors=1310,
                cues=1310,
                bytes=2_620_000,
                rate=0.0,
                seconds_left=None,
            ),
            VectorSpaceOut(
                model="ollama/embeddinggemma",
                role=SpaceRole.BUILDING,
                since=_LATER,
                here=True,
                vectors=640,
                cues=1310,
                bytes=1_966_080,
                rate=26.7,
                seconds_left=25.0,
            ),
        ],
        advice="670 texts need a vector of ollama/embeddinggemma: an open memory makes them in the background,"
        " `remembrancer embedder change` at once.",
    ),
    SpendingOut.of(
        [
            Spent(
                purpose="facts",
                model="openai:gpt-5-mini",
                calls=12,
                failed=1,
                requests=13,
                input_tokens=20_480,
                output_tokens=2_048,
                cost=0.0093,
                unpriced=0,
            )
        ],
        _AT,
    ),
    comparison.PresetsOut(
        presets=[
            comparison.PresetLineOut(
                name="default", description="Finds what answers, by words and meaning.", in_use=True
            )
        ]
    ),
    comparison.PresetOut(
        in_use=True,
        choices={"description": "Finds what answers, by words and meaning.", "limits": {"usual": 5, "most": 200}},
        signals={"similarity": "the cosine of the question and the memory's best cue"},
    ),
    DoctorOut(
        ok=True,
        findings=[
            FindingOut(check="file", ok=True, warning=False, detail="no damage: 1,204 pages were read", repair=None)
        ],
    ),
    ImportedOut(rows=4021, new=12, dry_run=False),
    VaultOut(
        vault="acme",
        dry_run=False,
        files=3,
        read=1,
        entries=41,
        chunks=0,
        added=2,
        changed=0,
        retired=0,
        restored=0,
        written=1,
        waiting=0,
        findings=[VaultFindingOut(path="tasks/deploy.md", line=7, message="importance: 7 is not in [0, 1]")],
        conflicts=[],
        left=[],
        index=None,
    ),
    DoneOut(details={"session": "monday", "segmented": None}),
    MaintenanceOut(jobs={"compact": _MERGED}),
    PromotableOut.of([Candidate(memory=_MEMORY, jobs=3, similar=(_OTHER.id,))]),
    ErasureOut.of(_ERASURE),
    ErasuresOut.of([_ERASURE]),
    RuleOut.of(_RULE),
    RulesOut.of([DueRows(rule=_RULE, memories=12, events=40, held=2)]),
    HoldOut.of(_HOLD),
    HoldsOut.of([_HOLD]),
    _KEY,
    KeysOut(keys=[_KEY]),
    AuditOut.of(AuditPage((_AUDITED,), None)),
    AuditEntryOut.of(_AUDITED),
    AuditHeadOut(head=str(_HEAD)),
    AuditCheckOut.of(AuditCheck(entries=1204, head=_HEAD, names=7, erased=2)),
    NewKeyOut(key=_KEY, token=f"rem_{'x' * 43}"),
    AliveOut(status="ok", version="1.0.0", episodic=SearchMode.VECTOR, degraded={}),
    ReadyOut(status="ready", reasons=[]),
    crewship.CrewshipEntryOut.of(_ENTRY),
    crewship.CrewshipJournalOut.of(JournalPage(events=(_ENTRY,), next=ListingPosition.of(_ENTRY).cursor)),
    crewship.CrewshipCountOut(total=1_204),
    crewship.CrewshipPriorityOut.of(_PRIORITY),
    crewship.CrewshipHealthOut.of(
        "acme",
        "platform",
        HealthSnapshot(
            crew="platform", day=_AT.date(), taken_at=_AT, metrics=_CREW_METRICS, score=score(_CREW_METRICS)
        ),
    ),
    crewship.CrewshipConsolidationOut(accepted=True, triggered=True, worker_id="csd_9f1c2a7b30d4e586"),
    _CREWSHIP_HIT,
    crewship.CrewshipHybridOut.of("OOM in checkout", [_CREWSHIP_HIT]),
    plastmem.PlastmemAcceptedOut(accepted=True),
    _EPISODE,
    _FACT,
    plastmem.PlastmemRetrievedOut(semantic=[_FACT], episodic=[_EPISODE]),
)
EXAMPLES: Final[Mapping[str, dict[str, Any]]] = {
    type(shape).__name__: shape.model_dump(mode="json", exclude_unset=True) for shape in _SHAPES
}
"""The examples by the name of their shape."""
