"""The workspace wall: whatever a sibling workspace holds, nothing read, counted, ranked or refused here changes.

The sibling holds the same ids, keys, topics and words. Each observation is made with and without it, and compared
whole. A method of the protocol that no observation or attempt covers fails the suite.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

import numpy as np
import pytest

from remembrancer.domain.effect import Effect, Moved
from remembrancer.domain.erasure import ErasureSelection, Removal
from remembrancer.domain.event import Event, Priority, Role
from remembrancer.domain.job import Run
from remembrancer.domain.journal import ListingPosition
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.reply import Reply
from remembrancer.domain.scope import Reach, Reader
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.errors import Conflict, NotFound
from remembrancer.ports.changes import ChangeFeed, ReadView
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.exchange import record_to_row
from remembrancer.ports.journal import Aged, Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import (
    EVERYTHING,
    MODEL,
    StoreSuite,
    awaited,
    exported,
    refs_of,
    stored_words,
)
from remembrancer.testing.contract.erasing import OF_DEPLOY, a_receipt
from remembrancer.testing.contract.finding import Finder, IndexSuite, assert_same_answer, finding, needs, request
from remembrancer.testing.contract.states import as_lists
from remembrancer.testing.contract.world import (
    CONVERSATION,
    DEPLOY,
    DOOR,
    FORMER,
    MARKED,
    OLD,
    OOM,
    OTHER_MODEL,
    PROBES,
    REVIEWED_AT,
    TOPIC,
    TURNS,
    a_call,
    a_claim,
    a_key,
    a_review,
    a_snapshot,
    populate,
)
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, an_event, indexed

SIBLING: Final = replace(SCOPE, workspace="rival")
SIBLING_READER: Final = Reader(SIBLING)
CANARY: Final = "canary "
LATER: Final = NOW + timedelta(days=30)
CANARIES: Final = EventFilter(words=(frozenset({"canary", "deploi"}),), archived=True)
ALL_IDS: Final = (DEPLOY, OOM, OLD, CONVERSATION, FORMER)

Observe = Callable[[Store], Awaitable[object]]


def _wearing(strength: Strength) -> Adjustment:
    return Adjustment(strength, "harmed too often")


def _importance(strength: Strength) -> Adjustment:
    return Adjustment(replace(strength, importance=1.0))


async def _states(store: Store) -> object:
    ids, states = await store.states(READER, EVERYTHING)
    return ids, as_lists(states)


async def _changes(store: Store) -> object:
    """What an index is told, without the numbers: those of changes and of refs are each store's own."""

    def told(view: ReadView) -> object:
        return [
            (one[:-1], [(cue.terms, cue.length, cue.flags, cue.turn) for cue in one.cues])
            for one in sorted(view.changes(SCOPE, after=0, model=None), key=lambda one: one.id)
        ]

    return await store.read(told)


async def _vectors_of_changes(store: Store) -> object:
    def told(view: ReadView) -> object:
        cues = [(one.id, cue.vector) for one in view.changes(SCOPE, after=0, model=MODEL) for cue in one.cues]
        return sorted((one, None if vector is None else vector.tolist()) for one, vector in cues)

    return await store.read(told)


async def _phrases(store: Store) -> object:
    return len(await store.read(lambda view: view.cues_with_phrase(SCOPE, ("the", "deploi"))))


async def _nothing_changed(store: Store) -> object:
    """Whether an index that has seen the state would be told anything."""

    def told(view: ReadView) -> object:
        state = view.state(SCOPE)
        return len(list(view.changes(SCOPE, after=state.change, model=None)))

    return await store.read(told)


async def _pending(store: Store) -> object:
    cues = await store.pending(SCOPE, MODEL, limit=100, now=NOW, before=9)
    return sorted((cue.memory_id, cue.heading, cue.text, cue.speaker, cue.before) for cue in cues)


