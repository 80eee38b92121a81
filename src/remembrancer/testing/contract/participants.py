"""Who speaks in what a search would look through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remembrancer.domain.event import Role
from remembrancer.domain.memory import Status
from remembrancer.domain.scope import Reach, Reader
from remembrancer.policies.admission.formation import Formation, memory_of_event
from remembrancer.ports.journal import Entry
from remembrancer.testing.contract.base import EVERYTHING, MODEL
from remembrancer.testing.contract.finding import Finder, IndexSuite
from remembrancer.testing.doubles import NOW, READER, SCOPE, an_event


async def say(finder: Finder, actor: str | None, text: str, *, role: Role = Role.USER, agent: str = "ana") -> None:
    event = replace(an_event(text, scope=replace(SCOPE, agent=agent)), actor=actor, role=role)
    await finder.store.append(SCOPE, [Entry(event, memory_of_event(event, Formation()))])


async def speaking(finder: Finder, reader: Reader = READER) -> frozenset[str]:
    return await finder.participants(reader, EVERYTHING, model=MODEL)


class ParticipantsContract(IndexSuite):
    async def test_nobody_speaks_in_an_empty_store(self, finder: Finder) -> None:
        assert await speaking(finder) == frozenset()

    async def test_each_speaker_is_named_once(self, finder: Finder) -> None:
        for actor, text in (("Ana", "one"), ("Ben Ito", "two"), ("Ana", "three")):
            await say(finder, actor, text)
        assert await speaking(finder) == {"Ana", "Ben Ito"}

    @pytest.mark.parametrize("role", [Role.TOOL, Role.SYSTEM])
    async def test_what_is_not_a_person_or_an_agent_does_not_speak(self, finder: Finder, role: Role) -> None:
        await say(finder, "deploy", "finished", role=role)
        await say(finder, "Sorrel", "noted", role=Role.ASSISTANT)
        assert await speaking(finder) == {"Sorrel"}

    async def test_an_event_without_an_actor_names_nobody(self, finder: Finder) -> None:
        await say(finder, None, "one")
        assert await speaking(finder) == frozenset()

    async def test_a_speaker_out_of_reach_is_not_named(self, finder: Finder) -> None:
        await say(finder, "Ana", "mine")
        await say(finder, "Ben", "another agent's", agent="ben")
        assert await speaking(finder, Reader(SCOPE, Reach.OWN)) == {"Ana"}

    async def test_a_speaker_whose_turns_are_all_retired_is_not_named(self, finder: Finder) -> None:
        await say(finder, "Ana", "one")
        (memory,) = await finder.store.memories(READER, EVERYTHING, limit=2)
        await finder.store.set_status(READER, memory.id, Status.RETIRED, at=NOW)
        assert await speaking(finder) == frozenset()
