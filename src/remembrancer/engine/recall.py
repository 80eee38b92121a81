"""A question to an answer, in six steps: plan, legs, gather, score, choose, and the answer with its reasons.

Recall reads only. What was shown is recorded afterwards, by whoever showed it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer.domain import validation
from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import Cue, Memory, searchable_text
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Explanation, Fate, Hit, Recall, Stage, Trace
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.errors import ModelUnavailable
from remembrancer.policies import signals
from remembrancer.policies.diversity import same_words
from remembrancer.policies.lexical import analyse
from remembrancer.policies.planning import Plan, plan
from remembrancer.policies.scoring import Scored, evaluate
from remembrancer.ports.store import SearchRequest

if TYPE_CHECKING:
    from remembrancer.policies.scoring import Column

MAX_LIMIT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: `limit` 1 to 200; `min_score` in [0, 1], on top of the preset's own floor.

    `explain`: name the question's terms that stand in each hit too, which reads every hit's text again.
    """

    text: str
    where: Filter
    limit: int = 5
    min_score: float = 0.0
    explain: bool = False

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
    """Candidates scored: `order` their indexes, best first; `relevant` which are above the floor; `passed` which are
    also above the least score asked for.
    """

    found: Candidates
    table: Mapping[str, Column]
    scored: Scored
    scores: Column
    order: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    passed: NDArray[np.bool_]


async def recall(ctx: Context, reader: Reader, question: Question) -> Recall:
    """The memories that answer, best first; none when nothing does. Raises InvalidInput for a blank question."""
    timer = _Timer(ctx, ctx.stopwatch())
    now = ctx.clock()
    planned = plan(question.text, await _participants(ctx, reader, question))
    timer.lap("plan")
    vector, degraded = await _embed(ctx, planned)
    timer.lap("embed")
    found = await ctx.store.search(reader, _request(ctx, question, planned, vector))
    if vector is not None and found.without_vector:
        degraded["dense"] = f"index catching up: {found.without_vector} of {found.visible} memories have no vector yet"
    timer.lap("search")
    ranking = _rank(ctx, found, question, now)
    timer.lap("score")
    choice = await _choose(ctx, reader, ranking, question.limit)
    timer.lap("gather")
    hits = tuple(
        _hit(ranking, chosen, rank, now, _held(chosen.cue, planned) if question.explain else ())
        for rank, chosen in enumerate(choice.chosen, start=1)
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
            embedded=planned.embedded,
            terms=planned.lexical.terms or planned.lexical.phrase,
            legs={
                "dense": int(np.count_nonzero(found.dense_rank)),
                "lexical": int(np.count_nonzero(found.lexical_rank)),
            },
            fates=_Fates(ranking, choice),
        ),
        renderer=ctx.preset.renderer,
    )


async def _participants(ctx: Context, reader: Reader, question: Question) -> frozenset[str]:
    """Who speaks in what will be searched; nobody where only words are compared."""
    if ctx.embedder is None:
        return frozenset()
    return await ctx.store.participants(reader, question.where, model=ctx.model)


async def _embed(ctx: Context, planned: Plan) -> tuple[NDArray[np.float32] | None, dict[str, str]]:
    """The question's vector; without one, why."""
    if ctx.embedder is None:
        return None, {"dense": ctx.without_embedder}
    if not ctx.embedder.reads(planned.embedded):
        return None, {"dense": f"{ctx.model} does not read the question's script: words only"}
    try:
        return await ctx.embedder.embed_query(planned.embedded), {}
    except ModelUnavailable as error:
        return None, {"dense": f"embedder down: {error}"}


def _request(ctx: Context, question: Question, planned: Plan, vector: NDArray[np.float32] | None) -> SearchRequest:
    return SearchRequest(
        where=question.where,
        depth=max(ctx.preset.depth, question.limit),
        lexical=None if planned.lexical.is_empty else planned.lexical,
        vector=vector,
        model=ctx.model,
    )


def _rank(ctx: Context, found: Candidates, question: Question, now: datetime) -> _Ranking:
    table = signals.compute(found, signals.Moment(now, ctx.preset.recency_half_life))
    scored = evaluate(ctx.preset.score, table, len(found.ids))
    scores = np.nan_to_num(scored.values)
    floor = ctx.preset.floor
    relevant = scores >= 0 if floor is None else floor.passes(table["similarity"], table["coverage"])
    # Candidates come newest first, then by id: a stable sort leaves ties in that order.
    order = np.argsort(-scores, kind="stable")
    return _Ranking(found, table, scored, scores, order, relevant, relevant & (scores >= question.min_score))


