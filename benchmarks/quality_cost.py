"""Cost of each part of the ranking: milliseconds per recall, and bytes stored per memory."""

from __future__ import annotations

import gc
import random
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Final

from benchmarks.quality_asked import SEED, Files
from benchmarks.quality_variants import FULL, Variant
from remembrancer import AsyncRemembrancer
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.evaluation.dataset import Conversation
from remembrancer.policies.ranking.scoring import signal_names

QUESTIONS: Final = 100
ROUNDS: Final = 5
LIMIT: Final = 10

FLAG_SIGNALS: Final = frozenset({"answer_kind", "statement"})
"""The signals that are read from a cue's flags."""

_BYTES: Final = {
    "vectors": "SELECT sum(length(vector)) FROM embeddings",
    "token embeddings": "SELECT sum(length(signs)) FROM word_vectors",
    "terms and their counts": "SELECT sum(length(terms)) FROM cues",
    # SQLite encodes 0 and 1 in the value's type byte; other values up to 127 take one more byte.
    "flags": "SELECT sum(CASE WHEN marks IN (0, 1) THEN 1 ELSE 2 END) FROM cues",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """`memories`: size of the conversation. `p50`: by variant, milliseconds of a recall of ten hits, without the
    embedding of the question. `saved`: median over questions of the milliseconds saved against the full preset.
    `noise`: the same for a second instance of the full preset. `stages`: the full preset's p50 by stage, in
    milliseconds. `searching`: p50 of the search stage, by variant.
    """

    memories: int
    questions: int
    p50: Mapping[str, float]
    saved: Mapping[str, float]
    noise: float
    stages: Mapping[str, float]
    searching: Mapping[str, float]


async def time_recalls(conversation: Conversation, variants: Sequence[Variant], files: Files) -> Cost:
    """Ask every variant the same questions, alternating between variants for each question; each time is the minimum
    over ROUNDS rounds.

    The full preset is opened twice, and `noise` is what the second instance saves. The files must already hold the
    conversation.
    """
    asked = [question for question in conversation.questions if question.answerable][:QUESTIONS]
    names = [FULL.name, *(one.name for one in variants if one.name != FULL.name), "again"]
    of_name = {one.name: one for one in (FULL, *variants)} | {"again": FULL}
    took: dict[str, list[float]] = {name: [float("inf")] * len(asked) for name in names}
    stages: dict[tuple[str, str], list[list[float]]] = defaultdict(lambda: [[] for _ in asked])
    async with AsyncExitStack() as stack:
        memories = {
            name: await stack.enter_async_context(await _open(of_name[name], conversation, files)) for name in names
        }
        count = sum((await memories[FULL.name].health.stats()).memories.values())
        gc.collect()
        gc.freeze()
        chance = random.Random(SEED)
        for _ in range(ROUNDS):
            for place, question in enumerate(asked):
                # Random order, because each variant finds the CPU caches as the one before left them.
                for name in chance.sample(names, len(names)):
                    began = perf_counter()
                    recall = await memories[name].recall(question.text, limit=LIMIT)
                    whole = (perf_counter() - began) * 1000
                    spent = {stage: time.total_seconds() * 1000 for stage, time in recall.timings.items()}
                    took[name][place] = min(took[name][place], whole - spent.pop("embed"))
                    for stage, time in spent.items():
                        stages[name, stage][place].append(time)
        gc.unfreeze()
    saved = {
        name: statistics.median(full - less for full, less in zip(took[FULL.name], took[name], strict=True))
        for name in names
    }
    medians = {key: statistics.median(map(min, times)) for key, times in stages.items() if all(times)}
    return Cost(
        memories=count,
        questions=len(asked),
        p50={name: statistics.median(times) for name, times in took.items()},
        saved=saved,
        noise=saved["again"],
        stages={stage: time for (name, stage), time in medians.items() if name == FULL.name},
        searching={name: time for (name, stage), time in medians.items() if stage == "search"},
    )


async def _open(variant: Variant, conversation: Conversation, files: Files) -> AsyncRemembrancer:
    asked_at = conversation.questions[0].asked_at
    return await AsyncRemembrancer.open(
        preset=variant.preset,
        embedder=files.embedder_of(variant),
        settings=replace(files.settings(variant), workspace=conversation.id),
        clock=lambda: asked_at,
        create=False,
    )


def bytes_each(path: Path) -> dict[str, float]:
    """Mean bytes per memory in the file, by purpose; `total` includes journal, texts and indexes."""
    connection = connect(str(path))
    try:
        memories = connection.execute("SELECT count(*) FROM memories").get
        kept = {what: connection.execute(sql).get / memories for what, sql in _BYTES.items()}
    finally:
        connection.close()
    return kept | {"total": path.stat().st_size / memories}


def bytes_saved(variant: Variant, each: Mapping[str, float]) -> float:
    """Bytes per memory that the variant would not need. The lexical index is always needed."""
    return sum(each[what] for what in _reads(FULL) - _reads(variant))


def _reads(variant: Variant) -> frozenset[str]:
    """The stored data that the variant needs."""
    ranking = variant.preset.ranking
    reads = {"vectors"} if variant.embedder else set[str]()
    if variant.embedder and ranking.late_interaction:
        reads.add("token embeddings")
    if FLAG_SIGNALS & signal_names(ranking.expression(with_vector=variant.embedder)):
        reads.add("flags")
    return frozenset(reads)
