"""Comparing presets: the hits of each for one question over the same memories, and why they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import Final
from uuid import UUID

from remembrancer.domain.memory import Memory
from remembrancer.domain.recall import CandidateOutcome, Hit, Part, Recall, Stage
from remembrancer.domain.scope import Reader
from remembrancer.engine.asked_once import asked_once
from remembrancer.engine.context import Context, answering
from remembrancer.engine.recall import Question, recall
from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.diversity import jaccard
from remembrancer.policies.ranking.leading import leading, setting_apart
from remembrancer.policies.ranking.signals import SignalGroup
from remembrancer.presets.spec import Preset
from remembrancer.values import dataclass

MAX_PRESETS: Final = 12
_NAMED: Final = 2
"""A reason names at most this many presets; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetAnswer:
    """The hits of one preset, best first. `limit`: the requested number, or the preset's maximum."""

    preset: str
    limit: int
    hits: tuple[Hit, ...]
    degraded: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankUnderPreset:
    """The result for one memory under one preset.

    `rank` and `score`: among the hits if it was `returned`, otherwise among the candidates; None if it was no
    candidate. `parts`: the score before diversification. `reason`: why it was not returned.
    """

    preset: str
    returned: bool
    rank: int | None = None
    score: float | None = None
    parts: Part | None = None
    stage: Stage | None = None
    reason: str = ""

    @property
    def leading(self) -> str | None:
        """The two groups of signals that add the most to its score, in words."""
        return None if self.parts is None else _named(leading(self.parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMemory:
    """A memory that at least one preset returned, its result under each preset, and `why` the results differ."""

    memory: Memory
    places: tuple[RankUnderPreset, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The Jaccard similarity of two presets' hits, in [0, 1]; 1 if both return nothing."""

    first: str
    second: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The hits of several presets for one question. `memories`: all memories that a preset returned, by mean rank; a
    memory not returned counts as one rank below the last.
    """

    query: str
    asked_at: datetime
    answers: tuple[PresetAnswer, ...]
    memories: tuple[ComparedMemory, ...]
    overlaps: tuple[Overlap, ...]


async def compare(ctx: Context, reader: Reader, question: Question, presets: Sequence[Preset]) -> Comparison:
    """Ask the same question under each preset, over the same memories.

    All presets use the reader's access policy and the time of the question's filter. The question is embedded once.
    Raises InvalidInput for no presets, too many, or two of the same name.
    """
    _check(presets)
    now = question.where.current_at
    ctx = await answering(ctx, reader.scope)
    once = None if ctx.embedder is None else asked_once(ctx.embedder)
    limits = [preset.limits.capped(question.limit) for preset in presets]
    recalls: list[Recall] = []
    for preset, limit in zip(presets, limits, strict=True):
        under = replace(ctx, preset=preset, embedder=once, before=None, clock=lambda: now)
        recalls.append(await recall(under, reader, replace(question, limit=limit)))
    answers = tuple(
        PresetAnswer(preset=preset.name, limit=limit, hits=answer.hits, degraded=answer.degraded)
        for preset, limit, answer in zip(presets, limits, recalls, strict=True)
    )
    memories = {hit.id: hit.memory for answer in answers for hit in answer.hits}
    places = {
        identifier: tuple(_place(identifier, *pair) for pair in zip(answers, recalls, strict=True))
        for identifier in memories
    }
    kin = {
        answer.preset: _Kin.of([several[column] for several in places.values()])
        for column, answer in enumerate(answers)
    }
    compared = [
        ComparedMemory(memory=memory, places=places[identifier], why=_why(places[identifier], kin))
        for identifier, memory in memories.items()
    ]
    compared.sort(key=lambda one: (_mean_rank(one, answers), one.memory.id))
    return Comparison(
        query=question.text, asked_at=now, answers=answers, memories=tuple(compared), overlaps=_overlaps(answers)
    )


def _check(presets: Sequence[Preset]) -> None:
    names = [preset.name for preset in presets]
    if not 1 <= len(names) <= MAX_PRESETS:
        raise InvalidInput("presets", names, f"1 to {MAX_PRESETS} presets")
    if len(set(names)) < len(names):
        raise InvalidInput("presets", names, "presets with different names")


def _place(memory_id: UUID, answer: PresetAnswer, found: Recall) -> RankUnderPreset:
    if any(pinned.id == memory_id for pinned in found.pinned):
        return RankUnderPreset(
            preset=answer.preset, returned=False, reason="pinned: in every answer, separate from the hits"
        )
    outcome = found.trace.outcomes.get(memory_id)
    if outcome is None:
        return RankUnderPreset(preset=answer.preset, returned=False, reason="no search found it")
    hit = next((hit for hit in answer.hits if hit.id == memory_id), None)
    return RankUnderPreset(
        preset=answer.preset,
        returned=hit is not None,
        rank=outcome.rank if hit is None else hit.rank,
        score=outcome.score if hit is None else hit.score,
        parts=found.trace.scores[memory_id],
        stage=outcome.stage,
        reason=_left_out(outcome) if hit is None else "",
    )


def _left_out(outcome: CandidateOutcome) -> str:
    return f"ranked {outcome.rank}" if outcome.stage is Stage.LIMIT else f"ranked {outcome.rank}, {outcome.stage}"


def _mean_rank(one: ComparedMemory, answers: Sequence[PresetAnswer]) -> float:
    ranks = [
        place.rank if place.returned and place.rank is not None else answer.limit + 1
        for place, answer in zip(one.places, answers, strict=True)
    ]
    return sum(ranks) / len(ranks)


def _overlaps(answers: Sequence[PresetAnswer]) -> tuple[Overlap, ...]:
    returned = {answer.preset: {hit.id for hit in answer.hits} for answer in answers}
    return tuple(
        Overlap(first=first, second=second, share=_agreement(returned[first], returned[second]))
        for first, second in combinations(returned, 2)
    )


def _agreement(one: set[UUID], other: set[UUID]) -> float:
    """Jaccard similarity, but 1 if both are empty."""
    return jaccard(one, other) if one or other else 1.0


@dataclass(frozen=True, slots=True)
class _Kin:
    """One preset's scores of the compared memories: of `all`, and of the `returned` ones."""

    all: Sequence[Part]
    returned: Sequence[Part]

    @classmethod
    def of(cls, places: Sequence[RankUnderPreset]) -> _Kin:
        return cls(
            [place.parts for place in places if place.parts is not None],
            [place.parts for place in places if place.parts is not None and place.returned],
        )


def _why(places: Sequence[RankUnderPreset], kin: Mapping[str, _Kin]) -> str:
    """Explain the results: why the memory ranks best under one preset, then why it was dropped or ranks worst under
    another.
    """
    returned = sorted((place for place in places if place.returned), key=lambda place: place.rank or 0)
    left_out = [place for place in places if not place.returned]
    best = [place for place in returned if place.rank == returned[0].rank]
    worst = [place for place in returned if place.rank == returned[-1].rank]
    reasons = [_rank_in_words(best, places) + _lifted(best[0], kin)]
    if left_out:
        named = [f"{place.preset} ({place.reason}{_lowered(place, kin)})" for place in left_out[:_NAMED]]
        reasons.append("not under " + _listed(named, len(left_out) - _NAMED))
    elif worst != best:
        reasons.append(_rank_in_words(worst, places) + _lowered(worst[0], kin))
    return "; ".join(reasons)


def _rank_in_words(alike: Sequence[RankUnderPreset], places: Sequence[RankUnderPreset]) -> str:
    """The presets that give a memory this rank, as words for the reason."""
    if len(alike) == len(places) > 1:
        return f"rank {alike[0].rank} everywhere"
    return f"rank {alike[0].rank} under {_listed([place.preset for place in alike[:_NAMED]], len(alike) - _NAMED)}"


def _lifted(place: RankUnderPreset, kin: Mapping[str, _Kin]) -> str:
    """The groups of signals that add more than the median of the compared memories; without any, those that add the
    most.
    """
    if place.parts is None:
        return ""
    high = setting_apart(place.parts, kin[place.preset].all, above=True)
    return f": strong in {_named(high)}" if high else f": mostly {_named(leading(place.parts))}"


def _lowered(place: RankUnderPreset, kin: Mapping[str, _Kin]) -> str:
    """The groups of signals that add less than the median of the memories that the preset returned."""
    among = kin[place.preset]
    low = () if place.parts is None else setting_apart(place.parts, among.returned or among.all, above=False)
    return f": weak in {_named(low)}" if low else ""


def _named(groups: Sequence[SignalGroup]) -> str:
    return " and ".join(groups) or "nothing"


def _listed(words: Sequence[str], more: int) -> str:
    every = [*words, f"{more} more"] if more > 0 else list(words)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}"
