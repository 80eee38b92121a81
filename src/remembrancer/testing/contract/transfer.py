"""Export and import: everything out, the same back in, nothing twice, and reads that write nothing."""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from remembrancer.domain.effect import Effect
from remembrancer.domain.event import Origin
from remembrancer.domain.memory import Memory, Status, Tier
from remembrancer.domain.scope import Reader, Scope, Visibility
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength, Usage
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import Conflict, EmbedderMismatch, InvalidInput
from remembrancer.ports.exchange import RECORDS, MemoryRecord, VectorRecord, record_to_row
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.ports.transfer import ExportRow
from remembrancer.testing.contract.base import (
    EVERYTHING,
    MODEL,
    StoreSuite,
    awaited,
    exported,
    found,
    give_vectors,
    remember,
    stored_words,
)
from remembrancer.testing.contract.finding import Finder, IndexSuite, assert_same_answer, finding, request
from remembrancer.testing.contract.world import (
    DEPLOY,
    FORMER,
    MARKED,
    OLD,
    OOM,
    OTHER_MODEL,
    TOPIC,
    a_snapshot,
    populate,
)
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, an_event, indexed

BROKEN: Final[dict[str, tuple[str, ExportRow]]] = {
    "record": ("event", {"record": "poem"}),
    "event.id": ("event", {"id": "not an id"}),
    "event.seq": ("event", {"seq": 0}),
    "event.occurred_at": ("event", {"occurred_at": "2026-03-04 09:00:00"}),
    "event.text": ("event", {"text": " "}),
    "event.severity": ("event", {"severity": "loud"}),
    "event.payload": ("event", {"payload": []}),
    "event.colour": ("event", {"colour": "blue"}),
    "memory.text": ("memory", {"text": None}),
    "memory.tier": ("memory", {"tier": "cosmic"}),
    "memory.importance": ("memory", {"importance": 1.5}),
    "memory.occurred_to": ("memory", {"occurred_to": "1999-01-01T00:00:00+00:00"}),
    "memory.event_ids": ("memory", {"event_ids": [str(UUID(int=404))]}),
    "memory.tags": ("memory", {"tags": "deploy"}),
    "memory.retrieved": ("memory", {"retrieved": -1}),
    "cue.memory_id": ("cue", {"memory_id": str(UUID(int=404))}),
    "cue.ordinal": ("cue", {"ordinal": True}),
    "cue.heading": ("cue", {"heading": None}),
    "cue.event_id": ("cue", {"event_id": str(UUID(int=404))}),
    "vector.memory_id": ("vector", {"memory_id": str(UUID(int=404))}),
    "vector.vector": ("vector", {"vector": "!"}),
    "vector.dim": ("vector", {"dim": 0}),
    "vector.ordinal": ("vector", {"ordinal": 9}),
    "vector.truncated": ("vector", {"truncated": 1}),
    "vector.words": ("vector", {"words": "!"}),
    "revision.memory_id": ("revision", {"memory_id": str(UUID(int=404))}),
    "revision.number": ("revision", {"number": 0}),
    "relation.source": ("relation", {"source": str(UUID(int=404))}),
    "relation.target": ("relation", {"target": str(UUID(int=404))}),
    "relation.kind": ("relation", {"kind": "likes"}),
    "relation.weight": ("relation", {"weight": "heavy"}),
    "memory.importance_floor": ("memory", {"importance_floor": None}),
    "memory.stability": ("memory", {"stability": 0}),
    "memory.difficulty": ("memory", {"difficulty": 11}),
    "memory.unhelpful": ("memory", {"unhelpful": 0.5}),
    "memory.last_reviewed_at": ("memory", {"last_reviewed_at": 7}),
    "memory.consolidated_at": ("memory", {"consolidated_at": "soon"}),
    "vector.indexed_at": ("vector", {"indexed_at": "soon"}),
    "exposure.memory_id": ("exposure", {"memory_id": str(UUID(int=404))}),
    "exposure.kind": ("exposure", {"kind": "seen"}),
    "exposure.at": ("exposure", {"at": None}),
    "exposure.similarity": ("exposure", {"similarity": 1.5}),
    "exposure.query": ("exposure", {"query": None}),
    "exposure.session": ("exposure", {"session": ""}),
    "archived.id": ("archived", {"id": 7}),
    "archived.text": ("archived", {"text": None}),
    "archived.archived_at": ("archived", {"archived_at": None}),
    "priority.event_id": ("priority", {"event_id": str(UUID(int=404))}),
    "priority.previous": ("priority", {"previous": "low"}),
    "priority.priority": ("priority", {"priority": None}),
    "priority.by": ("priority", {"by": ""}),
    "priority.reason": ("priority", {"reason": 7}),
    "priority.at": ("priority", {"at": "soon"}),
    "stream.cursor": ("stream", {"cursor": -1}),
    "stream.read": ("stream", {"read": None}),
    "stream.note": ("stream", {"note": None}),
    "review.memory_id": ("review", {"memory_id": str(UUID(int=404))}),
    "review.rating": ("review", {"rating": 5}),
    "review.at": ("review", {"at": None}),
    "review.evidence_until": ("review", {"evidence_until": "soon"}),
    "review.previous": ("review", {"previous": 7}),
    "review.stability_before": ("review", {"stability_before": 0}),
    "review.stability": ("review", {"stability": None}),
    "review.difficulty_before": ("review", {"difficulty_before": 11}),
    "review.difficulty": ("review", {"difficulty": 0.5}),
    "review.by": ("review", {"by": ""}),
    "audit.memory_id": ("audit", {"memory_id": str(UUID(int=404))}),
    "audit.action": ("audit", {"action": ""}),
    "audit.reason": ("audit", {"reason": None}),
    "health.crew": ("health", {"crew": ""}),
    "health.day": ("health", {"day": "4 March"}),
    "health.taken_at": ("health", {"taken_at": None}),
    "health.coverage": ("health", {"coverage": 101}),
    "health.score": ("health", {"score": "good"}),
}
"""Which record is broken, and how: the error names the key."""