async def _pending_of(store: Store) -> object:
    cues = await store.pending_of(SCOPE, MODEL, DEPLOY, before=9)
    return [(cue.memory_id, cue.heading, cue.text, cue.speaker, cue.before) for cue in cues]


async def _check(store: Store) -> object:
    return [(finding.check, finding.ok) for finding in await store.check(SCOPE, MODEL)]


async def _stats(store: Store) -> object:
    return replace(await store.stats(READER), bytes=0)


async def _put_vectors(store: Store) -> object:
    # Vectors of another length than the sibling has: its model is none of ours.
    pending = await store.pending(SCOPE, "model-c", limit=100, now=NOW)
    return await store.put_vectors(
        SCOPE, "model-c", [CueVector(cue.ref, a_vector(1, 2, 3, 4), False) for cue in pending], at=LATER
    )


async def _appended(store: Store) -> object:
    return await store.append(SCOPE, [Entry(an_event("another", key="turn-2"))])


async def _inserted(store: Store) -> object:
    return await store.insert(SCOPE, indexed(replace(a_memory("new"), key="m-2", topic_key="another")))


async def _revised(store: Store) -> object:
    anew = indexed(a_memory("anew", memory_id=DEPLOY))
    return await store.revise(SCOPE, anew, expected_revision=1, at=LATER)


async def _superseded(store: Store) -> object:
    return await store.supersede(READER, OLD, OOM, at=LATER)


async def _related(store: Store) -> object:
    edges = [Relation(OLD, OOM, RelationKind.SUPPORTS, 0.5, NOW), Relation(DEPLOY, OLD, RelationKind.SIMILAR, 0.5, NOW)]
    return await store.relate(READER, edges)


async def _exposed(store: Store) -> object:
    exposed = [Exposed(OLD, Exposure.SHOWN, LATER, 0.25)]
    return await store.adjust(READER, [OOM], _wearing, at=LATER, exposed=exposed)


async def _vectors(store: Store) -> object:
    return {memory_id: vector.tolist() for memory_id, vector in (await store.vectors(READER, MODEL, ALL_IDS)).items()}


async def _words(store: Store) -> object:
    words = await stored_words(store, dict.fromkeys(ALL_IDS, 0), model=OTHER_MODEL)
    return {memory_id: signs.tolist() for memory_id, signs in words.items()}


async def _linked(store: Store) -> object:
    edge = Relation(OLD, OOM, RelationKind.SIMILAR, 0.5, NOW)
    return await store.put_vectors(SCOPE, MODEL, [], at=LATER, relations=[edge])


async def _committed(store: Store) -> object:
    """One of each part, and what became of it all."""
    formed = indexed(a_memory("formed anew"), event_ids=[TURNS[0]])
    effect = Effect(
        expected={DEPLOY: 1, OLD: 1},
        consolidated=frozenset({OLD}),
        cursor=Cursor(stream=SCOPE, expected=1, to=2),
        inserted=(formed,),
        revised=(indexed(a_memory("said anew", memory_id=DEPLOY)),),
        moved=(Moved(OOM, Status.COMPACTED, "condensed"),),
        superseded=((OLD, formed.memory.id),),
        related=(Relation(formed.memory.id, OOM, RelationKind.DERIVED_FROM, 1.0, LATER),),
        adjusted={OOM: _importance},
        reviewed=(a_review(at=LATER, previous=REVIEWED_AT),),
    )
    await store.commit(SCOPE, effect, at=LATER)
    return await store.get(READER, [*ALL_IDS, formed.memory.id])


async def _run(store: Store) -> object:
    run = Run(job="segment", started_at=LATER, ended_at=LATER, error="broke off")
    await store.put_run(SCOPE, run)
    return await store.runs(SCOPE)


async def _settled(store: Store) -> object:
    await store.settle(SCOPE, "segment", ["the stream of monday", "another"])
    return await store.deferrals(SCOPE)


async def _called(store: Store) -> object:
    await store.log_call(SCOPE, a_call())
    return await store.spending(SCOPE)


