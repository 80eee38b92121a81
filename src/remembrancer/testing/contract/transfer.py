"""Contract of export and import: everything is exported, imported unchanged, and never added twice."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import ClassVar, Final
from uuid import UUID

import pytest

from remembrancer.domain.effect import Effect
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import Conflict, EmbedderMismatch, InvalidInput, Unsupported
from remembrancer.ports.changes import ReadView
from remembrancer.ports.exchange import RECORDS, MemoryRecord, VectorRecord, record_to_row
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.ports.transfer import ExportRow
from remembrancer.testing.contract.base import (
    EVERYTHING,
    MODEL,
    exported,
    found,
    give_vectors,
    refused,
    remember,
    stored,
    the_tail,
    unchanged,
)
from remembrancer.testing.contract.memories import FULL, LATER
from remembrancer.testing.contract.world import DEPLOY, OOM, WorldSuite, a_snapshot, populate
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, an_event, indexed


def _broken(record: str, /, **values: JsonValue) -> list[tuple[str, str, JsonValue]]:
    return [(record, key, value) for key, value in values.items()]


NOWHERE: Final = str(UUID(int=404))
BROKEN: Final = [
    *_broken(
        "event",
        record="poem",
        id="not an id",
        seq=0,
        occurred_at="2026-03-04 09:00:00",
        text=" ",
        severity="loud",
        payload=[],
        colour="blue",
    ),
    *_broken(
        "memory",
        text=None,
        tier="cosmic",
        importance=1.5,
        occurred_to="1999-01-01T00:00:00+00:00",
        event_ids=[NOWHERE],
        tags="deploy",
        retrieved=-1,
    ),
    *_broken(
        "memory",
        importance_floor=None,
        stability=0,
        difficulty=11,
        unhelpful=0.5,
        worked=-0.5,
        last_reviewed_at=7,
        consolidated_at="soon",
    ),
    *_broken("cue", memory_id=NOWHERE, ordinal=True, heading=None, event_id=NOWHERE, start=-1),
    *_broken("vector", memory_id=NOWHERE, vector="!", dim=0, ordinal=9, truncated=1, indexed_at="soon"),
    ("vector", "token_embeddings", "!"),
    *_broken("revision", memory_id=NOWHERE, number=0),
    *_broken("relation", source=NOWHERE, target=NOWHERE, kind="likes", weight="heavy"),
    *_broken("exposure", memory_id=NOWHERE, kind="seen", at=None, similarity=1.5, query=None, session=""),
    *_broken("archived", id=7, text=None, archived_at=None),
    *_broken("priority", event_id=NOWHERE, previous="low", priority=None, by="", reason=7, at="soon"),
    *_broken("stream", cursor=-1, read=None, note=None),
    *_broken("review", memory_id=NOWHERE, rating=5, at=None, evidence_until="soon", previous=7),
    *_broken("review", stability_before=0, stability=None, difficulty_before=11, difficulty=0.5, by=""),
    *_broken("credit", memory_id=NOWHERE, outcome_id="first", at=None, result="won", basis="guessed", share=0),
    *_broken("credit", task=7, worked=-1, confidence=2, stability=0, recall_id="last"),
    *_broken("audit", memory_id=NOWHERE, action="", reason=None),
    *_broken("health", crew="", day="4 March", taken_at=None, coverage=101, score="good"),
]
"""The record to break, the key of its field, and the invalid value."""


NEWER: Final = {
    *("importance_floor", "stability", "difficulty", "last_reviewed_at", "unhelpful", "consolidated_at"),
    *("indexed_at", "token_embeddings", "query", "actor", "role", "start", "worked", "failed"),
}
"""Fields that exports of version 1 lack."""


def of_record(rows: list[ExportRow], record: str) -> list[ExportRow]:
    return [row for row in rows if row["record"] == record]


async def _read(store: Store, to: int, note: dict[str, JsonValue] | None = None) -> None:
    """Record three events in the stream, and set its cursor to `to`."""
    await store.append(SCOPE, [Entry(an_event(text)) for text in ("one", "two", "three")])
    await store.commit(SCOPE, Effect(cursor=Cursor(stream=SCOPE, expected=0, to=to, note=note or {})), at=NOW)


class ExportContract(WorldSuite):
    async def test_an_empty_workspace_exports_nothing(self, store: Store) -> None:
        assert await exported(store) == []

    async def test_an_export_holds_every_record_in_order(self, world: Store) -> None:
        records = [str(row["record"]) for row in await exported(world)]
        assert records == sorted(records, key=RECORDS.index)
        assert Counter(records) == Counter(
            event=3,
            archived=1,
            priority=2,
            stream=1,
            memory=5,
            cue=7,
            vector=3,
            revision=1,
            state=4,
            relation=3,
            exposure=2,
            review=1,
            credit=1,
            audit=2,
            health=2,
        )

    async def test_an_export_is_json(self, world: Store) -> None:
        rows = await exported(world)
        assert json.loads(json.dumps(rows, allow_nan=False)) == rows

    async def test_an_export_does_not_depend_on_the_order_of_writing(self, store: Store) -> None:
        writes = [indexed(a_memory(f"{n}", at=NOW + timedelta(hours=n))) for n in range(4)]
        await remember(store, *writes)
        async with self.another_store() as other:
            await remember(other, *reversed(writes))
            assert await exported(other) == await exported(store)


def _backups(folder: Path) -> dict[str, int]:
    """The sizes of the files by their names; partly written ones too."""
    return {file.name: file.stat().st_size for file in folder.glob("backup*")}


class BackupContract(WorldSuite):
    async def test_a_backup_is_a_new_file_or_is_refused(self, world: Store, tmp_path: Path) -> None:
        """Opened as a store it holds the same, which only the store's own tests can see."""
        try:
            report = await world.backup(tmp_path / "backup")
        except Unsupported:
            assert _backups(tmp_path) == {}
        else:
            assert report.rows > 0
            assert _backups(tmp_path) == {"backup": report.bytes}