NEWER: Final = frozenset(
    {
        "importance_floor",
        "stability",
        "difficulty",
        "last_reviewed_at",
        "unhelpful",
        "consolidated_at",
        "indexed_at",
        "words",
        "query",
    }
)
"""Fields that exports of version 1 do not have."""


def of_record(rows: list[ExportRow], record: str) -> list[ExportRow]:
    return [row for row in rows if row["record"] == record]


async def _read(store: Store, to: int, note: dict[str, JsonValue] | None = None) -> None:
    """Three events in the stream, so many of them read."""
    await store.append(SCOPE, [Entry(an_event(text)) for text in ("one", "two", "three")])
    await store.commit(SCOPE, Effect(cursor=Cursor(stream=SCOPE, expected=0, to=to, note=note or {})), at=NOW)


EVERY_FIELD: Final = Memory(
    id=UUID(int=1),
    scope=Scope(workspace=SCOPE.workspace, project="shop", crew="platform", agent="ana", session="monday"),
    visibility=Visibility.CREW,
    tier=Tier.SEMANTIC,
    kind="decision",
    title="Memory of checkout",
    text="Checkout needs 2 GiB",
    source="runbook",
    origin=Origin.IMPORT,
    occurred_from=NOW,
    occurred_to=NOW + timedelta(minutes=1),
    recorded_at=NOW + timedelta(minutes=2),
    valid_from=NOW + timedelta(minutes=3),
    valid_until=NOW + timedelta(minutes=4),
    superseded_by=UUID(int=2),
    superseded_at=NOW + timedelta(minutes=5),
    retired_at=NOW + timedelta(minutes=6),
    consolidated_at=NOW + timedelta(minutes=7),
    topic_key="checkout-memory",
    key="m-1",
    revision=3,
    tags=("checkout", "memory"),
    metadata={"run": 7},
    status=Status.RETIRED,
    strength=Strength(
        importance=0.75,
        importance_floor=0.25,
        priority=9,
        confidence=0.125,
        surprise=0.875,
        stability=12.5,
        difficulty=4.25,
        last_reviewed_at=NOW + timedelta(minutes=8),
        usage=Usage(
            retrieved=1,
            shown=2,
            used=3,
            helped=4,
            unhelpful=5,
            harmed=6,
            last_retrieved_at=NOW + timedelta(minutes=9),
            last_shown_at=NOW + timedelta(minutes=10),
            last_used_at=NOW + timedelta(minutes=11),
        ),
    ),
)
"""A memory none of whose fields has its default."""


