"""Erasing a memory with everything connected to it, over each store, and the sweeps afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, TypeVar
from uuid import UUID

import numpy as np
import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.erasure import Erasure, ErasureSelection, Removal, Removed
from remembrancer.domain.event import EventDraft
from remembrancer.domain.memory import Memory, MemoryDraft
from remembrancer.domain.query import Filter
from remembrancer.domain.spending import ModelCall, Outcome
from remembrancer.engine.context import Caller, Context
from remembrancer.engine.erase import ATTEMPTS, FILES, erase, erasures
from remembrancer.engine.forget import forget
from remembrancer.engine.record import observe, remember
from remembrancer.engine.segment import segment
from remembrancer.errors import Conflict, NotFound
from remembrancer.jobs.indexer import Indexer
from remembrancer.jobs.maintenance import maintain
from remembrancer.jobs.sweeps import Sweeper
from remembrancer.policies.admission.formation import memory_id_of
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.segmentation import EPISODE, Segmentation
from remembrancer.policies.vault.changes import VAULT
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.plastmem import PLASTMEM
from remembrancer.presets.spec import Preset
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, READER, SCOPE

T = TypeVar("T")
CALLER: Final = Caller(scope=SCOPE, role="LEAD")
TALK: Final = ("Green tea is what we drink in the shop", "The PIN of the safe is xyzzy", "And on Fridays there is cake")
SECRET: Final = 1
BESIDE: Final = replace(DEFAULT, segmentation=Segmentation(segmenter=DualChannel(), least=2))
INSTEAD: Final = replace(PLASTMEM, segmentation=Segmentation(segmenter=DualChannel(), replaces=True, least=2))
PRESETS: Final = pytest.mark.parametrize("preset", [BESIDE, INSTEAD], ids=["beside", "instead"])
ALL: Final = EventFilter(archived=True)


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def lived(
    make: Callable[[], Store],
    steps: Callable[[Context, list[UUID]], Awaitable[T]],
    *,
    preset: Preset = BESIDE,
    talk: tuple[str, ...] = TALK,
) -> T:
    """The result of the steps after a conversation became an episode; they get its entries."""

    async def run(store: Store) -> T:
        ctx = a_context(store, preset)
        drafts = [EventDraft(text=text, occurred_at=NOW - timedelta(minutes=9 - n)) for n, text in enumerate(talk)]
        said = await observe(ctx, SCOPE, drafts)
        await segment(ctx, SCOPE, ended=[SCOPE])
        return await steps(ctx, [one.event.id for one in said])

    return over(make, run)


async def erased(ctx: Context, *, dry_run: bool = False, **chosen: Any) -> Erasure:
    return await erase(ctx, CALLER, ErasureSelection(**chosen), dry_run=dry_run)


async def episodes(ctx: Context) -> tuple[Memory, ...]:
    where = Filter(current_at=ctx.clock(), kinds=frozenset({EPISODE}))
    return await ctx.store.workspace_memories(SCOPE, where, limit=9)


async def swept(ctx: Context) -> None:
    """Run every job of the preset; none may fail."""
    reports = await maintain(Sweeper(ctx, SCOPE, Indexer(ctx, SCOPE)), force=True)
    assert not [report for report in reports.values() if type(report).__name__ == "BrokenOff"]


@PRESETS
@pytest.mark.parametrize("way", ["ids", "events"])
def test_an_episode_is_rewritten_without_the_turn(make: Callable[[], Store], preset: Preset, way: str) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        ids, events = frozenset({memory_id_of(said[SECRET])}), frozenset({said[SECRET]})
        receipt = await (erased(ctx, ids=ids) if way == "ids" else erased(ctx, events=events))
        [one] = await episodes(ctx)
        assert (receipt.events, receipt.rebuilt) == ((said[SECRET],), (one.id,))
        assert "tea" in one.text
        assert "xyzzy" not in str(await exported(ctx.store))

    lived(make, steps, preset=preset)


@PRESETS
def test_the_sweeps_continue_and_form_nothing_from_erased_text(make: Callable[[], Store], preset: Preset) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        await erased(ctx, events=frozenset({said[SECRET], said[-1]}))
        drafts = [EventDraft(text=f"And more of the shop, part {n}", occurred_at=NOW) for n in range(4)]
        await observe(ctx, SCOPE, drafts)
        await segment(ctx, SCOPE, ended=[SCOPE])
        await swept(ctx)
        told = str(await exported(ctx.store))
        assert ("xyzzy" in told, "cake" in told, "part 3" in told) == (False, False, True)
        assert [one.metadata["turns"] for one in await episodes(ctx)] == [1, 4]

    lived(make, steps, preset=preset)


def test_an_episode_whose_other_turns_were_forgotten_is_erased_with_the_turn(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        for other in (said[0], said[2]):
            await forget(ctx, READER, memory_id_of(other))
        receipt = await erased(ctx, events=frozenset({said[SECRET]}))
        assert (receipt.rebuilt, len(receipt.derived)) == ((), 2)

    lived(make, steps)


def test_a_session_is_erased_as_a_whole(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        note, _ = await remember(ctx, SCOPE.narrowed(session=None), MemoryDraft(text="Of no session"))
        receipt = await erased(ctx, session=SCOPE.session)
        assert (len(receipt.memories), len(receipt.events), receipt.derived) == (4, 3, ())
        left = [(row["record"], row.get("id")) for row in await exported(ctx.store)]
        assert left == [("memory", str(note.id)), ("cue", None)]
        await observe(ctx, SCOPE, [EventDraft(text="The session begins anew")])
        await swept(ctx)

    lived(make, steps)


def test_a_time_limit_erases_only_older_rows(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        receipt = await erased(ctx, agent=SCOPE.agent, before=NOW - timedelta(minutes=7, seconds=30))
        assert set(receipt.events) == {said[0], said[1]}
        assert [event.text for event in await ctx.store.events(READER, ALL, limit=9)] == [TALK[2]]
        [one] = await episodes(ctx)
        assert one.metadata["turns"] == 1

    lived(make, steps)


def test_a_dry_run_reports_the_same_and_erases_nothing(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        before = await exported(ctx.store)
        told = await erased(ctx, dry_run=True, session=SCOPE.session)
        assert (await exported(ctx.store), await erasures(ctx, SCOPE, limit=9)) == (before, ())
        done = await erased(ctx, session=SCOPE.session)
        assert replace(told, id=done.id, purged_at=done.purged_at, dry_run=False) == done

    lived(make, steps)


def test_the_receipt_names_the_caller_and_is_stored(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        receipt = await erased(ctx, events=frozenset({said[0]}))
        assert receipt.by == f"LEAD {SCOPE.agent}"
        assert await erasures(ctx, SCOPE, limit=9) == (receipt,)

    lived(make, steps)


def test_an_unknown_id_is_not_found(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        with pytest.raises(NotFound):
            await erased(ctx, ids=frozenset({said[0]}))

    lived(make, steps)


def test_the_vectors_of_a_tail_are_forgotten(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        memories = dict.fromkeys(map(memory_id_of, said), "Good morning")
        ctx.tails.keep(SCOPE.workspace, [(*one, np.ones(2, dtype=np.float32)) for one in memories.items()])
        await erased(ctx, events=frozenset({said[0]}))
        assert set(ctx.tails.known(SCOPE.workspace, memories)) == set(memories) - {memory_id_of(said[0])}

    lived(make, steps)


def test_copies_that_erasure_cannot_reach_are_named(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        call = ModelCall(
            at=NOW,
            purpose="titles",
            model="small",
            outcome=Outcome.ANSWERED,
            requests=1,
            input_tokens=1,
            output_tokens=1,
            took=timedelta(seconds=1),
            cost=None,
        )
        await ctx.store.log_call(SCOPE, call)
        entry, _ = await remember(ctx, SCOPE, MemoryDraft(text="In a file", metadata={VAULT: "notes"}))
        receipt = await erased(ctx, ids=frozenset({entry.id}))
        assert [left.what for left in receipt.left] == [
            "exports, copies of the database, and files that were ingested",
            "files of a vault",
            "logs of model providers",
        ]

    lived(make, steps)


class _Racing:
    """A store in which another program forms memories from the rows right before their erasure, some times."""

    def __init__(self, store: Store, ctx: Context, times: int, turn: UUID) -> None:
        self._store = store
        self._ctx = ctx
        self._turn = turn
        self.left = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def erase(self, scope: Any, removal: Removal, receipt: Erasure) -> Removed:
        if self.left:
            self.left -= 1
            draft = MemoryDraft(text=f"xyzzy, formed meanwhile, {self.left}")
            await remember(self._ctx, SCOPE, draft, [self._turn])
        return await self._store.erase(scope, removal, receipt)


@pytest.mark.parametrize("times", [0, 1, ATTEMPTS - 1])
def test_memories_formed_meanwhile_are_erased_too(make: Callable[[], Store], times: int) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        racing: Any = _Racing(ctx.store, ctx, times, said[SECRET])
        await erased(replace(ctx, store=racing), events=frozenset({said[SECRET]}))
        assert "xyzzy" not in str(await exported(ctx.store))

    lived(make, steps)


def test_memories_that_are_formed_again_and_again_raise_a_conflict(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        racing: Any = _Racing(ctx.store, ctx, ATTEMPTS, said[SECRET])
        with pytest.raises(Conflict):
            await erased(replace(ctx, store=racing), events=frozenset({said[SECRET]}))

    lived(make, steps)


class _Held:
    """A store whose files cannot be purged because another program reads them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def purge(self, scope: Any, *, at: Any) -> str:
        return "another reader is using the file's log"


def test_files_that_cannot_be_rid_of_it_are_reported_until_they_are(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, said: list[UUID]) -> None:
        held: Any = _Held(ctx.store)
        receipt = await erased(replace(ctx, store=held), events=frozenset({said[0]}))
        assert (receipt.purged_at, receipt.left[-1].what) == (None, FILES)
        [kept] = await erasures(ctx, SCOPE, limit=9)
        assert (kept.purged_at, kept.left[-1].what) == (None, FILES)
        await swept(ctx)
        [kept] = await erasures(ctx, SCOPE, limit=9)
        assert (kept.purged_at, FILES in {left.what for left in kept.left}) == (ctx.clock(), False)

    lived(make, steps)
