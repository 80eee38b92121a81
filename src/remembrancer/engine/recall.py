"""A question to an answer, in six steps: plan, legs, gather, score, choose, and the answer with its reasons.

Recall reads only. What was shown is recorded afterwards, by whoever showed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer.domain import validation
from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import Cue, Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Explanation, Fate, Hit, Recall, Stage, Trace
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.errors import ModelUnavailable
from remembrancer.policies import signals
from remembrancer.policies.diversity import repeats
from remembrancer.policies.lexical import analyse
from remembrancer.policies.planning import Plan, plan
from remembrancer.policies.scoring import Scored, evaluate
from remembrancer.ports.store import SearchRequest

if TYPE_CHECKING:
    from remembrancer.policies.scoring import Column

MAX_LIMIT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: `limit` 1 to 200; `min_score` in [0, 1] cuts below the preset's own floor or above it."""

    text: str
    where: Filter
    limit: int = 5
    min_score: float = 0.0

    def __post_init__(self) -> None:
        validation.text("query", self.text)
        validation.whole("limit", self.limit, 1, MAX_LIMIT)
        validation.fraction("min_score", self.min_score)


@dataclass(slots=True)
class _Timer:
    """How long each stage took, by name."""

    ctx: Context
    last: float
    stages: dict[str, timedelta] = field(default_factory=dict[str, timedelta])

    def lap(self, stage: str) -> None:
        now = self.ctx.stopwatch()
        self.stages[stage] = timedelta(seconds=now - self.last)
        self.last = now


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Candidates scored: `order` their indexes, best first; `passed` which are above the floor."""

    found: Candidates
    table: Mapping[str, Column]
    scored: Scored
    scores: Column
    order: NDArray[np.int64]
    passed: NDArray[np.bool_]


async def recall(ctx: Context, reader: Reader, question: Question) -> Recall:
    """The memories that answer, best first; none when nothing does. Raises InvalidInput for a blank question."""
    timer = _Timer(ctx, ctx.stopwatch())
    now = ctx.clock()
    planned = plan(question.text)
    timer.lap("plan")
    vector, degraded = await _embed(ctx, planned)
    timer.lap("embed")
    found = await ctx.store.search(reader, _request(ctx, question, planned, vector))
    if found.without_vector:
        degraded["dense"] = f"index catching up: {found.without_vector} of {found.visible} memories have no vector yet"
    timer.lap("search")
    ranking = _rank(ctx, found, question, now)
    timer.lap("score")
    chosen, fates, cues = await _choose(ctx, reader, ranking, question.limit)
    timer.lap("gather")
    hits = tuple(
        _hit(ranking, index, rank, memory, cues[memory.id], planned, now)
        for rank, (index, memory) in enumerate(chosen, start=1)
    )
    timer.lap("explain")
    return Recall(
        query=question.text,
        asked_at=now,
        hits=hits,
        degraded=degraded,
        timings=timer.stages,
        trace=Trace(
            searched=planned.searched,
            terms=planned.lexical.terms or planned.lexical.phrase,
            legs={
                "dense": int(np.count_nonzero(found.dense_rank)),
                "lexical": int(np.count_nonzero(found.lexical_rank)),
            },
            fates=fates,
        ),
        renderer=ctx.preset.renderer,
    )


async def _embed(ctx: Context, planned: Plan) -> tuple[NDArray[np.float32] | None, dict[str, str]]:
    """The question's vector; without one, why."""
    if ctx.embedder is None:
        return None, {"dense": ctx.without_embedder}
    try:
        return await ctx.embedder.embed_query(planned.searched), {}
    except ModelUnavailable as error:
        return None, {"dense": f"embedder down: {error}"}


def _request(ctx: Context, question: Question, planned: Plan, vector: NDArray[np.float32] | None) -> SearchRequest:
    return SearchRequest(
        where=question.where,
        depth=max(ctx.preset.depth, question.limit),
        lexical=None if planned.lexical.is_empty else planned.lexical,
        vector=vector,
        model=None if vector is None else ctx.model,
    )


