"""Contract of workspace isolation: the rows of a sibling workspace change no answer, count, rank or error here.

The sibling workspace contains the same ids, keys, topics and words. Each observation is made with and without it, and
the results must be equal. The suite fails if a method of the protocol is neither observed nor tried.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.audit import Touched
from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.erasure import ErasureSelection, Removal
from remembrancer.domain.event import Event, Priority, Role
from remembrancer.domain.job import Run
from remembrancer.domain.journal import ListingPosition
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.reply import Reply
from remembrancer.domain.scope import Level, Reader, Scope
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.errors import Conflict, NotFound
from remembrancer.ports.audit import TOUCHED, UNRECORDED
from remembrancer.ports.changes import ChangeFeed, CueWords, ReadView
from remembrancer.ports.embeddings import CueVector, PendingCue
from remembrancer.ports.exchange import record_to_row
from remembrancer.ports.journal import Aged, Entry, EventFilter
from remembrancer.ports.outcomes import Judged
from remembrancer.ports.store import Store
from remembrancer.testing.contract.audit import done_by
from remembrancer.testing.contract.base import (
    EVERYTHING,
    MODEL,
    exported,
    holding,
    refs_of,
    stored_token_embeddings,
    unchanged,
)
from remembrancer.testing.contract.erasing import OF_DEPLOY, a_receipt
from remembrancer.testing.contract.finding import Finder, IndexSuite, assert_same_answer, needs, request
from remembrancer.testing.contract.strength import as_lists
from remembrancer.testing.contract.world import (
    CONVERSATION,
    DEPLOY,
    DIGEST,
    DOOR,
    FORMER,
    MARKED,
    OLD,
    OOM,
    OTHER_MODEL,
    OUTCOME,
    PROBES,
    REVIEWED_AT,
    TOPIC,
    TURNS,
    WorldSuite,
    a_call,
    a_claim,
    a_credit,
    a_hold,
    a_key,
    a_recall,
    a_review,
    a_rule,
    a_snapshot,
    populate,
)
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, an_event, indexed

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIBLING: Final = replace(SCOPE, workspace="rival")
SIBLING_READER: Final = Reader(SIBLING)
CANARY: Final = "canary "
LATER: Final = NOW + timedelta(days=30)
CANARIES: Final = EventFilter(words=(frozenset({"canary", "deploi"}),), archived=True)
ALL_IDS: Final = (DEPLOY, OOM, OLD, CONVERSATION, FORMER)

T = TypeVar("T")
Observe = Callable[[Store], Awaitable[object]]
STOLEN: Final = Reply(200, b"stolen", "text/plain")


def _wearing(strength: Strength) -> Adjustment:
    return Adjustment(strength, "harmed too often")


def _judged(memory: Memory) -> Judged:
    return Judged(replace(memory.strength, importance=1.0), a_credit(memory.id, outcome=DOOR, at=LATER))


def _importance(strength: Strength) -> Adjustment:
    return Adjustment(replace(strength, importance=1.0))


def _as_if_important(_memory: Memory, _before: Sequence[Event], _after: Sequence[Event]) -> Strength:
    return Strength(importance=1.0)


def _with(*steps: Observe) -> Observe:
    """The results of several steps, in order."""

    async def observe(store: Store) -> object:
        return [await step(store) for step in steps]

    return observe


def _plain(step: Callable[[Store], Awaitable[T]], told: Callable[[T], object]) -> Observe:
    """The result of a step, converted by a function: without parts that differ between stores or cannot be compared
    with ==.
    """

    async def observe(store: Store) -> object:
        return told(await step(store))

    return observe


def _past(then: ReadView) -> object:
    """The reports of a view of the past."""
    found = then.get(READER, ALL_IDS)
    return found, then.cues(READER, ALL_IDS), then.relations(READER, ALL_IDS), _told(then)


def _told(view: ReadView) -> object:
    """The changes that the feed reports to an index, without change and cue numbers, which every store assigns
    differently.
    """
    return [
        (one[:-1], [(cue.terms, cue.length, cue.flags, cue.turn) for cue in one.cues])
        for one in sorted(view.changes(SCOPE, after=0, model=None), key=lambda one: one.id)
    ]


def _told_vectors(view: ReadView) -> object:
    cues = [(one.id, cue.vector) for one in view.changes(SCOPE, after=0, model=MODEL) for cue in one.cues]
    return sorted((one, None if vector is None else vector.tolist()) for one, vector in cues)


def _words(passages: Sequence[CueWords]) -> object:
    """Passages without cue numbers."""
    return sorted((one.memory, one.is_kept, one.read_to, one.terms) for one in passages)


def _told_since(view: ReadView) -> object:
    """The number of changes reported after the current state."""
    return len(list(view.changes(SCOPE, after=view.state(SCOPE).change, model=None)))


def _cues(pending: Sequence[PendingCue]) -> list[tuple[object, ...]]:
    return [(cue.memory_id, cue.heading, cue.text, cue.speaker, cue.before) for cue in pending]


def _lists(arrays: Mapping[UUID, NDArray[Any]]) -> object:
    return {memory_id: array.tolist() for memory_id, array in arrays.items()}


async def _put_vectors(store: Store) -> object:
    # The vectors have another dimension than those of the sibling: this model has none there.
    pending = await store.pending(SCOPE, "model-c", limit=100, now=NOW)
    vectors = [CueVector(cue.ref, a_vector(1, 2, 3, 4), False) for cue in pending]
    return await store.put_vectors(SCOPE, "model-c", vectors, at=LATER)


async def _switched(store: Store) -> object:
    await store.build_space(SCOPE, "model-c", at=LATER)
    missing = await store.answer_with(SCOPE, "model-c", at=LATER, allow_missing=True)
    return missing, await store.spaces(SCOPE), await store.read(lambda view: view.state(SCOPE).model)


async def _committed(store: Store) -> object:
    """Commit an effect with a part of every kind. Returns the memories afterwards."""
    formed = indexed(a_memory("formed anew"), event_ids=[TURNS[0]])
    effect = Effect(
        expected={DEPLOY: 1, OLD: 1},
        consolidated=frozenset({OLD}),
        cursor=Cursor(stream=SCOPE, expected=1, to=2),
        inserted=(formed,),
        revised=(indexed(a_memory("said anew", memory_id=DEPLOY)),),
        status_changes=(StatusChange(OOM, Status.COMPACTED, "condensed"),),
        superseded=((OLD, formed.memory.id),),
        related=(Relation(formed.memory.id, OOM, RelationKind.DERIVED_FROM, 1.0, LATER),),
        adjusted={OOM: _importance},
        reviewed=(a_review(at=LATER, previous=REVIEWED_AT),),
    )
    await store.commit(SCOPE, effect, at=LATER)
    return await store.get(READER, [*ALL_IDS, formed.memory.id])


async def _commit(effect: Effect, store: Store) -> object:
    return await store.commit(SCOPE, effect, at=LATER)


async def _claimed(store: Store) -> object:
    """Claim a new key, one with a running request and one with a reply; then all again after these claims have
    expired.
    """
    keys = ("request-3", "request-1", "request-2")
    told = [await store.claim(SCOPE, a_claim(key), forget_before=NOW) for key in keys]
    again = [replace(a_claim(key), at=LATER) for key in keys]
    return told, [await store.claim(SCOPE, claim, forget_before=LATER) for claim in again]


async def _access(store: Store) -> object:
    """The sibling's API keys and claims, which an export does not contain."""
    claims = [await store.claim(SIBLING, a_claim(key), forget_before=NOW) for key in ("request-1", "request-2")]
    return await store.keys(SIBLING), claims