def _has_default(value: object, field: Field[Any]) -> bool:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return getattr(value, field.name) in (None, default)


class ExportContract(StoreSuite):
    @awaited
    async def test_an_empty_workspace_exports_nothing(self, store: Store) -> None:
        assert await exported(store) == []

    @awaited
    async def test_an_export_holds_every_record_in_order(self, store: Store) -> None:
        await populate(store, SCOPE)
        records = [str(row["record"]) for row in await exported(store)]
        assert records == sorted(records, key=RECORDS.index)
        counts = {record: records.count(record) for record in RECORDS}
        assert counts == {
            "event": 3,
            "archived": 1,
            "priority": 2,
            "stream": 1,
            "memory": 5,
            "cue": 6,
            "vector": 3,
            "revision": 1,
            "relation": 3,
            "exposure": 2,
            "review": 1,
            "audit": 2,
            "health": 2,
        }

    @awaited
    async def test_an_export_is_json(self, store: Store) -> None:
        await populate(store, SCOPE)
        rows = await exported(store)
        assert json.loads(json.dumps(rows, allow_nan=False)) == rows

    @awaited
    async def test_an_export_does_not_depend_on_the_order_of_writing(self, store: Store) -> None:
        writes = [indexed(a_memory(f"{n}", at=NOW + timedelta(hours=n))) for n in range(4)]
        await remember(store, *writes)
        async with self.another_store() as other:
            await remember(other, *reversed(writes))
            assert await exported(other) == await exported(store)

    @awaited
    async def test_reads_write_nothing(self, store: Store) -> None:
        await populate(store, SCOPE)
        before = await exported(store)
        await store.get(READER, [DEPLOY])
        await store.cues(READER, [DEPLOY])
        await store.revisions(READER, OOM)
        await store.relations(READER, [DEPLOY])
        await store.provenance(READER, DEPLOY)
        await store.by_topic(SCOPE, TOPIC)
        await store.memories(READER, EVERYTHING, limit=9)
        await store.events(READER, EventFilter(), limit=9)
        await store.read(lambda view: [*view.changes(SCOPE, after=0, model=MODEL), view.state(SCOPE)])
        await store.read(lambda view: view.cues_with_phrase(SCOPE, ("the", "deploy")))
        await store.pending(SCOPE, MODEL, limit=9, now=NOW, before=3)
        await store.count_events(READER, EventFilter())
        await store.events(READER, EventFilter(words=(frozenset({"deploi"}),), archived=True), limit=9)
        await store.recorded(READER, EventFilter(), limit=9)
        await store.priority_changes(READER, MARKED)
        await store.states(READER, EVERYTHING)
        await store.audit(READER, FORMER)
        await store.vectors(READER, MODEL, [DEPLOY])
        await stored_words(store, {OLD: 0}, model=OTHER_MODEL)
        await store.vitals(READER, EVERYTHING, model=MODEL, shown_since=NOW)
        await store.snapshots(SCOPE, None, limit=9)
        await store.crews(SCOPE)
        await store.tails(SCOPE, at_least=1, silent_since=NOW, limit=9)
        await store.tail(SCOPE)
        await store.stream_events(SCOPE, after=0, limit=9)
        await store.workspace_memories(SCOPE, EVERYTHING, limit=9)
        await store.unreviewed(SCOPE, Exposure.RETRIEVED, limit=9)
        await store.exposed_in(SCOPE, "monday", Exposure.SHOWN)
        await store.reviews(READER, DEPLOY)
        await store.runs(SCOPE)
        await store.deferrals(SCOPE)
        await store.spending(SCOPE)
        await store.stats(READER)
        await store.check(SCOPE, MODEL)
        assert await exported(store) == before