async def _admitted(store: Store) -> object:
    await store.put_key(SCOPE, a_key(TURNS[0]))
    return await store.keys(SCOPE)


async def _revoked(store: Store) -> object:
    return await store.revoke_key(SCOPE, DOOR, at=LATER), await store.keys(SCOPE)


async def _claimed(store: Store) -> object:
    """A new one, one under way, one answered; and all once more, when these are forgotten."""
    keys = ("request-3", "request-1", "request-2")
    told = [await store.claim(SCOPE, a_claim(key), forget_before=NOW) for key in keys]
    again = [replace(a_claim(key), at=LATER) for key in keys]
    return told, [await store.claim(SCOPE, claim, forget_before=LATER) for claim in again]


async def _answered(store: Store) -> object:
    await store.answer(SCOPE, a_claim(), Reply(200, b"stolen", "text/plain"))
    return await store.claim(SCOPE, a_claim(), forget_before=NOW)


async def _released(store: Store) -> object:
    await store.release(SCOPE, a_claim())
    return await store.claim(SCOPE, replace(a_claim(), at=LATER), forget_before=NOW)


async def _access(store: Store) -> object:
    """The sibling's keys and claims, which are in no export."""
    claims = [await store.claim(SIBLING, a_claim(key), forget_before=NOW) for key in ("request-1", "request-2")]
    return await store.keys(SIBLING), claims


async def _archived(store: Store) -> object:
    everything = Aged(types=frozenset({"*"}), keep=frozenset(), before=LATER)
    return await store.archive(SCOPE, everything, at=LATER, limit=9)


def _as_if_important(_memory: Memory, _before: Sequence[Event], _after: Sequence[Event]) -> Strength:
    return Strength(importance=1.0)


async def _marked(store: Store) -> object:
    """Given a priority, and what came of it, of an event that two memories were formed from."""
    done = await store.set_priority(
        READER, TURNS[0], Priority.PIN, by="LEAD", reason="keep", at=LATER, change=_as_if_important
    )
    return done, await store.priority_changes(READER, TURNS[0]), await store.get(READER, ALL_IDS)


async def _erased(store: Store) -> object:
    """All of the deploy, and what became of the rest."""
    removed = await store.erase(SCOPE, OF_DEPLOY, a_receipt())
    return removed, await store.erasures(SCOPE, limit=9), await store.get(READER, ALL_IDS)


async def _purged(store: Store) -> object:
    await store.erase(SCOPE, OF_DEPLOY, a_receipt())
    return await store.purge(SCOPE, at=LATER), await store.erasures(SCOPE, limit=9)


async def _receipts(store: Store) -> object:
    """None, however many the sibling has, where nothing was erased here."""
    return await store.erasures(SCOPE, limit=9)


async def _exported(store: Store) -> object:
    return await exported(store)


async def _imported(store: Store) -> object:
    edge = Relation(OLD, OOM, RelationKind.SIMILAR, 0.5, NOW)
    return await store.import_rows(SCOPE, [record_to_row(edge)])


