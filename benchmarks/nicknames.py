"""Questions about speakers by nicknames that the conversation teaches: `make bench-nicknames`.

Asked of the conversations in `nicknames/`, all in one workspace with those of `channel/` and `pairs/`, with the same
memories each time: without the tag of names; with it; and, as the best that reading names can reach, with the recorded
name in place of each nickname. Prints recall@10 and NDCG@10, the differences with 95 % bootstrap intervals over
questions, the nicknames that were not read, and the cost.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer import AsyncRemembrancer
from remembrancer.config import Settings
from remembrancer.domain.names import ALIAS, NameMatch
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Recall
from remembrancer.domain.scope import Reader
from remembrancer.engine import names
from remembrancer.evaluation import questions
from remembrancer.evaluation.dataset import DatasetQuestion, DatasetTurn
from remembrancer.evaluation.machine import machine_line
from remembrancer.evaluation.metrics import measure
from remembrancer.evaluation.statistics import bootstrap_intervals
from remembrancer.language.english.other_names import namings
from remembrancer.models import choose_embedder
from remembrancer.ports.changes import ReadView
from remembrancer.ports.embedder import Embedder

FOLDER: Final = Path(__file__).parent
NAME: Final = "nicknames"
OTHERS: Final = ("channel", "pairs")
"""Data sets whose turns are in the same workspace, so that there is something to search among."""
WAYS: Final = ("without", "learned", "recorded name")
METRICS: Final = ("recall@10", "ndcg@10")
LIMIT: Final = 10
ROUNDS: Final = 20
"""The times that each question is read to measure what that takes."""


async def opened(turns: Sequence[DatasetTurn], embedder: Embedder, *, with_names: bool) -> AsyncRemembrancer:
    """A memory of these turns, after the last."""
    ends = max(turn.occurred_at for turn in turns)
    settings = Settings(db=":memory:", workspace="nicknames", background_index=False)
    memory = await AsyncRemembrancer.open(settings=settings, embedder=embedder, clock=lambda: ends)
    await memory.observe_many(
        {
            "text": turn.text,
            "role": turn.role,
            "actor": turn.actor,
            "session": turn.session,
            "occurred_at": turn.occurred_at,
            "key": turn.id,
        }
        for turn in turns
    )
    if not with_names:
        for one in (await memory.memories(limit=1_000, tags=[ALIAS])).memories:
            await memory.update(one.id, tags=[tag for tag in one.tags if tag != ALIAS])
    await memory.jobs.index_now()
    return memory


def learned(recall: Recall) -> dict[str, str]:
    """The nicknames that were read in the question, and whose they are."""
    return {one.name: one.speaker for one in recall.trace.names if one.match is NameMatch.LEARNED}


async def keys(memory: AsyncRemembrancer) -> dict[UUID, str | None]:
    """The key of each event."""
    found: dict[UUID, str | None] = {}
    page = await memory.journal.page(limit=1_000)
    while True:
        found |= {event.id: event.key for event in page.events}
        if page.next is None:
            return found
        page = await memory.journal.page(limit=1_000, after=page.next)


async def measured(
    turns: Sequence[DatasetTurn],
    asked: Sequence[DatasetQuestion],
    embedder: Embedder,
    missed: list[str],
    took: list[float],
) -> NDArray[np.float64]:
    """The metrics of each question, each way: shape (questions, ways, metrics)."""
    rows: list[list[list[float]]] = []
    async with (
        await opened(turns, embedder, with_names=False) as without,
        await opened(turns, embedder, with_names=True) as memory,
    ):
        key_of = await keys(memory) | await keys(without)

        async def figures(rem: AsyncRemembrancer, text: str, gold: frozenset[str]) -> list[float]:
            answer = await rem.recall(text, limit=LIMIT, mark=False)
            assert "dense" not in answer.degraded
            ranked = [key_of[hit.cue.event_id] or "" for hit in answer if hit.cue.event_id is not None]
            found = measure(ranked, gold)
            return [found[name] for name in METRICS]

        for question in asked:
            gold = frozenset(question.evidence)
            answer = await memory.recall(question.text, limit=LIMIT, mark=False)
            recorded = question.text
            for nickname, speaker in learned(answer).items():
                recorded = recorded.replace(nickname, speaker)
            if recorded == question.text:
                missed.append(question.text)
            ways = ((without, question.text), (memory, question.text), (memory, recorded))
            rows.append([await figures(one, text, gold) for one, text in ways])
            took.append(await reading_took(memory, question.text))
    return np.array(rows)


async def reading_took(memory: AsyncRemembrancer, question: str) -> float:
    """The median CPU time of looking up the learned names for a question, in µs."""
    ctx, reader = memory.context, Reader(memory.scope)
    where = Filter(current_at=ctx.clock())

    def run(view: ReadView) -> list[float]:
        people = ctx.index.participants(view, reader, where, model=ctx.model)
        spent: list[float] = []
        for _ in range(ROUNDS):
            begun = time.thread_time()
            names.learned(ctx, view, reader, where, people, question)
            spent.append(time.thread_time() - begun)
        return spent

    return median(await ctx.store.read(run)) * 1e6


async def main() -> None:
    turns: list[DatasetTurn] = []
    asked: list[DatasetQuestion] = []
    for name in (NAME, *OTHERS):
        for one in questions.load(FOLDER / name / "corpus.jsonl", FOLDER / name / "questions.jsonl").conversations:
            mark = "" if name == NAME else f"{name} "  # ids are unique in a data set only
            turns += [replace(turn, id=f"{mark}{turn.id}") for turn in one.transcript.turns]
            asked += one.questions if name == NAME else ()
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    missed: list[str] = []
    took: list[float] = []
    try:
        values = await measured(turns, asked, embedder, missed, took)
        print(machine_line(embedder))
    finally:
        await embedder.close()
    print(f"{len(values)} questions, {len(missed)} of them without a nickname read")
    for place, way in enumerate(WAYS):
        means = values[:, place].mean(axis=0)
        print(f"{way:14}" + "".join(f"  {name} {mean:.3f}" for name, mean in zip(METRICS, means, strict=True)))
    differences = values[:, 1] - values[:, 0]
    intervals = bootstrap_intervals(differences, rng=np.random.default_rng(0))
    for name, mean, (low, high) in zip(METRICS, differences.mean(axis=0), intervals, strict=True):
        print(f"learned minus without, {name}: {mean:+.3f} ({low:+.3f} to {high:+.3f})")
    for question in missed:
        print(f"not read: {question}")
    texts = [turn.text for turn in turns]
    begun = time.process_time()
    for text in texts * ROUNDS:
        namings(text)
    each = (time.process_time() - begun) / len(texts) / ROUNDS * 1e6
    print(f"cost: {median(took):.0f} µs of CPU a question (median), {each:.0f} µs of CPU a recorded turn")


if __name__ == "__main__":
    asyncio.run(main())
