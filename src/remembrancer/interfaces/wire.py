"""The JSON shapes of everything that is told to the outside, each once: what the command line prints with `--json`.

Times are ISO 8601 in UTC, ids are text, ages are seconds beside words. A shape is made from its domain value by `of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue

from remembrancer.domain.event import Origin, Priority, Role, Severity
from remembrancer.domain.memory import Status, Tier
from remembrancer.domain.recall import Stage
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.scope import Visibility
from remembrancer.policies.health import Band, Metric, advice, band, shares, values, weakest, why_absent
from remembrancer.policies.ranking.scoring import signal_names
from remembrancer.policies.ranking.signals import MEANINGS
from remembrancer.policies.rendering.ages import spoken_age
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.text import table_of

if TYPE_CHECKING:
    from remembrancer.domain.event import Event
    from remembrancer.domain.health import HealthSnapshot
    from remembrancer.domain.memory import Cue, Memory, Revision
    from remembrancer.domain.recall import Explanation, Hit, Part, Recall
    from remembrancer.domain.relation import Relation
    from remembrancer.domain.review import Review
    from remembrancer.domain.scope import Scope
    from remembrancer.domain.strength import Strength, Usage
    from remembrancer.engine.compare import Comparison, Place
    from remembrancer.engine.exchange import Imported
    from remembrancer.engine.fading import FadingCurve, Outlook
    from remembrancer.engine.inspect import Dossier, WhyNot
    from remembrancer.engine.vault import SyncReport
    from remembrancer.ingest import Problem
    from remembrancer.jobs.indexer import IndexReport
    from remembrancer.policies.vault.files import Finding as VaultFinding
    from remembrancer.ports.inspection import Finding, Stats
    from remembrancer.ports.memories import Audited
    from remembrancer.presets.spec import Preset


class Wire(BaseModel):
    """A shape: fixed fields, values that do not change."""

    # Built when first used: a command that needs two of these shapes does not wait for all of them.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class AgeOut(Wire):
    """How long ago, in seconds (negative: still to come) and in words."""

    seconds: float
    spoken: str

    @classmethod
    def of(cls, age: timedelta) -> Self:
        return cls(seconds=age.total_seconds(), spoken=spoken_age(age))


class ScopeOut(Wire):
    workspace: str
    project: str | None
    crew: str | None
    agent: str | None
    session: str | None

    @classmethod
    def of(cls, scope: Scope) -> Self:
        return cls(
            workspace=scope.workspace,
            project=scope.project,
            crew=scope.crew,
            agent=scope.agent,
            session=scope.session,
        )


class UsageOut(Wire):
    retrieved: int
    shown: int
    used: int
    helped: int
    unhelpful: int
    harmed: int
    last_retrieved_at: AwareDatetime | None
    last_shown_at: AwareDatetime | None
    last_used_at: AwareDatetime | None

    @classmethod
    def of(cls, usage: Usage) -> Self:
        return cls(
            retrieved=usage.retrieved,
            shown=usage.shown,
            used=usage.used,
            helped=usage.helped,
            unhelpful=usage.unhelpful,
            harmed=usage.harmed,
            last_retrieved_at=usage.last_retrieved_at,
            last_shown_at=usage.last_shown_at,
            last_used_at=usage.last_used_at,
        )


class StrengthOut(Wire):
    """`importance`, its floor, `confidence` and `surprise` in [0, 1], `priority` 1 to 10, `stability` in days."""

    importance: float
    importance_floor: float
    priority: int
    confidence: float
    surprise: float
    stability: float
    difficulty: float
    last_reviewed_at: AwareDatetime | None
    usage: UsageOut

    @classmethod
    def of(cls, strength: Strength) -> Self:
        return cls(
            importance=strength.importance,
            importance_floor=strength.importance_floor,
            priority=strength.priority,
            confidence=strength.confidence,
            surprise=strength.surprise,
            stability=strength.stability,
            difficulty=strength.difficulty,
            last_reviewed_at=strength.last_reviewed_at,
            usage=UsageOut.of(strength.usage),
        )


class MemoryOut(Wire):
    id: UUID
    scope: ScopeOut
    visibility: Visibility
    tier: Tier
    kind: str
    title: str | None
    text: str
    source: str | None
    origin: Origin
    occurred_from: AwareDatetime
    occurred_to: AwareDatetime
    recorded_at: AwareDatetime
    valid_from: AwareDatetime | None
    valid_until: AwareDatetime | None
    superseded_by: UUID | None
    superseded_at: AwareDatetime | None
    retired_at: AwareDatetime | None
    consolidated_at: AwareDatetime | None
    topic_key: str | None
    key: str | None
    revision: int
    tags: list[str]
    metadata: dict[str, JsonValue]
    status: Status
    strength: StrengthOut

    @classmethod
    def of(cls, memory: Memory) -> Self:
        return cls(
            id=memory.id,
            scope=ScopeOut.of(memory.scope),
            visibility=memory.visibility,
            tier=memory.tier,
            kind=memory.kind,
            title=memory.title,
            text=memory.text,
            source=memory.source,
            origin=memory.origin,
            occurred_from=memory.occurred_from,
            occurred_to=memory.occurred_to,
            recorded_at=memory.recorded_at,
            valid_from=memory.valid_from,
            valid_until=memory.valid_until,
            superseded_by=memory.superseded_by,
            superseded_at=memory.superseded_at,
            retired_at=memory.retired_at,
            consolidated_at=memory.consolidated_at,
            topic_key=memory.topic_key,
            key=memory.key,
            revision=memory.revision,
            tags=list(memory.tags),
            metadata=dict(memory.metadata),
            status=memory.status,
            strength=StrengthOut.of(memory.strength),
        )


class MemoriesOut(Wire):
    memories: list[MemoryOut]

    @classmethod
    def of(cls, memories: Iterable[Memory]) -> Self:
        return cls(memories=[MemoryOut.of(memory) for memory in memories])


class EventOut(Wire):
    id: UUID
    scope: ScopeOut
    seq: int
    occurred_at: AwareDatetime
    recorded_at: AwareDatetime
    type: str
    severity: Severity
    priority: Priority
    actor: str | None
    role: Role
    text: str
    payload: dict[str, JsonValue]
    refs: dict[str, JsonValue]
    key: str | None
    origin: Origin

    @classmethod
    def of(cls, event: Event) -> Self:
        return cls(
            id=event.id,
            scope=ScopeOut.of(event.scope),
            seq=event.seq,
            occurred_at=event.occurred_at,
            recorded_at=event.recorded_at,
            type=event.type,
            severity=event.severity,
            priority=event.priority,
            actor=event.actor,
            role=event.role,
            text=event.text,
            payload=dict(event.payload),
            refs=dict(event.refs),
            key=event.key,
            origin=event.origin,
        )


class CueOut(Wire):
    ordinal: int
    heading: str
    text: str
    event_id: UUID | None

    @classmethod
    def of(cls, cue: Cue) -> Self:
        return cls(ordinal=cue.ordinal, heading=cue.heading, text=cue.text, event_id=cue.event_id)


class RevisionOut(Wire):
    number: int
    title: str | None
    text: str
    replaced_at: AwareDatetime

    @classmethod
    def of(cls, revision: Revision) -> Self:
        return cls(number=revision.number, title=revision.title, text=revision.text, replaced_at=revision.replaced_at)


class RelationOut(Wire):
    source: UUID
    target: UUID
    kind: RelationKind
    weight: float
    created_at: AwareDatetime

    @classmethod
    def of(cls, relation: Relation) -> Self:
        return cls(
            source=relation.source,
            target=relation.target,
            kind=relation.kind,
            weight=relation.weight,
            created_at=relation.created_at,
        )


class AuditedOut(Wire):
    """Something done to a memory: by which word, and why."""

    action: str
    reason: str
    at: AwareDatetime

    @classmethod
    def of(cls, audited: Audited) -> Self:
        return cls(action=audited.action, reason=audited.reason, at=audited.at)


class ReviewOut(Wire):
    """`rating`: again, hard, good or easy. Stability in days, difficulty 1 to 10. `by`: who rated."""

    rating: str
    at: AwareDatetime
    stability_before: float
    stability: float
    difficulty_before: float
    difficulty: float
    by: str

    @classmethod
    def of(cls, review: Review) -> Self:
        return cls(
            rating=review.rating.name.lower(),
            at=review.at,
            stability_before=review.stability_before,
            stability=review.stability,
            difficulty_before=review.difficulty_before,
            difficulty=review.difficulty,
            by=review.by,
        )


class DossierOut(Wire):
    memory: MemoryOut
    cues: list[CueOut]
    events: list[EventOut]
    revisions: list[RevisionOut]
    relations: list[RelationOut]
    audit: list[AuditedOut]
    reviews: list[ReviewOut]

    @classmethod
    def of(cls, dossier: Dossier) -> Self:
        return cls(
            memory=MemoryOut.of(dossier.memory),
            cues=[CueOut.of(cue) for cue in dossier.cues],
            events=[EventOut.of(event) for event in dossier.events],
            revisions=[RevisionOut.of(revision) for revision in dossier.revisions],
            relations=[RelationOut.of(relation) for relation in dossier.relations],
            audit=[AuditedOut.of(audited) for audited in dossier.audit],
            reviews=[ReviewOut.of(review) for review in dossier.reviews],
        )


class PartOut(Wire):
    """One node of a score: its value (null where absent) and what it added to its parent's value.

    `multiplied`: its parts are factors, which add nothing up; their contributions are their values.
    """

    label: str
    value: float | None
    contribution: float
    multiplied: bool
    parts: list[PartOut]

    @classmethod
    def of(cls, part: Part) -> Self:
        inner = [PartOut.of(inner) for inner in part.parts]
        return cls(
            label=part.label,
            value=part.value,
            contribution=part.contribution,
            multiplied=part.is_product,
            parts=inner,
        )


class ExplanationOut(Wire):
    """`parts`: the score as a tree. `ranks`: the rank in each leg that found it. `matched`: the question's terms."""

    parts: PartOut
    signals: dict[str, float | None]
    ranks: dict[str, int]
    matched: list[str]

    @classmethod
    def of(cls, explanation: Explanation) -> Self:
        return cls(
            parts=PartOut.of(explanation.score),
            signals=dict(explanation.signals),
            ranks=dict(explanation.ranks),
            matched=list(explanation.matched),
        )


