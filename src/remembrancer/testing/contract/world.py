"""`populate`: one row of every kind in a workspace, for tests of isolation, exports and reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from typing import Final
from uuid import UUID

import numpy as np

from remembrancer.domain.api_key import ApiKey, Right
from remembrancer.domain.effect import Effect
from remembrancer.domain.event import Priority
from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.job import Run
from remembrancer.domain.kept import KeptRecall
from remembrancer.domain.memory import Cue, MemoryWrite, Status
from remembrancer.domain.outcome import Credit, CreditBasis, TaskResult
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.reply import IdempotencyClaim, Reply
from remembrancer.domain.retention import LegalHold, RetentionRule
from remembrancer.domain.review import Rating, Review
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.spending import ModelCall, Outcome
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength, Usage
from remembrancer.language.cues import analysed
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.exchange import record_to_row
from remembrancer.ports.journal import Aged, Entry
from remembrancer.ports.outcomes import Judged
from remembrancer.ports.store import Store
from remembrancer.ports.transfer import ExportRow
from remembrancer.testing.contract.base import StoreSuite, give_vectors, holding
from remembrancer.testing.doubles import NOW, SCOPE, a_memory, a_vector, an_event, indexed

OTHER_MODEL: Final = "model-b"
DIGEST: Final = bytes(range(16))
"""The digest of the text that the vector of that model was computed from."""
DEPLOY, OOM, OLD, CONVERSATION, FORMER = (UUID(int=number) for number in range(101, 106))
TURNS: Final = (UUID(int=201), UUID(int=202))
MARKED: Final = UUID(int=203)
PROBE: Final = UUID(int=204)
DOOR: Final = UUID(int=301)
OUTCOME: Final = UUID(int=401)
TOPIC: Final = "checkout-memory"
REVIEWED_AT: Final = NOW + timedelta(minutes=6)
PROBES: Final = Aged(types=frozenset({"network.*"}), keep=frozenset({Priority.PIN}), before=NOW - timedelta(days=7))


async def populate(store: Store, scope: Scope, *, prefix: str = "") -> None:
    """Write events of two streams, and memories in every state with vectors, relations and logs.

    Every workspace gets the same ids, keys and topics. Every text begins with `prefix`, which tells workspaces apart.
    """
    said = [
        an_event(f"{prefix}the deploy failed", event_id=TURNS[0], scope=scope, key="turn-1"),
        replace(an_event(f"{prefix}roll it back", event_id=TURNS[1], scope=scope), priority=Priority.HIGH, actor="Bo"),
        an_event(f"{prefix}good morning", event_id=MARKED, scope=replace(scope, session="tuesday")),
    ]
    await store.append(scope, [Entry(said[0]), Entry(said[1], _conversation(scope, prefix)), Entry(said[2])])
    deploy = replace(
        a_memory(f"{prefix}the deploy failed on friday", memory_id=DEPLOY, scope=scope),
        key="m-1",
        tags=("deploy",),
        metadata={"run": 7},
    )
    memory = replace(
        a_memory(f"{prefix}checkout needs memory", memory_id=OOM, scope=scope, at=NOW - timedelta(days=1)),
        topic_key=TOPIC,
        strength=Strength(importance=0.875, importance_floor=0.5, priority=8, stability=3.5, difficulty=4.25),
    )
    former = a_memory(f"{prefix}the deploy failed on thursday", memory_id=FORMER, scope=scope)
    old = a_memory(f"{prefix}the old deploy script", memory_id=OLD, scope=scope, at=NOW - timedelta(days=9))
    for write in (indexed(deploy, event_ids=TURNS), indexed(memory), indexed(old), indexed(former)):
        await store.insert(scope, write)
    await store.revise(
        scope,
        indexed(replace(memory, text=f"{prefix}checkout needs two gigabytes of memory")),
        expected_revision=1,
        at=NOW + timedelta(hours=1),
    )
    await give_vectors(store, {deploy.text: a_vector(1, 0, 0), old.text: a_vector(3, 4, 0)}, scope=scope)
    pending = await store.pending(scope, OTHER_MODEL, limit=100, now=NOW)
    words = np.array([[128], [64]], dtype=np.uint8)
    cut = [CueVector(cue.ref, a_vector(0, 1), True, words, DIGEST) for cue in pending if cue.memory_id == OLD]
    await store.put_vectors(scope, OTHER_MODEL, cut, at=NOW)
    await store.import_rows(scope, relation_rows())
    await _log(store, scope, prefix)
    await _archive(store, scope, prefix)
    await _mark(store, scope, prefix)
    await _work(store, scope, prefix)
    await _access(store, scope, prefix)
    await store.put_rule(scope, a_rule())
    await store.put_hold(scope, a_hold(session="a session of nobody"))


def a_rule(number: int = 1, *, after: timedelta = timedelta(days=30)) -> RetentionRule:
    made = NOW + timedelta(minutes=number)
    return RetentionRule(id=UUID(int=900 + number), kind="note", after=after, by="LEAD bo", created_at=made)


def a_hold(number: int = 1, *, session: str | None = None, kind: str | None = None) -> LegalHold:
    placed = NOW + timedelta(minutes=number)
    agent = SCOPE.agent if session is None and kind is None else None
    return LegalHold(
        id=UUID(int=950 + number),
        agent=agent,
        session=session,
        kind=kind,
        reason="case 12",
        by="LEAD bo",
        placed_at=placed,
    )


class WorldSuite(StoreSuite):
    world = holding(lambda store: populate(store, SCOPE))


async def _log(store: Store, scope: Scope, prefix: str) -> None:
    """Write exposures, a supersession, a retirement, a consolidation, a review, a credit, a cursor and health
    snapshots.
    """
    reader, shown = Reader(scope), NOW + timedelta(minutes=5)
    await store.supersede(reader, FORMER, DEPLOY, at=NOW + timedelta(minutes=3))
    await store.adjust(
        reader,
        [FORMER],
        lambda strength: Adjustment(replace(strength, usage=Usage(harmed=3, unhelpful=1)), "harmed too often"),
        at=NOW + timedelta(minutes=4),
    )
    await store.adjust(
        reader,
        [DEPLOY],
        lambda strength: Adjustment(
            replace(strength, last_reviewed_at=shown, usage=Usage(shown=1, last_shown_at=shown))
        ),
        at=shown,
        exposed=[
            Exposed(DEPLOY, Exposure.SHOWN, shown, 0.5, f"{prefix}what failed?", "monday"),
            Exposed(OLD, Exposure.RETRIEVED, shown, query=f"{prefix}which script?"),
        ],
    )
    note = {"topic": f"{prefix}the deploy"}
    await store.commit(
        scope,
        Effect(
            consolidated=frozenset({OOM}),
            cursor=Cursor(stream=scope, expected=0, to=1, note=note),
            reviewed=(a_review(previous=shown, evidence_until=shown),),
        ),
        at=REVIEWED_AT,
    )
    credit = replace(a_credit(), scope=scope, task=f"{prefix}a rollout", note=f"{prefix}it went well")
    await store.add_credits(reader, OUTCOME, [DEPLOY], lambda memory: Judged(memory.strength, credit), at=REVIEWED_AT)
    for crew in (None, scope.crew):
        await store.put_snapshot(scope, a_snapshot(crew))


async def _archive(store: Store, scope: Scope, prefix: str) -> None:
    """Archive an old event of an archived type, with a text long enough to be shortened."""
    probe = replace(
        an_event(
            f"{prefix}the host answers " * 40,
            event_id=PROBE,
            scope=replace(scope, session="tuesday"),
            key="probe-1",
            at=NOW - timedelta(days=30),
        ),
        type="network.probe",
        payload={"hops": ["a switch"] * 60},
    )
    await store.append(scope, [Entry(probe)])
    await store.archive(scope, PROBES, at=NOW, limit=9)


async def _mark(store: Store, scope: Scope, prefix: str) -> None:
    """Change the priority of an event twice. No memory was formed from the event."""
    for minutes, priority in enumerate((Priority.PIN, Priority.HIGH)):
        await store.set_priority(
            Reader(scope),
            MARKED,
            priority,
            by="LEAD bo",
            reason=f"{prefix}it was one",
            at=NOW + timedelta(minutes=minutes),
            change=lambda memory, _before, _after: memory.strength,
        )


async def _work(store: Store, scope: Scope, prefix: str) -> None:
    """Write runs, deferred work and model calls, which are not exported."""
    run = Run(job="segment", started_at=NOW, ended_at=NOW + timedelta(seconds=3), done=2, failed=1, left=4)
    await store.put_run(scope, replace(run, reason=f"{prefix}no model"))
    await store.defer(scope, "segment", "the stream of monday", error=f"{prefix}no answer", now=NOW)
    await store.log_call(scope, a_call(purpose=f"{prefix}titles"))


async def _access(store: Store, scope: Scope, prefix: str) -> None:
    """Write API keys and claims, which are not exported."""
    await store.put_key(scope, replace(a_key(workspace=scope.workspace), name=f"{prefix}ci"))
    for key in ("request-1", "request-2"):
        await store.claim(scope, a_claim(key), forget_before=NOW)
    await store.answer(scope, a_claim("request-2"), Reply(200, f"{prefix}done".encode(), "text/plain"))
    await store.keep_recall(scope, replace(a_recall(), scope=scope, query=f"{prefix}any news?"))


def a_recall() -> KeptRecall:
    """An answer that names no memory."""
    return KeptRecall(id=UUID(int=900), scope=SCOPE, at=NOW, query="any news?", answer={"hits": [], "n": 0.1})


def a_key(key_id: UUID = DOOR, *, workspace: str = "acme", right: Right = Right.WRITE) -> ApiKey:
    """A key that never expires. Its digest depends on its workspace and id."""
    return ApiKey(
        id=key_id,
        workspace=workspace,
        name="ci",
        right=right,
        digest=sha256(f"{workspace} {key_id}".encode()).digest(),
        created_at=NOW,
    )


def a_claim(key: str = "request-1") -> IdempotencyClaim:
    return IdempotencyClaim(key, sha256(b"remember it").digest(), NOW)


def a_call(*, purpose: str = "titles", model: str = "small", outcome: Outcome = Outcome.ANSWERED) -> ModelCall:
    """A model call that took a quarter of a second and cost an eighth of a dollar."""
    return ModelCall(
        at=NOW,
        purpose=purpose,
        model=model,
        outcome=outcome,
        requests=1,
        input_tokens=100,
        output_tokens=10,
        took=timedelta(milliseconds=250),
        cost=0.125,
    )


def a_review(
    memory_id: UUID = DEPLOY,
    *,
    at: datetime = REVIEWED_AT,
    previous: datetime | None = None,
    evidence_until: datetime = NOW,
) -> Review:
    """A review with the rating Good, given by a model, which lengthens the memory's stability."""
    return Review(
        memory_id=memory_id,
        rating=Rating.GOOD,
        at=at,
        evidence_until=evidence_until,
        previous=previous,
        stability_before=2.3065,
        stability=10.5,
        difficulty_before=2.125,
        difficulty=2.25,
        by="small",
    )


