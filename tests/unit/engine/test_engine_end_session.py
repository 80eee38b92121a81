from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

import pytest
from contexts import STORES, a_context, over, say

from remembrancer.domain.memory import Status
from remembrancer.domain.scope import Reader, Scope, Visibility
from remembrancer.domain.strength import Adjustment, Exposed, Exposure
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.context import Context
from remembrancer.engine.end_session import EndReport, end_session, reinforce_session
from remembrancer.engine.extract import extract_deferred
from remembrancer.engine.reinforce import mark
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.ports.language_model import Task
from remembrancer.ports.store import Store
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, SCOPE, FixedClock, a_memory, indexed
from remembrancer.testing.faults import Faults, every_fault
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

T = TypeVar("T")
HOUR: Final = timedelta(hours=1)
TEA, RENT = a_memory("Ana drinks green tea"), a_memory("The rent is due on Fridays")


@dataclass(frozen=True)
class Life:
    ctx: Context
    clock: FixedClock

    async def retrieved(self, *ids: UUID, session: str | None = "monday") -> None:
        self.clock.advance(HOUR)
        await mark(self.ctx, Reader(SCOPE.narrowed(session=session)), dict.fromkeys(ids), Exposure.RETRIEVED)

    async def end(self, session: str = "monday") -> EndReport:
        self.clock.advance(HOUR)
        return await end_session(self.ctx, Reader(SCOPE), session)

    async def counts(self) -> tuple[int, int]:
        found = await self.ctx.store.get(Reader(SCOPE), [TEA.id, RENT.id])
        tea, rent = (found[one.id].strength.usage.retrieved for one in (TEA, RENT))
        return tea, rent


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def life(make: Callable[[], Store], steps: Callable[[Life], Awaitable[T]]) -> T:
    async def run(store: Store) -> T:
        for memory in (TEA, RENT):
            await store.insert(SCOPE, indexed(memory))
        clock = FixedClock()
        return await steps(Life(a_context(store, TEAPARTY, clock=clock), clock))

    return over(make, run)


# ── reinforcement ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_retrieval_in_a_session_counts_once_when_the_session_ends(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> list[tuple[int, int]]:
        await one.retrieved(TEA.id)
        await one.retrieved(TEA.id, RENT.id)
        before = await one.counts()
        await one.end()
        return [before, await one.counts()]

    assert life(make, steps) == [(0, 0), (1, 1)]