class HitOut(Wire):
    """`turns`: the turns of its transcript, where it has one. `via`: the hit whose edge led here, where one did."""

    rank: int
    score: float
    age: AgeOut
    memory: MemoryOut
    cue: CueOut
    turns: list[CueOut]
    via: UUID | None
    explanation: ExplanationOut

    @classmethod
    def of(cls, hit: Hit) -> Self:
        return cls(
            rank=hit.rank,
            score=hit.score,
            age=AgeOut.of(hit.age),
            memory=MemoryOut.of(hit.memory),
            cue=CueOut.of(hit.cue),
            turns=[CueOut.of(cue) for cue in hit.turns],
            via=hit.via,
            explanation=ExplanationOut.of(hit.explanation),
        )


class RecallOut(Wire):
    """An answer with all its hits.

    `standing`: memories in every answer. `degraded`: what could not be used, and why. `legs`: how many candidates
    each brought. `rendered`, `rendered_standing`: the prompt blocks of hits and of standing memories, where they were
    asked for; empty when there are none.
    """

    query: str
    asked_at: AwareDatetime
    hits: list[HitOut]
    standing: list[MemoryOut]
    degraded: dict[str, str]
    timings_ms: dict[str, float]
    searched: str
    embedded: str
    terms: list[str]
    legs: dict[str, int]
    rendered: str | None
    rendered_standing: str | None

    @classmethod
    def of(cls, recall: Recall, *, rendered: str | None = None, rendered_standing: str | None = None) -> Self:
        return cls(
            query=recall.query,
            asked_at=recall.asked_at,
            hits=[HitOut.of(hit) for hit in recall.hits],
            standing=[MemoryOut.of(memory) for memory in recall.standing],
            degraded=dict(recall.degraded),
            timings_ms={stage: milliseconds(taken) for stage, taken in recall.timings.items()},
            searched=recall.trace.searched,
            embedded=recall.trace.embedded,
            terms=list(recall.trace.terms),
            legs=dict(recall.trace.legs),
            rendered=rendered,
            rendered_standing=rendered_standing,
        )