class _Chosen(NamedTuple):
    """A candidate, by its index, with its row and its best cue."""

    candidate: int
    memory: Memory
    cue: Cue


@dataclass(slots=True)
class _Choice:
    """The candidates looked at, best first, until enough were chosen. Candidates go by their index."""

    chosen: list[_Chosen] = field(default_factory=list[_Chosen])
    missing: set[int] = field(default_factory=set[int])
    repeated: dict[int, int] = field(default_factory=dict[int, int])


async def _choose(ctx: Context, reader: Reader, ranking: _Ranking, limit: int) -> _Choice:
    """The best `limit` that pass the floor and say something new.

    Rows are read a page at a time: repeats are rare, so the first page is nearly always enough.
    """
    ids = ranking.found.ids
    choice = _Choice()
    contenders = [index for index in map(int, ranking.order) if ranking.passed[index]]
    said: dict[str, int] = {}
    for start in range(0, len(contenders), limit):
        page = contenders[start : start + limit]
        rows = await ctx.store.get(reader, [ids[index] for index in page])
        cues = await ctx.store.cues(reader, list(rows))
        for index in page:
            memory = rows.get(ids[index])
            several = cues.get(ids[index])
            if memory is None or several is None:
                choice.missing.add(index)
                continue
            # Revised since the search, it may have fewer cues than it had.
            cue = several[min(int(ranking.found.cue[index]), len(several) - 1)]
            first = said.setdefault(same_words(cue.heading, memory.title, memory.text), index)
            if first != index:
                choice.repeated[index] = first
            elif len(choice.chosen) < limit:
                choice.chosen.append(_Chosen(index, memory, cue))
        if len(choice.chosen) == limit:
            break
    return choice


class _Fates(Mapping[UUID, Fate]):
    """What became of each candidate; worked out when first asked for, which most callers never do."""

    def __init__(self, ranking: _Ranking, choice: _Choice) -> None:
        self._ranking = ranking
        self._choice = choice

    def __getitem__(self, identifier: UUID) -> Fate:
        return self._fates[identifier]

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._fates)

    def __len__(self) -> int:
        return len(self._ranking.found.ids)

    def _left_out(self, index: int) -> Stage:
        if not self._ranking.relevant[index]:
            return Stage.FLOOR
        return Stage.LIMIT if self._ranking.passed[index] else Stage.MIN_SCORE

    @cached_property
    def _fates(self) -> dict[UUID, Fate]:
        """Best first."""
        ranking, choice = self._ranking, self._choice
        ids = ranking.found.ids
        returned = {chosen.candidate for chosen in choice.chosen}
        fates: dict[UUID, Fate] = {}
        for rank, index in enumerate(map(int, ranking.order), start=1):
            detail = ""
            if index in returned:
                stage = Stage.RETURNED
            elif index in choice.missing:
                stage = Stage.ROW_MISSING
            elif index in choice.repeated:
                stage, detail = Stage.DUPLICATE, str(ids[choice.repeated[index]])
            else:
                stage = self._left_out(index)
            fates[ids[index]] = Fate(stage, float(ranking.scores[index]), rank, detail)
        return fates


def _held(cue: Cue, planned: Plan) -> tuple[str, ...]:
    """The question's terms that stand in the cue, in their order there."""
    held = set(analyse(searchable_text(cue)).tokens)
    return tuple(term for term in planned.lexical.terms or planned.lexical.phrase if term in held)


def _hit(ranking: _Ranking, chosen: _Chosen, rank: int, now: datetime, matched: tuple[str, ...]) -> Hit:
    found = ranking.found
    index, memory, cue = chosen
    return Hit(
        rank=rank,
        score=float(ranking.scores[index]),
        memory=memory,
        cue=cue,
        age=now - memory.occurred_to,
        explanation=Explanation(
            score=ranking.scored.explain(index),
            signals={
                name: None if math.isnan(value := float(column[index])) else value
                for name, column in ranking.table.items()
            },
            ranks={
                leg: int(ranks[index])
                for leg, ranks in (("dense", found.dense_rank), ("lexical", found.lexical_rank))
                if ranks[index]
            },
            matched=matched,
        ),
    )