READS: Final[dict[str, Observe]] = {
    "by_topic": lambda store: store.by_topic(SCOPE, TOPIC),
    "by_topic of all": lambda store: store.by_topic(SCOPE, TOPIC, Level.WORKSPACE),
    "tails": lambda store: store.tails(SCOPE, at_least=1, silent_since=NOW, limit=9),
    "tails after one": lambda store: store.tails(SCOPE, at_least=1, silent_since=NOW, limit=9, after=SCOPE),
    "tail": lambda store: store.tail(SCOPE),
    "conversations": lambda store: store.conversations(READER, limit=9),
    "ids_ending": _with(
        lambda store: store.ids_ending(READER, "memory", DEPLOY.hex[-8:]),
        lambda store: store.ids_ending(READER, "event", TURNS[0].hex[-8:]),
        lambda store: store.ids_ending(READER, "recall", a_recall().id.hex[-8:]),
    ),
    "stream_events": lambda store: store.stream_events(SCOPE, after=0, limit=9),
    "workspace_memories": lambda store: store.workspace_memories(SCOPE, EVERYTHING, limit=9),
    "unreviewed": lambda store: store.unreviewed(SCOPE, Exposure.RETRIEVED, limit=9),
    "exposed_in": lambda store: store.exposed_in(Scope(workspace=SCOPE.workspace, session="monday"), Exposure.SHOWN),
    "reviews": lambda store: store.reviews(READER, DEPLOY),
    "credits": lambda store: store.credits(READER, DEPLOY),
    "runs": lambda store: store.runs(SCOPE),
    "deferrals": lambda store: store.deferrals(SCOPE),
    "spending": lambda store: store.spending(SCOPE),
    "keys": lambda store: store.keys(SCOPE),
    "key_of": lambda store: store.key_of(a_key().digest),
    "kept_recall": lambda store: store.kept_recall(READER, a_recall().id),
    "index_token": lambda store: store.read(lambda view: view.index_token(SCOPE, MODEL)),
    "at_revisions": lambda store: store.read(lambda view: view.at_revisions(READER, {OOM: 1, DEPLOY: 1})),
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
    "priority_changes": lambda store: store.priority_changes(READER, MARKED),
    "states": _plain(lambda store: store.states(READER, EVERYTHING), lambda told: (list(told[0]), as_lists(told[1]))),
    "events_by_words": lambda store: store.read(
        lambda view: view.events_by_words(READER, EventFilter(archived=True), {"canary": 1, "deploi": 2}, limit=9)
    ),
    "count_events by words": lambda store: store.count_events(READER, CANARIES),
    "count_events": lambda store: store.count_events(READER, EventFilter()),
    "events_by_day": lambda store: store.events_by_day(READER, EventFilter(archived=True)),
    "as_of": lambda store: store.read(lambda view: _past(view.as_of(NOW))),
    "changes": lambda store: store.read(_told),
    "changes with vectors": lambda store: store.read(_told_vectors),
    "state": lambda store: store.read(_told_since),
    "count_changed": lambda store: store.read(lambda view: view.count_changed(SCOPE, after=0)),
    "changed": lambda store: store.read(
        lambda view: sorted(one.id for one in view.changed(SCOPE, ALL_IDS, model=MODEL))
    ),
    "memories_of": lambda store: store.read(lambda view: set(view.memories_of(SCOPE, range(1, 1_000)))),
    "around": lambda store: store.read(lambda view: _words(view.around(READER, EVERYTHING, ALL_IDS))),
    "passages": lambda store: store.read(lambda view: _words(view.passages(READER, EVERYTHING, ALL_IDS))),
    "newest": lambda store: store.read(lambda view: list(view.newest(READER, EVERYTHING, limit=99))),
    "with_terms": lambda store: store.read(
        lambda view: list(view.with_terms(READER, EVERYTHING, {"canari": 1.0, "deploi": 2.0}, limit=99))
    ),
    "erased": lambda store: store.read(lambda view: view.erased(SCOPE, after=0)),
    "cues_with_phrase": lambda store: store.read(lambda view: len(view.cues_with_phrase(SCOPE, ("the", "deploi")))),
    "token_embeddings": _plain(
        lambda store: stored_token_embeddings(store, dict.fromkeys(ALL_IDS, 0), model=OTHER_MODEL), _lists
    ),
    "pending": _plain(
        lambda store: store.pending(SCOPE, MODEL, limit=100, now=NOW, before=9),
        lambda cues: sorted(_cues(cues), key=repr),
    ),
    "pending_of": _plain(lambda store: store.pending_of(SCOPE, MODEL, DEPLOY, before=9), _cues),
    "embedded": _plain(
        lambda store: store.embedded(SCOPE, OTHER_MODEL, [DIGEST]),
        lambda told: {key: (each.vector.tolist(), each.truncated) for key, each in told.items()},
    ),
    "spaces": lambda store: store.spaces(SCOPE),
    "space_sizes": lambda store: store.space_sizes(SCOPE, since=NOW),
    "failed_vectors": lambda store: store.failed_vectors(SCOPE, MODEL, limit=9),
    "vectors": _plain(lambda store: store.vectors(READER, MODEL, ALL_IDS), _lists),
    "health_inputs": lambda store: store.health_inputs(READER, EVERYTHING, model=MODEL, shown_since=NOW),
    "snapshots": lambda store: store.snapshots(SCOPE, SCOPE.crew, limit=9),
    "crews": lambda store: store.crews(SCOPE),
    "lying_in": lambda store: store.lying_in(SCOPE, ErasureSelection(agent=SCOPE.agent)),
    "traces": lambda store: store.traces(SCOPE, memories=ALL_IDS, events=TURNS),
    "erasures": lambda store: store.erasures(SCOPE, limit=9),
    "rules": lambda store: store.rules(SCOPE),
    "holds": lambda store: store.holds(SCOPE),
    "copies": lambda store: store.copies(SCOPE),
    "stats": _plain(lambda store: store.stats(READER), lambda stats: replace(stats, bytes=0)),
    "check": _plain(lambda store: store.check(SCOPE, MODEL), lambda told: [(one.check, one.ok) for one in told]),
    "trail": _plain(lambda store: store.trail(SCOPE, limit=99), lambda told: list(map(done_by, told))),
    "trail_head": _plain(lambda store: store.trail_head(SCOPE), lambda head: head.seq),
    "trail_names": _plain(
        lambda store: store.trail_names(SCOPE), lambda names: sorted(one.name for one in names.values())
    ),
    "export": exported,
}
"""Calls that write nothing, by name."""