class WhyNotOut(Wire):
    """`stage` null: the memory was no candidate."""

    memory: MemoryOut
    returned: bool
    reason: str
    stage: Stage | None
    score: float | None
    rank: int | None

    @classmethod
    def of(cls, found: WhyNot) -> Self:
        return cls(
            memory=MemoryOut.of(found.memory),
            returned=found.returned,
            reason=found.reason,
            stage=found.stage,
            score=found.score,
            rank=found.rank,
        )


class StatsOut(Wire):
    """`memories` by status, `vectors` by model, `bytes` of the whole store."""

    events: int
    memories: dict[str, int]
    cues: int
    vectors: dict[str, int]
    truncated: int
    relations: int
    oldest: AwareDatetime | None
    newest: AwareDatetime | None
    bytes: int

    @classmethod
    def of(cls, stats: Stats) -> Self:
        return cls(
            events=stats.events,
            memories=dict(stats.memories),
            cues=stats.cues,
            vectors=dict(stats.vectors),
            truncated=stats.truncated,
            relations=stats.relations,
            oldest=stats.oldest,
            newest=stats.newest,
            bytes=stats.bytes,
        )


class FindingOut(Wire):
    """`repair` says what mends it; null where nothing is wrong."""

    check: str
    ok: bool
    detail: str
    repair: str | None

    @classmethod
    def of(cls, finding: Finding) -> Self:
        repair = None if finding.ok else finding.repair or None
        return cls(check=finding.check, ok=finding.ok, detail=finding.detail, repair=repair)


