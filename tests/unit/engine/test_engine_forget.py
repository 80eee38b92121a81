"""No episode contains a forgotten turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeVar
from uuid import UUID

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.event import EventDraft
from remembrancer.domain.memory import Memory, MemoryDraft, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.engine.forget import forget, restore
from remembrancer.engine.recall import Question, recall
from remembrancer.engine.record import observe, remember
from remembrancer.engine.segment import segment
from remembrancer.errors import Conflict, NotFound
from remembrancer.policies.admission.formation import memory_id_of
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.segmentation import EPISODE, Segmentation
from remembrancer.policies.segmentation.windows import Windows
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.plastmem import PLASTMEM
from remembrancer.presets.spec import Preset
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, SCOPE
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

T = TypeVar("T")
READER: Final = Reader(SCOPE)
TALK: Final = ("Green tea is what we drink in the shop", "The PIN of the safe is xyzzy", "And on Fridays there is cake")
SECRET: Final = 1
BESIDE: Final = replace(DEFAULT, segmentation=Segmentation(segmenter=DualChannel(), least=2))
INSTEAD: Final = replace(PLASTMEM, segmentation=Segmentation(segmenter=DualChannel(), replaces=True, least=2))
PRESETS: Final = pytest.mark.parametrize("preset", [BESIDE, INSTEAD], ids=["beside", "instead"])
TOLD: Final[Scripted] = {
    "segments": [
        {
            "first": 1,
            "last": 3,
            "title": "The PIN of the safe",
            "summary": "The PIN is xyzzy; tea; cake.",
            "surprise": "low",
        }
    ]
}


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def lived(
    make: Callable[[], Store],
    preset: Preset,
    steps: Callable[[Context, list[UUID]], Awaitable[T]],
    *,
    talk: tuple[str, ...] = TALK,
    model: ScriptedModel | None = None,
) -> T:
    """The result of the steps after a conversation became an episode; they get the memories of its turns."""

    async def run(store: Store) -> T:
        ctx = a_context(store, preset, llm=model)
        drafts = [EventDraft(text=text, occurred_at=NOW - timedelta(minutes=9 - n)) for n, text in enumerate(talk)]
        said = await observe(ctx, SCOPE, drafts)
        await segment(ctx, SCOPE, ended=[SCOPE])
        return await steps(ctx, [memory_id_of(one.event.id) for one in said])

    return over(make, run)


async def episodes(ctx: Context) -> tuple[Memory, ...]:
    where = Filter(current_at=ctx.clock(), kinds=frozenset({EPISODE}))
    return await ctx.store.workspace_memories(SCOPE, where, limit=9)


@PRESETS
def test_an_episode_is_rewritten_without_it(make: Callable[[], Store], preset: Preset) -> None:
    async def steps(ctx: Context, turns: list[UUID]) -> tuple[str, list[str], object, int]:
        gone = await forget(ctx, READER, turns[SECRET])
        assert gone.status is Status.RETIRED
        [one] = await episodes(ctx)
        cues = (await ctx.store.cues(READER, [one.id]))[one.id]
        return f"{one.title} {one.text}", [cue.text for cue in cues], one.metadata["turns"], one.revision

    told, cues, turns, revision = lived(make, preset, steps)
    assert ("tea" in told, "xyzzy" in told) == (True, False)
    assert not any("xyzzy" in cue for cue in cues)
    assert (len(cues) - 1, turns, revision) == (2 if preset is INSTEAD else 0, 2, 2)


def test_it_is_found_no_longer(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, turns: list[UUID]) -> tuple[int, int]:
        question = Question(text="what is the PIN of the safe?", where=Filter(current_at=NOW))
        before = await recall(ctx, READER, question)
        await forget(ctx, READER, turns[SECRET])
        return len(before), sum("PIN" in hit.cue.text for hit in await recall(ctx, READER, question))

    assert lived(make, INSTEAD, steps) == (1, 0)


def test_a_summary_by_a_model_is_rewritten_in_the_words_of_the_other_turns(make: Callable[[], Store]) -> None:
    asking = replace(INSTEAD, segmentation=Segmentation(segmenter=Windows(fewest=2), replaces=True, least=2))

    async def steps(ctx: Context, turns: list[UUID]) -> tuple[bool, object, int]:
        await forget(ctx, READER, turns[SECRET])
        [one] = await episodes(ctx)
        return "xyzzy" in f"{one.title} {one.text}", one.metadata["summary_by"], len(turns)

    found = lived(make, asking, steps, model=ScriptedModel([TOLD]))
    assert found == (False, "extractive", 3)


@PRESETS
def test_an_episode_of_nothing_else_is_forgotten_with_it(make: Callable[[], Store], preset: Preset) -> None:
    async def steps(ctx: Context, turns: list[UUID]) -> tuple[int, int]:
        before = len(await episodes(ctx))
        await forget(ctx, READER, turns[0])
        return before, len(await episodes(ctx))

    assert lived(make, preset, steps, talk=TALK[SECRET : SECRET + 1]) == (1, 0)


@PRESETS
def test_forgetting_a_turn_twice_changes_nothing(make: Callable[[], Store], preset: Preset) -> None:
    async def steps(ctx: Context, turns: list[UUID]) -> bool:
        await forget(ctx, READER, turns[SECRET])
        before = await exported(ctx.store)
        await forget(ctx, READER, turns[SECRET])
        return await exported(ctx.store) == before

    assert lived(make, preset, steps)


def test_a_turn_that_is_restored_is_found_by_itself(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, turns: list[UUID]) -> tuple[Status, int]:
        await forget(ctx, READER, turns[SECRET])
        back = await restore(ctx, READER, turns[SECRET])
        found = await recall(ctx, READER, Question(text="what is the PIN of the safe?", where=Filter(current_at=NOW)))
        return back.status, sum("PIN" in hit.cue.text for hit in found)

    assert lived(make, INSTEAD, steps) == (Status.ACTIVE, 1)


def test_a_note_of_a_person_about_its_turns_is_unchanged(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, turns: list[UUID]) -> tuple[str, int]:
        events = await ctx.store.provenance(READER, turns[SECRET])
        draft = MemoryDraft(text="We spoke of the safe", kind=EPISODE)
        written, _ = await remember(ctx, SCOPE, draft, [events[0].id])
        await forget(ctx, READER, turns[SECRET])
        kept = (await ctx.store.get(READER, [written.id]))[written.id]
        return kept.text, kept.revision

    assert lived(make, BESIDE, steps) == ("We spoke of the safe", 1)


def test_an_episode_changed_meanwhile_is_rewritten_in_its_latest_state(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, turns: list[UUID]) -> int:
        await forget(replace(ctx, store=_Late(ctx.store, 1)), READER, turns[SECRET])
        return (await episodes(ctx))[0].revision

    assert lived(make, BESIDE, steps) == 2


def test_an_episode_that_keeps_changing_is_a_conflict_and_nothing_is_forgotten(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, turns: list[UUID]) -> Status:
        with pytest.raises(Conflict):
            await forget(replace(ctx, store=_Late(ctx.store, 99)), READER, turns[SECRET])
        return (await ctx.store.get(READER, [turns[SECRET]]))[turns[SECRET]].status

    assert lived(make, BESIDE, steps) is Status.ACTIVE


class _Late:
    """A store in which another writer is faster a given number of times."""

    def __init__(self, inner: Store, times: int) -> None:
        self._inner = inner
        self._times = times

    async def commit(self, *args: object, **kwargs: object) -> None:
        if self._times:
            self._times -= 1
            raise Conflict("told anew meanwhile")
        await self._inner.commit(*args, **kwargs)  # type: ignore[arg-type]  as it was called

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


def test_a_memory_that_the_reader_cannot_see_is_not_forgotten(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context, turns: list[UUID]) -> None:
        await forget(ctx, READER, UUID(int=len(turns)))

    with pytest.raises(NotFound):
        lived(make, BESIDE, steps)