SIMILAR: Final = Relation(OLD, OOM, RelationKind.SIMILAR, 0.5, NOW)
SUPPORTS: Final = [replace(SIMILAR, kind=RelationKind.SUPPORTS), replace(SIMILAR, source=DEPLOY, target=OLD)]
RUN: Final = Run(job="segment", started_at=LATER, ended_at=LATER, error="broke off")
EVERY_EVENT: Final = Aged(types=frozenset({"*"}), keep=frozenset(), before=LATER)
WRITES: Final[dict[str, Observe]] = {
    "append": lambda store: store.append(SCOPE, [Entry(an_event("another", key="turn-2"))]),
    "insert": lambda store: store.insert(SCOPE, indexed(replace(a_memory("new"), key="m-2", topic_key="another"))),
    "insert_many": lambda store: store.insert_many(SCOPE, [indexed(a_memory("new")), indexed(a_memory("newer"))]),
    "revise": lambda store: store.revise(
        SCOPE, indexed(a_memory("anew", memory_id=DEPLOY)), expected_revision=1, at=LATER
    ),
    "adjust": lambda store: store.adjust(READER, ALL_IDS, _importance, at=LATER),
    "adjust, retire and log": lambda store: store.adjust(
        READER, [OOM], _wearing, at=LATER, exposed=[Exposed(OLD, Exposure.SHOWN, LATER, 0.25)]
    ),
    "add_credits": _with(
        lambda store: store.add_credits(READER, OUTCOME, ALL_IDS, _judged, at=LATER),
        lambda store: store.add_credits(READER, DOOR, ALL_IDS, _judged, at=LATER),
    ),
    "supersede": lambda store: store.supersede(READER, OLD, OOM, at=LATER),
    "invalidate": lambda store: store.supersede(READER, OLD, None, at=LATER),
    "relate": lambda store: store.relate(READER, SUPPORTS),
    "set_status": lambda store: store.set_status(READER, OLD, Status.RETIRED, at=LATER),
    "commit": _committed,
    "archive": lambda store: store.archive(SCOPE, EVERY_EVENT, at=LATER, limit=9),
    "put_run": _with(lambda store: store.put_run(SCOPE, RUN), READS["runs"]),
    "defer": lambda store: store.defer(SCOPE, "segment", "the stream of monday", error="again", now=LATER),
    "settle": _with(
        lambda store: store.settle(SCOPE, "segment", ["the stream of monday", "another"]), READS["deferrals"]
    ),
    "log_call": _with(lambda store: store.log_call(SCOPE, a_call()), READS["spending"]),
    "keep_recall": _with(
        lambda store: store.keep_recall(SCOPE, replace(a_recall(), id=TURNS[0])),
        lambda store: store.kept_recall(READER, TURNS[0]),
    ),
    "drop_recall": _with(lambda store: store.drop_recall(READER, a_recall().id), READS["kept_recall"]),
    "put_key": _with(lambda store: store.put_key(SCOPE, a_key(TURNS[0])), READS["keys"]),
    "revoke_key": _with(lambda store: store.revoke_key(SCOPE, DOOR, at=LATER), READS["keys"]),
    "claim": _claimed,
    "answer": _with(
        lambda store: store.answer(SCOPE, a_claim(), STOLEN),
        lambda store: store.claim(SCOPE, a_claim(), forget_before=NOW),
    ),
    "release": _with(
        lambda store: store.release(SCOPE, a_claim()),
        lambda store: store.claim(SCOPE, replace(a_claim(), at=LATER), forget_before=NOW),
    ),
    # An event that two memories were formed from, so that both memories change.
    "set_priority": _with(
        lambda store: store.set_priority(
            READER, TURNS[0], Priority.PIN, by="LEAD", reason="keep", at=LATER, change=_as_if_important
        ),
        lambda store: store.priority_changes(READER, TURNS[0]),
        READS["get"],
    ),
    "put_vectors": _put_vectors,
    "drop_vectors": _with(lambda store: store.drop_vectors(SCOPE, MODEL), READS["vectors"]),
    "put_index_token": _with(
        lambda store: store.put_index_token(SCOPE, MODEL, b"another token", erasures=0), READS["index_token"]
    ),
    "build_space": _with(lambda store: store.build_space(SCOPE, "model-c", at=LATER), READS["spaces"]),
    "answer_with": _switched,
    "drop_space": _with(
        lambda store: store.build_space(SCOPE, "model-c", at=LATER),
        lambda store: store.drop_space(SCOPE, "model-c", at=LATER),
        READS["spaces"],
    ),
    "put_vectors with edges": lambda store: store.put_vectors(SCOPE, MODEL, [], at=LATER, relations=[SIMILAR]),
    "put_snapshot": lambda store: store.put_snapshot(SCOPE, a_snapshot(None, score=1.0)),
    "erase": _with(lambda store: store.erase(SCOPE, OF_DEPLOY, a_receipt()), READS["erasures"], READS["get"]),
    "purge": _with(
        lambda store: store.erase(SCOPE, OF_DEPLOY, a_receipt()),
        lambda store: store.purge(SCOPE, at=LATER),
        READS["erasures"],
    ),
    "put_rule": _with(lambda store: store.put_rule(SCOPE, replace(a_rule(), id=TURNS[0])), READS["rules"]),
    "drop_rule": _with(lambda store: store.drop_rule(SCOPE, a_rule().id), READS["rules"]),
    "put_hold": _with(lambda store: store.put_hold(SCOPE, replace(a_hold(), id=TURNS[0])), READS["holds"]),
    "release_hold": _with(lambda store: store.release_hold(SCOPE, a_hold().id, at=LATER), READS["holds"]),
    "import_rows": lambda store: store.import_rows(SCOPE, [record_to_row(SIMILAR)]),
    "add_to_trail": _with(
        lambda store: store.add_to_trail(SCOPE, [Touched(ids={"memories": (DEPLOY,)})]), READS["trail"]
    ),
}
"""The other calls, some with reads of what they wrote."""
EFFECTS: Final = {
    "expected": Effect(expected={DEPLOY: 1}),
    "consolidated": Effect(consolidated=frozenset({DEPLOY})),
    "inserted": Effect(inserted=(indexed(a_memory("stolen"), event_ids=[TURNS[0]]),)),
    "moved": Effect(status_changes=(StatusChange(DEPLOY, Status.RETIRED, "stolen"),)),
    "ended": Effect(superseded=((DEPLOY, None),)),
    "superseded": Effect(superseded=((OLD, DEPLOY),)),
    "related": Effect(related=(Relation(DEPLOY, OOM, RelationKind.SUPPORTS, 0.5, NOW),)),
    "adjusted": Effect(adjusted={DEPLOY: _importance}),
    "reviewed": Effect(reviewed=(a_review(previous=REVIEWED_AT, at=LATER),)),
}
ACROSS: Final[dict[str, Observe]] = {
    "adjust": WRITES["adjust"],
    "adjust and log": lambda store: store.adjust(
        READER, [], _importance, at=LATER, exposed=[Exposed(OLD, Exposure.USED, LATER)]
    ),
    "set_status": WRITES["set_status"],
    "supersede": WRITES["supersede"],
    "invalidate": WRITES["invalidate"],
    "relate": WRITES["relate"],
    "revise": WRITES["revise"],
    "insert": lambda store: store.insert(SCOPE, indexed(a_memory("stolen"), event_ids=[TURNS[0]])),
    "insert_many": lambda store: store.insert_many(SCOPE, [indexed(a_memory("stolen"), event_ids=[TURNS[0]])]),
    "revoke_key": lambda store: store.revoke_key(SCOPE, DOOR, at=LATER),
    "drop_rule": lambda store: store.drop_rule(SCOPE, a_rule().id),
    "release_hold": lambda store: store.release_hold(SCOPE, a_hold().id, at=LATER),
    "lying_in by memory": lambda store: store.lying_in(SCOPE, ErasureSelection(ids=frozenset({DEPLOY}))),
    "lying_in by event": lambda store: store.lying_in(SCOPE, ErasureSelection(events=frozenset(TURNS))),
    **{f"commit, {part}": partial(_commit, effect) for part, effect in EFFECTS.items()},
}
"""Calls that name a memory, an event or a key that exists only in the sibling."""