def _rank(ctx: Context, found: Candidates, question: Question, now: datetime) -> _Ranking:
    table = signals.compute(found, signals.Moment(now, ctx.preset.recency_half_life))
    scored = evaluate(ctx.preset.score, table, len(found.ids))
    scores = np.nan_to_num(scored.values)
    passed = scores >= question.min_score
    if ctx.preset.floor is not None:
        passed &= ctx.preset.floor.passes(table["similarity"], table["coverage"])
    # Candidates come newest first, then by id: a stable sort leaves ties in that order.
    order = np.argsort(-scores, kind="stable")
    return _Ranking(found, table, scored, scores, order, passed)


async def _choose(
    ctx: Context, reader: Reader, ranking: _Ranking, limit: int
) -> tuple[list[tuple[int, Memory]], dict[UUID, Fate], Mapping[UUID, tuple[Cue, ...]]]:
    """The best `limit` that pass the floor and say something new, in order, with what became of all the others."""
    ids, scores = ranking.found.ids, ranking.scores
    fates: dict[UUID, Fate] = {}
    chosen: list[tuple[int, Memory]] = []
    rows: dict[UUID, Memory] = {}
    ranked = [int(index) for index in ranking.order]
    contenders = [index for index in ranked if ranking.passed[index]]
    places = {index: rank for rank, index in enumerate(ranked, start=1)}
    # Rows are read a page at a time: repeats are rare, so the first page is nearly always enough.
    page = limit + 10
    for start in range(0, len(contenders), page):
        indexes = contenders[start : start + page]
        rows.update(await ctx.store.get(reader, [ids[index] for index in indexes]))
        _take(chosen, fates, ranking, [index for index in contenders[: start + page]], rows, limit, places)
        if len(chosen) == limit:
            break
    for index in ranked:
        if ids[index] not in fates:
            stage = Stage.LIMIT if ranking.passed[index] else Stage.FLOOR
            fates[ids[index]] = Fate(stage, float(scores[index]), places[index])
    return chosen, fates, await ctx.store.cues(reader, [memory.id for _, memory in chosen])


def _take(
    chosen: list[tuple[int, Memory]],
    fates: dict[UUID, Fate],
    ranking: _Ranking,
    indexes: Sequence[int],
    rows: Mapping[UUID, Memory],
    limit: int,
    places: Mapping[int, int],
) -> None:
    """Choose anew among the rows read so far."""
    chosen.clear()
    fates.clear()
    ids = ranking.found.ids
    present = [index for index in indexes if ids[index] in rows]
    for index in set(indexes) - set(present):
        fates[ids[index]] = Fate(Stage.ROW_MISSING, float(ranking.scores[index]), places[index])
    repeated = repeats([rows[ids[index]].text for index in present])
    for position, index in enumerate(present):
        score, rank = float(ranking.scores[index]), places[index]
        if position in repeated:
            fates[ids[index]] = Fate(Stage.DUPLICATE, score, rank, str(ids[present[repeated[position]]]))
        elif len(chosen) < limit:
            chosen.append((index, rows[ids[index]]))
            fates[ids[index]] = Fate(Stage.RETURNED, score, rank)


def _hit(
    ranking: _Ranking, index: int, rank: int, memory: Memory, cues: tuple[Cue, ...], planned: Plan, now: datetime
) -> Hit:
    found = ranking.found
    cue = cues[int(found.cue[index])]
    held = set(analyse(f"{cue.heading} {cue.text}").tokens)
    return Hit(
        rank=rank,
        score=float(ranking.scores[index]),
        memory=memory,
        cue=cue,
        age=now - memory.occurred_to,
        explanation=Explanation(
            score=ranking.scored.explain(index),
            signals={
                name: None if np.isnan(column[index]) else float(column[index])
                for name, column in ranking.table.items()
            },
            ranks={
                leg: int(ranks[index])
                for leg, ranks in (("dense", found.dense_rank), ("lexical", found.lexical_rank))
                if ranks[index]
            },
            matched=tuple(term for term in planned.lexical.terms or planned.lexical.phrase if term in held),
        ),
    )
