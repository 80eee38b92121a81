"""State machine test: after any steps, a store and the reference store have the same rows and give the same answers."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.event import Event, Priority, Role
from remembrancer.domain.job import Run
from remembrancer.domain.journal import ListingPosition
from remembrancer.domain.memory import Memory, MemoryWrite, Status
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Level, Reader, Scope
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import RemembrancerError
from remembrancer.ports.changes import ReadView
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.index import Index
from remembrancer.ports.journal import Aged, Entry, EventFilter
from remembrancer.ports.outcomes import Judged
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import exported
from remembrancer.testing.contract.finding import Finder, IndexSuite, VectoredRequest, assert_same_answer, request
from remembrancer.testing.contract.histories import (
    MODELS,
    QUESTION,
    READERS,
    SCOPES,
    WHERES,
    axis_of,
    exposures,
    in_events,
    keys,
    kinds,
    memories,
    minutes,
    moments,
    picks,
    queries,
    readers,
    scopes,
    sessions,
    similarities,
    speaker_match,
    speaking,
    talks,
    texts,
    turns,
    weights,
    words_of,
)
from remembrancer.testing.contract.strength import as_lists
from remembrancer.testing.contract.world import a_call, a_credit, a_review, a_snapshot
from remembrancer.testing.doubles import NOW, SequentialIds, a_memory, an_event, indexed
from remembrancer.testing.textbook_index import TextbookIndex

EVENTS = (
    EventFilter(),
    EventFilter(words=(frozenset({"owl", "barn"}), frozenset({"kestrel"})), archived=True),
    EventFilter(priorities=frozenset({Priority.PIN, Priority.HIGH}), crew="c1"),
)


class StoreMachine(RuleBasedStateMachine):
    """Applies the same steps to a store with its index, and to the reference store with the textbook index."""

    def __init__(self, make_store: Callable[[], Awaitable[Store]], make_index: Callable[[], Index]) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.store = self.runner.run(_opened(make_store))
        self.model = ReferenceStore()
        self.finder = Finder(self.store, make_index())
        self.oracle = Finder(self.model, TextbookIndex())
        self.ids = SequentialIds()
        self.known: list[Memory] = []
        """Every memory that a step tried to insert, whether it was accepted or not."""
        self.said: list[Event] = []
        """Every event that a step tried to record."""
        self.readers = itertools.cycle(READERS)
        self.times = itertools.cycle(NOW + timedelta(hours=hours) for hours in range(3))

    def teardown(self) -> None:
        self.runner.run(self.finder.index.close())
        self.runner.run(self.store.close())
        self.runner.close()

    @rule(scope=scopes, text=texts, key=keys, at=minutes, who=speaking)
    def record(self, scope: Scope, text: str, key: str | None, at: datetime, who: tuple[str | None, Role]) -> None:
        event = self._event(text, scope, key, at, who)
        self._both(lambda store: store.append(scope, [Entry(event)]))

    @rule(given=st.lists(st.tuples(memories(), turns, keys, minutes, speaking), min_size=1, max_size=3))
    def record_with_memories(
        self, given: list[tuple[Memory, list[str], str | None, datetime, tuple[str | None, Role]]]
    ) -> None:
        scope = given[0][0].scope
        entries: list[Entry] = []
        for memory, said, key, at, who in given:
            event = self._event(memory.text, memory.scope, key, at, who)
            write = in_events(self._new(memory, said), [event])
            entries.append(Entry(event, replace(write, event_ids=(event.id,))))
        self._both(lambda store: store.append(scope, entries))

    @rule(scope=scopes, talk=talks, at=moments)
    def talk(self, scope: Scope, talk: list[tuple[str, timedelta, tuple[str | None, Role]]], at: datetime) -> None:
        """Record turns of one stream, each with a memory of its text."""
        entries: list[Entry] = []
        for text, pause, who in talk:
            at += pause
            event = self._event(text, scope, None, at, who)
            write = self._new(a_memory(text, scope=scope, at=at), [text])
            entries.append(Entry(event, in_events(write, [event])))
        self._both(lambda store: store.append(scope, entries))

    @rule(memory=memories(), said=turns, of=speaker_match)
    def insert(self, memory: Memory, said: list[str], of: list[int | None]) -> None:
        write = in_events(self._new(memory, said), self._events(of))
        self._both(lambda store: store.insert(memory.scope, write))

    @rule(pick=picks, given=memories(), said=turns, of=speaker_match, behind=st.sampled_from([0, 0, 0, 1]), at=moments)
    def revise(
        self, pick: int, given: Memory, said: list[str], of: list[int | None], behind: int, at: datetime
    ) -> None:
        memory = self._known(pick)
        current = self._get(memory)
        revised = replace(given, id=memory.id, scope=memory.scope, key=memory.key)
        write = in_events(indexed(revised, *said), self._events(of))
        expected = (1 if current is None else current.revision) - behind
        self._both(lambda store: store.revise(memory.scope, write, expected_revision=expected, at=at))

    @rule(reader=readers, pick=picks, status=st.sampled_from(Status), at=moments)
    def set_status(self, reader: Reader, pick: int, status: Status, at: datetime) -> None:
        memory = self._known(pick)
        self._both(lambda store: store.set_status(reader, memory.id, status, at=at))

    @rule(
        reader=readers,
        some=st.lists(picks, max_size=3),
        importance=st.sampled_from([0.0, 0.25, 1.0]),
        retire=st.sampled_from(["", "", "harmed too often"]),
        exposed=st.lists(st.tuples(picks, exposures, moments, similarities, queries, sessions), max_size=2),
        at=moments,
    )
    def adjust(
        self,
        reader: Reader,
        some: list[int],
        importance: float,
        retire: str,
        exposed: list[tuple[int, Exposure, datetime, float | None, str, str | None]],
        at: datetime,
    ) -> None:
        ids = [self._known(pick).id for pick in some]
        log = [
            Exposed(self._known(pick).id, kind, when, similarity, query, session)
            for pick, kind, when, similarity, query, session in exposed
        ]

        def change(strength: Strength) -> Adjustment:
            usage = replace(strength.usage, used=strength.usage.used + 1, last_used_at=at)
            return Adjustment(
                replace(strength, importance=importance, stability=2 * strength.stability, usage=usage), retire
            )

        self._both(lambda store: store.adjust(reader, ids, change, at=at, exposed=log))

    @rule(reader=readers, some=st.lists(picks, min_size=1, max_size=3), outcome=st.integers(1, 3), at=moments)
    def add_credits(self, reader: Reader, some: list[int], outcome: int, at: datetime) -> None:
        ids = [self._known(pick).id for pick in some]

        def judge(memory: Memory) -> Judged:
            usage = replace(memory.strength.usage, worked=memory.strength.usage.worked + 0.5)
            credit = replace(a_credit(memory.id, outcome=UUID(int=outcome), at=at), scope=reader.scope)
            return Judged(replace(memory.strength, usage=usage), credit, Exposed(memory.id, Exposure.USED, at))

        self._both(lambda store: store.add_credits(reader, UUID(int=outcome), ids, judge, at=at))

    @rule(reader=readers, old=picks, new=st.none() | picks, at=moments)
    def supersede(self, reader: Reader, old: int, new: int | None, at: datetime) -> None:
        successor = None if new is None else self._known(new).id
        self._both(lambda store: store.supersede(reader, self._known(old).id, successor, at=at))

    @rule(reader=readers, given=st.lists(st.tuples(picks, picks, kinds, weights), min_size=1, max_size=3), at=moments)
    def relate(self, reader: Reader, given: list[tuple[int, int, RelationKind, float]], at: datetime) -> None:
        edges = self._edges(given, at)
        self._both(lambda store: store.relate(reader, edges))

    @rule(
        scope=scopes,
        expected=st.lists(picks, max_size=2),
        consolidated=st.lists(picks, max_size=1),
        given=st.none() | memories(),
        said=turns,
        of=speaker_match,
        moved=st.lists(st.tuples(picks, st.sampled_from(Status)), max_size=1),
        superseded=st.lists(st.tuples(picks, st.none() | picks), max_size=1),
        related=st.lists(st.tuples(picks, picks, kinds, weights), max_size=1),
        reviewed=st.lists(picks, max_size=1),
        at=moments,
    )
    def commit(
        self,
        scope: Scope,
        expected: list[int],
        consolidated: list[int],
        given: Memory | None,
        said: list[str],
        of: list[int | None],
        moved: list[tuple[int, Status]],
        superseded: list[tuple[int, int | None]],
        related: list[tuple[int, int, RelationKind, float]],
        reviewed: list[int],
        at: datetime,
    ) -> None:
        """Commit an effect of several parts, some of which the store must refuse."""

        def doubled(strength: Strength) -> Adjustment:
            return Adjustment(replace(strength, stability=2 * strength.stability))

        formed = () if given is None else (in_events(self._new(given, said), self._events(of)),)
        effect = Effect(
            expected={self._known(pick).id: self._revision(pick) for pick in expected},
            consolidated=frozenset(self._known(pick).id for pick in consolidated),
            inserted=tuple(write for write in formed if write.memory.scope.workspace == scope.workspace),
            status_changes=tuple(StatusChange(self._known(pick).id, status, "moved") for pick, status in moved),
            superseded=tuple(
                (self._known(old).id, None if new is None else self._known(new).id) for old, new in superseded
            ),
            related=tuple(self._edges(related, at)),
            adjusted=dict.fromkeys((self._known(pick).id for pick in expected[:1]), doubled),
            reviewed=tuple(self._review(pick, at) for pick in reviewed),
        )
        self._both(lambda store: store.commit(scope, effect, at=at))

    @rule(scope=scopes, to=st.integers(0, 6), behind=st.sampled_from([0, 0, 0, 1]), note=st.sampled_from(["", "birds"]))
    def read_stream(self, scope: Scope, to: int, behind: int, note: str) -> None:
        tail = self.runner.run(self.model.tail(scope))
        expected = (0 if tail is None else tail.cursor) + behind
        told: dict[str, JsonValue] = {"topic": note} if note else {}
        cursor = Cursor(stream=scope, expected=expected, to=expected + to, note=told)
        self._both(lambda store: store.commit(scope, Effect(cursor=cursor), at=NOW))

    @rule(scope=scopes, before=minutes, limit=st.sampled_from([1, 99]), at=moments)
    def archive(self, scope: Scope, before: datetime, limit: int, at: datetime) -> None:
        aged = Aged(types=frozenset({"mess*"}), keep=frozenset({Priority.PIN}), before=before)
        self._both(lambda store: store.archive(scope, aged, at=at, limit=limit))

    @rule(reader=readers, pick=picks, priority=st.sampled_from(Priority), at=moments)
    def mark(self, reader: Reader, pick: int, priority: Priority, at: datetime) -> None:
        (event,) = self._events([pick])
        identifier = self.ids() if event is None else event.id

        def lifted(memory: Memory, before: Sequence[Event], after: Sequence[Event]) -> Strength:
            pinned = [sum(one.priority is Priority.PIN for one in events) / 8 for events in (before, after)]
            return replace(memory.strength, importance=min(pinned[0], 1.0), importance_floor=min(pinned[1], 1.0))

        self._both(
            lambda store: store.set_priority(
                reader, identifier, priority, by="LEAD", reason="a bird", at=at, change=lifted
            )
        )

    @rule(
        scope=scopes,
        job=st.sampled_from(["a", "b"]),
        item=st.sampled_from(["x", "y"]),
        settle=st.booleans(),
        at=moments,
    )
    def work(self, scope: Scope, job: str, item: str, settle: bool, at: datetime) -> None:
        if settle:
            self._both(lambda store: store.settle(scope, job, [item]))
        else:
            self._both(lambda store: store.defer(scope, job, item, error="no answer", now=at))
        self._both(lambda store: store.put_run(scope, Run(job=job, started_at=at, ended_at=at, failed=int(not settle))))
        self._both(lambda store: store.log_call(scope, a_call(purpose=job)))

    @rule(scope=scopes, crew=st.sampled_from([None, "c1"]), day=st.integers(1, 3), score=st.none() | weights)
    def take_health(self, scope: Scope, crew: str | None, day: int, score: float | None) -> None:
        self._both(lambda store: store.put_snapshot(scope, a_snapshot(crew, day=day, score=score)))

    @rule(
        scope=scopes,
        model=st.sampled_from(MODELS),
        skip=st.integers(min_value=0, max_value=2),
        cut=st.booleans(),
        given=st.lists(st.tuples(picks, picks, kinds, weights), max_size=2),
        at=moments,
    )
    def embed(
        self,
        scope: Scope,
        model: str,
        skip: int,
        cut: bool,
        given: list[tuple[int, int, RelationKind, float]],
        at: datetime,
    ) -> None:
        """Store vectors for all pending cues but the first `skip`, each along the axis of its first word, and
        relations.
        """
        edges = self._edges(given, at)

        async def sweep(store: Store) -> int:
            pending = await store.pending(scope, model, limit=1_000, now=NOW + timedelta(days=99))
            chosen = sorted(pending, key=lambda cue: (cue.memory_id, cue.text))[skip:]
            vectors = [CueVector(cue.ref, axis_of(cue.text), cut, words_of(cue.text)) for cue in chosen]
            return await store.put_vectors(scope, model, vectors, at=at, relations=edges)

        self._both(sweep)

    @rule(scope=scopes, model=st.sampled_from(MODELS), at=moments)
    def defer(self, scope: Scope, model: str, at: datetime) -> None:
        async def fail(store: Store) -> object:
            pending = await store.pending(scope, model, limit=1_000, now=at, before=2)
            await store.defer_vectors(scope, model, [cue.ref for cue in pending], error="no answer", now=at)
            after = [
                await store.pending(scope, model, limit=1_000, now=at + timedelta(seconds=wait))
                for wait in (0, 30, 60, 120)
            ]
            told = [(cue.memory_id, cue.text, cue.speaker, tuple(map(repr, cue.before))) for cue in pending]
            return sorted(told), [sorted((cue.memory_id, cue.text) for cue in due) for due in after]

        self._both(fail)

    @rule(origin=scopes, destination=scopes, dry_run=st.booleans())
    def copy(self, origin: Scope, destination: Scope, dry_run: bool) -> None:
        # The same order for both: events whose position is taken get the next one in order of import.
        rows = self.runner.run(exported(self.model, origin))
        self._both(lambda store: store.import_rows(destination, rows, dry_run=dry_run))

    @invariant()
    def the_rows_are_the_same(self) -> None:
        for workspace in sorted({scope.workspace for scope in SCOPES}):
            self._both(lambda store, name=workspace: _rows(store, Scope(workspace=name)))

    @invariant()
    def the_work_lists_are_the_same(self) -> None:
        for scope in (SCOPES[0], SCOPES[-1]):
            self._both(lambda store, scope=scope: _work_lists(store, scope))

    @invariant()
    def the_lists_are_the_same(self) -> None:
        """Compare the lists of one reader after each step. Comparing those of every reader would take most of
        the run.
        """
        ids = [memory.id for memory in self.known]
        reader = next(self.readers)
        self._both(lambda store: _lists(store, reader, ids))

    @invariant()
    def the_answers_are_the_same(self) -> None:
        asked = [
            (request("kestrel", "owl", where=WHERES[0]), True),
            (request("kestrel", where=WHERES[0], context_features=True, speakers={"Ana"}), True),
            (request("barn", "owl", where=WHERES[1], context_features=True, roles={Role.USER}), True),
            (request(vector=QUESTION, where=WHERES[0]), True),
            (request("barn", "heron", vector=QUESTION, where=WHERES[1], model="model-b", context_features=True), False),
        ]
        for reader in READERS:
            for question, by_cue in asked:
                self.runner.run(self._compare(reader, question, by_cue))

    @invariant()
    def the_past_is_the_same(self) -> None:
        """Compare one time and one reader after each step."""
        reader, at = next(self.readers), next(self.times)
        ids = [memory.id for memory in self.known]
        self._both(lambda store: store.read(lambda view: _past(view.as_of(at), reader, ids)))
        asked = request("kestrel", "owl", vector=QUESTION, where=replace(WHERES[0], current_at=at))
        pair = [replace(finder, at=at) for finder in (self.finder, self.oracle)]
        actual, expected = (self.runner.run(finder.search(reader, asked)) for finder in pair)
        assert_same_answer(actual, expected)

    @invariant()
    def the_token_embeddings_are_the_same(self) -> None:
        ids = [memory.id for memory in self.known]
        for reader in READERS:
            for ordinal in (0, 1):
                actual = self.runner.run(_token_embeddings(self.finder, reader, ids, ordinal))
                assert actual == self.runner.run(_token_embeddings(self.oracle, reader, ids, ordinal))

    async def _compare(self, reader: Reader, asked: VectoredRequest, by_cue: bool) -> None:
        actual, expected = await self.finder.search(reader, asked), await self.oracle.search(reader, asked)
        assert_same_answer(actual, expected)
        # With one search the best cue is definite. With two, a quantised similarity may change the larger sum.
        if by_cue:
            assert actual.cue.tolist() == expected.cue.tolist()

    def _both(self, step: Callable[[Store], Awaitable[object]]) -> None:
        actual = self.runner.run(_outcome(self.store, step))
        expected = self.runner.run(_outcome(self.model, step))
        assert actual == expected

    def _new(self, memory: Memory, said: list[str]) -> MemoryWrite:
        fresh = replace(memory, id=self.ids())
        self.known.append(fresh)
        return indexed(fresh, *said)

    def _event(self, text: str, scope: Scope, key: str | None, at: datetime, who: tuple[str | None, Role]) -> Event:
        actor, role = who
        event = replace(an_event(text, event_id=self.ids(), scope=scope, key=key, at=at), actor=actor, role=role)
        self.said.append(event)
        return event

    def _events(self, picks: list[int | None]) -> list[Event | None]:
        return [None if pick is None or not self.said else self.said[pick % len(self.said)] for pick in picks]

    def _known(self, pick: int) -> Memory:
        return self.known[pick % len(self.known)] if self.known else a_memory(scope=SCOPES[0])

    def _edges(self, given: list[tuple[int, int, RelationKind, float]], at: datetime) -> list[Relation]:
        return [
            Relation(self._known(source).id, self._known(target).id, kind, weight, at)
            for source, target, kind, weight in given
        ]

    def _review(self, pick: int, at: datetime) -> Review:
        memory = self._known(pick)
        current = self._get(memory)
        previous = None if current is None else current.strength.last_reviewed_at
        return a_review(memory.id, at=at, previous=previous, evidence_until=at)

    def _revision(self, pick: int) -> int:
        current = self._get(self._known(pick))
        return 1 if current is None else current.revision

    def _get(self, memory: Memory) -> Memory | None:
        owner = Reader(memory.scope)
        return self.runner.run(_outcome(self.model, lambda store: store.get(owner, [memory.id]))).get(memory.id)


class MachineContract(IndexSuite):
    runs: ClassVar[int] = 3
    """Runs of twenty random steps, with a comparison after each step: some seconds per run."""

    def test_any_sequence_of_steps_matches_the_reference(self) -> None:
        make_store, make_index = self.make_store, self.make_index

        class Machine(StoreMachine):
            def __init__(self) -> None:
                super().__init__(make_store, make_index)

        steps = settings(max_examples=self.runs, stateful_step_count=20, deadline=None)
        run_state_machine_as_test(Machine, settings=steps)


async def _opened(make_store: Callable[[], Awaitable[Store]]) -> Store:
    return await make_store()


async def _outcome(store: Store, step: Callable[[Store], Awaitable[Any]]) -> Any:
    """The result of the step, or the type of the error it raised."""
    try:
        return await step(store)
    except RemembrancerError as error:
        return type(error)


async def _rows(store: Store, scope: Scope) -> object:
    """The exported rows in a canonical order: the order of an export is not prescribed."""
    return sorted(json.dumps(row, sort_keys=True) for row in await exported(store, scope))


async def _lists(store: Store, reader: Reader, ids: list[UUID]) -> object:
    stats = await store.stats(reader)
    return (
        await store.get(reader, ids),
        await store.cues(reader, ids),
        [await store.revisions(reader, memory_id) for memory_id in ids],
        [await store.provenance(reader, memory_id) for memory_id in ids],
        [await store.memories(reader, where, limit=5) for where in WHERES],
        await store.memories(reader, WHERES[0], limit=100, oldest_first=True),
        await store.events(reader, EventFilter(), limit=5),
        await store.events(reader, EventFilter(), limit=100, oldest_first=True),
        await store.count_events(reader, EventFilter(agent="a1")),
        await store.events(reader, EventFilter(archived=True), limit=100, oldest_first=True),
        await store.count_events(reader, EventFilter(archived=True)),
        [await store.events_by_day(reader, where) for where in (*EVENTS, EventFilter(archived=True))],
        [await _read(store, reader, where) for where in EVENTS],
        await store.relations(reader, ids),
        [list((await store.hubs(reader, where, limit=3)).items()) for where in WHERES],
        [(await store.audit(reader, memory_id), await store.reviews(reader, memory_id)) for memory_id in ids],
        [await store.credits(reader, memory_id) for memory_id in ids],
        [await store.health_inputs(reader, where, model=MODELS[0], shown_since=NOW) for where in WHERES],
        {memory_id: vector.tolist() for memory_id, vector in (await store.vectors(reader, MODELS[0], ids)).items()},
        [(list(found), as_lists(states)) for found, states in [await store.states(reader, where) for where in WHERES]],
        [await store.snapshots(reader.scope, crew, limit=2) for crew in (None, "c1")],
        await store.crews(reader.scope),
        [await store.by_topic(reader.scope, "t1", topics) for topics in list(Level)[: Level.SESSION]],
        replace(stats, memories=_some(stats.memories), vectors=_some(stats.vectors)),
    )


def _past(view: ReadView, reader: Reader, ids: list[UUID]) -> object:
    found, states = view.states(reader, WHERES[0])
    return (
        view.get(reader, ids),
        view.cues(reader, ids),
        [view.memories(reader, where, limit=5) for where in WHERES],
        view.relations(reader, ids),
        {memory_id: vector.tolist() for memory_id, vector in view.vectors(reader, MODELS[0], ids).items()},
        (list(found), as_lists(states)),
    )


async def _token_embeddings(finder: Finder, reader: Reader, ids: list[UUID], ordinal: int) -> object:
    cues = dict.fromkeys(ids, ordinal)
    found = await finder.token_embeddings_of(cues, reader=reader, model=MODELS[0])
    return {memory_id: signs.tolist() for memory_id, signs in found.items()}


async def _read(store: Store, reader: Reader, where: EventFilter) -> object:
    """A page of the journal and the next one, the recorded positions, and the priority changes."""
    first = await store.events(reader, where, limit=2)
    behind = await store.events(reader, where, limit=2, after=ListingPosition.of(first[-1])) if first else ()
    page = await store.recorded(reader, where, limit=3)
    earlier = await store.recorded(reader, where, after=page.position // 2, limit=2)
    changes = [await store.priority_changes(reader, event.id) for event in first]
    return first, behind, page, earlier, changes, await store.count_events(reader, where)


async def _work_lists(store: Store, scope: Scope) -> object:
    """The lists of work of a workspace, which do not depend on a reader."""
    streams = [stream for stream in SCOPES if stream.workspace == scope.workspace]
    return (
        await store.tails(scope, at_least=2, silent_since=NOW, limit=2),
        [(await store.tail(stream), await store.stream_events(stream, after=1, limit=3)) for stream in streams],
        [await store.workspace_memories(scope, where, limit=3, unconsolidated=True) for where in WHERES],
        [await store.unreviewed(scope, kind, limit=3) for kind in Exposure],
        await store.exposed_in(Scope(workspace=scope.workspace, session="s1"), Exposure.SHOWN),
        (await store.runs(scope), await store.deferrals(scope), await store.spending(scope)),
    )


def _some(counts: Any) -> dict[str, int]:
    """The counts without zeros, which a store may leave out."""
    return {name: number for name, number in counts.items() if number}
