"""A question to an answer, in six steps: plan, legs, gather, score, choose, and the answer with its reasons.

Recall reads only. What was shown is recorded afterwards, by whoever showed it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np

from remembrancer.domain import validation
from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import Cue, Memory, searchable_text
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Explanation, Fate, Hit, Part, Recall, Stage, Trace
from remembrancer.domain.scope import Reader
from remembrancer.engine.asking import embed, planned_for
from remembrancer.engine.choose import Choice, Chosen, Ranked, choose
from remembrancer.engine.context import Context
from remembrancer.engine.walk import walk
from remembrancer.policies import signals
from remembrancer.policies.diversity import Mmr
from remembrancer.policies.late_interaction import QuestionWords, closeness
from remembrancer.policies.lexical import analyse
from remembrancer.policies.planning import Plan
from remembrancer.policies.ranking import LATE_INTERACTION, Ranking
from remembrancer.policies.scoring import evaluate
from remembrancer.ports.store import SearchRequest
from remembrancer.presets.spec import MAX_LIMIT

if TYPE_CHECKING:
    from remembrancer.policies.scoring import Column

MAX_STANDING: Final = 100
"""Standing memories of one answer, the newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: `limit` from 1 to the preset's most, None: its usual one; `min_score` in [0, 1], on top of the
    preset's own floor. `ranking`: one of the preset's by name, None: its usual one. `walk_depth`: 1 also follows the
    `similar` edges of the hits, one hop; 0 does not.

    `explain`: name the question's terms that stand in each hit too, which reads every hit's text again.
    """

    text: str
    where: Filter
    limit: int | None = None
    min_score: float = 0.0
    ranking: str | None = None
    walk_depth: int = 0
    explain: bool = False

    def __post_init__(self) -> None:
        validation.text("query", self.text)
        if self.limit is not None:
            validation.whole("limit", self.limit, 1, MAX_LIMIT)
        validation.fraction("min_score", self.min_score)
        validation.whole("walk_depth", self.walk_depth, 0, 1)


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


async def recall(ctx: Context, reader: Reader, question: Question) -> Recall:
    """The memories that answer, best first; none when nothing does. Raises InvalidInput for a blank question."""
    timer = _Timer(ctx, ctx.stopwatch())
    now = ctx.clock()
    limit, ranking_asked = ctx.preset.limits.of(question.limit), ctx.preset.ranking_named(question.ranking)
    where = searched(ctx, question.where)
    planned = await planned_for(ctx, reader, question.text, where, ranking_asked)
    timer.lap("plan")
    embedded = await embed(ctx, planned, ranking_asked)
    vector, degraded = embedded.vector, dict(embedded.degraded)
    timer.lap("embed")
    request = SearchRequest(
        where=where,
        depth=ranking_asked.depth.of(limit),
        lexical=None if planned.lexical.is_empty else planned.lexical,
        vector=vector,
        model=ctx.model,
        surroundings=ranking_asked.reads_surroundings,
        speakers=planned.speakers,
        roles=planned.roles,
    )
    found = await ctx.store.search(reader, request)
    if vector is not None and found.without_vector:
        degraded["dense"] = f"index catching up: {found.without_vector} of {found.visible} memories have no vector yet"
    timer.lap("search")
    # Where nothing has a vector yet there is no meaning to compare, however well the embedder answers.
    at = where.current_at  # asked as of another time, everything is as old as it was then
    with_vector = bool(found.dense_rank.any())
    asked = signals.Asked(planned.spans, planned.kind, bool(planned.speakers or planned.roles))
    table = signals.compute(found, signals.Moment(at, ctx.preset.dynamics), asked)
    ranking = _rank(ranking_asked, found, table, question.min_score, with_vector=with_vector)
    timer.lap("score")
    words = embedded.words(planned, found) if with_vector else None
    if words is not None and ctx.model is not None:
        close = await _reread(ctx, reader, ranking, ctx.model, words, ranking_asked.reread)
        timer.lap("reread")
        if close is not None:
            ranking = _rank(ranking_asked, found, table | {LATE_INTERACTION: close}, question.min_score, reread=True)
        timer.lap("rescore")
    choice = await choose(ctx, reader, ranking, ranking_asked.diversity, limit, question.min_score)
    timer.lap("gather")
    hits = tuple(
        _hit(ranking, ranking_asked.diversity, chosen, rank, at, _held(chosen.cue, planned) if question.explain else ())
        for rank, chosen in enumerate(choice.chosen, start=1)
    )
    timer.lap("explain")
    if question.walk_depth:
        hits = await walk(ctx, reader, hits, where, limit, question.min_score)
        timer.lap("walk")
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
            }
            | ({} if found.surroundings is None else {"context": int(np.count_nonzero(found.surroundings.rank))}),
            fates=_Fates(ranking, choice),
            scores=_Scores(ranking),
        ),
        renderer=ctx.preset.renderer,
        standing=await standing(ctx, reader, where.current_at),
    )


def searched(ctx: Context, where: Filter) -> Filter:
    """Standing memories are in every answer and compete with nobody: they are left out of the search."""
    tag = ctx.preset.standing_tag
    return where if tag is None else replace(where, without_tags=where.without_tags | {tag})


async def standing(ctx: Context, reader: Reader, at: datetime) -> tuple[Memory, ...]:
    """What is in every answer, newest first."""
    tag = ctx.preset.standing_tag
    if tag is None:
        return ()
    return await ctx.store.memories(reader, Filter(current_at=at, tags=frozenset({tag})), limit=MAX_STANDING)


async def _reread(
    ctx: Context, reader: Reader, ranking: Ranked, model: str, words: QuestionWords, count: int
) -> Column | None:
    """Of each candidate how close its words come to the question's, NaN but for the best `count`; None where none of
    them has vectors of its words.
    """
    best: list[int] = ranking.order[:count].tolist()
    ids, cues = ranking.found.ids, ranking.found.cue
    read = await ctx.store.words(reader, model, {ids[index]: int(cues[index]) for index in best})
    if not read:
        return None
    nothing = np.zeros((0, -(-words.vectors.shape[1] // 8)), dtype=np.uint8)
    column = np.full(len(ids), np.nan)
    column[best] = closeness(words, [read.get(ids[index], nothing) for index in best])
    return column


def _rank(
    ranking: Ranking,
    found: Candidates,
    table: Mapping[str, Column],
    min_score: float,
    *,
    with_vector: bool = True,
    reread: bool = False,
) -> Ranked:
    expression = ranking.expression(with_vector=with_vector, reread=reread)
    scored = evaluate(expression, table, len(found.ids))
    scores = np.nan_to_num(scored.values)
    floor = ranking.floor
    relevant = scores >= 0 if floor is None else floor.passes(table["similarity"], table["coverage"])
    # Candidates come newest first, then by id: a stable sort leaves ties in that order.
    order = np.argsort(-scores, kind="stable")
    return Ranked(found, table, scored, scores, order, relevant, relevant & (scores >= min_score))


class _Fates(Mapping[UUID, Fate]):
    """What became of each candidate; worked out when first asked for, which most callers never do."""

    def __init__(self, ranking: Ranked, choice: Choice) -> None:
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
        ranked = list(map(int, ranking.order))
        last = max((rank for rank, index in enumerate(ranked, start=1) if index in returned), default=0)
        fates: dict[UUID, Fate] = {}
        for rank, index in enumerate(ranked, start=1):
            detail = ""
            if index in returned:
                stage = Stage.RETURNED
            elif index in choice.missing:
                stage = Stage.ROW_MISSING
            elif index in choice.repeated:
                stage, detail = Stage.DUPLICATE, str(ids[choice.repeated[index]])
            elif rank < last and ranking.passed[index]:
                stage = Stage.ALIKE
            else:
                stage = self._left_out(index)
            fates[ids[index]] = Fate(stage, float(ranking.scores[index]), rank, detail)
        return fates


class _Scores(Mapping[UUID, Part]):
    """The score of each candidate as a tree, made when it is asked for."""

    def __init__(self, ranking: Ranked) -> None:
        self._ranking = ranking

    def __getitem__(self, identifier: UUID) -> Part:
        return self._ranking.scored.explain(self._rows[identifier])

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._ranking.found.ids)

    def __len__(self) -> int:
        return len(self._ranking.found.ids)

    @cached_property
    def _rows(self) -> dict[UUID, int]:
        return {identifier: row for row, identifier in enumerate(self._ranking.found.ids)}


def _held(cue: Cue, planned: Plan) -> tuple[str, ...]:
    """The question's terms that stand in the cue, in their order there."""
    held = set(analyse(searchable_text(cue)).tokens)
    return tuple(term for term in planned.lexical.terms or planned.lexical.phrase if term in held)


def _hit(
    ranking: Ranked, diversity: Mmr | None, chosen: Chosen, rank: int, at: datetime, matched: tuple[str, ...]
) -> Hit:
    found, index = ranking.found, chosen.candidate
    score = ranking.scored.explain(index)
    return Hit(
        rank=rank,
        score=chosen.score,
        memory=chosen.memory,
        cue=chosen.cue,
        age=at - chosen.memory.occurred_to,
        turns=tuple(cue for cue in chosen.cues if cue.event_id is not None),
        explanation=Explanation(
            score=score if diversity is None else diversity.explain(score, chosen.score),
            signals={
                name: None if math.isnan(value := float(column[index])) else value
                for name, column in ranking.table.items()
            },
            ranks={
                leg: int(ranks[index])
                for leg, ranks in (
                    ("dense", found.dense_rank),
                    ("lexical", found.lexical_rank),
                    *([] if found.surroundings is None else [("context", found.surroundings.rank)]),
                )
                if ranks[index]
            },
            matched=matched,
        ),
    )