class DoctorOut(Wire):
    ok: bool
    findings: list[FindingOut]

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Self:
        return cls(ok=all(finding.ok for finding in findings), findings=[FindingOut.of(each) for each in findings])


class IndexReportOut(Wire):
    """`reason`: why nothing was done, or why some of it failed."""

    indexed: int
    deferred: int
    reason: str

    @classmethod
    def of(cls, report: IndexReport) -> Self:
        return cls(indexed=report.indexed, deferred=report.deferred, reason=report.reason)


class MetricOut(Wire):
    """`value` 0 to 100, null without data: then `absent` says why. `weight`: its share in this score."""

    value: float | None
    band: Band | None
    weight: float
    absent: str


class HealthOut(Wire):
    """A day's snapshot, of the workspace where `crew` is null. `score` and `band` null: there was no data at all.

    `advice`: what to do about the weakest metric; empty where that is green.
    """

    crew: str | None
    day: date
    taken_at: AwareDatetime
    score: float | None
    band: Band | None
    metrics: dict[Metric, MetricOut]
    weakest: Metric | None
    advice: str

    @classmethod
    def of(cls, snapshot: HealthSnapshot) -> Self:
        weights = shares(snapshot.metrics)
        return cls(
            crew=snapshot.crew,
            day=snapshot.day,
            taken_at=snapshot.taken_at,
            score=snapshot.score,
            band=band(snapshot.score),
            metrics={
                metric: MetricOut(
                    value=value,
                    band=band(value),
                    weight=weights[metric],
                    absent=why_absent(snapshot.metrics, metric),
                )
                for metric, value in values(snapshot.metrics).items()
            },
            weakest=weakest(snapshot.metrics),
            advice=advice(snapshot.metrics),
        )


class MemoryHealthOut(Wire):
    """`latest` null: none was taken yet. `history`: newest day first, null where it was not asked for."""

    crew: str | None
    latest: HealthOut | None
    history: list[HealthOut] | None


class FeedbackOut(Wire):
    """The memory's strength after the feedback, and its status: too many bad words may have retired it."""

    id: UUID
    strength: StrengthOut
    status: Status

    @classmethod
    def of(cls, memory_id: UUID, strength: Strength, status: Status) -> Self:
        return cls(id=memory_id, strength=StrengthOut.of(strength), status=status)


class ExportedOut(Wire):
    path: str
    rows: int