class ImportContract(WorldSuite):
    _exported: ClassVar[dict[type, list[ExportRow]]] = {}
    """The rows of each kind of store, which are the same in every test."""

    @pytest.fixture
    def rows(self, store: Store) -> list[ExportRow]:
        """The export of a store that has a row of every kind."""
        if type(self) not in self._exported:
            self._exported[type(self)] = self.run(self.exported_by(lambda source: populate(source, SCOPE)))
        return deepcopy(self._exported[type(self)])

    async def test_an_exported_workspace_is_equal_after_an_import(self, store: Store, rows: list[ExportRow]) -> None:
        assert await store.import_rows(SCOPE, rows) == len(rows)
        assert await exported(store) == rows

    async def test_every_field_of_a_memory_comes_back(self, store: Store) -> None:
        newer = a_memory("newer", memory_id=UUID(int=77))
        async with self.another_store() as source:
            await source.import_rows(SCOPE, [record_to_row(MemoryRecord(one, ())) for one in (newer, FULL)])
            await store.import_rows(SCOPE, await exported(source))
        assert await store.get(Reader(FULL.scope), [FULL.id]) == {FULL.id: FULL}

    async def test_an_import_passes_through_text(self, store: Store, rows: list[ExportRow]) -> None:
        await store.import_rows(SCOPE, json.loads(json.dumps(rows)))
        assert await exported(store) == rows

    async def test_an_import_may_come_in_parts(self, store: Store, rows: list[ExportRow]) -> None:
        for row in rows:
            assert await store.import_rows(SCOPE, [row]) == 1
        assert await exported(store) == rows

    async def test_importing_twice_adds_nothing(self, world: Store) -> None:
        rows = await exported(world)
        assert await world.import_rows(SCOPE, rows) == 0
        assert await exported(world) == rows

    async def test_a_dry_run_counts_and_writes_nothing(self, store: Store, rows: list[ExportRow]) -> None:
        assert await store.import_rows(SCOPE, rows, dry_run=True) == len(rows)
        assert await exported(store) == []
        assert await found(store, "deploy") == set()

    async def test_a_dry_run_refuses_the_same_rows_as_an_import(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            await store.import_rows(SCOPE, [{"record": "poem"}], dry_run=True)

    async def test_rows_are_read_once(self, store: Store, rows: list[ExportRow]) -> None:
        assert await store.import_rows(SCOPE, iter(rows)) == len(rows)

    async def test_importing_nothing_adds_nothing(self, store: Store) -> None:
        assert await store.import_rows(SCOPE, []) == 0

    async def test_an_import_counts_as_its_source_did(self, store: Store) -> None:
        async with self.another_store() as source:
            await populate(source, SCOPE)
            await store.import_rows(SCOPE, await exported(source))
            assert replace(await store.stats(READER), bytes=0) == replace(await source.stats(READER), bytes=0)

    async def test_an_import_keeps_to_the_workspace_it_is_given(self, store: Store) -> None:
        elsewhere = replace(SCOPE, workspace="rival")
        await populate(store, SCOPE)
        rows = await exported(store)
        assert await store.import_rows(elsewhere, rows) == len(rows)
        assert await exported(store, elsewhere) == rows
        memory = (await store.get(Reader(elsewhere), [DEPLOY]))[DEPLOY]
        assert memory.scope == elsewhere

    async def test_an_imported_stream_continues_at_its_end(self, store: Store, rows: list[ExportRow]) -> None:
        await store.import_rows(SCOPE, rows)
        (appended,) = await store.append(SCOPE, [Entry(an_event("next"))])
        assert appended.event.seq == 3

    async def test_an_event_whose_position_is_taken_moves_to_the_end_of_its_stream(self, store: Store) -> None:
        rows = await self.exported_by(lambda source: source.append(SCOPE, [Entry(an_event("from elsewhere"))]))
        await store.append(SCOPE, [Entry(an_event("first")), Entry(an_event("second"))])
        assert await store.import_rows(SCOPE, rows) == 1
        listed = await store.events(READER, EventFilter(), limit=9, oldest_first=True)
        assert [(event.text, event.seq) for event in listed] == [("first", 1), ("second", 2), ("from elsewhere", 3)]

    async def test_rows_that_are_there_are_unchanged(self, world: Store) -> None:
        rows = await exported(world)
        await world.set_status(READER, DEPLOY, Status.RETIRED, at=NOW)
        await world.adjust(READER, [OOM], lambda strength: Adjustment(replace(strength, importance=0.0)), at=NOW)
        async with unchanged(world):
            assert await world.import_rows(SCOPE, rows) == 0

    async def test_a_memory_revised_since_takes_no_old_cue_or_vector(self, store: Store) -> None:
        memory = await stored(store, indexed(a_memory("kestrel"), "one", "two"))
        await give_vectors(store, {"one": a_vector(1, 0)})
        rows = await exported(store)
        await store.revise(SCOPE, indexed(memory, "three"), expected_revision=1, at=NOW)
        async with unchanged(store):
            assert await store.import_rows(SCOPE, rows) == 0

    async def test_a_memory_takes_no_revision_it_has_not_reached(self, store: Store) -> None:
        memory = await stored(store, a_memory("kestrel"))
        async with self.another_store() as ahead:
            await remember(ahead, memory)
            await ahead.revise(SCOPE, indexed(memory, "owl"), expected_revision=1, at=NOW)
            rows = [row for row in await exported(ahead) if row["record"] != "memory"]
        assert await store.import_rows(SCOPE, rows) == 0
        await store.revise(SCOPE, indexed(memory, "heron"), expected_revision=1, at=NOW)
        assert [revision.number for revision in await store.revisions(READER, memory.id)] == [1]

    async def test_two_exports_of_one_workspace_give_the_same_in_any_order(self, store: Store) -> None:
        async with self.another_store() as source, self.another_store() as other:
            await _tell(source)
            first = await exported(source)
            await _tell_on(source)
            second = await exported(source)
            for rows in (first, second):
                await store.import_rows(SCOPE, rows)
            for rows in (second, first):
                await other.import_rows(SCOPE, rows)
            assert await exported(store) == await exported(other) == second

    async def test_rows_of_one_kind_may_come_in_any_order(self, store: Store, rows: list[ExportRow]) -> None:
        kinds = [of_record(rows, record) for record in RECORDS]
        shuffled = [row for kind in kinds for row in reversed(kind)]
        assert shuffled != rows
        await store.import_rows(SCOPE, shuffled)
        for at in (NOW, LATER, LATER + timedelta(hours=1)):
            async with self.another_store() as source:
                await source.import_rows(SCOPE, rows)
                assert await _as_of(store, at) == await _as_of(source, at)

    async def test_of_two_memories_that_have_no_past_in_common_the_one_here_stays(self, store: Store) -> None:
        memory = await stored(store, a_memory("kestrel"))
        async with self.another_store() as elsewhere:
            await remember(elsewhere, replace(memory, text="owl"))
            await elsewhere.revise(SCOPE, indexed(memory, "heron"), expected_revision=1, at=LATER)
            rows = await exported(elsewhere)
        async with unchanged(store):
            assert await store.import_rows(SCOPE, rows) == 0

    async def test_an_imported_revision_of_an_older_export_is_found_too(self, store: Store) -> None:
        memory = a_memory("kestrel")
        async with self.another_store() as source:
            await remember(source, memory)
            await source.revise(SCOPE, indexed(replace(memory, text="owl")), expected_revision=1, at=LATER)
            rows = await exported(source)
        known = ("record", "memory_id", "number", "title", "text", "replaced_at")
        older = [
            {key: row[key] for key in known} if row["record"] == "revision" else row
            for row in rows
            if row["record"] != "cue" or row["last"] is None
        ]
        await store.import_rows(SCOPE, older)
        cues = await store.read(lambda view: view.as_of(NOW).cues(READER, [memory.id]))
        assert [cue.text for cue in cues[memory.id]] == ["kestrel"]

    async def test_a_day_of_health_that_is_there_stays_as_it_is(self, store: Store) -> None:
        rows = await self.exported_by(lambda source: source.put_snapshot(SCOPE, a_snapshot(None, score=1.0)))
        await store.put_snapshot(SCOPE, a_snapshot(None, score=2.0))
        assert await store.import_rows(SCOPE, rows) == 0
        assert await store.snapshots(SCOPE, None, limit=9) == (a_snapshot(None, score=2.0),)

    async def test_a_topic_that_a_superseded_memory_let_go_of_refuses_no_import(self, store: Store) -> None:
        about = replace(a_memory("staging"), topic_key="target")
        async with self.another_store() as source:
            await remember(source, about, a_memory("production"))
            await source.supersede(READER, about.id, a_memory("production").id, at=NOW)
            rows = await exported(source)
        await remember(store, replace(a_memory("the edge"), topic_key="target"))
        assert await store.import_rows(SCOPE, rows) == len(rows)

    async def test_rows_of_the_first_version_get_the_defaults_of_a_new_row(self, store: Store) -> None:
        async with self.another_store() as source:
            await source.append(SCOPE, [Entry(an_event(), indexed(a_memory(), event_ids=[an_event().id]))])
            await give_vectors(source, {a_memory().text: a_vector(1, 0)})
            rows = await exported(source)
        first = [{field: row[field] for field in row if field not in NEWER or row["record"] == "event"} for row in rows]
        assert await store.import_rows(SCOPE, first) == len(rows)
        assert await store.get(READER, [a_memory().id]) == {a_memory().id: a_memory()}
        expected = [{**row, "indexed_at": None} if row["record"] == "vector" else row for row in rows]
        assert await exported(store) == expected

    async def test_the_question_of_an_exposure_is_transferred_with_it(self, store: Store) -> None:
        exposed = Exposed(a_memory().id, Exposure.RETRIEVED, NOW, 0.5, "what failed?", "monday")
        async with self.another_store() as source:
            await remember(source, a_memory())
            await source.adjust(READER, [], Adjustment, at=NOW, exposed=[exposed])
            await store.import_rows(SCOPE, await exported(source))
        (evidence,) = await store.unreviewed(SCOPE, Exposure.RETRIEVED, limit=9)
        assert (evidence.queries, evidence.session) == (("what failed?",), "monday")

    async def test_an_older_export_calls_token_embeddings_words(self, world: Store) -> None:
        rows = await exported(world)
        older = [{"words" if name == "token_embeddings" else name: row[name] for name in row} for row in rows]
        async with self.another_store() as other:
            await other.import_rows(SCOPE, older)
            assert of_record(await exported(other), "vector") == of_record(rows, "vector")

    async def test_an_exposure_of_an_older_export_has_no_question(self, store: Store) -> None:
        async with self.another_store() as source:
            await remember(source, a_memory())
            exposed = [Exposed(a_memory().id, Exposure.RETRIEVED, NOW)]
            await source.adjust(READER, [], Adjustment, at=NOW, exposed=exposed)
            rows = await exported(source)
        older = [{**row} for row in rows]
        for row in of_record(older, "exposure"):
            for newer in ("query", "session", "project", "crew", "agent"):
                del row[newer]
        assert await store.import_rows(SCOPE, older) == len(rows)
        assert await exported(store) == rows

    async def test_a_stream_is_read_as_far_as_it_was_where_it_came_from(self, store: Store) -> None:
        rows = await self.exported_by(lambda source: _read(source, 2, {"topic": "birds"}))
        await store.import_rows(SCOPE, rows)
        await store.append(SCOPE, [Entry(an_event("more"))])
        tail = await the_tail(store, SCOPE)
        assert (tail.cursor, tail.events, tail.note) == (2, 2, {"topic": "birds"})

    async def test_a_later_export_moves_the_stream_on(self, store: Store) -> None:
        async with self.another_store() as source:
            await _read(source, 1, {"topic": "birds"})
            await store.import_rows(SCOPE, await exported(source))
            await source.commit(SCOPE, Effect(cursor=Cursor(stream=SCOPE, expected=1, to=2)), at=NOW)
            rows = await exported(source)
        assert await store.import_rows(SCOPE, rows) == 1
        assert await exported(store) == rows

    async def test_an_earlier_export_moves_no_stream_back(self, store: Store) -> None:
        await _read(store, 1)
        rows = await exported(store)
        await store.commit(SCOPE, Effect(cursor=Cursor(stream=SCOPE, expected=1, to=3)), at=NOW)
        async with unchanged(store):
            assert await store.import_rows(SCOPE, rows) == 0

    async def test_a_stream_of_the_same_name_elsewhere_does_not_move_the_cursor_here(self, store: Store) -> None:
        rows = await self.exported_by(lambda source: _read(source, 3))
        await store.append(SCOPE, [Entry(an_event("of this place"))])
        assert (
            await store.import_rows(SCOPE, rows) == 3
        )  # the positions of its events, after that of the event already here
        tail = await the_tail(store, SCOPE)
        assert (tail.cursor, tail.events) == (0, 4)

    async def test_a_note_alone_comes_with_its_stream(self, store: Store) -> None:
        rows = await self.exported_by(lambda source: _read(source, 0, {"topic": "birds"}))
        assert await store.import_rows(SCOPE, rows) == len(rows)
        assert await exported(store) == rows

    async def test_the_workspace_s_own_stream_is_not_read_again_either(self, store: Store) -> None:
        whole = Scope(workspace=SCOPE.workspace)
        async with self.another_store() as source:
            await source.append(whole, [Entry(an_event("one", scope=whole))])
            await source.commit(whole, Effect(cursor=Cursor(stream=whole, expected=0, to=1)), at=NOW)
            await store.import_rows(whole, await exported(source, whole))
        assert await store.tail(whole) is None

    async def test_a_note_that_is_here_stays(self, store: Store) -> None:
        rows = await self.exported_by(lambda source: _read(source, 1, {"topic": "birds"}))
        await _read(store, 1, {"topic": "boats"})
        async with unchanged(store):
            assert await store.import_rows(SCOPE, rows) == 0

    async def test_a_key_held_by_another_row_refuses_the_import(self, store: Store) -> None:
        async with self.another_store() as source:
            await source.append(SCOPE, [Entry(an_event("fine"))])
            await remember(source, replace(a_memory("theirs"), key="k"))
            rows = await exported(source)
        await remember(store, replace(a_memory("mine"), key="k"))
        async with refused(store, Conflict):
            await store.import_rows(SCOPE, rows)

    async def test_a_vector_of_another_dimension_refuses_the_import(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two"))
        await give_vectors(store, {"one": a_vector(1, 0)})
        data = a_vector(1, 2, 3).astype("<f4").tobytes()
        vector = VectorRecord(memory_id=a_memory().id, ordinal=1, revision=1, model=MODEL, truncated=False, data=data)
        async with refused(store, EmbedderMismatch):
            await store.import_rows(SCOPE, [record_to_row(vector)])

    @pytest.mark.parametrize(("record", "key", "value"), BROKEN, ids=[f"{one}.{key}" for one, key, _ in BROKEN])
    async def test_a_bad_row_refuses_the_import_with_its_line(
        self, store: Store, rows: list[ExportRow], record: str, key: str, value: JsonValue
    ) -> None:
        broken = of_record(rows, record)[-1]
        whole = [{**row, key: value} if row is broken else row for row in rows]
        with pytest.raises(InvalidInput) as caught:
            await store.import_rows(SCOPE, whole)
        assert caught.value.argument.startswith("record" if key == "record" else f"{record}.{key}")
        assert await exported(store) == []


async def _tell(store: Store) -> None:
    """Store two memories, one of them revised and used."""
    await remember(store, a_memory("kestrel"), indexed(a_memory("owl"), "an owl", "in a barn"))
    await give_vectors(store, {"an owl": a_vector(1, 0), "kestrel": a_vector(0, 1)})
    await store.revise(SCOPE, indexed(replace(a_memory("kestrel"), text="heron")), expected_revision=1, at=LATER)
    await _use(store, a_memory("owl"), LATER)


async def _tell_on(store: Store) -> None:
    """Revise and use both memories again, and retire one."""
    later = LATER + timedelta(hours=1)
    await store.revise(SCOPE, indexed(replace(a_memory("kestrel"), text="stork")), expected_revision=2, at=later)
    await store.revise(SCOPE, indexed(a_memory("owl"), "an owl", "in a tree"), expected_revision=1, at=later)
    await give_vectors(store, {"in a tree": a_vector(1, 1)})
    await _use(store, a_memory("owl"), later + timedelta(hours=1))
    await store.set_status(READER, a_memory("kestrel").id, Status.RETIRED, at=later + timedelta(hours=1))


async def _use(store: Store, memory: Memory, at: datetime) -> None:
    def used(strength: Strength) -> Adjustment:
        return Adjustment(replace(strength, usage=replace(strength.usage, used=strength.usage.used + 1)))

    await store.adjust(READER, [memory.id], used, at=at)


async def _as_of(store: Store, at: datetime) -> object:
    """The memories that were known then."""

    def read(view: ReadView) -> object:
        then = view.as_of(at)
        ids = [memory.id for memory in then.memories(READER, EVERYTHING, limit=99)]
        vectors = {one: vector.tolist() for one, vector in then.vectors(READER, MODEL, ids).items()}
        return then.get(READER, ids), then.cues(READER, ids), then.relations(READER, ids), vectors

    return await store.read(read)
