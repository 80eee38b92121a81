"""Who speaks in what a search would look through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remembrancer.domain.event import Role
from remembrancer.domain.memory import Status
from remembrancer.domain.scope import Reach, Reader
from remembrancer.policies.admission.formation import Formation, memory_of_event
from remembrancer.ports.journal import Entry
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, MODEL, StoreSuite, awaited
from remembrancer.testing.doubles import NOW, READER, SCOPE, an_event


async def say(store: Store, actor: str | None, text: str, *, role: Role = Role.USER, agent: str = "ana") -> None:
    event = replace(an_event(text, scope=replace(SCOPE, agent=agent)), actor=actor, role=role)
    await store.append(SCOPE, [Entry(event, memory_of_event(event, Formation()))])


async def speaking(store: Store, reader: Reader = READER) -> frozenset[str]:
    return await store.participants(reader, EVERYTHING, model=MODEL)


class ParticipantsContract(StoreSuite):
    @awaited
    async def test_nobody_speaks_in_an_empty_store(self, store: Store) -> None:
        assert await speaking(store) == frozenset()

    @awaited
    async def test_each_speaker_is_named_once(self, store: Store) -> None:
        for actor, text in (("Ana", "one"), ("Ben Ito", "two"), ("Ana", "three")):
            await say(store, actor, text)
        assert await speaking(store) == {"Ana", "Ben Ito"}

    @pytest.mark.parametrize("role", [Role.TOOL, Role.SYSTEM])
    def test_what_is_not_a_person_or_an_agent_does_not_speak(self, store: Store, role: Role) -> None:
        async def try_it() -> None:
            await say(store, "deploy", "finished", role=role)
            await say(store, "Sorrel", "noted", role=Role.ASSISTANT)
            assert await speaking(store) == {"Sorrel"}

        self.runner.run(try_it())

    @awaited
    async def test_an_event_without_an_actor_names_nobody(self, store: Store) -> None:
        await say(store, None, "one")
        assert await speaking(store) == frozenset()

    @awaited
    async def test_a_speaker_out_of_reach_is_not_named(self, store: Store) -> None:
        await say(store, "Ana", "mine")
        await say(store, "Ben", "another agent's", agent="ben")
        assert await speaking(store, Reader(SCOPE, Reach.OWN)) == {"Ana"}

    @awaited
    async def test_a_speaker_whose_turns_are_all_retired_is_not_named(self, store: Store) -> None:
        await say(store, "Ana", "one")
        (memory,) = await store.memories(READER, EVERYTHING, limit=2)
        await store.set_status(READER, memory.id, Status.RETIRED, at=NOW)
        assert await speaking(store) == frozenset()