class ImportedOut(Wire):
    """`new`: how many of the file's rows were not there before (or would be added, in a dry run)."""

    rows: int
    new: int
    dry_run: bool

    @classmethod
    def of(cls, imported: Imported) -> Self:
        return cls(rows=imported.rows, new=imported.new, dry_run=imported.dry_run)


class ProblemOut(Wire):
    """One record that was left out."""

    path: str
    line: int | None
    record: str | None
    message: str

    @classmethod
    def of(cls, problem: Problem) -> Self:
        return cls(path=str(problem.path), line=problem.line, record=problem.record, message=problem.message)


class ObservedOut(Wire):
    events: list[EventOut]
    problems: list[ProblemOut]

    @classmethod
    def of(cls, events: Iterable[Event], problems: Iterable[Problem]) -> Self:
        return cls(
            events=[EventOut.of(event) for event in events],
            problems=[ProblemOut.of(problem) for problem in problems],
        )


class IngestedFileOut(Wire):
    """`events`: how many records of it are in the journal now. `refused`: why the whole file was left out."""

    path: str
    format: str | None
    events: int
    learnings: int
    problems: list[ProblemOut]
    refused: str | None


class IngestedOut(Wire):
    """`new`: how many events the journal gained. `index`: null where indexing was left for later."""

    files: list[IngestedFileOut]
    new: int
    index: IndexReportOut | None


class VaultFindingOut(Wire):
    """A place in a vault, or the id of a memory, and what is to be said of it. `line` counts from 1."""

    path: str
    line: int | None
    message: str

    @classmethod
    def of(cls, finding: VaultFinding) -> Self:
        return cls(path=finding.path, line=finding.line, message=finding.message)


class VaultOut(Wire):
    """What a sync did, or with `dry_run` would do; the counts are those of `engine.vault.SyncReport`.

    `index`: null where indexing was left for later.
    """

    vault: str
    dry_run: bool
    files: int
    read: int
    entries: int
    chunks: int
    added: int
    changed: int
    retired: int
    restored: int
    written: int
    waiting: int
    findings: list[VaultFindingOut]
    conflicts: list[VaultFindingOut]
    left: list[VaultFindingOut]
    index: IndexReportOut | None

    @property
    def did_something(self) -> bool:
        return any((self.added, self.changed, self.retired, self.restored, self.written, self.conflicts))

    @classmethod
    def of(cls, report: SyncReport, index: IndexReportOut | None) -> Self:
        return cls(
            vault=report.vault,
            dry_run=report.dry_run,
            files=report.files,
            read=report.read,
            entries=report.entries,
            chunks=report.chunks,
            added=report.added,
            changed=report.changed,
            retired=report.retired,
            restored=report.restored,
            written=report.written,
            waiting=report.waiting,
            findings=[VaultFindingOut.of(one) for one in report.findings],
            conflicts=[VaultFindingOut.of(one) for one in report.conflicts],
            left=[VaultFindingOut.of(one) for one in report.left],
            index=index,
        )


class PresetLineOut(Wire):
    name: str
    description: str
    in_use: bool


class PresetsOut(Wire):
    presets: list[PresetLineOut]

    @classmethod
    def of(cls, in_use: Preset) -> Self:
        """Those that are shipped, and the one in use where it is none of them."""
        every = {**PRESETS, in_use.name: in_use}
        lines = [
            PresetLineOut(name=name, description=preset.description, in_use=name == in_use.name)
            for name, preset in every.items()
        ]
        return cls(presets=lines)


class PresetOut(Wire):
    """`choices`: what its TOML file says. `signals`: the meaning of each that its scores read."""

    in_use: bool
    choices: dict[str, JsonValue]
    signals: dict[str, str]

    @classmethod
    def of(cls, preset: Preset, *, in_use: bool) -> Self:
        read = frozenset[str]().union(*map(signal_names, preset.expressions()))
        meanings = {name: meaning for name, meaning in MEANINGS.items() if name in read}
        return cls(in_use=in_use, choices=table_of(preset), signals=meanings)