def test_it_was_reinforced_last_when_the_session_ended(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> bool:
        await one.retrieved(TEA.id)
        await one.end()
        memory = (await one.ctx.store.get(Reader(SCOPE), [TEA.id]))[TEA.id]
        return memory.strength.usage.last_retrieved_at == NOW + 2 * HOUR

    assert life(make, steps)


def test_the_report_names_the_reinforced_memories(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> tuple[UUID, ...]:
        await one.retrieved(TEA.id, RENT.id)
        return (await one.end()).reinforced.reinforced

    assert life(make, steps) == tuple(sorted((TEA.id, RENT.id)))


def test_ending_a_session_twice_changes_nothing(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> tuple[str, bool]:
        await one.retrieved(TEA.id)
        await one.end()
        before = await exported(one.ctx.store)
        again = await one.end()
        return again.reinforced.reason, await exported(one.ctx.store) == before

    assert life(make, steps) == ("every memory retrieved in the session is counted already", True)


def test_a_retrieval_after_the_end_counts_when_the_session_ends_again(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> tuple[int, int]:
        await one.retrieved(TEA.id)
        await one.end()
        await one.retrieved(TEA.id, RENT.id)
        await one.end()
        return await one.counts()

    assert life(make, steps) == (1, 1)


def test_each_session_counts_for_itself(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> tuple[int, int]:
        await one.retrieved(TEA.id)
        await one.retrieved(TEA.id, session="tuesday")
        await one.end()
        await one.end("tuesday")
        return await one.counts()

    assert life(make, steps) == (2, 0)


@pytest.mark.parametrize("part", ["project", "crew", "agent"])
def test_sessions_of_one_name_and_other_owners_count_apart(make: Callable[[], Store], part: str) -> None:
    theirs = Reader(SCOPE.narrowed(**{part: "another"}))

    async def steps(one: Life) -> list[tuple[UUID, ...]]:
        await one.retrieved(TEA.id)
        one.clock.advance(HOUR)
        await mark(one.ctx, theirs, {TEA.id: None, RENT.id: None}, Exposure.RETRIEVED)
        ended = [await reinforce_session(one.ctx, reader) for reader in (Reader(SCOPE), theirs, Reader(SCOPE), theirs)]
        return [report.reinforced for report in ended]

    assert life(make, steps) == [(TEA.id,), tuple(sorted((TEA.id, RENT.id))), (), ()]


def test_a_memory_hidden_since_its_retrieval_is_neither_counted_nor_named(make: Callable[[], Store]) -> None:
    bob = replace(a_memory("Bob pays the rent", scope=SCOPE.narrowed(agent="bob")), visibility=Visibility.OWN)

    async def steps(one: Life) -> tuple[UUID, ...]:
        await one.ctx.store.insert(bob.scope, indexed(bob))
        exposed = Exposed(
            bob.id, Exposure.RETRIEVED, NOW, session="monday", project=None, crew=SCOPE.crew, agent=SCOPE.agent
        )
        await one.ctx.store.adjust(Reader(bob.scope), [], Adjustment, at=NOW, exposed=[exposed])
        await one.retrieved(TEA.id)
        return (await one.end()).reinforced.reinforced

    assert life(make, steps) == (TEA.id,)


def test_a_retrieval_outside_any_session_counts_at_once(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> tuple[int, int]:
        await one.retrieved(TEA.id, session=None)
        await one.retrieved(TEA.id, session=None)
        return await one.counts()

    assert life(make, steps) == (2, 0)


def test_being_shown_in_a_session_counts_at_once_and_reinforces_nothing(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> tuple[int, int]:
        await mark(one.ctx, Reader(SCOPE), {TEA.id: None}, Exposure.SHOWN)
        await one.end()
        usage = (await one.ctx.store.get(Reader(SCOPE), [TEA.id]))[TEA.id].strength.usage
        return usage.shown, usage.retrieved

    assert life(make, steps) == (1, 0)


def test_more_memories_than_one_account_holds_are_all_counted(
    make: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.engine.end_session.BATCH", 1)

    async def steps(one: Life) -> list[tuple[int, int]]:
        await one.retrieved(TEA.id, RENT.id)
        await one.end()
        first = await one.counts()
        await one.end()
        return [first, await one.counts()]

    assert life(make, steps) == [(1, 1), (1, 1)]


def test_the_account_of_a_session_is_archived_and_found_by_no_question(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> dict[str, int]:
        await one.retrieved(TEA.id)
        await one.end()
        return dict((await one.ctx.store.stats(Reader(SCOPE))).memories)

    assert life(make, steps) == {Status.ACTIVE: 2, Status.ARCHIVED: 1}


@pytest.mark.parametrize("name", sorted(set(PRESETS) - {"teaparty"}))
def test_other_presets_count_each_exposure_when_it_is_logged(make: Callable[[], Store], name: str) -> None:
    async def steps(one: Life) -> tuple[tuple[int, int], str]:
        other = replace(one, ctx=replace(one.ctx, preset=PRESETS[name]))
        await other.retrieved(TEA.id)
        await other.retrieved(TEA.id)
        report = await reinforce_session(other.ctx, Reader(SCOPE))
        return await other.counts(), report.reason

    assert life(make, steps) == ((2, 0), f"preset {name} counts each exposure when it is logged")


def test_wherever_the_store_fails_use_is_counted_once(make: Callable[[], Store]) -> None:
    async def attempt(faults: Faults, store: Store) -> tuple[int, int]:
        await store.insert(SCOPE, indexed(TEA))
        await store.insert(SCOPE, indexed(RENT))
        one = Life(a_context(store, TEAPARTY), FixedClock())
        await one.retrieved(TEA.id)
        with contextlib.suppress(StoreUnavailable):
            await reinforce_session(replace(one.ctx, store=faults.around(store)), Reader(SCOPE))
        await reinforce_session(one.ctx, Reader(SCOPE))
        return await one.counts()

    for faults in every_fault():
        assert over(make, partial(attempt, faults)) == (1, 0)


# ── the whole of it ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_part_reports_why_it_did_nothing(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> tuple[bool, str, str, str]:
        report = await one.end()
        return report.segmented is None, report.extracted.reason, report.reinforced.reason, report.reviewed.reason

    assert life(make, steps) == (
        True,
        "no language model is set (llm)",
        "every memory retrieved in the session is counted already",
        "preset teaparty does not review memories",
    )


def test_a_session_that_ends_teaches(make: Callable[[], Store]) -> None:
    said: dict[str, JsonValue] = {"text": "Ask first.", "type": "directive", "domain": "team", "importance": 0.5}
    answer: Scripted = {"learnings": [{**said, "turns": [1]}]}

    async def steps(one: Life) -> int:
        await say(one.ctx.store, "You should have asked me first.")
        ctx = replace(one.ctx, llm=ScriptedModel(lambda _: answer))
        return len((await end_session(ctx, Reader(SCOPE), "monday")).extracted.learned)

    assert life(make, steps) == 10


def test_learnings_missed_by_a_killed_process_are_extracted_by_the_next_sweep(make: Callable[[], Store]) -> None:
    def killed(task: Task) -> Scripted:
        raise KeyboardInterrupt(task.purpose)

    async def steps(one: Life) -> tuple[tuple[int, int], int, int]:
        await one.retrieved(TEA.id)
        await say(one.ctx.store, "You should have asked me first.")
        with contextlib.suppress(KeyboardInterrupt):
            await end_session(replace(one.ctx, llm=ScriptedModel(killed)), Reader(SCOPE), "monday")
        one.clock.advance(HOUR)
        sound = replace(one.ctx, llm=ScriptedModel(lambda _: {"learnings": []}))
        [made_up] = await extract_deferred(sound, Scope(workspace=SCOPE.workspace))
        return await one.counts(), len(made_up.scopes), len(await one.ctx.store.deferrals(SCOPE))

    assert life(make, steps) == ((1, 0), 10, 0)


def test_the_rest_of_its_stream_becomes_an_episode(make: Callable[[], Store]) -> None:
    async def steps(one: Life) -> tuple[int, int]:
        await say(one.ctx.store, "Which tea shall we buy?", "Green tea, as ever.")
        ctx = replace(one.ctx, preset=DEFAULT)
        report = await end_session(ctx, Reader(SCOPE), "monday")
        again = await end_session(ctx, Reader(SCOPE), "monday")
        assert report.segmented is not None
        assert again.segmented is not None
        return len(report.segmented.episodes), len(again.segmented.episodes)

    assert life(make, steps) == (1, 0)


@pytest.mark.parametrize("named", ["", "a\nb"])
def test_a_session_without_a_proper_name_is_refused(make: Callable[[], Store], named: str) -> None:
    async def steps(one: Life) -> EndReport:
        return await one.end(named)

    with pytest.raises(InvalidInput, match=r"^session: "):
        life(make, steps)