TRIED_ACROSS: Final = {"defer_vectors"}
"""Writes without a result to compare. `test_no_write_reaches_a_sibling` tries them."""
OF_ALL: Final = {"has_keys", "backup"}
"""Methods for all workspaces: a server must know whether any key exists at all, and a backup holds the whole store."""
WITHOUT_ROWS: Final = {"close", "read", "subscribe"}


async def _populate_both(store: Store) -> None:
    """Fill the sibling workspace, and after it the one that is asked."""
    await populate(store, SIBLING, prefix=CANARY)
    await populate(store, SCOPE)


class ReadsContract(WorldSuite):
    async def test_reads_write_nothing(self, world: Store) -> None:
        async with unchanged(world):
            for read in READS.values():
                await read(world)


class WallContract(WorldSuite):
    sibling = holding(lambda store: populate(store, SIBLING, prefix=CANARY))
    beside = holding(_populate_both)

    def test_every_method_of_a_view_is_tested_for_isolation(self) -> None:
        methods = {name for base in (ReadView, ChangeFeed) for name in vars(base) if not name.startswith("_")}
        assert methods <= READS.keys() | WRITES.keys() | {"at"}

    def test_every_method_of_the_protocol_is_tested_for_isolation(self) -> None:
        methods = {name for name in dir(Store) if not name.startswith("_")}
        assert methods <= READS.keys() | WRITES.keys() | TRIED_ACROSS | OF_ALL | WITHOUT_ROWS

    def test_every_method_that_writes_is_in_the_audit_trail_or_has_a_reason_not_to_be(self) -> None:
        writing = {name for name in dir(Store) if name in WRITES.keys() | TRIED_ACROSS}
        assert writing == TOUCHED.keys() | UNRECORDED.keys()

    async def test_no_read_sees_or_changes_a_sibling_workspace(self, beside: Store) -> None:
        before = await exported(beside, SIBLING), await _access(beside)
        async with self.another_store() as alone:
            await populate(alone, SCOPE)
            for name, read in READS.items():
                assert await read(beside) == await read(alone), name
                assert (await exported(beside, SIBLING), await _access(beside)) == before, name

    @pytest.mark.parametrize("write", WRITES)
    async def test_no_write_sees_or_changes_a_sibling_workspace(self, beside: Store, write: str) -> None:
        before = await exported(beside, SIBLING), await _access(beside)
        async with self.another_store() as alone:
            await populate(alone, SCOPE)
            expected = await WRITES[write](alone)
            left = await exported(alone)
        actual = await WRITES[write](beside)
        assert actual == expected
        assert await exported(beside) == left
        assert (await exported(beside, SIBLING), await _access(beside)) == before

    @pytest.mark.parametrize("call", ACROSS)
    async def test_a_memory_of_another_workspace_is_not_found(self, sibling: Store, call: str) -> None:
        before = await exported(sibling, SIBLING)
        with pytest.raises(NotFound):
            await ACROSS[call](sibling)
        assert (await exported(sibling), await exported(sibling, SIBLING)) == ([], before)

    async def test_no_write_reaches_a_sibling(self, sibling: Store) -> None:
        before = await exported(sibling, SIBLING)
        refs = [cue.ref for cue in await sibling.pending(SIBLING, MODEL, limit=100, now=LATER)]
        with pytest.raises(Conflict):
            await sibling.erase(SCOPE, OF_DEPLOY, a_receipt())
        await sibling.erase(SIBLING, Removal(), a_receipt())
        await sibling.purge(SCOPE, at=LATER)
        assert [one.purged_at for one in await sibling.erasures(SIBLING, limit=9)] == [None]
        access = await _access(sibling)
        await sibling.answer(SCOPE, a_claim(), STOLEN)
        await sibling.release(SCOPE, a_claim())
        assert await _access(sibling) == access
        await sibling.settle(SCOPE, "segment", ["the stream of monday"])
        assert await sibling.archive(SCOPE, replace(PROBES, before=LATER), at=LATER, limit=9) == 0
        stolen = [CueVector(ref, a_vector(0, 0, 1), False) for ref in refs]
        assert await sibling.put_vectors(SCOPE, MODEL, stolen, at=LATER, relations=[SIMILAR]) == 0
        await sibling.defer_vectors(SCOPE, MODEL, refs, error="stolen", now=LATER)
        assert [cue.ref for cue in await sibling.pending(SIBLING, MODEL, limit=100, now=LATER)] == refs
        assert await exported(sibling, SIBLING) == before
        assert len(await sibling.deferrals(SIBLING)) == 1
        assert await exported(sibling, SCOPE) == []

    async def test_nothing_of_a_sibling_can_be_read(self, sibling: Store) -> None:
        async with self.another_store() as empty:
            for name, read in READS.items():
                assert await read(sibling) == await read(empty), name

    async def test_two_workspaces_hold_the_same_ids_apart(self, world: Store) -> None:
        await populate(world, SIBLING, prefix=CANARY)
        mine = (await world.get(READER, [DEPLOY]))[DEPLOY]
        theirs = (await world.get(SIBLING_READER, [DEPLOY]))[DEPLOY]
        assert theirs == replace(mine, scope=SIBLING, text=CANARY + mine.text)

    async def test_a_sibling_s_vectors_bind_no_dimension(self, sibling: Store) -> None:
        await sibling.insert(SCOPE, indexed(a_memory()))
        (cue,) = await sibling.pending(SCOPE, OTHER_MODEL, limit=9, now=NOW)
        given = [CueVector(cue.ref, a_vector(1, 2, 3, 4), False)]
        assert await sibling.put_vectors(SCOPE, OTHER_MODEL, given, at=NOW) == 1
        vectors = await sibling.vectors(READER, OTHER_MODEL, [a_memory().id])
        np.testing.assert_allclose(vectors[a_memory().id], a_vector(1, 2, 3, 4), rtol=1e-6)