class OutlookOut(Wire):
    """`falls_at`: when strength is below `below` for the first time; null: not within a hundred years."""

    memory: MemoryOut
    strength: float
    below: float
    faded: bool
    falls_at: AwareDatetime | None

    @classmethod
    def of(cls, outlook: Outlook) -> Self:
        return cls(
            memory=MemoryOut.of(outlook.memory),
            strength=outlook.strength,
            below=outlook.below,
            faded=outlook.has_faded,
            falls_at=outlook.falls_at,
        )


class OutlooksOut(Wire):
    memories: list[OutlookOut]

    @classmethod
    def of(cls, outlooks: Iterable[Outlook]) -> Self:
        return cls(memories=[OutlookOut.of(outlook) for outlook in outlooks])


class CurvePointOut(Wire):
    at: AwareDatetime
    strength: float


class CurveOut(Wire):
    """`points`: strength over time, evenly, with `now` between the first and the last."""

    outlook: OutlookOut
    now: AwareDatetime
    points: list[CurvePointOut]

    @classmethod
    def of(cls, curve: FadingCurve) -> Self:
        return cls(
            outlook=OutlookOut.of(curve.outlook),
            now=curve.now,
            points=[CurvePointOut(at=at, strength=strength) for at, strength in curve.points],
        )


class PlaceOut(Wire):
    """What became of a memory under a preset. `rank`: of the hits, or of the candidates where it is not `returned`;
    null where no search brought it. `leading`: the two parts of its score that weigh most, in words.
    """

    preset: str
    returned: bool
    rank: int | None
    score: float | None
    stage: Stage | None
    reason: str | None
    leading: str | None
    parts: PartOut | None

    @classmethod
    def of(cls, place: Place) -> Self:
        return cls(
            preset=place.preset,
            returned=place.returned,
            rank=place.rank,
            score=place.score,
            stage=place.stage,
            reason=place.reason or None,
            leading=None if place.leading is None else str(place.leading),
            parts=None if place.parts is None else PartOut.of(place.parts),
        )


class ComparedOut(Wire):
    """A memory that a preset returned, with its place under each, and `why` they differ."""

    memory: MemoryOut
    cue: CueOut
    places: list[PlaceOut]
    why: str


class AnswerOut(Wire):
    """What one preset returned, best first: at most `limit`."""

    preset: str
    limit: int
    hits: list[UUID]
    degraded: dict[str, str]


class OverlapOut(Wire):
    """`share`: of the memories that either returns, those that both do."""

    presets: tuple[str, str]
    share: float


class ComparisonOut(Wire):
    """`memories`: all that any preset returned, the best by mean rank first."""

    query: str
    asked_at: AwareDatetime
    answers: list[AnswerOut]
    memories: list[ComparedOut]
    overlaps: list[OverlapOut]

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        cues = {hit.id: hit.cue for answer in reversed(comparison.answers) for hit in answer.hits}
        return cls(
            query=comparison.query,
            asked_at=comparison.asked_at,
            answers=[
                AnswerOut(
                    preset=answer.preset,
                    limit=answer.limit,
                    hits=[hit.id for hit in answer.hits],
                    degraded=dict(answer.degraded),
                )
                for answer in comparison.answers
            ],
            memories=[
                ComparedOut(
                    memory=MemoryOut.of(one.memory),
                    cue=CueOut.of(cues[one.memory.id]),
                    places=[PlaceOut.of(place) for place in one.places],
                    why=one.why,
                )
                for one in comparison.memories
            ],
            overlaps=[OverlapOut(presets=(each.first, each.second), share=each.share) for each in comparison.overlaps],
        )


class DemoAnswerOut(Wire):
    """`gold`: the turns that hold the answer. `gold_ranks`: each one's rank among the answer's hits, null if absent."""

    question: str
    why: str
    gold: list[str]
    gold_ranks: list[int | None]
    ms: float
    recall: RecallOut


class DemoOut(Wire):
    """`at_first`, `in_top_3`: how many questions had a gold turn there. `embedder` null: found by words only."""

    turns: int
    memories: int
    embedder: str | None
    median_ms: float
    at_first: int
    in_top_3: int
    kept: str | None
    answers: list[DemoAnswerOut]


def milliseconds(taken: timedelta) -> float:
    return taken / timedelta(milliseconds=1)