class ImportContract(StoreSuite):
    @awaited
    async def test_what_went_out_comes_back_in_the_same(self, store: Store) -> None:
        async with self.another_store() as source:
            await populate(source, SCOPE)
            rows = await exported(source)
        assert await store.import_rows(SCOPE, rows) == len(rows)
        assert await exported(store) == rows

    @awaited
    async def test_every_field_of_a_memory_comes_back(self, store: Store) -> None:
        parts = (EVERY_FIELD, EVERY_FIELD.strength, EVERY_FIELD.strength.usage)
        assert [field.name for part in parts for field in fields(part) if _has_default(part, field)] == []
        newer = a_memory("Checkout needs 3 GiB", memory_id=UUID(int=2))
        async with self.another_store() as source:
            await source.import_rows(SCOPE, [record_to_row(MemoryRecord(one, ())) for one in (newer, EVERY_FIELD)])
            assert await source.get(READER, [EVERY_FIELD.id]) == {EVERY_FIELD.id: EVERY_FIELD}
            rows = await exported(source)
        await store.import_rows(SCOPE, rows)
        assert await store.get(READER, [EVERY_FIELD.id]) == {EVERY_FIELD.id: EVERY_FIELD}

    @awaited
    async def test_an_import_passes_through_text(self, store: Store) -> None:
        async with self.another_store() as source:
            await populate(source, SCOPE)
            rows = await exported(source)
        await store.import_rows(SCOPE, json.loads(json.dumps(rows)))
        assert await exported(store) == rows

    @awaited
    async def test_an_import_may_come_in_parts(self, store: Store) -> None:
        async with self.another_store() as source:
            await populate(source, SCOPE)
            rows = await exported(source)
        for row in rows:
            assert await store.import_rows(SCOPE, [row]) == 1
        assert await exported(store) == rows

    @awaited
    async def test_importing_twice_adds_nothing(self, store: Store) -> None:
        await populate(store, SCOPE)
        rows = await exported(store)
        assert await store.import_rows(SCOPE, rows) == 0
        assert await exported(store) == rows

    @awaited
    async def test_a_dry_run_counts_and_writes_nothing(self, store: Store) -> None:
        async with self.another_store() as source:
            await populate(source, SCOPE)
            rows = await exported(source)
        assert await store.import_rows(SCOPE, rows, dry_run=True) == len(rows)
        assert await exported(store) == []
        assert await found(store, "deploy") == set()

    @awaited
    async def test_a_dry_run_refuses_what_an_import_would(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            await store.import_rows(SCOPE, [{"record": "poem"}], dry_run=True)

    @awaited
    async def test_rows_are_read_once(self, store: Store) -> None:
        async with self.another_store() as source:
            await populate(source, SCOPE)
            rows = await exported(source)
        assert await store.import_rows(SCOPE, iter(rows)) == len(rows)

    @awaited
    async def test_importing_nothing_adds_nothing(self, store: Store) -> None:
        assert await store.import_rows(SCOPE, []) == 0

    @awaited
    async def test_an_import_counts_as_its_source_did(self, store: Store) -> None:
        async with self.another_store() as source:
            await populate(source, SCOPE)
            await store.import_rows(SCOPE, await exported(source))
            assert replace(await store.stats(READER), bytes=0) == replace(await source.stats(READER), bytes=0)

    @awaited
    async def test_an_import_keeps_to_the_workspace_it_is_given(self, store: Store) -> None:
        elsewhere = replace(SCOPE, workspace="rival")
        await populate(store, SCOPE)
        rows = await exported(store)
        assert await store.import_rows(elsewhere, rows) == len(rows)
        assert await exported(store, elsewhere) == rows
        memory = (await store.get(Reader(elsewhere), [DEPLOY]))[DEPLOY]
        assert memory.scope == elsewhere

    @awaited
    async def test_an_imported_stream_goes_on_where_it_ended(self, store: Store) -> None:
        async with self.another_store() as source:
            await populate(source, SCOPE)
            await store.import_rows(SCOPE, await exported(source))
        (appended,) = await store.append(SCOPE, [Entry(an_event("next"))])
        assert appended.event.seq == 3

    @awaited
    async def test_an_event_whose_place_is_taken_goes_to_the_end_of_its_stream(self, store: Store) -> None:
        async with self.another_store() as source:
            await source.append(SCOPE, [Entry(an_event("from elsewhere"))])
            rows = await exported(source)
        await store.append(SCOPE, [Entry(an_event("first")), Entry(an_event("second"))])
        assert await store.import_rows(SCOPE, rows) == 1
        listed = await store.events(READER, EventFilter(), limit=9, oldest_first=True)
        assert [(event.text, event.seq) for event in listed] == [
            ("first", 1),
            ("second", 2),
            ("from elsewhere", 3),
        ]

    @awaited
    async def test_rows_that_are_there_stay_as_they_are(self, store: Store) -> None:
        await populate(store, SCOPE)
        rows = await exported(store)
        await store.set_status(READER, DEPLOY, Status.RETIRED, at=NOW)
        await store.adjust(READER, [OOM], lambda strength: Adjustment(replace(strength, importance=0.0)), at=NOW)
        before = await exported(store)
        assert await store.import_rows(SCOPE, rows) == 0
        assert await exported(store) == before

    @awaited
    async def test_a_memory_revised_since_takes_no_old_cue_or_vector(self, store: Store) -> None:
        memory = a_memory("kestrel")
        await remember(store, indexed(memory, "one", "two"))
        await give_vectors(store, {"one": a_vector(1, 0)})
        rows = await exported(store)
        await store.revise(SCOPE, indexed(memory, "three"), expected_revision=1, at=NOW)
        before = await exported(store)
        assert await store.import_rows(SCOPE, rows) == 0
        assert await exported(store) == before

    @awaited
    async def test_a_memory_takes_no_revision_it_has_not_reached(self, store: Store) -> None:
        memory = a_memory("kestrel")
        await remember(store, indexed(memory))
        async with self.another_store() as ahead:
            await remember(ahead, indexed(memory))
            await ahead.revise(SCOPE, indexed(memory, "owl"), expected_revision=1, at=NOW)
            rows = await exported(ahead)
        assert await store.import_rows(SCOPE, rows) == 0
        await store.revise(SCOPE, indexed(memory, "heron"), expected_revision=1, at=NOW)
        assert [revision.number for revision in await store.revisions(READER, memory.id)] == [1]

    @awaited
    async def test_a_day_of_health_that_is_there_stays_as_it_is(self, store: Store) -> None:
        async with self.another_store() as source:
            await source.put_snapshot(SCOPE, a_snapshot(None, score=1.0))
            rows = await exported(source)
        await store.put_snapshot(SCOPE, a_snapshot(None, score=2.0))
        assert await store.import_rows(SCOPE, rows) == 0
        assert await store.snapshots(SCOPE, None, limit=9) == (a_snapshot(None, score=2.0),)

    @awaited
    async def test_a_topic_that_a_superseded_memory_let_go_of_refuses_no_import(self, store: Store) -> None:
        about = replace(a_memory("staging"), topic_key="target")
        async with self.another_store() as source:
            await remember(source, indexed(about), indexed(a_memory("production")))
            await source.supersede(READER, about.id, a_memory("production").id, at=NOW)
            rows = await exported(source)
        await remember(store, indexed(replace(a_memory("the edge"), topic_key="target")))
        assert await store.import_rows(SCOPE, rows) == len(rows)

    @awaited
    async def test_rows_of_the_first_version_take_what_a_new_row_has(self, store: Store) -> None:
        async with self.another_store() as source:
            await source.append(SCOPE, [Entry(an_event(), indexed(a_memory(), event_ids=[an_event().id]))])
            await give_vectors(source, {a_memory().text: a_vector(1, 0)})
            rows = await exported(source)
        first = [{field: value for field, value in row.items() if field not in NEWER} for row in rows]
        assert await store.import_rows(SCOPE, first) == len(rows)
        assert await store.get(READER, [a_memory().id]) == {a_memory().id: a_memory()}
        expected = [{**row, "indexed_at": None} if row["record"] == "vector" else row for row in rows]
        assert await exported(store) == expected

    @awaited
    async def test_what_an_exposure_was_asked_for_comes_with_it(self, store: Store) -> None:
        exposed = Exposed(a_memory().id, Exposure.RETRIEVED, NOW, 0.5, "what failed?", "monday")
        async with self.another_store() as source:
            await remember(source, indexed(a_memory()))
            await source.adjust(READER, [], Adjustment, at=NOW, exposed=[exposed])
            await store.import_rows(SCOPE, await exported(source))
        (evidence,) = await store.unreviewed(SCOPE, Exposure.RETRIEVED, limit=9)
        assert (evidence.queries, evidence.session) == (("what failed?",), "monday")

    @awaited
    async def test_an_exposure_of_an_older_export_tells_no_question(self, store: Store) -> None:
        async with self.another_store() as source:
            await remember(source, indexed(a_memory()))
            exposed = [Exposed(a_memory().id, Exposure.RETRIEVED, NOW)]
            await source.adjust(READER, [], Adjustment, at=NOW, exposed=exposed)
            rows = await exported(source)
        older = [{**row} for row in rows]
        for row in of_record(older, "exposure"):
            del row["query"], row["session"]
        assert await store.import_rows(SCOPE, older) == len(rows)
        assert await exported(store) == rows

    @awaited
    async def test_a_stream_is_read_as_far_as_it_was_where_it_came_from(self, store: Store) -> None:
        async with self.another_store() as source:
            await _read(source, 2, {"topic": "birds"})
            await store.import_rows(SCOPE, await exported(source))
        await store.append(SCOPE, [Entry(an_event("more"))])
        tail = await store.tail(SCOPE)
        assert tail is not None
        assert (tail.cursor, tail.events, tail.note) == (2, 2, {"topic": "birds"})

    @awaited
    async def test_a_later_export_moves_the_stream_on(self, store: Store) -> None:
        async with self.another_store() as source:
            await _read(source, 1, {"topic": "birds"})
            await store.import_rows(SCOPE, await exported(source))
            await source.commit(SCOPE, Effect(cursor=Cursor(stream=SCOPE, expected=1, to=2)), at=NOW)
            rows = await exported(source)
        assert await store.import_rows(SCOPE, rows) == 1
        assert await exported(store) == rows

    @awaited
    async def test_an_earlier_export_moves_no_stream_back(self, store: Store) -> None:
        await _read(store, 1)
        rows = await exported(store)
        await store.commit(SCOPE, Effect(cursor=Cursor(stream=SCOPE, expected=1, to=3)), at=NOW)
        before = await exported(store)
        assert await store.import_rows(SCOPE, rows) == 0
        assert await exported(store) == before

    @awaited
    async def test_another_stream_of_the_same_name_says_nothing_of_what_is_read_here(self, store: Store) -> None:
        async with self.another_store() as source:
            await _read(source, 3)
            rows = await exported(source)
        await store.append(SCOPE, [Entry(an_event("of this place"))])
        assert await store.import_rows(SCOPE, rows) == 3  # its events, behind the one that is here
        tail = await store.tail(SCOPE)
        assert tail is not None
        assert (tail.cursor, tail.events) == (0, 4)

    @awaited
    async def test_a_note_alone_comes_with_its_stream(self, store: Store) -> None:
        async with self.another_store() as source:
            await _read(source, 0, {"topic": "birds"})
            rows = await exported(source)
        assert await store.import_rows(SCOPE, rows) == len(rows)
        assert await exported(store) == rows

    @awaited
    async def test_the_workspace_s_own_stream_is_not_read_again_either(self, store: Store) -> None:
        whole = Scope(workspace=SCOPE.workspace)
        async with self.another_store() as source:
            await source.append(whole, [Entry(an_event("one", scope=whole))])
            await source.commit(whole, Effect(cursor=Cursor(stream=whole, expected=0, to=1)), at=NOW)
            await store.import_rows(whole, await exported(source, whole))
        assert await store.tail(whole) is None

    @awaited
    async def test_a_note_that_is_here_stays(self, store: Store) -> None:
        async with self.another_store() as source:
            await _read(source, 1, {"topic": "birds"})
            rows = await exported(source)
        await _read(store, 1, {"topic": "boats"})
        before = await exported(store)
        assert await store.import_rows(SCOPE, rows) == 0
        assert await exported(store) == before

    @awaited
    async def test_a_key_held_by_another_row_refuses_the_import(self, store: Store) -> None:
        async with self.another_store() as source:
            await source.append(SCOPE, [Entry(an_event("fine"))])
            await remember(source, indexed(replace(a_memory("theirs"), key="k")))
            rows = await exported(source)
        await remember(store, indexed(replace(a_memory("mine"), key="k")))
        before = await exported(store)
        with pytest.raises(Conflict):
            await store.import_rows(SCOPE, rows)
        assert await exported(store) == before

    @awaited
    async def test_a_vector_of_another_dimension_refuses_the_import(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two"))
        await give_vectors(store, {"one": a_vector(1, 0)})
        before = await exported(store)
        row = record_to_row(
            VectorRecord(
                memory_id=a_memory().id,
                ordinal=1,
                revision=1,
                model=MODEL,
                truncated=False,
                data=a_vector(1, 2, 3).astype("<f4").tobytes(),
            )
        )
        with pytest.raises(EmbedderMismatch):
            await store.import_rows(SCOPE, [row])
        assert await exported(store) == before

    @pytest.mark.parametrize("field", BROKEN)
    def test_a_bad_row_refuses_the_import_and_says_where(self, store: Store, field: str) -> None:
        record, change = BROKEN[field]

        async def attempt() -> None:
            async with self.another_store() as source:
                await populate(source, SCOPE)
                rows = await exported(source)
            broken = of_record(rows, record)[-1]
            whole = [row if row is not broken else {**row, **change} for row in rows]
            with pytest.raises(InvalidInput) as caught:
                await store.import_rows(SCOPE, whole)
            assert caught.value.argument.startswith(field)
            assert await exported(store) == []

        self.runner.run(attempt())


class FoundAfterImportContract(IndexSuite):
    """What an index finds over an imported workspace."""

    @finding
    async def test_an_import_is_found_as_its_source_was(self, finder: Finder) -> None:
        asked = request("deploy", "memory", vector=a_vector(1, 0, 0))
        async with self.another_finder() as source:
            await populate(source.store, SCOPE)
            await finder.store.import_rows(SCOPE, await exported(source.store))
            assert_same_answer(await finder.search(READER, asked), await source.search(READER, asked))