OBSERVED: Final[dict[str, Observe]] = {
    "append": _appended,
    "insert": _inserted,
    "revise": _revised,
    "by_topic": lambda store: store.by_topic(SCOPE, TOPIC),
    "adjust": lambda store: store.adjust(READER, ALL_IDS, _importance, at=LATER),
    "adjust, retire and log": _exposed,
    "supersede": _superseded,
    "invalidate": lambda store: store.supersede(READER, OLD, None, at=LATER),
    "relate": _related,
    "set_status": lambda store: store.set_status(READER, OLD, Status.RETIRED, at=LATER),
    "commit": _committed,
    "tails": lambda store: store.tails(SCOPE, at_least=1, silent_since=NOW, limit=9),
    "tails after one": lambda store: store.tails(SCOPE, at_least=1, silent_since=NOW, limit=9, after=SCOPE),
    "tail": lambda store: store.tail(SCOPE),
    "stream_events": lambda store: store.stream_events(SCOPE, after=0, limit=9),
    "workspace_memories": lambda store: store.workspace_memories(SCOPE, EVERYTHING, limit=9),
    "unreviewed": lambda store: store.unreviewed(SCOPE, Exposure.RETRIEVED, limit=9),
    "exposed_in": lambda store: store.exposed_in(SCOPE, "monday", Exposure.SHOWN),
    "reviews": lambda store: store.reviews(READER, DEPLOY),
    "archive": _archived,
    "put_run": _run,
    "runs": lambda store: store.runs(SCOPE),
    "defer": lambda store: store.defer(SCOPE, "segment", "the stream of monday", error="again", now=LATER),
    "settle": _settled,
    "deferrals": lambda store: store.deferrals(SCOPE),
    "log_call": _called,
    "spending": lambda store: store.spending(SCOPE),
    "put_key": _admitted,
    "keys": lambda store: store.keys(SCOPE),
    "revoke_key": _revoked,
    "key_of": lambda store: store.key_of(a_key().digest),
    "claim": _claimed,
    "answer": _answered,
    "release": _released,
    "get": lambda store: store.get(READER, ALL_IDS),
    "cues": lambda store: store.cues(READER, ALL_IDS),
    "revisions": lambda store: store.revisions(READER, OOM),
    "relations": lambda store: store.relations(READER, [DEPLOY, OLD]),
    "hubs": lambda store: store.hubs(READER, EVERYTHING, limit=9),
    "audit": lambda store: store.audit(READER, FORMER),
    "provenance": lambda store: store.provenance(READER, DEPLOY),
    "memories": lambda store: store.memories(READER, EVERYTHING, limit=3),
    "events": lambda store: store.events(READER, EventFilter(), limit=3),
    "events and archive": lambda store: store.events(READER, EventFilter(archived=True), limit=9),
    "events by words": lambda store: store.events(READER, CANARIES, limit=9),
    "events behind a place": lambda store: store.events(
        READER, EventFilter(), limit=9, after=ListingPosition.of(an_event())
    ),
    "recorded": lambda store: store.recorded(READER, EventFilter(), limit=2),
    "recorded from the start": lambda store: store.recorded(READER, EventFilter(), after=0, limit=9),
    "set_priority": _marked,
    "priority_changes": lambda store: store.priority_changes(READER, MARKED),
    "states": _states,
    "count_events by words": lambda store: store.count_events(READER, CANARIES),
    "count_events": lambda store: store.count_events(READER, EventFilter()),
    "events_by_day": lambda store: store.events_by_day(READER, EventFilter(archived=True)),
    "changes": _changes,
    "changes with vectors": _vectors_of_changes,
    "state": _nothing_changed,
    "cues_with_phrase": _phrases,
    "token_embeddings": _words,
    "pending": _pending,
    "pending_of": _pending_of,
    "put_vectors": _put_vectors,
    "put_vectors with edges": _linked,
    "vectors": _vectors,
    "vitals": lambda store: store.vitals(READER, EVERYTHING, model=MODEL, shown_since=NOW),
    "put_snapshot": lambda store: store.put_snapshot(SCOPE, a_snapshot(None, score=1.0)),
    "snapshots": lambda store: store.snapshots(SCOPE, SCOPE.crew, limit=9),
    "crews": lambda store: store.crews(SCOPE),
    "lying_in": lambda store: store.lying_in(SCOPE, ErasureSelection(agent=SCOPE.agent)),
    "traces": lambda store: store.traces(SCOPE, memories=ALL_IDS, events=TURNS),
    "erase": _erased,
    "purge": _purged,
    "erasures": _receipts,
    "copies": lambda store: store.copies(SCOPE),
    "stats": _stats,
    "check": _check,
    "export": _exported,
    "import_rows": _imported,
}
ACROSS: Final = (
    Effect(expected={DEPLOY: 1}),
    Effect(consolidated=frozenset({DEPLOY})),
    Effect(inserted=(indexed(a_memory("stolen"), event_ids=[TURNS[0]]),)),
    Effect(moved=(Moved(DEPLOY, Status.RETIRED, "stolen"),)),
    Effect(superseded=((DEPLOY, None),)),
    Effect(superseded=((OLD, DEPLOY),)),
    Effect(related=(Relation(DEPLOY, OOM, RelationKind.SUPPORTS, 0.5, NOW),)),
    Effect(adjusted={DEPLOY: _importance}),
    Effect(reviewed=(a_review(previous=REVIEWED_AT, at=LATER),)),
)
"""Each names a memory or an event that the sibling has and this workspace has not."""

