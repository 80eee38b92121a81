"""One question under several presets: what each returns of the same memories, and why they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.domain.memory import Memory
from remembrancer.domain.recall import Hit, Part, Recall, Stage
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.engine.recall import Question, recall
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.policies.leading import Leading, leading
from remembrancer.ports.embedder import Embedded, Embedder
from remembrancer.presets.spec import Preset

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_PRESETS: Final = 12
_NAMED: Final = 2
"""Presets of a kind that a line of reasons names; of the others it says how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one preset returned, best first, at most `limit`: what was asked for, or the most this preset allows."""

    preset: str
    limit: int
    hits: tuple[Hit, ...]
    degraded: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What became of one memory under one preset.

    `rank`: among the hits where it is `returned`, else among the candidates; None where it was none. `score` and `parts`
    are those of its relevance, before likeness to others took from it. `reason`: why it is not returned, in words.
    """

    preset: str
    returned: bool
    rank: int | None = None
    score: float | None = None
    parts: Part | None = None
    stage: Stage | None = None
    reason: str = ""

    @property
    def leading(self) -> Leading | None:
        """The two parts of its score that weigh most."""
        return None if self.parts is None else leading(self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A memory that at least one preset returned: its place under each, in their order, and `why` they differ."""

    memory: Memory
    places: tuple[Place, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Two presets, and the share of what either returns that both return: in [0, 1], 1 where both return nothing."""

    first: str
    second: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`memories`: all that any preset returned, the best by mean rank first; one that is not returned counts as just
    below the last.
    """

    query: str
    asked_at: datetime
    answers: tuple[Answer, ...]
    memories: tuple[Compared, ...]
    overlaps: tuple[Overlap, ...]


async def compare(ctx: Context, reader: Reader, question: Question, presets: Sequence[Preset]) -> Comparison:
    """Ask the same question under each preset, over the same memories, as they are: only the ranking differs.

    The reader's sight is the same for all: it is what it sees that is ranked, whatever a preset would let others see.
    The question is embedded once. Raises InvalidInput for a blank question, or presets that cannot be told apart.
    """
    _check(presets)
    now = ctx.clock()
    once = None if ctx.embedder is None else _AskedOnce(ctx.embedder)
    recalls: list[Recall] = []
    for preset in presets:
        limit = min(question.limit or preset.limits.usual, preset.limits.most)
        under = replace(ctx, preset=preset, embedder=once, clock=lambda: now)
        recalls.append(await recall(under, reader, replace(question, limit=limit)))
    answers = tuple(
        Answer(
            preset=preset.name,
            limit=min(question.limit or preset.limits.usual, preset.limits.most),
            hits=answer.hits,
            degraded=answer.degraded,
        )
        for preset, answer in zip(presets, recalls, strict=True)
    )
    memories = {hit.id: hit.memory for answer in answers for hit in answer.hits}
    compared = [_compared(memory, answers, recalls) for memory in memories.values()]
    compared.sort(key=lambda one: (_mean_rank(one, answers), one.memory.id))
    return Comparison(
        query=question.text, asked_at=now, answers=answers, memories=tuple(compared), overlaps=_overlaps(answers)
    )


def _check(presets: Sequence[Preset]) -> None:
    names = [preset.name for preset in presets]
    if not 1 <= len(names) <= MAX_PRESETS:
        raise InvalidInput("presets", names, f"1 to {MAX_PRESETS} presets")
    if len(set(names)) < len(names):
        raise InvalidInput("presets", names, "presets of different names")


def _compared(memory: Memory, answers: Sequence[Answer], recalls: Sequence[Recall]) -> Compared:
    places = tuple(_place(memory, *pair) for pair in zip(answers, recalls, strict=True))
    return Compared(memory=memory, places=places, why=_why(places))


def _place(memory: Memory, answer: Answer, found: Recall) -> Place:
    if any(standing.id == memory.id for standing in found.standing):
        return Place(preset=answer.preset, returned=False, reason="stands in every answer, apart from the hits")
    fate = found.trace.fates.get(memory.id)
    if fate is None:
        return Place(preset=answer.preset, returned=False, reason="no search brought it")
    returned = fate.stage is Stage.RETURNED
    rank = next((hit.rank for hit in answer.hits if hit.id == memory.id), fate.rank)
    return Place(
        preset=answer.preset,
        returned=returned,
        rank=rank,
        score=fate.score,
        parts=found.trace.scores[memory.id],
        stage=fate.stage,
        reason="" if returned else f"ranked {rank}, {fate.stage}",
    )


def _mean_rank(one: Compared, answers: Sequence[Answer]) -> float:
    ranks = [
        place.rank if place.returned and place.rank is not None else answer.limit + 1
        for place, answer in zip(one.places, answers, strict=True)
    ]
    return sum(ranks) / len(ranks)


def _overlaps(answers: Sequence[Answer]) -> tuple[Overlap, ...]:
    returned = {answer.preset: {hit.id for hit in answer.hits} for answer in answers}
    return tuple(
        Overlap(first=first, second=second, share=_shared(returned[first], returned[second]))
        for first, second in combinations(returned, 2)
    )


def _shared(one: set[UUID], other: set[UUID]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _why(places: Sequence[Place]) -> str:
    """The best place with what makes it, then what leaves the memory out elsewhere, or else its worst place."""
    returned = sorted((place for place in places if place.returned), key=lambda place: place.rank or 0)
    best, worst = returned[0], returned[-1]
    left_out = [place for place in places if not place.returned]
    if len(places) > 1 and best.rank == worst.rank and not left_out:
        return f"rank {best.rank} everywhere: {best.leading}"
    told = [_told([place for place in returned if place.rank == best.rank])]
    if left_out:
        named = [f"{place.preset} ({_reason(place)})" for place in left_out[:_NAMED]]
        told.append("not under " + _listed(named, len(left_out) - _NAMED))
    elif worst.rank != best.rank:
        told.append(_told([place for place in returned if place.rank == worst.rank]))
    return "; ".join(told)


def _told(places: Sequence[Place]) -> str:
    """Presets that give a memory the same rank, and by what the first of them does."""
    names = _listed([place.preset for place in places[:_NAMED]], len(places) - _NAMED)
    return f"rank {places[0].rank} under {names}: {places[0].leading}"


def _reason(place: Place) -> str:
    made_of = "" if place.leading is None else str(place.leading)
    return f"{place.reason}: {made_of}" if made_of else place.reason


def _listed(words: Sequence[str], more: int) -> str:
    every = [*words, f"{more} more"] if more > 0 else list(words)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}"


@dataclass(slots=True)
class _AskedOnce:
    """An embedder that is asked for each question once, whether it answers or not."""

    inner: Embedder
    known: dict[str, NDArray[np.float32] | ModelUnavailable] = field(
        default_factory=dict["str", "NDArray[np.float32] | ModelUnavailable"]
    )

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    @property
    def dim(self) -> int | None:
        return self.inner.dim

    def reads(self, text: str) -> bool:
        return self.inner.reads(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        return await self.inner.embed_documents(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        if text not in self.known:
            try:
                self.known[text] = await self.inner.embed_query(text)
            except ModelUnavailable as error:
                self.known[text] = error
        answer = self.known[text]
        if isinstance(answer, ModelUnavailable):
            raise answer
        return answer

    async def close(self) -> None:
        """The inner one is its owner's to close."""
