"""Contract of strength: adjustments and their log, the states of all memories, and the states in an answer."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from typing import Final
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.candidates import States
from remembrancer.domain.memory import Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Level, Reach, Reader, Scope
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength, Usage
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.ports.memories import Audited
from remembrancer.ports.states import states_of
from remembrancer.ports.store import Store
from remembrancer.ports.transfer import ExportRow
from remembrancer.testing.contract.base import (
    EVERYTHING,
    StoreSuite,
    assert_same_states,
    exported,
    remember,
    stored,
    unchanged,
)
from remembrancer.testing.contract.finding import Finder, IndexSuite, needs, request
from remembrancer.testing.contract.memories import FULL, LATER, one, used_once
from remembrancer.testing.doubles import MATE, NOW, NOWHERE, READER, SCOPE, a_memory, indexed

WEARY: Final = "harmed too often"


def wearing(strength: Strength) -> Adjustment:
    """An adjustment after too many harmful ratings: the memory is to be retired."""
    usage = replace(strength.usage, harmed=strength.usage.harmed + 1)
    return Adjustment(replace(strength, importance=strength.importance / 2, usage=usage), WEARY)


def shown(memory_id: UUID, similarity: float | None = 0.75, *, seconds: int = 0) -> Exposed:
    return Exposed(memory_id, Exposure.SHOWN, LATER + timedelta(seconds=seconds), similarity)


async def logged(store: Store) -> list[ExportRow]:
    """The logged exposures. Only an export contains all of their fields."""
    return [row for row in await exported(store) if row["record"] == "exposure"]


class StrengthContract(StoreSuite):
    async def test_adjusting_returns_and_keeps_the_new_strength(self, store: Store) -> None:
        memory = await stored(store, replace(a_memory(), strength=FULL.strength))
        expected = Strength(importance=0.25, priority=1, confidence=0.75, surprise=0.5, usage=Usage(harmed=1))
        adjusted = await store.adjust(READER, [memory.id], lambda _: Adjustment(expected), at=LATER)
        assert adjusted == {memory.id: expected}
        assert await one(store, memory.id) == replace(memory, strength=expected)

    async def test_every_use_is_counted(self, remembered: Store) -> None:
        for _ in range(3):
            await remembered.adjust(READER, [a_memory().id], used_once, at=LATER)
        assert (await one(remembered, a_memory().id)).strength.usage.used == 3

    async def test_a_memory_named_twice_is_adjusted_once(self, remembered: Store) -> None:
        await remembered.adjust(READER, [a_memory().id, a_memory().id], used_once, at=LATER)
        assert (await one(remembered, a_memory().id)).strength.usage.used == 1

    async def test_one_missing_memory_leaves_everything_unchanged(self, remembered: Store) -> None:
        with pytest.raises(NotFound):
            await remembered.adjust(READER, [a_memory().id, NOWHERE], used_once, at=LATER)
        assert await one(remembered, a_memory().id) == a_memory()

    async def test_a_change_that_raises_leaves_everything_unchanged(self, store: Store) -> None:
        await remember(store, a_memory("one"), a_memory("two"))
        seen: list[Strength] = []

        def fails_on_the_second(strength: Strength) -> Adjustment:
            seen.append(strength)
            if len(seen) == 2:
                raise InvalidInput("importance", 2, "a number from 0 to 1")
            return used_once(strength)

        with pytest.raises(InvalidInput):
            await store.adjust(READER, [a_memory("one").id, a_memory("two").id], fails_on_the_second, at=LATER)
        for text in ("one", "two"):
            assert await one(store, a_memory(text).id) == a_memory(text)

    async def test_adjusting_nothing_returns_nothing(self, store: Store) -> None:
        assert await store.adjust(READER, [], used_once, at=LATER) == {}

    async def test_retired_memories_can_be_adjusted(self, remembered: Store) -> None:
        await remembered.set_status(READER, a_memory().id, Status.RETIRED, at=LATER)
        assert set(await remembered.adjust(READER, [a_memory().id], used_once, at=LATER)) == {a_memory().id}

    async def test_an_adjustment_can_retire_the_memory(self, remembered: Store) -> None:
        await remembered.adjust(READER, [a_memory().id], wearing, at=LATER)
        expected = replace(
            a_memory(),
            status=Status.RETIRED,
            retired_at=LATER,
            strength=Strength(importance=0.25, usage=Usage(harmed=1)),
        )
        assert await one(remembered, a_memory().id) == expected

    async def test_the_audit_has_the_reason_why_an_adjustment_retired_a_memory(self, remembered: Store) -> None:
        await remembered.adjust(READER, [a_memory().id], wearing, at=LATER)
        assert await remembered.audit(READER, a_memory().id) == (Audited(a_memory().id, "retired", WEARY, LATER),)

    async def test_an_adjustment_that_retires_nothing_leaves_no_line(self, remembered: Store) -> None:
        await remembered.adjust(READER, [a_memory().id], used_once, at=LATER)
        assert await remembered.audit(READER, a_memory().id) == ()

    async def test_a_memory_retired_before_keeps_that_time(self, remembered: Store) -> None:
        await remembered.set_status(READER, a_memory().id, Status.ARCHIVED, at=NOW)
        await remembered.adjust(READER, [a_memory().id], wearing, at=LATER)
        memory = await one(remembered, a_memory().id)
        assert (memory.status, memory.retired_at, memory.strength.usage.harmed) == (Status.ARCHIVED, NOW, 1)
        assert await remembered.audit(READER, a_memory().id) == ()

    async def test_a_memory_may_become_invisible_to_its_reader_as_it_is_retired(self, store: Store) -> None:
        memory = await stored(store, replace(a_memory(scope=MATE), strength=Strength(importance=0.7)))
        reader = Reader(SCOPE, Reach.CREW_SHARED, shared_from=0.65)
        adjusted = await store.adjust(reader, [memory.id], wearing, at=LATER)
        assert adjusted[memory.id].importance == 0.35
        assert (await one(store, memory.id, Reader(MATE))).status is Status.RETIRED

    async def test_a_change_that_raises_retires_and_logs_nothing(self, store: Store) -> None:
        await remember(store, a_memory("one"), a_memory("two"))
        before = await exported(store)
        calls: list[Strength] = []

        def retires_the_first(strength: Strength) -> Adjustment:
            calls.append(strength)
            if len(calls) == 2:
                raise InvalidInput("importance", 2, "a number from 0 to 1")
            return wearing(strength)

        both = [a_memory("one").id, a_memory("two").id]
        with pytest.raises(InvalidInput):
            await store.adjust(READER, both, retires_the_first, at=LATER, exposed=[shown(one) for one in both])
        assert await exported(store) == before

    async def test_the_audit_of_an_unknown_memory_is_empty(self, store: Store) -> None:
        assert await store.audit(READER, NOWHERE) == ()

    async def test_the_audit_comes_oldest_first(self, remembered: Store) -> None:
        for at in (LATER + timedelta(days=1), LATER):
            await remembered.adjust(READER, [a_memory().id], wearing, at=at)
            await remembered.set_status(READER, a_memory().id, Status.ACTIVE, at=at)
        times = [line.at for line in await remembered.audit(READER, a_memory().id)]
        assert times == [LATER, LATER + timedelta(days=1)]

    async def test_an_exposure_is_logged_with_all_that_is_known_of_it(self, remembered: Store) -> None:
        exposed = replace(shown(a_memory().id), query="which bird?", session="monday")
        exposed = replace(exposed, project="checkout", crew="platform", agent="ana")
        await remembered.adjust(READER, [a_memory().id], used_once, at=LATER, exposed=[exposed])
        assert await logged(remembered) == [
            {
                "record": "exposure",
                "memory_id": str(a_memory().id),
                "kind": "shown",
                "at": LATER.isoformat(timespec="microseconds"),
                "similarity": 0.75,
                "query": "which bird?",
                "session": "monday",
                "project": "checkout",
                "crew": "platform",
                "agent": "ana",
            }
        ]

    async def test_an_exposure_may_have_no_similarity(self, remembered: Store) -> None:
        await remembered.adjust(READER, [], used_once, at=LATER, exposed=[shown(a_memory().id, None)])
        assert [row["similarity"] for row in await logged(remembered)] == [None]

    async def test_exposures_of_one_kind_at_one_moment_are_one(self, remembered: Store) -> None:
        twice = [shown(a_memory().id, 0.75), shown(a_memory().id, 0.25)]
        await remembered.adjust(READER, [], used_once, at=LATER, exposed=twice)
        assert [row["similarity"] for row in await logged(remembered)] == [0.75]

    @pytest.mark.parametrize("other", ["kind", "memory", "time"])
    async def test_different_exposures_are_logged_separately(self, store: Store, other: str) -> None:
        await remember(store, a_memory("one"), a_memory("two"))
        first = shown(a_memory("one").id)
        second = {
            "kind": replace(first, exposure=Exposure.USED),
            "memory": replace(first, memory_id=a_memory("two").id),
            "time": replace(first, at=first.at + timedelta(microseconds=1)),
        }[other]
        await store.adjust(READER, [], used_once, at=LATER, exposed=[first, second])
        assert len(await logged(store)) == 2

    async def test_an_exposure_alone_changes_no_strength(self, remembered: Store) -> None:
        assert await remembered.adjust(READER, [], used_once, at=LATER, exposed=[shown(a_memory().id)]) == {}
        assert await one(remembered, a_memory().id) == a_memory()

    async def test_an_exposure_of_a_missing_memory_leaves_everything_unchanged(self, remembered: Store) -> None:
        async with unchanged(remembered):
            exposed = [shown(a_memory().id), shown(NOWHERE)]
            with pytest.raises(NotFound):
                await remembered.adjust(READER, [a_memory().id], used_once, at=LATER, exposed=exposed)

    async def test_the_log_stays_when_the_text_of_a_memory_is_revised(self, remembered: Store) -> None:
        await remembered.adjust(READER, [], used_once, at=LATER, exposed=[shown(a_memory().id)])
        before = await logged(remembered)
        await remembered.revise(SCOPE, indexed(a_memory()), expected_revision=1, at=LATER)
        assert await logged(remembered) == before


@needs("lexical")
class FoundStatesContract(IndexSuite):
    async def test_a_search_brings_every_memory_s_state(self, finder: Finder) -> None:
        memory = replace(
            FULL,
            text="kestrel",
            recorded_at=NOW,
            valid_from=None,
            valid_until=None,
            superseded_by=None,
            superseded_at=None,
            status=Status.ACTIVE,
            retired_at=None,
        )
        plain = a_memory("a kestrel")
        await remember(finder.store, memory, plain)
        answer = await finder.search(Reader(FULL.scope), request("kestrel"))
        assert answer.ids == (plain.id, memory.id)
        assert_same_states(answer.states, states_of([plain, memory]))

    async def test_no_candidate_has_no_state(self, finder: Finder) -> None:
        answer = await finder.search(READER, request("kestrel"))
        assert_same_states(answer.states, states_of([]))

    async def test_a_changed_state_is_reported_at_once(self, finder: Finder) -> None:
        memory = await stored(finder.store, a_memory("kestrel"))
        await finder.search(READER, request("kestrel"))
        await finder.store.adjust(READER, [memory.id], lambda _: Adjustment(FULL.strength), at=LATER)
        answer = await finder.search(READER, request("kestrel"))
        assert_same_states(answer.states, states_of([replace(memory, strength=FULL.strength)]))

    @pytest.mark.parametrize(
        ("scope", "level"),
        [
            (Scope(workspace="acme"), Level.WORKSPACE),
            (Scope(workspace="acme", project="web"), Level.PROJECT),
            (Scope(workspace="acme", project="web", crew="platform"), Level.CREW),
            (Scope(workspace="acme", agent="ana"), Level.AGENT),
            (Scope(workspace="acme", project="web", session="monday"), Level.SESSION),
        ],
    )
    async def test_the_level_is_that_of_the_narrowest_part(self, finder: Finder, scope: Scope, level: Level) -> None:
        await remember(finder.store, a_memory("kestrel", scope=scope))
        answer = await finder.search(Reader(Scope(workspace="acme")), request("kestrel"))
        assert answer.states.level.tolist() == [level]
        assert answer.states.level.dtype == np.int32


LIVED = Strength(
    importance=0.875,
    importance_floor=0.25,
    priority=9,
    confidence=0.1,
    stability=12.5,
    last_reviewed_at=NOW + timedelta(seconds=4, microseconds=1),
    usage=Usage(
        retrieved=1,
        shown=2,
        used=3,
        worked=1.5,
        failed=0.25,
        last_retrieved_at=NOW + timedelta(seconds=1),
        last_shown_at=NOW + timedelta(seconds=2),
        last_used_at=NOW + timedelta(seconds=3),
    ),
)


class StatesContract(StoreSuite):
    async def test_the_states_of_all_memories_come_by_id(self, store: Store) -> None:
        memories = [
            replace(a_memory("lived", memory_id=UUID(int=1)), strength=LIVED),
            replace(a_memory("long ago", memory_id=UUID(int=2)), occurred_to=NOW.replace(year=1905)),
            a_memory("of all", memory_id=UUID(int=3), scope=Scope(workspace=SCOPE.workspace)),
        ]
        await remember(store, *(indexed(memories[place]) for place in (2, 0, 1)))
        ids, states = await store.states(READER, EVERYTHING)
        assert list(ids) == [memory.id for memory in memories]
        assert_same_states(states, states_of(memories))

    async def test_an_empty_store_has_no_states(self, store: Store) -> None:
        ids, states = await store.states(READER, EVERYTHING)
        assert list(ids) == []
        assert_same_states(states, states_of([]))

    async def test_only_current_memories_have_a_state(self, store: Store) -> None:
        kept, retired, expired = a_memory("kept"), a_memory("retired"), a_memory("expired")
        await remember(store, kept, retired, replace(expired, valid_until=NOW))
        await store.set_status(READER, retired.id, Status.RETIRED, at=NOW)
        assert list((await store.states(READER, EVERYTHING))[0]) == [kept.id]

    async def test_states_are_those_of_memories_that_match_the_filter(self, store: Store) -> None:
        await remember(store, a_memory("note"), replace(a_memory("fact"), kind="fact"))
        where = Filter(current_at=EVERYTHING.current_at, kinds=frozenset({"fact"}))
        assert list((await store.states(READER, where))[0]) == [a_memory("fact").id]

    async def test_states_are_those_of_memories_that_the_reader_sees(self, store: Store) -> None:
        await remember(store, a_memory("mine"), a_memory("theirs", scope=MATE))
        assert list((await store.states(Reader(SCOPE, Reach.OWN), EVERYTHING))[0]) == [a_memory("mine").id]


def as_lists(states: States) -> list[object]:
    """The arrays as plain numbers, to be compared with ==."""
    names = [field.name for field in fields(States) if field.name not in ("exposed", "exposed_at")]
    exposures = [(kind, states.exposed[kind].tolist(), states.exposed_at[kind].tolist()) for kind in Exposure]
    return [*(getattr(states, name).tolist() for name in names), *exposures]