def a_credit(memory_id: UUID = DEPLOY, *, outcome: UUID = OUTCOME, at: datetime = REVIEWED_AT) -> Credit:
    """Half of the credit of a task that succeeded."""
    return Credit(
        memory_id=memory_id,
        outcome_id=outcome,
        at=at,
        result=TaskResult.SUCCESS,
        basis=CreditBasis.CITED,
        share=0.5,
        scope=SCOPE,
        recall_id=UUID(int=900),
        task="deploy",
        note="it took a while",
        worked_before=0.25,
        worked=0.75,
        failed_before=1.0,
        failed=0.875,
        confidence_before=0.5,
        confidence=0.55,
        stability_before=2.3065,
        stability=2.5,
    )


def a_snapshot(crew: str | None, *, day: int = 4, score: float | None = 62.5) -> HealthSnapshot:
    """A health snapshot of a day in March, without coherence and efficiency."""
    return HealthSnapshot(
        crew=crew,
        day=date(2026, 3, day),
        taken_at=NOW + timedelta(days=day),
        metrics=Metrics(freshness=90.0, coverage=75.0, coherence=None, efficiency=None, reachability=25.0),
        score=score,
    )


def relation_rows() -> list[ExportRow]:
    return [
        record_to_row(Relation(DEPLOY, OLD, RelationKind.SIMILAR, 0.75, NOW)),
        record_to_row(Relation(OOM, DEPLOY, RelationKind.SUPPORTS, 1.0, NOW + timedelta(seconds=1))),
    ]


def _conversation(scope: Scope, prefix: str) -> MemoryWrite:
    """Record two turns with a memory of both, retired afterwards."""
    memory = replace(
        a_memory(f"{prefix}we spoke of the deploy", memory_id=CONVERSATION, scope=scope),
        status=Status.RETIRED,
        retired_at=NOW + timedelta(hours=2),
    )
    cues = (
        Cue(memory_id=memory.id, ordinal=0, text=f"{prefix}the deploy failed", heading="Ana", event_id=TURNS[0]),
        Cue(memory_id=memory.id, ordinal=1, text=f"{prefix}roll it back", heading="Bo", event_id=TURNS[1]),
    )
    return MemoryWrite(memory, tuple(analysed(cue) for cue in cues), TURNS)