READ: Final = (
    "get",
    "cues",
    "revisions",
    "relations",
    "hubs",
    "audit",
    "provenance",
    "memories",
    "states",
    "events",
    "events and archive",
    "events by words",
    "events behind a place",
    "recorded",
    "recorded from the start",
    "priority_changes",
    "count_events",
    "count_events by words",
    "events_by_day",
    "stats",
    "by_topic",
    "pending",
    "pending_of",
    "vectors",
    "vitals",
    "snapshots",
    "crews",
    "export",
    "tails",
    "tail",
    "stream_events",
    "workspace_memories",
    "unreviewed",
    "exposed_in",
    "reviews",
    "runs",
    "deferrals",
    "spending",
    "keys",
    "key_of",
    "lying_in",
    "traces",
    "erasures",
    "copies",
    "changes",
    "changes with vectors",
    "state",
    "cues_with_phrase",
    "token_embeddings",
)
"""What writes nothing."""

TRIED_ACROSS: Final = {"defer_vectors"}
"""Writes without a result to compare: `test_no_write_reaches_a_sibling` tries them."""
OF_ALL: Final = {"has_keys"}
"""What is told of all workspaces together, as it must be: whether a server may be reached without a key."""
WITHOUT_ROWS: Final = {"close", "read"}


class WallContract(StoreSuite):
    def test_every_method_of_a_view_is_tried_at_the_wall(self) -> None:
        methods = {name for base in (ReadView, ChangeFeed) for name in vars(base) if not name.startswith("_")}
        assert methods <= OBSERVED.keys()

    def test_every_method_of_the_protocol_is_tried_at_the_wall(self) -> None:
        methods = {name for name in dir(Store) if not name.startswith("_")}
        assert methods <= OBSERVED.keys() | TRIED_ACROSS | OF_ALL | WITHOUT_ROWS

    @pytest.mark.parametrize("method", OBSERVED)
    def test_a_sibling_workspace_changes_no_answer(self, store: Store, method: str) -> None:
        async def compare() -> None:
            observe = OBSERVED[method]
            async with self.another_store() as alone:
                await populate(alone, SCOPE)
                expected = await observe(alone)
                left = await exported(alone)
            await populate(store, SIBLING, prefix=CANARY)
            await populate(store, SCOPE)
            actual = await observe(store)
            assert actual == expected
            assert await exported(store) == left

        self.runner.run(compare())

    @pytest.mark.parametrize("method", OBSERVED)
    def test_no_call_changes_a_sibling_workspace(self, store: Store, method: str) -> None:
        async def compare() -> None:
            await populate(store, SIBLING, prefix=CANARY)
            await populate(store, SCOPE)
            before = await exported(store, SIBLING), await _access(store)
            await OBSERVED[method](store)
            assert (await exported(store, SIBLING), await _access(store)) == before

        self.runner.run(compare())

    @awaited
    async def test_no_write_reaches_a_sibling(self, store: Store) -> None:
        await populate(store, SIBLING, prefix=CANARY)
        before = await exported(store, SIBLING)
        refs = [cue.ref for cue in await store.pending(SIBLING, MODEL, limit=100, now=LATER)]
        reader = Reader(SCOPE, Reach.WORKSPACE)
        with pytest.raises(NotFound):
            await store.adjust(reader, [DEPLOY], _importance, at=LATER)
        with pytest.raises(NotFound):
            await store.set_status(reader, DEPLOY, Status.RETIRED, at=LATER)
        with pytest.raises(NotFound):
            await store.supersede(reader, DEPLOY, OLD, at=LATER)
        with pytest.raises(NotFound):
            await store.supersede(reader, DEPLOY, None, at=LATER)
        with pytest.raises(NotFound):
            await store.relate(reader, [Relation(DEPLOY, OOM, RelationKind.SUPPORTS, 0.5, NOW)])
        with pytest.raises(NotFound):
            await store.adjust(reader, [], _importance, at=LATER, exposed=[Exposed(OLD, Exposure.USED, LATER)])
        with pytest.raises(NotFound):
            await store.revise(SCOPE, indexed(a_memory("stolen", memory_id=DEPLOY)), expected_revision=1, at=LATER)
        with pytest.raises(NotFound):
            await store.insert(SCOPE, indexed(a_memory("stolen"), event_ids=[TURNS[0]]))
        for effect in ACROSS:
            with pytest.raises(NotFound):
                await store.commit(SCOPE, effect, at=LATER)
        with pytest.raises(NotFound):
            await store.revoke_key(SCOPE, DOOR, at=LATER)
        for choice in (ErasureSelection(ids=frozenset({DEPLOY})), ErasureSelection(events=frozenset(TURNS))):
            with pytest.raises(NotFound):
                await store.lying_in(SCOPE, choice)
        with pytest.raises(Conflict):
            await store.erase(SCOPE, OF_DEPLOY, a_receipt())
        await store.erase(SIBLING, Removal(), a_receipt())
        await store.purge(SCOPE, at=LATER)
        assert [one.purged_at for one in await store.erasures(SIBLING, limit=9)] == [None]
        access = await _access(store)
        await store.answer(SCOPE, a_claim(), Reply(200, b"stolen", "text/plain"))
        await store.release(SCOPE, a_claim())
        assert await _access(store) == access
        await store.settle(SCOPE, "segment", ["the stream of monday"])
        assert await store.archive(SCOPE, replace(PROBES, before=LATER), at=LATER, limit=9) == 0
        stolen = [CueVector(ref, a_vector(0, 0, 1), False) for ref in refs]
        edge = Relation(OLD, OOM, RelationKind.SIMILAR, 0.5, NOW)
        assert await store.put_vectors(SCOPE, MODEL, stolen, at=LATER, relations=[edge]) == 0
        await store.defer_vectors(SCOPE, MODEL, refs, error="stolen", now=LATER)
        assert [cue.ref for cue in await store.pending(SIBLING, MODEL, limit=100, now=LATER)] == refs
        assert await exported(store, SIBLING) == before
        assert len(await store.deferrals(SIBLING)) == 1
        assert await exported(store, SCOPE) == []

    @awaited
    async def test_nothing_of_a_sibling_can_be_read(self, store: Store) -> None:
        await populate(store, SIBLING, prefix=CANARY)
        async with self.another_store() as empty:
            for name in READ:
                assert await OBSERVED[name](store) == await OBSERVED[name](empty), name

    @awaited
    async def test_two_workspaces_hold_the_same_ids_apart(self, store: Store) -> None:
        await populate(store, SCOPE)
        await populate(store, SIBLING, prefix=CANARY)
        mine = (await store.get(READER, [DEPLOY]))[DEPLOY]
        theirs = (await store.get(SIBLING_READER, [DEPLOY]))[DEPLOY]
        assert theirs == replace(mine, scope=SIBLING, text=CANARY + mine.text)

    @awaited
    async def test_a_sibling_s_vectors_bind_no_dimension(self, store: Store) -> None:
        await populate(store, SIBLING, prefix=CANARY)
        await store.insert(SCOPE, indexed(a_memory()))
        (cue,) = await store.pending(SCOPE, OTHER_MODEL, limit=9, now=NOW)
        assert (
            await store.put_vectors(SCOPE, OTHER_MODEL, [CueVector(cue.ref, a_vector(1, 2, 3, 4), False)], at=NOW) == 1
        )
        vectors = await store.vectors(READER, OTHER_MODEL, [a_memory().id])
        np.testing.assert_allclose(vectors[a_memory().id], a_vector(1, 2, 3, 4), rtol=1e-6)


