"""The states of all memories at once, without their texts."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from uuid import UUID

from remembrancer.domain.candidates import States
from remembrancer.domain.memory import Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.domain.strength import Exposure, Strength, Usage
from remembrancer.policies.forgetting.dynamics import states_of
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, StoreSuite, assert_same_states, remember
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, indexed

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
        assert ids == tuple(memory.id for memory in memories)
        assert_same_states(states, states_of(memories))

    async def test_an_empty_store_has_no_states(self, store: Store) -> None:
        ids, states = await store.states(READER, EVERYTHING)
        assert ids == ()
        assert_same_states(states, states_of([]))

    async def test_only_what_is_current_has_a_state(self, store: Store) -> None:
        kept, retired, expired = a_memory("kept"), a_memory("retired"), a_memory("expired")
        await remember(store, kept, retired, replace(expired, valid_until=NOW))
        await store.set_status(READER, retired.id, Status.RETIRED, at=NOW)
        assert (await store.states(READER, EVERYTHING))[0] == (kept.id,)

    async def test_states_are_those_of_what_the_filter_keeps(self, store: Store) -> None:
        await remember(store, a_memory("note"), replace(a_memory("fact"), kind="fact"))
        where = Filter(current_at=EVERYTHING.current_at, kinds=frozenset({"fact"}))
        assert (await store.states(READER, where))[0] == (a_memory("fact").id,)

    async def test_states_are_those_of_what_the_reader_sees(self, store: Store) -> None:
        other = replace(SCOPE, agent="bob")
        await remember(store, a_memory("mine"), a_memory("theirs", scope=other))
        assert (await store.states(Reader(SCOPE, Reach.OWN), EVERYTHING))[0] == (a_memory("mine").id,)


def as_lists(states: States) -> list[object]:
    """The numbers alone, to be compared with ==."""
    names = [field.name for field in fields(States) if field.name not in ("exposed", "exposed_at")]
    exposures = [(kind, states.exposed[kind].tolist(), states.exposed_at[kind].tolist()) for kind in Exposure]
    return [*(getattr(states, name).tolist() for name in names), *exposures]
