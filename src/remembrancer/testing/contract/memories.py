"""Contract of memories: inserted, revised, retired, listed and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import MISSING, Field, fields, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from remembrancer.domain.event import Origin, Role
from remembrancer.domain.listing import MemoryListing, MemoryOrder, MemoryPlace, MemoryState
from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Status, Tier
from remembrancer.domain.past import revision_of
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Level, Reach, Reader, Scope, Visibility
from remembrancer.domain.strength import Adjustment, Strength, Usage
from remembrancer.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from remembrancer.language.cues import analysed
from remembrancer.language.lexical import every_word
from remembrancer.ports.exchange import record_to_row
from remembrancer.ports.journal import Entry
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import (
    EVERYTHING,
    MODEL,
    StoreSuite,
    exported,
    give_vectors,
    moved,
    refused,
    remember,
    spread,
    stored,
    unchanged,
)
from remembrancer.testing.doubles import MATE, NOW, NOWHERE, READER, SCOPE, a_memory, a_vector, an_event, indexed

LATER = NOW + timedelta(hours=1)
FULL = Memory(
    id=UUID("0192f0c1-0000-7000-8000-00000000bbbb"),
    scope=Scope(workspace="acme", project="web", crew="platform", agent="ana", session="monday"),
    visibility=Visibility.CREW,
    tier=Tier.WORKING,
    kind="decision",
    title="Speicher für den Checkout",
    text="Checkout needs 2 GiB\nin production — 三 🚀 'quoted'; -- %s ?",
    source="runbook.md",
    origin=Origin.IMPORT,
    actor="ana – the deployer",
    role=Role.TOOL,
    occurred_from=NOW - timedelta(days=2, microseconds=1),
    occurred_to=NOW - timedelta(days=1),
    recorded_at=NOW + timedelta(microseconds=3),
    valid_from=NOW - timedelta(days=1),
    valid_until=NOW + timedelta(days=400),
    superseded_by=UUID(int=77),
    superseded_at=NOW + timedelta(days=300),
    retired_at=NOW + timedelta(days=301),
    consolidated_at=NOW + timedelta(days=20, microseconds=5),
    topic_key="checkout-memory",
    key="import-9",
    revision=3,
    tags=("checkout", "größe", 'odd "tag", with comma'),
    metadata={"list": [1, 2.5, None, True, {"nested": "ü"}], "empty": {}},
    status=Status.ARCHIVED,
    strength=Strength(
        importance=0.875,
        importance_floor=0.7,
        priority=9,
        confidence=0.1,
        surprise=1.0,
        stability=36.123456789,
        difficulty=9.75,
        last_reviewed_at=NOW + timedelta(seconds=4),
        usage=Usage(
            retrieved=1,
            shown=2,
            used=3,
            helped=4,
            unhelpful=6,
            harmed=5,
            worked=2.25,
            failed=0.75,
            last_retrieved_at=NOW + timedelta(seconds=1),
            last_shown_at=NOW + timedelta(seconds=2),
            last_used_at=NOW + timedelta(seconds=3),
        ),
    ),
)


def _has_default(value: object, field: Field[Any]) -> bool:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return getattr(value, field.name) in (None, default)


async def listed(store: Store, *, limit: int = 100, oldest_first: bool = False) -> list[str]:
    memories = await store.memories(READER, EVERYTHING, limit=limit, oldest_first=oldest_first)
    return [memory.text for memory in memories]


async def paged(store: Store, size: int, oldest_first: bool) -> list[str]:
    """The texts of the whole listing, read a page at a time."""
    told: list[str] = []
    place: MemoryPlace | None = None
    while page := await store.memories(READER, EVERYTHING, limit=size, oldest_first=oldest_first, after=place):
        told += [memory.text for memory in page]
        place = MemoryPlace.of(page[-1])
    return told


async def one(store: Store, memory_id: UUID, reader: Reader = READER) -> Memory:
    return (await store.get(reader, [memory_id]))[memory_id]


def saying(memory: Memory, text: str, *, event_ids: Sequence[UUID] = ()) -> MemoryWrite:
    return indexed(replace(memory, text=text), event_ids=event_ids)


def used_once(strength: Strength) -> Adjustment:
    return Adjustment(replace(strength, usage=replace(strength.usage, used=strength.usage.used + 1)))


class MemoryContract(StoreSuite):
    async def test_a_memory_comes_back_with_every_field(self, store: Store) -> None:
        parts = (FULL, FULL.strength, FULL.strength.usage)
        assert [field.name for part in parts for field in fields(part) if _has_default(part, field)] == []
        await remember(store, FULL)
        assert await store.get(Reader(FULL.scope), [FULL.id]) == {FULL.id: FULL}

    async def test_a_memory_without_optional_fields_comes_back_as_it_was(self, store: Store) -> None:
        memory = a_memory(scope=Scope(workspace="acme"))
        assert await store.insert(memory.scope, indexed(memory)) == (memory, True)
        assert await store.get(READER, [memory.id]) == {memory.id: memory}

    async def test_cues_come_back_in_order_with_every_field(self, store: Store) -> None:
        turn, memory = an_event("turn"), a_memory()
        cues = (
            Cue(memory_id=memory.id, ordinal=0, text="The deploy failed"),
            Cue(memory_id=memory.id, ordinal=1, text="at nine", heading="ana, 4 March", event_id=turn.id, start=7),
        )
        write = MemoryWrite(memory, tuple(analysed(cue) for cue in cues), (turn.id,))
        await store.append(SCOPE, [Entry(turn, write)])
        assert await store.cues(READER, [memory.id]) == {memory.id: cues}

    @pytest.mark.parametrize(
        ("state", "texts"),
        [
            (MemoryState.CURRENT, {"current", "replaces"}),
            (MemoryState.RETIRED, {"retired"}),
            (MemoryState.ENDED, {"superseded", "expired"}),
            (MemoryState.ANY, {"current", "replaces", "retired", "superseded", "expired", "of the future"}),
        ],
    )
    async def test_a_listing_contains_the_memories_of_a_state(
        self, store: Store, state: MemoryState, texts: set[str]
    ) -> None:
        kept = {text: a_memory(text) for text in ("current", "replaces", "superseded", "retired")}
        kept["expired"] = replace(a_memory("expired"), valid_until=NOW)
        kept["of the future"] = replace(a_memory("of the future"), valid_from=LATER)
        await remember(store, *kept.values())
        await store.set_status(READER, kept["retired"].id, Status.RETIRED, at=NOW)
        await store.supersede(READER, kept["superseded"].id, kept["replaces"].id, at=NOW)
        found = await store.memories(
            READER, replace(EVERYTHING, current_at=NOW), limit=9, listing=MemoryListing(state=state)
        )
        assert {memory.text for memory in found} == texts

    @pytest.mark.parametrize("oldest_first", [False, True])
    @pytest.mark.parametrize("order", [MemoryOrder.IMPORTANCE, MemoryOrder.USED])
    async def test_a_listing_in_an_order_is_read_a_page_at_a_time(
        self, store: Store, order: MemoryOrder, oldest_first: bool
    ) -> None:
        for text, share in (("least", 0.25), ("middle", 0.5), ("as much", 0.5), ("most", 1.0)):
            usage = Usage(used=1, last_used_at=NOW + timedelta(hours=share))
            await remember(store, replace(a_memory(text), strength=Strength(importance=share, usage=usage)))
        await remember(store, replace(a_memory("never used"), strength=Strength(importance=0.0)))
        listing, told = MemoryListing(order=order), list[Memory]()
        place: MemoryPlace | None = None
        while page := await store.memories(
            READER, EVERYTHING, limit=2, oldest_first=oldest_first, after=place, listing=listing
        ):
            told += page
            place = MemoryPlace.parse("after", MemoryPlace.of(page[-1], order).cursor, order)
        shares = [memory.strength.importance for memory in told]
        expected = [1.0, 0.5, 0.5, 0.25, *([0.0] if order is MemoryOrder.IMPORTANCE else [])]
        assert shares == sorted(expected, reverse=not oldest_first)
        assert len({memory.id for memory in told}) == len(told)

    async def test_a_listing_contains_the_memories_with_every_word(self, store: Store) -> None:
        await remember(store, a_memory("The deploys of checkout failed"), a_memory("checkout is open"))
        listing = MemoryListing(words=every_word("checkout deploy"))
        found = await store.memories(READER, EVERYTHING, limit=9, listing=listing)
        assert [memory.text for memory in found] == ["The deploys of checkout failed"]

    async def test_a_listing_contains_the_memories_of_a_speaker(self, store: Store) -> None:
        await remember(
            store,
            a_memory("a note"),
            replace(a_memory("by Ana"), actor="Ana", role=Role.USER),
            replace(a_memory("by the tool"), role=Role.TOOL),
            replace(a_memory("by a tool's namesake"), actor="tool", role=Role.USER),
        )
        told = dict[str, set[str]]()
        for speaker in ("Ana", "tool", "user"):
            listing = MemoryListing(speaker=speaker)
            told[speaker] = {one.text for one in await store.memories(READER, EVERYTHING, limit=9, listing=listing)}
        assert told == {"Ana": {"by Ana"}, "tool": {"by the tool", "by a tool's namesake"}, "user": set()}

    async def test_ids_that_are_not_there_are_left_out(self, remembered: Store) -> None:
        asked = [NOWHERE, a_memory().id]
        assert set(await remembered.get(READER, asked)) == {a_memory().id}
        assert set(await remembered.cues(READER, asked)) == {a_memory().id}

    async def test_an_id_requested_twice_comes_once(self, remembered: Store) -> None:
        assert len(await remembered.get(READER, [a_memory().id, a_memory().id])) == 1

    async def test_asking_for_no_id_finds_none(self, remembered: Store) -> None:
        assert await remembered.get(READER, []) == {}

    async def test_many_ids_can_be_requested_at_once(self, remembered: Store) -> None:
        asked = [UUID(int=n) for n in range(40_000)]
        assert set(await remembered.get(READER, [*asked, a_memory().id])) == {a_memory().id}

    async def test_a_known_key_returns_the_memory_as_it_is(self, store: Store) -> None:
        first = await stored(store, replace(a_memory(), key="k"))
        again = replace(first, id=UUID(int=5), kind="other")
        assert await store.insert(SCOPE, indexed(again)) == (first, False)
        assert await listed(store) == [first.text]

    async def test_a_known_key_with_another_text_is_a_conflict(self, store: Store) -> None:
        await remember(store, replace(a_memory("one"), key="k"))
        async with refused(store, Conflict):
            await store.insert(SCOPE, indexed(replace(a_memory("two"), key="k")))

    async def test_a_key_still_names_its_memory_after_a_revision(self, store: Store) -> None:
        first = await stored(store, replace(a_memory("one"), key="k"))
        revised = await store.revise(SCOPE, saying(first, "two"), expected_revision=1, at=LATER)
        assert await store.insert(SCOPE, indexed(first)) == (revised, False)

    async def test_a_key_holds_across_sessions(self, store: Store) -> None:
        await remember(store, replace(a_memory("one"), key="k"))
        elsewhere = replace(a_memory("two"), key="k", scope=replace(SCOPE, session="tuesday"))
        with pytest.raises(Conflict):
            await store.insert(SCOPE, indexed(elsewhere))

    async def test_a_key_is_free_in_another_scope(self, store: Store) -> None:
        others = [MATE, replace(SCOPE, crew="data"), replace(SCOPE, project="web")]
        for n, scope in enumerate([SCOPE, *others]):
            memory = replace(a_memory(f"{n}", scope=scope), key="k", topic_key="t")
            assert await store.insert(SCOPE, indexed(memory)) == (memory, True)

    async def test_an_id_that_is_there_is_a_conflict(self, store: Store) -> None:
        await remember(store, a_memory("one", memory_id=UUID(int=1)))
        with pytest.raises(Conflict):
            await store.insert(SCOPE, indexed(a_memory("two", memory_id=UUID(int=1))))
        assert await listed(store) == ["one"]

    async def test_a_memory_of_another_workspace_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInput, match="rival"):
            await store.insert(SCOPE, indexed(a_memory(scope=replace(SCOPE, workspace="rival"))))

    async def test_a_memory_of_an_unknown_event_is_not_written(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await store.insert(SCOPE, indexed(a_memory(), event_ids=[NOWHERE]))
        assert await exported(store) == []

    async def test_a_topic_held_by_an_active_memory_is_a_conflict(self, store: Store) -> None:
        await remember(store, replace(a_memory("one"), topic_key="t"))
        async with refused(store, Conflict):
            await remember(store, replace(a_memory("two", scope=replace(SCOPE, session="tuesday")), topic_key="t"))

    async def test_a_topic_is_free_once_its_memory_is_retired(self, store: Store) -> None:
        first = await stored(store, replace(a_memory("one"), topic_key="t"))
        await store.set_status(READER, first.id, Status.RETIRED, at=LATER)
        _, created = await store.insert(SCOPE, indexed(replace(a_memory("two"), topic_key="t")))
        assert created

    async def test_a_memory_without_events_has_no_provenance(self, remembered: Store) -> None:
        assert await remembered.provenance(READER, a_memory().id) == ()
        assert await remembered.provenance(READER, NOWHERE) == ()

    async def test_a_topic_finds_its_memory_from_any_session(self, store: Store) -> None:
        memory = await stored(store, replace(a_memory(), topic_key="t"))
        assert await store.by_topic(replace(SCOPE, session="tuesday"), "t") == (memory,)
        assert await store.by_topic(replace(SCOPE, session=None), "t") == (memory,)

    async def test_a_topic_is_looked_up_in_exactly_its_scope(self, store: Store) -> None:
        await remember(store, replace(a_memory(), topic_key="t"))
        others: list[dict[str, str | None]] = [
            {"agent": None},
            {"crew": None},
            {"project": "web"},
            {"workspace": "rival"},
        ]
        assert [await store.by_topic(replace(SCOPE, **other), "t") for other in others] == [()] * 4

    @pytest.mark.parametrize(
        ("topics", "found"),
        [
            (Level.AGENT, {"mine"}),
            (Level.CREW, {"mine", "of a mate"}),
            (Level.PROJECT, {"mine", "of a mate", "of a crew"}),
            (Level.WORKSPACE, {"mine", "of a mate", "of a crew", "of a project"}),
        ],
    )
    async def test_a_topic_is_looked_up_within_the_level_it_belongs_to(
        self, store: Store, topics: Level, found: set[str]
    ) -> None:
        mine = replace(SCOPE, project="shop")
        scopes = {
            "mine": mine,
            "of a mate": replace(mine, agent="a mate"),
            "of a crew": replace(mine, crew="a crew"),
            "of a project": replace(mine, project="a project"),
        }
        await remember(store, *(replace(a_memory(text, scope=scope), topic_key="t") for text, scope in scopes.items()))
        told = await store.by_topic(replace(mine, session="tuesday"), "t", topics)
        assert {memory.text for memory in told} == found

    async def test_of_other_scopes_only_memories_visible_to_everybody_are_found_by_topic(self, store: Store) -> None:
        private = replace(a_memory("private"), visibility=Visibility.OWN, topic_key="t")
        await remember(store, private)
        assert await store.by_topic(SCOPE, "t", Level.WORKSPACE) == (private,)
        assert await store.by_topic(MATE, "t", Level.WORKSPACE) == ()

    async def test_of_several_the_narrower_comes_first_then_the_wider_scope_then_the_newest(self, store: Store) -> None:
        private = replace(a_memory("private"), visibility=Visibility.OWN)
        wide = a_memory("wide", scope=replace(SCOPE, agent=None))
        old, new = (
            replace(a_memory(agent, scope=replace(SCOPE, agent=agent)), recorded_at=NOW + timedelta(days=days))
            for days, agent in enumerate(("old", "new"))
        )
        await remember(store, *(replace(one, topic_key="t") for one in (old, private, wide, new)))
        told = await store.by_topic(SCOPE, "t", Level.WORKSPACE)
        assert [memory.text for memory in told] == ["private", "wide", "new", "old"]

    async def test_a_topic_that_belongs_to_the_workspace_is_taken_in_every_scope(self, store: Store) -> None:
        await remember(store, replace(a_memory("one"), topic_key="t"))
        another = replace(a_memory("two", scope=MATE), topic_key="t")
        async with unchanged(store):
            with pytest.raises(Conflict):
                await store.insert(MATE, indexed(another), topics=Level.WORKSPACE)
        private = replace(another, visibility=Visibility.OWN)
        assert (await store.insert(MATE, indexed(private), topics=Level.WORKSPACE)) == (private, True)

    async def test_no_memory_becomes_active_while_the_workspace_has_its_topic(self, store: Store) -> None:
        first = await stored(store, replace(a_memory("one"), topic_key="t"))
        await store.set_status(READER, first.id, Status.RETIRED, at=LATER)
        await remember(store, replace(a_memory("two", scope=MATE), topic_key="t"))
        with pytest.raises(Conflict):
            await store.set_status(READER, first.id, Status.ACTIVE, at=LATER, topics=Level.WORKSPACE)
        assert (await store.set_status(READER, first.id, Status.ACTIVE, at=LATER)).status is Status.ACTIVE

    async def test_the_same_content_is_stored_once_when_asked(self, store: Store) -> None:
        first = await stored(store, a_memory("one"))
        async with unchanged(store):
            again = indexed(a_memory("one", memory_id=UUID(int=9), scope=replace(SCOPE, session="tuesday")))
            assert await store.insert(SCOPE, again, once=True) == (first, False)

    async def test_memories_of_a_batch_are_inserted_as_if_one_after_the_other(self, store: Store) -> None:
        known = await stored(store, replace(a_memory("known"), key="k-1"))
        new = replace(a_memory("new"), key="k-2", topic_key="t")
        texts = [a_memory("same", memory_id=UUID(int=n)) for n in (7, 8, 9)]
        writes = [replace(known, id=UUID(int=1)), new, replace(new, id=UUID(int=2)), *texts]
        inserted = await store.insert_many(SCOPE, [indexed(one) for one in writes], once={UUID(int=8)})
        assert inserted == (
            (known, False),
            (new, True),
            (new, False),
            (texts[0], True),
            (texts[0], False),
            (texts[2], True),
        )
        assert await store.get(READER, [one.id for one in writes]) == {one.id: one for one in (new, texts[0], texts[2])}

    @pytest.mark.parametrize(
        "wrong",
        [
            replace(a_memory("other", memory_id=UUID(int=9)), key="k-1"),
            replace(a_memory("other", memory_id=UUID(int=9)), topic_key="t"),
        ],
    )
    async def test_a_conflict_within_a_batch_leaves_nothing_of_it(self, store: Store, wrong: Memory) -> None:
        first = replace(a_memory("one", memory_id=UUID(int=7)), key="k-1", topic_key="t")
        async with unchanged(store):
            with pytest.raises(Conflict):
                await store.insert_many(SCOPE, [indexed(first), indexed(wrong)])

    @pytest.mark.parametrize(
        "other",
        [
            a_memory("two"),
            replace(a_memory("one"), title="a title"),
            replace(a_memory("one"), visibility=Visibility.OWN),
            a_memory("one", scope=MATE),
            a_memory("one", scope=replace(SCOPE, project="web")),
        ],
    )
    async def test_another_content_is_another_memory(self, store: Store, other: Memory) -> None:
        await remember(store, a_memory("one"))
        other = replace(other, id=UUID(int=9))
        assert await store.insert(other.scope, indexed(other), once=True) == (other, True)

    async def test_the_content_of_a_session_is_its_own(self, store: Store) -> None:
        private = replace(a_memory("one"), visibility=Visibility.SESSION)
        await remember(store, private)
        elsewhere = replace(private, id=UUID(int=9), scope=replace(SCOPE, session="tuesday"))
        assert (await store.insert(SCOPE, indexed(replace(private, id=UUID(int=8))), once=True))[0].id == private.id
        assert (await store.insert(SCOPE, indexed(elsewhere), once=True))[1]

    async def test_content_that_is_not_current_is_stored_again(self, store: Store) -> None:
        retired, expired, superseded, other = (a_memory(text) for text in ("retired", "expired", "superseded", "other"))
        await remember(store, retired, replace(expired, valid_until=NOW), superseded, other)
        await store.set_status(READER, retired.id, Status.RETIRED, at=LATER)
        await store.supersede(READER, superseded.id, other.id, at=LATER)
        for number, memory in enumerate((retired, expired, superseded)):
            again = indexed(replace(memory, id=UUID(int=number)))
            assert (await store.insert(SCOPE, again, once=True))[1]

    async def test_a_retired_memory_answers_to_no_topic(self, store: Store) -> None:
        memory = await stored(store, replace(a_memory(), topic_key="t"))
        await store.set_status(READER, memory.id, Status.RETIRED, at=LATER)
        assert await store.by_topic(SCOPE, "t") == ()

    async def test_an_unknown_topic_finds_nothing(self, store: Store) -> None:
        await remember(store, replace(a_memory(), topic_key="t"))
        assert await store.by_topic(SCOPE, "u") == ()

    async def test_revising_replaces_the_text_of_a_memory(self, store: Store) -> None:
        memory = await stored(store, a_memory("one"))
        after = replace(memory, text="two", title="Two", kind="decision", tags=("t",), topic_key="topic")
        revised = await store.revise(SCOPE, indexed(after), expected_revision=1, at=LATER)
        assert revised == replace(after, revision=2)
        assert await one(store, memory.id) == revised

    async def test_revising_keeps_the_earlier_text(self, store: Store) -> None:
        memory = await stored(store, replace(a_memory("one"), title="First"))
        await store.revise(SCOPE, saying(replace(memory, title=None), "two"), expected_revision=1, at=LATER)
        await store.revise(SCOPE, saying(memory, "three"), expected_revision=2, at=LATER + timedelta(days=1))
        assert await store.revisions(READER, memory.id) == (
            revision_of(memory, LATER),
            revision_of(replace(memory, title=None, text="two", revision=2), LATER + timedelta(days=1)),
        )

    async def test_revising_replaces_the_cues(self, store: Store) -> None:
        memory = await stored(store, indexed(a_memory(), "one", "two", "three"))
        await store.revise(SCOPE, indexed(memory, "four"), expected_revision=1, at=LATER)
        cues = (await store.cues(READER, [memory.id]))[memory.id]
        assert [(cue.ordinal, cue.text) for cue in cues] == [(0, "four")]

    async def test_a_stale_revision_is_a_conflict_and_changes_nothing(self, store: Store) -> None:
        memory = await stored(store, a_memory("one"))
        await store.revise(SCOPE, saying(memory, "two"), expected_revision=1, at=LATER)
        async with unchanged(store):
            for expected in (1, 3):
                with pytest.raises(Conflict):
                    await store.revise(SCOPE, saying(memory, "lost"), expected_revision=expected, at=LATER)

    async def test_revising_an_unknown_memory_is_not_found(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await store.revise(SCOPE, indexed(a_memory()), expected_revision=1, at=LATER)

    async def test_revising_keeps_the_counts_of_use(self, store: Store) -> None:
        memory = await stored(store, a_memory("one"))
        await store.adjust(READER, [memory.id], used_once, at=LATER)
        stale = replace(memory, strength=Strength(importance=0.9))
        revised = await store.revise(SCOPE, saying(stale, "two"), expected_revision=1, at=LATER)
        assert revised.strength == Strength(importance=0.9, usage=Usage(used=1))
        assert await one(store, memory.id) == revised

    async def test_revising_keeps_the_effects_of_reviews(self, store: Store) -> None:
        memory = await stored(store, a_memory("one"))
        reviewed = Strength(stability=9.5, difficulty=3.25, last_reviewed_at=LATER)
        await store.adjust(READER, [memory.id], lambda _: Adjustment(reviewed), at=LATER)
        revised = await store.revise(SCOPE, saying(memory, "two"), expected_revision=1, at=LATER)
        assert revised.strength == reviewed
        assert await one(store, memory.id) == revised

    async def test_revising_keeps_the_effects_of_feedback(self, store: Store) -> None:
        memory = await stored(store, a_memory())
        await store.adjust(READER, [memory.id], lambda held: Adjustment(replace(held, confidence=0.9)), at=LATER)
        revised = await store.revise(SCOPE, indexed(replace(memory, text="later")), expected_revision=1, at=LATER)
        assert revised.strength.confidence == 0.9

    async def test_revising_does_not_bring_a_retired_memory_back(self, store: Store) -> None:
        memory = await stored(store, a_memory("one"))
        await store.set_status(READER, memory.id, Status.RETIRED, at=LATER)
        await store.revise(SCOPE, saying(memory, "two"), expected_revision=1, at=LATER)
        after = await one(store, memory.id)
        assert (after.text, after.status, after.retired_at) == ("two", Status.RETIRED, LATER)

    async def test_revising_adds_to_the_provenance(self, store: Store) -> None:
        first, second, memory = an_event("first"), replace(an_event("second"), seq=2), a_memory("one")
        await store.append(SCOPE, [Entry(first), Entry(second)])
        await remember(store, indexed(memory, event_ids=[first.id]))
        await store.revise(SCOPE, saying(memory, "two", event_ids=[first.id, second.id]), expected_revision=1, at=LATER)
        assert await store.provenance(READER, memory.id) == (first, second)

    async def test_revising_to_another_memory_s_topic_is_a_conflict(self, store: Store) -> None:
        memory = a_memory("one")
        await remember(store, memory, replace(a_memory("other"), topic_key="t"))
        async with refused(store, Conflict):
            await store.revise(SCOPE, saying(replace(memory, topic_key="t"), "two"), expected_revision=1, at=LATER)

    async def test_revising_for_another_workspace_is_refused(self, store: Store) -> None:
        memory = await stored(store, a_memory("one"))
        foreign = replace(memory, scope=replace(SCOPE, workspace="rival"))
        with pytest.raises(InvalidInput, match="rival"):
            await store.revise(SCOPE, saying(foreign, "two"), expected_revision=1, at=LATER)

    async def test_revising_from_an_unknown_event_changes_nothing(self, store: Store) -> None:
        memory = await stored(store, a_memory("one"))
        async with refused(store, NotFound):
            await store.revise(SCOPE, saying(memory, "two", event_ids=[NOWHERE]), expected_revision=1, at=LATER)

    async def test_a_memory_never_revised_has_no_revisions(self, remembered: Store) -> None:
        assert await remembered.revisions(READER, a_memory().id) == ()
        assert await remembered.revisions(READER, NOWHERE) == ()

    async def test_retiring_stores_its_time(self, remembered: Store) -> None:
        expected = replace(a_memory(), status=Status.RETIRED, retired_at=LATER)
        assert await remembered.set_status(READER, a_memory().id, Status.RETIRED, at=LATER) == expected
        assert await one(remembered, a_memory().id) == expected

    async def test_a_retired_memory_can_become_active_again(self, remembered: Store) -> None:
        await remembered.set_status(READER, a_memory().id, Status.RETIRED, at=LATER)
        assert await remembered.set_status(READER, a_memory().id, Status.ACTIVE, at=LATER) == a_memory()
        assert await listed(remembered) == [a_memory().text]

    async def test_retiring_again_does_not_move_the_time(self, remembered: Store) -> None:
        await remembered.set_status(READER, a_memory().id, Status.RETIRED, at=LATER)
        again = await remembered.set_status(READER, a_memory().id, Status.RETIRED, at=LATER + timedelta(days=9))
        assert again.retired_at == LATER

    async def test_a_memory_that_is_not_there_is_not_found(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await store.set_status(READER, NOWHERE, Status.RETIRED, at=LATER)

    async def test_no_memory_becomes_active_while_another_holds_its_topic(self, store: Store) -> None:
        first = await stored(store, replace(a_memory("one"), topic_key="t"))
        await store.set_status(READER, first.id, Status.RETIRED, at=LATER)
        await remember(store, replace(a_memory("two"), topic_key="t"))
        with pytest.raises(Conflict):
            await store.set_status(READER, first.id, Status.ACTIVE, at=LATER)
        assert (await one(store, first.id)).status is Status.RETIRED

    async def test_memories_come_newest_first(self, store: Store) -> None:
        await remember(store, *spread([a_memory("old"), a_memory("new")]))
        assert await listed(store) == ["new", "old"]

    async def test_memories_come_oldest_first_when_asked(self, store: Store) -> None:
        await remember(store, *spread([a_memory("old"), a_memory("new")]))
        assert await listed(store, oldest_first=True) == ["old", "new"]

    async def test_the_end_of_the_span_decides(self, store: Store) -> None:
        long = replace(a_memory("long"), occurred_from=NOW - timedelta(days=9), occurred_to=LATER)
        await remember(store, long, a_memory("short"))
        assert await listed(store) == ["long", "short"]

    async def test_memories_of_one_moment_come_by_id(self, store: Store) -> None:
        await remember(store, *(indexed(a_memory(f"{n}", memory_id=UUID(int=n))) for n in (2, 1, 3)))
        assert await listed(store) == ["1", "2", "3"]
        assert await listed(store, oldest_first=True) == ["1", "2", "3"]

    async def test_times_differ_by_the_microsecond(self, store: Store) -> None:
        memories = spread([a_memory("old"), a_memory("new")], step=timedelta(microseconds=1))
        await remember(store, *memories)
        assert await listed(store) == ["new", "old"]

    async def test_times_before_1970_are_kept(self, store: Store) -> None:
        old = await stored(store, moved(a_memory("old"), NOW.replace(year=1905, microsecond=123_457)))
        assert await one(store, old.id) == old

    async def test_a_limit_keeps_the_first(self, store: Store) -> None:
        memories = spread([a_memory(f"{n}") for n in range(5)])
        await remember(store, *memories)
        assert await listed(store, limit=2) == ["4", "3"]

    async def test_pages_end_to_end_are_the_whole_list(self, store: Store) -> None:
        memories = spread([a_memory(f"{n}", memory_id=UUID(int=9 - n)) for n in range(4)])
        twins = [moved(a_memory(f"t{n}", memory_id=UUID(int=20 + n)), NOW + timedelta(minutes=1)) for n in range(3)]
        await remember(store, *(*memories, *twins))
        for oldest_first in (False, True):
            for size in (1, 2, 3):
                assert await paged(store, size, oldest_first) == await listed(store, oldest_first=oldest_first)

    async def test_memories_added_between_pages_do_not_shift_them(self, store: Store) -> None:
        await remember(store, *spread([a_memory("old"), a_memory("new")]))
        (newest,) = await store.memories(READER, EVERYTHING, limit=1)
        await remember(store, moved(a_memory("newer"), LATER))
        rest = await store.memories(READER, EVERYTHING, limit=9, after=MemoryPlace.of(newest))
        assert [memory.text for memory in rest] == ["old"]

    async def test_a_page_continues_after_a_memory_that_no_longer_exists(self, store: Store) -> None:
        several = spread([a_memory("old"), a_memory("middle"), a_memory("new")])
        await remember(store, *several)
        await store.set_status(READER, several[1].id, Status.RETIRED, at=LATER)
        for oldest_first, behind in ((False, ["old"]), (True, ["new"])):
            place = MemoryPlace.of(several[1])
            page = await store.memories(READER, EVERYTHING, limit=9, oldest_first=oldest_first, after=place)
            assert [memory.text for memory in page] == behind


class StatsContract(StoreSuite):
    async def test_an_empty_store_counts_nothing(self, store: Store) -> None:
        stats = await store.stats(READER)
        assert (sum(stats.memories.values()), sum(stats.vectors.values())) == (0, 0)
        assert (stats.events, stats.cues, stats.truncated, stats.relations) == (0, 0, 0, 0)
        assert (stats.oldest, stats.newest) == (None, None)

    async def test_everything_is_counted(self, store: Store) -> None:
        event, retired = an_event("said", at=NOW - timedelta(days=3)), a_memory("retired")
        kept = replace(a_memory("kept"), occurred_from=NOW - timedelta(days=1), occurred_to=LATER)
        await store.append(SCOPE, [Entry(event)])
        await remember(store, indexed(kept, "turn one", "turn two"), retired)
        await store.set_status(READER, retired.id, Status.RETIRED, at=LATER)
        await give_vectors(store, {"turn one": a_vector(1, 0), "turn two": a_vector(0, 1)})
        edge = Relation(kept.id, retired.id, RelationKind.SIMILAR, 1.0, NOW)
        await store.import_rows(SCOPE, [record_to_row(edge)])
        stats = await store.stats(READER)
        assert Counter(stats.memories) == Counter(active=1, retired=1)
        assert Counter(stats.vectors) == Counter({MODEL: 2})
        assert (stats.events, stats.cues, stats.truncated, stats.relations) == (1, 3, 0, 1)
        assert (stats.oldest, stats.newest) == (kept.occurred_from, kept.occurred_to)

    async def test_ids_are_found_by_the_digits_that_they_end_with(self, store: Store) -> None:
        one, other = (
            a_memory(text, memory_id=UUID(f"0000000{number}-0000-7000-8000-00000a1b2c3d"))
            for number, text in enumerate(("one", "other"))
        )
        event = an_event("said")
        await remember(store, one, other)
        await store.append(SCOPE, [Entry(event)])
        for digits in ("3d", "b2c3d", "a1b2c3d"):
            assert await store.ids_ending(READER, "memory", digits) == (one.id, other.id)
        assert await store.ids_ending(READER, "memory", other.id.hex[1:]) == (other.id,)
        assert await store.ids_ending(READER, "memory", "ffb2c3d") == ()
        assert await store.ids_ending(READER, "event", event.id.hex[-8:]) == (event.id,)

    async def test_the_id_of_a_hidden_memory_is_not_found(self, store: Store) -> None:
        private = replace(a_memory("private", memory_id=UUID(int=0xABCDEF01)), visibility=Visibility.OWN)
        await remember(store, private)
        stranger = Reader(replace(SCOPE, agent="stranger"), Reach.WORKSPACE)
        assert await store.ids_ending(READER, "memory", "abcdef01") == (private.id,)
        assert await store.ids_ending(stranger, "memory", "abcdef01") == ()

    async def test_the_size_is_a_number_of_bytes(self, store: Store) -> None:
        assert (await store.stats(READER)).bytes >= 0


class LifeContract(StoreSuite):
    async def test_no_role_is_missing(self, store: Store) -> None:
        assert [name for name in dir(Store) if not name.startswith("_") and not hasattr(store, name)] == []

    async def test_a_healthy_store_has_no_fault(self, remembered: Store) -> None:
        await give_vectors(remembered, {a_memory().text: a_vector(1, 0)})
        findings = await remembered.check(SCOPE, MODEL)
        assert findings
        assert [finding for finding in findings if not finding.ok] == []

    async def test_closing_twice_is_closing_once(self, store: Store) -> None:
        await store.close()
        await store.close()

    async def test_a_closed_store_is_unavailable(self, store: Store) -> None:
        await store.close()
        with pytest.raises(StoreUnavailable):
            await store.get(READER, [UUID(int=1)])