BEFORE_RETIRING: Final = Filter(current_at=NOW + timedelta(hours=1))
"""When the turns were still active: they are context and have speakers."""
SEARCHED: Final = {
    "both legs": request("deploy", vector=a_vector(1, 0, 0)),
    "words": request("deploy", "memory", "canary", depth=2),
    "a phrase": request(phrase=("the", "deploy")),
    "a vector": request(vector=a_vector(1, 1, 1), depth=2),
    "context": request(
        "deploy",
        "back",
        "canary",
        where=BEFORE_RETIRING,
        surroundings=True,
        speakers={"Bo"},
        roles={Role.USER},
    ),
}


class IndexWallContract(IndexSuite):
    """Whatever a sibling workspace holds, no answer of an index changes."""

    @pytest.mark.parametrize("asked", SEARCHED)
    def test_a_sibling_workspace_changes_no_answer(self, finder: Finder, asked: str) -> None:
        async def compare() -> None:
            async with self.another_finder() as alone:
                await populate(alone.store, SCOPE)
                expected = await alone.search(READER, SEARCHED[asked])
                await populate(finder.store, SIBLING, prefix=CANARY)
                await finder.search(SIBLING_READER, SEARCHED[asked])
                await populate(finder.store, SCOPE)
                assert_same_answer(await finder.search(READER, SEARCHED[asked]), expected)

        self.runner.run(compare())

    @pytest.mark.parametrize("asked", SEARCHED)
    def test_nothing_of_a_sibling_is_found(self, finder: Finder, asked: str) -> None:
        async def compare() -> None:
            await populate(finder.store, SIBLING, prefix=CANARY)
            await finder.search(SIBLING_READER, SEARCHED[asked])
            async with self.another_finder() as empty:
                expected = await empty.search(READER, SEARCHED[asked])
                assert_same_answer(await finder.search(READER, SEARCHED[asked]), expected)

        self.runner.run(compare())

    @finding
    async def test_nobody_who_speaks_in_a_sibling_is_named(self, finder: Finder) -> None:
        await populate(finder.store, SIBLING, prefix=CANARY)
        assert await finder.participants(SIBLING_READER, BEFORE_RETIRING, model=MODEL) == {"Bo"}
        assert await finder.participants(READER, BEFORE_RETIRING, model=MODEL) == frozenset()

    @needs("token_embeddings")
    @finding
    async def test_token_embeddings_of_a_sibling_are_not_given(self, finder: Finder) -> None:
        await populate(finder.store, SIBLING, prefix=CANARY)
        refs = list((await refs_of(finder.store, {OLD: 0}, SIBLING)).values())
        assert list(await finder.token_embeddings(SIBLING_READER, OTHER_MODEL, refs)) == refs
        assert await finder.token_embeddings(READER, OTHER_MODEL, refs) == {}

    @needs("dense")
    @finding
    async def test_a_sibling_s_vectors_bind_no_dimension(self, finder: Finder) -> None:
        await populate(finder.store, SIBLING, prefix=CANARY)
        await finder.store.insert(SCOPE, indexed(a_memory()))
        (cue,) = await finder.store.pending(SCOPE, OTHER_MODEL, limit=9, now=NOW)
        vectors = [CueVector(cue.ref, a_vector(1, 2, 3, 4), False)]
        await finder.store.put_vectors(SCOPE, OTHER_MODEL, vectors, at=NOW)
        answer = await finder.search(READER, request(vector=a_vector(1, 2, 3, 4), model=OTHER_MODEL))
        assert answer.ids == (a_memory().id,)