BEFORE_RETIRING: Final = Filter(current_at=NOW + timedelta(hours=1))
"""A time at which the turns were still active, so that they have context features and speakers."""
SEARCHED: Final = {
    "both legs": request("deploy", vector=a_vector(1, 0, 0)),
    "words": request("deploy", "memory", "canary", depth=2),
    "a phrase": request(phrase=("the", "deploy")),
    "a vector": request(vector=a_vector(1, 1, 1), depth=2),
    "context": request(
        "deploy", "back", "canary", where=BEFORE_RETIRING, context_features=True, speakers={"Bo"}, roles={Role.USER}
    ),
}


class IndexWallContract(IndexSuite):
    """The rows of a sibling workspace change no answer of an index."""

    @pytest.mark.parametrize("asked", SEARCHED)
    async def test_a_sibling_workspace_changes_no_answer(self, finder: Finder, asked: str) -> None:
        async with self.another_finder() as alone:
            await populate(alone.store, SCOPE)
            expected = await alone.search(READER, SEARCHED[asked])
            await populate(finder.store, SIBLING, prefix=CANARY)
            await finder.search(SIBLING_READER, SEARCHED[asked])
            await populate(finder.store, SCOPE)
            assert_same_answer(await finder.search(READER, SEARCHED[asked]), expected)

    @pytest.mark.parametrize("asked", SEARCHED)
    async def test_nothing_of_a_sibling_is_found(self, finder: Finder, asked: str) -> None:
        await populate(finder.store, SIBLING, prefix=CANARY)
        await finder.search(SIBLING_READER, SEARCHED[asked])
        async with self.another_finder() as empty:
            expected = await empty.search(READER, SEARCHED[asked])
            assert_same_answer(await finder.search(READER, SEARCHED[asked]), expected)

    async def test_speakers_of_a_sibling_workspace_are_not_named(self, finder: Finder) -> None:
        await populate(finder.store, SIBLING, prefix=CANARY)
        assert await finder.participants(SIBLING_READER, BEFORE_RETIRING, model=MODEL) == {"Bo"}
        assert await finder.participants(READER, BEFORE_RETIRING, model=MODEL) == frozenset()

    @needs("token_embeddings")
    async def test_token_embeddings_of_a_sibling_are_not_given(self, finder: Finder) -> None:
        await populate(finder.store, SIBLING, prefix=CANARY)
        refs = list((await refs_of(finder.store, {OLD: 0}, SIBLING)).values())
        assert list(await finder.token_embeddings(SIBLING_READER, OTHER_MODEL, refs)) == refs
        assert await finder.token_embeddings(READER, OTHER_MODEL, refs) == {}

    @needs("dense")
    async def test_a_sibling_s_vectors_bind_no_dimension(self, finder: Finder) -> None:
        await populate(finder.store, SIBLING, prefix=CANARY)
        await finder.store.insert(SCOPE, indexed(a_memory()))
        (cue,) = await finder.store.pending(SCOPE, OTHER_MODEL, limit=9, now=NOW)
        vectors = [CueVector(cue.ref, a_vector(1, 2, 3, 4), False)]
        await finder.store.put_vectors(SCOPE, OTHER_MODEL, vectors, at=NOW)
        answer = await finder.search(READER, request(vector=a_vector(1, 2, 3, 4), model=OTHER_MODEL))
        assert answer.ids == (a_memory().id,)
