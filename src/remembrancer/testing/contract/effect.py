"""Contract of `commit`: the preconditions of an effect, each of its parts, and all of them or none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import Conflict, InvalidInput, NotFound, RemembrancerError
from remembrancer.ports.journal import Entry
from remembrancer.ports.memories import Audited
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported, found, holding, remember, the_tail, unchanged
from remembrancer.testing.contract.memories import FULL, LATER, one
from remembrancer.testing.contract.world import a_review
from remembrancer.testing.doubles import HIDDEN, NOW, NOWHERE, READER, SCOPE, a_memory, an_event, indexed

KESTREL, OWL, HERON = (a_memory(text) for text in ("a kestrel", "an owl", "a heron"))
ABOUT: Final = replace(OWL, topic_key="bird")
RIVAL: Final = replace(SCOPE, workspace="rival")


def stronger(strength: Strength) -> Adjustment:
    return Adjustment(replace(strength, importance=1.0))


def wearing(strength: Strength) -> Adjustment:
    return Adjustment(replace(strength, importance=0.0), "faded")


def moved_on(
    to: int, *, expected: int = 0, stream: str | None = "monday", note: Mapping[str, JsonValue] | None = None
) -> Cursor:
    return Cursor(stream=replace(SCOPE, session=stream), expected=expected, to=to, note=note or {})


async def said(store: Store, *texts: str) -> None:
    await store.append(SCOPE, [Entry(an_event(text)) for text in texts])


async def refused(store: Store, effect: Effect, error: type[RemembrancerError]) -> None:
    """Assert that the effect is refused with this error, and that nothing of it is written."""
    async with unchanged(store):
        whole = replace(
            effect,
            inserted=(*effect.inserted, indexed(a_memory("a wren"))),
            related=(*effect.related, Relation(KESTREL.id, HERON.id, RelationKind.SIMILAR, 0.5, NOW)),
        )
        with pytest.raises(error):
            await store.commit(SCOPE, whole, at=LATER)
    assert await found(store, "wren") == set()


REACHING: Final[dict[str, Callable[[Memory], Effect]]] = {
    "expected": lambda memory: Effect(expected={memory.id: 1}),
    "consolidated": lambda memory: Effect(consolidated=frozenset({memory.id})),
    "revised": lambda memory: Effect(expected={memory.id: 1}, revised=(indexed(replace(memory, text="said anew")),)),
    "moved": lambda memory: Effect(status_changes=(StatusChange(memory.id, Status.COMPACTED, "condensed"),)),
    "superseded": lambda memory: Effect(superseded=((memory.id, OWL.id),)),
    "ended": lambda memory: Effect(superseded=((memory.id, None),)),
    "related": lambda memory: Effect(related=(Relation(OWL.id, memory.id, RelationKind.DERIVED_FROM, 1.0, NOW),)),
    "adjusted": lambda memory: Effect(adjusted={memory.id: stronger}),
    "reviewed": lambda memory: Effect(reviewed=(a_review(memory.id),)),
}


def failing(_: Strength) -> Adjustment:
    raise InvalidInput("strength", None, "one that can be changed")


def superseding(*pairs: tuple[UUID, UUID | None]) -> Effect:
    return Effect(superseded=pairs)


def linking(source: UUID, target: UUID) -> Effect:
    return Effect(related=(Relation(source, target, RelationKind.SUPPORTS, 0.5, NOW),))


REVIEW: Final = a_review(OWL.id)
REFUSED: Final[dict[str, tuple[Effect, type[RemembrancerError]]]] = {
    "an expected memory is not there": (Effect(expected={NOWHERE: 1}), NotFound),
    "facts are drawn from what is not there": (Effect(consolidated=frozenset({NOWHERE})), NotFound),
    "a stream that is not there is read on": (Effect(cursor=moved_on(1)), InvalidInput),
    "a memory of that id is there": (Effect(inserted=(indexed(OWL),)), Conflict),
    "events are not there": (Effect(inserted=(indexed(a_memory("a crow"), event_ids=[NOWHERE]),)), NotFound),
    "a revised memory was not expected": (
        Effect(expected={KESTREL.id: 1}, revised=(indexed(replace(OWL, text="an eagle")),)),
        InvalidInput,
    ),
    "what is moved is not there": (Effect(status_changes=(StatusChange(NOWHERE, Status.RETIRED, ""),)), NotFound),
    "memories replace each other": (superseding((OWL.id, HERON.id), (HERON.id, OWL.id)), Conflict),
    "what is superseded is not there": (superseding((NOWHERE, OWL.id)), NotFound),
    "a successor is not there": (superseding((OWL.id, NOWHERE)), NotFound),
    "what is ended is not there": (superseding((NOWHERE, None)), NotFound),
    "the source of an edge is not there": (linking(NOWHERE, OWL.id), NotFound),
    "the target of an edge is not there": (linking(OWL.id, NOWHERE), NotFound),
    "a rule fails": (Effect(adjusted={OWL.id: stronger, HERON.id: failing}), InvalidInput),
    "what is adjusted is not there": (Effect(adjusted={NOWHERE: stronger}), NotFound),
    "two reviews are of one moment": (Effect(reviewed=(REVIEW, replace(REVIEW, previous=REVIEW.at))), Conflict),
    "what is reviewed is not there": (Effect(reviewed=(a_review(NOWHERE),)), NotFound),
    "a new memory is another workspace's": (Effect(inserted=(indexed(a_memory("theirs", scope=RIVAL)),)), InvalidInput),
    "a revised memory is another workspace's": (
        Effect(expected={OWL.id: 1}, revised=(indexed(replace(OWL, scope=RIVAL)),)),
        InvalidInput,
    ),
    "a stream is another workspace's": (Effect(cursor=Cursor(stream=RIVAL, expected=0, to=0)), InvalidInput),
}
CHANGED: Final[dict[str, Callable[[Store], Awaitable[object]]]] = {
    "revised": lambda store: store.revise(
        SCOPE, indexed(replace(OWL, text="an eagle owl")), expected_revision=1, at=NOW
    ),
    "retired": lambda store: store.set_status(READER, OWL.id, Status.RETIRED, at=NOW),
    "superseded": lambda store: store.supersede(READER, OWL.id, HERON.id, at=NOW),
    "expired": lambda store: store.supersede(READER, OWL.id, None, at=LATER),
}


class EffectContract(StoreSuite):
    birds = holding(lambda store: remember(store, KESTREL, OWL, HERON))

    async def test_an_empty_effect_writes_nothing(self, birds: Store) -> None:
        async with unchanged(birds):
            await birds.commit(SCOPE, Effect(), at=LATER)

    async def test_an_expected_memory_is_unchanged(self, birds: Store) -> None:
        async with unchanged(birds):
            await birds.commit(SCOPE, Effect(expected={KESTREL.id: 1, OWL.id: 1}), at=LATER)

    @pytest.mark.parametrize("because", REFUSED)
    async def test_an_effect_is_refused_whole(self, birds: Store, because: str) -> None:
        await refused(birds, *REFUSED[because])
        assert await exported(birds, RIVAL) == []

    @pytest.mark.parametrize("how", CHANGED)
    async def test_an_expected_memory_that_changed_refuses_the_effect(self, birds: Store, how: str) -> None:
        await CHANGED[how](birds)
        await refused(birds, Effect(expected={KESTREL.id: 1, OWL.id: 1}), Conflict)

    async def test_a_memory_that_expires_a_moment_later_does_not(self, birds: Store) -> None:
        await birds.supersede(READER, OWL.id, None, at=LATER + timedelta(microseconds=1))
        await birds.commit(SCOPE, Effect(expected={OWL.id: 1}), at=LATER)

    async def test_a_memory_that_is_to_hold_only_later_does_not(self, store: Store) -> None:
        await remember(store, replace(OWL, valid_from=LATER + timedelta(days=1)))
        await store.commit(SCOPE, Effect(expected={OWL.id: 1}), at=LATER)

    async def test_facts_are_extracted_from_a_memory_once(self, birds: Store) -> None:
        await birds.commit(SCOPE, Effect(consolidated=frozenset({OWL.id})), at=LATER)
        assert await one(birds, OWL.id) == replace(OWL, consolidated_at=LATER)
        await refused(birds, Effect(consolidated=frozenset({KESTREL.id, OWL.id})), Conflict)

    async def test_a_memory_revised_with_it_stays_one_that_facts_were_drawn_from(self, birds: Store) -> None:
        revised = indexed(replace(OWL, text="an eagle owl"))
        effect = Effect(expected={OWL.id: 1}, consolidated=frozenset({OWL.id}), revised=(revised,))
        await birds.commit(SCOPE, effect, at=LATER)
        assert (await one(birds, OWL.id)).consolidated_at == LATER

    async def test_a_stream_is_read_on(self, store: Store) -> None:
        await said(store, "one", "two", "three")
        await store.commit(SCOPE, Effect(cursor=moved_on(1, note={"topic": "birds"})), at=LATER)
        await store.commit(SCOPE, Effect(cursor=moved_on(2, expected=1)), at=LATER)
        tail = await the_tail(store, SCOPE)
        assert (tail.cursor, tail.events, tail.note) == (2, 1, {})

    async def test_a_stream_read_meanwhile_refuses_the_effect(self, birds: Store) -> None:
        await said(birds, "one", "two", "three")
        await birds.commit(SCOPE, Effect(cursor=moved_on(2)), at=LATER)
        await refused(birds, Effect(cursor=moved_on(3)), Conflict)
        await refused(birds, Effect(cursor=moved_on(3, expected=1)), Conflict)

    @pytest.mark.parametrize("to", [1, 0, -1, 4])
    async def test_a_place_that_was_read_or_is_not_there_is_refused(self, birds: Store, to: int) -> None:
        await said(birds, "one", "two", "three")
        await birds.commit(SCOPE, Effect(cursor=moved_on(2)), at=LATER)
        await refused(birds, Effect(cursor=moved_on(to, expected=2)), InvalidInput)

    async def test_a_note_alone_moves_nothing(self, store: Store) -> None:
        await said(store, "one", "two")
        await store.commit(SCOPE, Effect(cursor=moved_on(0, note={"seen": 2})), at=LATER)
        tail = await the_tail(store, SCOPE)
        assert (tail.cursor, tail.events, tail.note) == (0, 2, {"seen": 2})

    async def test_a_stream_without_events_can_have_a_note(self, store: Store) -> None:
        await store.commit(SCOPE, Effect(cursor=moved_on(0, note={"seen": 0})), at=LATER)
        assert await store.tail(SCOPE) is None
        (appended,) = await store.append(SCOPE, [Entry(an_event("one"))])
        tail = await the_tail(store, SCOPE)
        assert (appended.event.seq, tail.note) == (1, {"seen": 0})

    async def test_streams_are_read_apart(self, store: Store) -> None:
        await said(store, "one")
        tuesday = replace(SCOPE, session="tuesday")
        await store.append(SCOPE, [Entry(an_event("two", scope=tuesday))])
        await store.commit(SCOPE, Effect(cursor=moved_on(1, stream="tuesday")), at=LATER)
        assert await store.tail(tuesday) is None
        assert (await the_tail(store, SCOPE)).cursor == 0

    async def test_of_effects_based_on_the_same_read_one_is_accepted(self, store: Store) -> None:
        await said(store, "one", "two")
        effects = [Effect(cursor=moved_on(2), inserted=(indexed(memory),)) for memory in (KESTREL, OWL, HERON)]
        outcomes = await asyncio.gather(
            *(store.commit(SCOPE, effect, at=LATER) for effect in effects), return_exceptions=True
        )
        assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 2
        there = await store.get(READER, [memory.id for memory in (KESTREL, OWL, HERON)])
        assert len(there) == 1

    async def test_a_new_memory_is_there_whole(self, store: Store) -> None:
        await said(store, "one", "two")
        events = (an_event("two").id, an_event("one").id)
        await store.commit(SCOPE, Effect(inserted=(indexed(FULL, "one", "two", event_ids=events),)), at=LATER)
        assert await one(store, FULL.id) == FULL
        assert [event.id for event in await store.provenance(READER, FULL.id)] == list(events)

    async def test_a_new_memory_is_found(self, birds: Store) -> None:
        assert await found(birds, "kestrel") == {KESTREL.text}
        await birds.commit(SCOPE, Effect(inserted=(indexed(a_memory("another kestrel")),)), at=LATER)
        assert await found(birds, "kestrel") == {KESTREL.text, "another kestrel"}

    async def test_a_memory_with_that_key_refuses_the_effect_even_with_equal_text(self, birds: Store) -> None:
        await remember(birds, replace(a_memory("keyed"), key="k"))
        again = replace(a_memory("keyed", memory_id=UUID(int=7)), key="k")
        await refused(birds, Effect(inserted=(indexed(again),)), Conflict)

    async def test_a_memory_of_that_topic_refuses_the_effect(self, birds: Store) -> None:
        await remember(birds, replace(a_memory("an eagle"), topic_key="bird"))
        await refused(birds, Effect(inserted=(indexed(replace(a_memory("a crow"), topic_key="bird")),)), Conflict)

    async def test_later_parts_of_an_effect_may_name_its_new_memories(self, birds: Store) -> None:
        episode = indexed(a_memory("birds of the morning"))
        edges = tuple(
            Relation(episode.memory.id, source.id, RelationKind.DERIVED_FROM, 1.0, LATER) for source in (KESTREL, OWL)
        )
        effect = Effect(
            expected={KESTREL.id: 1, OWL.id: 1},
            inserted=(episode,),
            status_changes=(StatusChange(KESTREL.id, Status.COMPACTED, "condensed"),),
            superseded=((OWL.id, episode.memory.id),),
            related=edges,
        )
        await birds.commit(SCOPE, effect, at=LATER)
        expected = (*edges, Relation(episode.memory.id, OWL.id, RelationKind.SUPERSEDES, 1.0, LATER))
        assert set(await birds.relations(READER, [episode.memory.id])) == set(expected)
        assert await found(birds, "kestrel", "owl", "birds") == {episode.memory.text}

    async def test_a_revised_memory_keeps_its_counts_of_use(self, store: Store) -> None:
        lived = Strength(importance=0.25, confidence=0.75, stability=9.0, difficulty=3.0, last_reviewed_at=NOW)
        await remember(store, replace(OWL, strength=lived))
        revised = replace(OWL, text="an eagle owl", strength=Strength(importance=0.875))
        await store.commit(SCOPE, Effect(expected={OWL.id: 1}, revised=(indexed(revised),)), at=LATER)
        expected = replace(revised, revision=2, strength=replace(lived, importance=0.875))
        assert await one(store, OWL.id) == expected

    async def test_its_earlier_text_is_a_revision(self, birds: Store) -> None:
        revised = indexed(replace(OWL, text="an eagle owl"))
        await birds.commit(SCOPE, Effect(expected={OWL.id: 1}, revised=(revised,)), at=LATER)
        (revision,) = await birds.revisions(READER, OWL.id)
        assert (revision.number, revision.text, revision.replaced_at) == (1, OWL.text, LATER)

    async def test_a_revised_memory_is_found_by_its_new_text(self, birds: Store) -> None:
        assert await found(birds, "eagle") == set()
        revised = indexed(replace(OWL, text="an eagle"))
        await birds.commit(SCOPE, Effect(expected={OWL.id: 1}, revised=(revised,)), at=LATER)
        assert (await found(birds, "eagle"), await found(birds, "owl")) == ({"an eagle"}, set())

    async def test_the_events_it_was_formed_from_before_stay(self, store: Store) -> None:
        await said(store, "one", "two")
        await remember(store, indexed(OWL, event_ids=[an_event("one").id]))
        revised = indexed(replace(OWL, text="an eagle"), event_ids=[an_event("two").id])
        await store.commit(SCOPE, Effect(expected={OWL.id: 1}, revised=(revised,)), at=LATER)
        assert [event.text for event in await store.provenance(READER, OWL.id)] == ["one", "two"]

    @pytest.mark.parametrize("status", [Status.RETIRED, Status.COMPACTED, Status.ARCHIVED])
    async def test_a_retired_memory_is_not_found_and_the_audit_has_the_reason(
        self, birds: Store, status: Status
    ) -> None:
        assert await found(birds, "owl") == {OWL.text}
        await birds.commit(SCOPE, Effect(status_changes=(StatusChange(OWL.id, status, "condensed"),)), at=LATER)
        assert await found(birds, "owl") == set()
        assert await one(birds, OWL.id) == replace(OWL, status=status, retired_at=LATER)
        assert await birds.audit(READER, OWL.id) == (Audited(OWL.id, status.value, "condensed", LATER),)

    async def test_a_memory_moved_back_is_found_again(self, birds: Store) -> None:
        await birds.commit(SCOPE, Effect(status_changes=(StatusChange(OWL.id, Status.COMPACTED, "condensed"),)), at=NOW)
        await birds.commit(SCOPE, Effect(status_changes=(StatusChange(OWL.id, Status.ACTIVE, "undone"),)), at=LATER)
        assert await found(birds, "owl") == {OWL.text}
        assert (await birds.audit(READER, OWL.id))[-1] == Audited(OWL.id, "restored", "undone", LATER)

    async def test_an_existing_row_adds_no_line_to_the_audit(self, birds: Store) -> None:
        await birds.set_status(READER, OWL.id, Status.COMPACTED, at=NOW)
        await birds.commit(
            SCOPE, Effect(status_changes=(StatusChange(OWL.id, Status.COMPACTED, "condensed"),)), at=LATER
        )
        assert await birds.audit(READER, OWL.id) == ()
        assert (await one(birds, OWL.id)).retired_at == NOW

    async def test_a_topic_taken_meanwhile_refuses_the_effect(self, store: Store) -> None:
        await remember(store, KESTREL, ABOUT)
        await store.set_status(READER, ABOUT.id, Status.RETIRED, at=NOW)
        await remember(store, replace(HERON, topic_key="bird"))
        await refused(store, Effect(status_changes=(StatusChange(ABOUT.id, Status.ACTIVE, "undone"),)), Conflict)

    async def test_a_topic_can_pass_to_another_memory_within_an_effect(self, store: Store) -> None:
        await remember(store, ABOUT)
        await store.set_status(READER, ABOUT.id, Status.RETIRED, at=NOW)
        await remember(store, replace(HERON, topic_key="bird"))
        moves = (
            StatusChange(HERON.id, Status.RETIRED, "handed on"),
            StatusChange(ABOUT.id, Status.ACTIVE, "handed on"),
        )
        await store.commit(SCOPE, Effect(status_changes=moves), at=LATER)
        assert await store.by_topic(SCOPE, "bird") == (ABOUT,)

    async def test_a_memory_gives_way_to_another(self, birds: Store) -> None:
        await birds.commit(SCOPE, Effect(superseded=((OWL.id, HERON.id),)), at=LATER)
        assert await one(birds, OWL.id) == replace(OWL, superseded_by=HERON.id, superseded_at=LATER)
        assert await birds.audit(READER, OWL.id) == (Audited(OWL.id, "superseded", f"by {HERON.id}", LATER),)
        assert await found(birds, "owl") == set()

    async def test_a_memory_ends_in_favour_of_none(self, birds: Store) -> None:
        await birds.commit(SCOPE, Effect(superseded=((OWL.id, None),)), at=LATER)
        assert await one(birds, OWL.id) == replace(OWL, valid_until=LATER)

    async def test_a_successor_that_is_no_longer_valid_refuses_the_effect(self, birds: Store) -> None:
        await birds.set_status(READER, HERON.id, Status.RETIRED, at=NOW)
        await refused(birds, Effect(superseded=((OWL.id, HERON.id),)), Conflict)

    async def test_an_effect_gives_an_edge_that_is_there_the_new_weight(self, birds: Store) -> None:
        edge = Relation(OWL.id, HERON.id, RelationKind.SUPPORTS, 0.25, NOW)
        await birds.relate(READER, [edge])
        await birds.commit(SCOPE, Effect(related=(replace(edge, weight=0.75, created_at=LATER),)), at=LATER)
        assert await birds.relations(READER, [OWL.id]) == (replace(edge, weight=0.75),)

    async def test_strengths_change_each_by_its_own_rule(self, birds: Store) -> None:
        await birds.commit(SCOPE, Effect(adjusted={OWL.id: stronger, HERON.id: wearing}), at=LATER)
        assert (await one(birds, OWL.id)).strength == Strength(importance=1.0)
        assert await one(birds, HERON.id) == replace(
            HERON, strength=Strength(importance=0.0), status=Status.RETIRED, retired_at=LATER
        )
        assert await birds.audit(READER, HERON.id) == (Audited(HERON.id, "retired", "faded", LATER),)

    async def test_a_review_is_logged_and_changes_its_memory(self, birds: Store) -> None:
        review = a_review(OWL.id)
        await birds.commit(SCOPE, Effect(reviewed=(review,)), at=LATER)
        assert await birds.reviews(READER, OWL.id) == (review,)
        expected = Strength(stability=review.stability, difficulty=review.difficulty, last_reviewed_at=review.at)
        assert (await one(birds, OWL.id)).strength == expected

    async def test_a_memory_reviewed_meanwhile_refuses_the_effect(self, birds: Store) -> None:
        await birds.commit(SCOPE, Effect(reviewed=(a_review(OWL.id),)), at=LATER)
        await refused(birds, Effect(reviewed=(a_review(OWL.id, at=LATER),)), Conflict)

    async def test_the_next_review_names_the_one_before(self, birds: Store) -> None:
        first = a_review(OWL.id)
        second = a_review(OWL.id, at=LATER, previous=first.at)
        await birds.commit(SCOPE, Effect(reviewed=(first, second)), at=LATER)
        assert await birds.reviews(READER, OWL.id) == (first, second)

    @pytest.mark.parametrize("part", REACHING)
    async def test_an_effect_can_change_memories_that_only_their_owner_sees(self, store: Store, part: str) -> None:
        await remember(store, OWL, HIDDEN)
        before = await exported(store)
        await store.commit(SCOPE, REACHING[part](HIDDEN), at=LATER)
        assert (await exported(store) == before) is (part == "expected")

    async def test_recall_as_of_a_time_before_the_effect_is_unchanged(self, birds: Store) -> None:
        await birds.commit(
            SCOPE, Effect(status_changes=(StatusChange(OWL.id, Status.COMPACTED, "condensed"),)), at=LATER
        )
        before = Filter(current_at=LATER - timedelta(microseconds=1))
        assert await found(birds, "owl", where=before) == {OWL.text}
        assert await found(birds, "owl", reader=Reader(SCOPE)) == set()
