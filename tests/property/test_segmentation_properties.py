"""For any turns, times of sweeps and failures, each turn is in exactly one episode, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise

from contexts import a_context
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.event import EventDraft
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.context import Context
from remembrancer.engine.record import observe
from remembrancer.engine.segment import segment
from remembrancer.errors import ModelUnavailable, StoreUnavailable
from remembrancer.policies.admission.admission import Admission
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.policies.segmentation.topic_shift import TopicShift
from remembrancer.policies.segmentation.windows import Windows
from remembrancer.ports.language_model import Task
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder
from remembrancer.testing.faults import Faults
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

STREAM = Scope(workspace="acme", session="monday")
READER = Reader(STREAM)
WORDS = "checkout memory payment worker cake apple birthday candle".split()

segmenters = st.sampled_from([
    DualChannel(fewest=2, most=7, fewest_chars=20),
    TopicShift(fewest=2, most=8),
    Windows(size=6, fewest=3, hours=0.5, otherwise=DualChannel(fewest=2, most=7, fewest_chars=20)),
])  # fmt: skip


@dataclass(frozen=True)
class Turn:
    text: str
    pause: int
    noise: bool
    swept: bool
    """Whether a sweep comes after it."""
    fails: int
    """The call of that sweep that fails; 0: none."""


turns = st.builds(
    Turn,
    text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
    pause=st.sampled_from([0, 1, 1, 1, 16, 70]),
    noise=st.sampled_from([False, False, False, True]),
    swept=st.booleans(),
    fails=st.integers(0, 12),
)


def answers(seed: int) -> ScriptedModel:
    """A model that, by its seed, cuts anywhere, fails, or gives invalid answers."""
    state = seed

    def answer(task: Task) -> Scripted:
        nonlocal state
        state = (state * 1_103_515_245 + 12_345) % 2**31
        asked = sum(line.startswith("[") for line in task.material.splitlines())
        if state % 7 == 0:
            return ModelUnavailable("no answer in time")
        if state % 7 == 1:
            return {"segments": "none"}
        told: dict[str, JsonValue] = {"title": "Some talk", "summary": "They talked."}
        if task.purpose == "tell":
            return told
        if "begins_something_new" in str(task.schema):
            return {"begins_something_new": state % 2 == 0, "about": "this and that"}
        cuts = sorted({0, asked, *(place for place in range(1, asked) if (state >> place % 20) % 3 == 0)})
        spans: list[JsonValue] = [
            told | {"first": first + 1, "last": last, "surprise": "high"} for first, last in pairwise(cuts)
        ]
        return {"segments": spans}

    return ScriptedModel(answer)


async def formed(ctx: Context) -> list[list[int]]:
    """The positions of each episode's turns, ordered by the first of them."""
    where = Filter(current_at=ctx.clock(), kinds=frozenset({"episode"}))
    found = await ctx.store.memories(READER, where, limit=1_000)
    return sorted([[event.seq for event in await ctx.store.provenance(READER, one.id)] for one in found])


async def lived(said: Sequence[Turn], ctx: Context, clock: FixedClock) -> list[list[int]]:
    """Record the turns, with sweeps in between during which a call fails, and a last sweep after the end."""
    for turn in said:
        clock.advance(timedelta(minutes=turn.pause))
        await observe(ctx, STREAM, [EventDraft(text=turn.text, type="noise" if turn.noise else "message")])
        if turn.swept:
            try:
                await segment(replace(ctx, store=Faults(turn.fails or 10_000).around(ctx.store)), STREAM)
            except StoreUnavailable:
                continue
    for _ in range(40):  # until what a model failed on has been tried often enough
        clock.advance(timedelta(days=1))
        await segment(ctx, STREAM)
    return await formed(ctx)


def a_life(
    segmenter: DualChannel | TopicShift | Windows, *, replaces: bool, seed: int | None
) -> tuple[Context, FixedClock]:
    clock = FixedClock(NOW)
    settled = Segmentation(segmenter=segmenter, replaces=replaces, least=2, idle_minutes=60)
    preset = replace(DEFAULT, admission=Admission(never=("noise",)), segmentation=settled)
    model = None if seed is None else answers(seed)
    return a_context(ReferenceStore(), preset, embedder=HashEmbedder(), llm=model, clock=clock), clock


@settings(max_examples=60)
@given(st.lists(turns, min_size=1, max_size=30), segmenters, st.booleans(), st.none() | st.integers(0, 2**31 - 1))
def test_each_turn_is_in_one_episode_and_in_its_order(
    said: list[Turn], segmenter: DualChannel | TopicShift | Windows, replaces: bool, seed: int | None
) -> None:
    ctx, clock = a_life(segmenter, replaces=replaces, seed=seed)
    episodes = asyncio.run(lived(said, ctx, clock))
    places = [place for episode in episodes for place in episode]
    assert places == [place for place, turn in enumerate(said, start=1) if not turn.noise]
    assert asyncio.run(ctx.store.tail(STREAM)) is None


@settings(max_examples=40)
@given(st.lists(turns, min_size=1, max_size=30), segmenters)
def test_failures_and_delays_change_no_episode(said: list[Turn], segmenter: DualChannel | TopicShift | Windows) -> None:
    # A silence of an hour or more ends what is open when somebody looks, so none is that long here.
    near = [replace(turn, pause=min(turn.pause, 16)) for turn in said]
    swept = asyncio.run(lived(near, *a_life(segmenter, replaces=True, seed=None)))
    at_once = asyncio.run(
        lived([replace(turn, swept=False) for turn in near], *a_life(segmenter, replaces=True, seed=None))
    )
    assert swept == at_once
