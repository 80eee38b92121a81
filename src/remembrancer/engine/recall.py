"""A question to an answer, in seven steps: plan, legs, score, reread, rerank, choose, and the answer with its reasons.

Recall reads only. What was shown is recorded afterwards, by whoever showed it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain import validation
from remembrancer.domain.memory import Cue, Memory, searchable_text
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Hit, Recall, Trace
from remembrancer.domain.scope import Reader
from remembrancer.engine.asking import KEY_TERMS, Embedded, Keyed, embed, key_terms, planned_for
from remembrancer.engine.choose import choose
from remembrancer.engine.context import Context
from remembrancer.engine.explained import explanations
from remembrancer.engine.fates import Fates, Scores
from remembrancer.engine.rank import Bar, Ranked, rank
from remembrancer.engine.rerank import rerank
from remembrancer.engine.reread import reread
from remembrancer.engine.walk import walk
from remembrancer.errors import ModelUnavailable
from remembrancer.language.lexical import analyse
from remembrancer.language.reading import Reading
from remembrancer.policies.ranking import signals
from remembrancer.policies.ranking.late_interaction import QuestionWords
from remembrancer.policies.ranking.nearness import happened_in
from remembrancer.policies.ranking.ranking import LATE_INTERACTION, Ranking
from remembrancer.ports.embedder import computes
from remembrancer.ports.index import SearchRequest
from remembrancer.ports.one_thread import Beside
from remembrancer.presets.spec import MAX_LIMIT

if TYPE_CHECKING:
    from remembrancer.policies.ranking.scoring import Column

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

    def shared(self, stage: str, inner: str, took: timedelta) -> None:
        """Of what `stage` took, so much was waiting for `inner`, which may have gone on beside it."""
        whole = self.stages.pop(stage)
        self.stages[inner] = min(took, whole)
        self.stages[stage] = whole - self.stages[inner]


async def recall(ctx: Context, reader: Reader, question: Question) -> Recall:
    """The memories that answer, best first; none when nothing does. Raises InvalidInput for a blank question."""
    keyed = await key_terms(ctx, reader.scope, question.text)
    if computes(ctx.embedder) and ctx.reranker is None:
        return await ctx.store.in_one_thread(lambda beside: _recall(ctx, reader, question, keyed, beside))
    return await _recall(ctx, reader, question, keyed, None)


async def _recall(ctx: Context, reader: Reader, question: Question, keyed: Keyed, beside: Beside | None) -> Recall:
    timer = _Timer(ctx, ctx.stopwatch())
    now = ctx.clock()
    limit, ranking = ctx.preset.limits.of(question.limit), ctx.preset.ranking_named(question.ranking)
    where = searched(ctx, question.where)
    planned = await planned_for(ctx, reader, question.text, where, ranking, keyed.terms)
    timer.lap("plan")
    embedding = await _embedding(ctx, planned, ranking, beside)
    request = SearchRequest(
        where=where,
        depth=ranking.depth.of(limit),
        lexical=planned.lexical,
        model=ctx.model,
        surroundings=ranking.reads_surroundings,
        speakers=planned.speakers,
        roles=planned.roles,
        any_at=tuple((span.start, span.end) for span in planned.spans) if planned.only_when else (),
    )
    found = await ctx.store.read(lambda view: ctx.index.search(view, reader, request).candidates(embedding().vector))
    embedded = embedding()
    timer.lap("search")
    timer.shared("search", "embed", embedded.took)
    degraded = {**keyed.degraded, **embedded.degraded}
    if embedded.vector is not None and found.without_vector:
        degraded["dense"] = f"index catching up: {found.without_vector} of {found.visible} memories have no vector yet"
    # Where nothing has a vector yet there is no meaning to compare, however well the embedder answers.
    at = where.current_at  # asked as of another time, everything is as old as it was then
    with_vector = bool(found.dense_rank.any())
    asked = signals.Asked(
        planned.spans,
        planned.answer_type,
        speakers=bool(planned.speakers or planned.roles),
        by_role=bool(planned.roles),
    )
    table = signals.compute(found, signals.Moment(at, ctx.preset.dynamics), asked)
    words = embedded.words(planned, found) if with_vector else None
    close: Mapping[str, Column] | None = None
    if words is not None:
        # Which are compared, and not yet whether they answer.
        best = rank(ranking.expression(with_vector=True, reread=False), found, table, Bar())
        timer.lap("score")
        close = await _compared(ctx, reader, best, words, max(limit, ranking.reread), degraded)
        timer.lap("reread")
    compared = close is not None
    bar = Bar(
        floor=ranking.floor,
        least=ranking.least_evidence(with_vector=with_vector, reread=compared),
        then=happened_in(request.any_at, found.states.occurred_from, found.states.occurred_at)
        if request.any_at
        else None,
        no_evidence=asked.no_evidence,
        min_score=question.min_score,
    )
    expression = ranking.expression(with_vector=with_vector, reread=compared)
    ranked = rank(expression, found, {**table, **(close or {})}, bar)
    timer.lap("score" if words is None else "rescore")
    if ctx.reranker is not None and ranking.rerank:
        try:
            ranked = await rerank(ctx, reader, ctx.reranker, ranking, ranked, planned.searched, bar)
        except ModelUnavailable as error:
            degraded["rerank"] = f"reranker down: {error}"
        timer.lap("rerank")
    choice = await choose(ctx, reader, ranked, ranking.diversity, limit, question.min_score)
    timer.lap("gather")
    matched = [_held(chosen.cue, planned) if question.explain else () for chosen in choice.chosen]
    hits = tuple(
        Hit(
            rank=place,
            score=chosen.score,
            memory=chosen.memory,
            cue=chosen.cue,
            age=at - chosen.memory.occurred_to,
            turns=tuple(cue for cue in chosen.cues if cue.event_id is not None),
            explanation=explanation,
        )
        for place, (chosen, explanation) in enumerate(
            zip(choice.chosen, explanations(ranked, ranking.diversity, choice.chosen, matched), strict=True), start=1
        )
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
        timings=timer.stages if keyed.took is None else {KEY_TERMS: keyed.took, **timer.stages},
        trace=Trace(
            searched=planned.searched,
            embedded=planned.embedded,
            terms=planned.lexical.terms or planned.lexical.phrase,
            legs={
                "dense": int(np.count_nonzero(found.dense_rank)),
                "lexical": int(np.count_nonzero(found.lexical_rank)),
            }
            | ({} if found.surroundings is None else {"context": int(np.count_nonzero(found.surroundings.rank))}),
            fates=Fates(ranked, choice),
            scores=Scores(ranked),
        ),
        renderer=ctx.preset.renderer,
        standing=await standing(ctx, reader, where.current_at),
    )


async def _embedding(ctx: Context, planned: Reading, ranking: Ranking, beside: Beside | None) -> Callable[[], Embedded]:
    """What waits for the question's vectors. A second thread, where there is one, makes them while words are sought."""
    if beside is not None and ctx.embedder is not None:
        return beside(lambda: embed(ctx, planned, ranking))
    embedded = await embed(ctx, planned, ranking)
    return lambda: embedded


async def _compared(
    ctx: Context, reader: Reader, best: Ranked, words: QuestionWords, count: int, degraded: dict[str, str]
) -> Mapping[str, Column] | None:
    """As `reread` has it; None, and `degraded` says why, where they cannot be compared."""
    if ctx.model is None:
        return None
    try:
        return await reread(ctx, reader, best, ctx.model, words, count)
    except ModelUnavailable as error:
        degraded[LATE_INTERACTION] = f"words not compared: {error}"
        return None


def searched(ctx: Context, where: Filter) -> Filter:
    """The filter that a question is searched with.

    Standing memories are in every answer and compete with nobody: they are left out. So is what this preset hides
    unless a question asks for its kind.
    """
    tag = ctx.preset.standing_tag
    return shown(ctx, where if tag is None else replace(where, without_tags=where.without_tags | {tag}))


def shown(ctx: Context, where: Filter) -> Filter:
    """A filter without what this preset hides, where no kind is asked for."""
    hidden = ctx.preset.hidden_kinds
    return replace(where, without_kinds=where.without_kinds | hidden) if hidden and where.kinds is None else where


async def standing(ctx: Context, reader: Reader, at: datetime) -> tuple[Memory, ...]:
    """What is in every answer, newest first."""
    tag = ctx.preset.standing_tag
    if tag is None:
        return ()
    return await ctx.store.memories(reader, Filter(current_at=at, tags=frozenset({tag})), limit=MAX_STANDING)


def _held(cue: Cue, planned: Reading) -> tuple[str, ...]:
    """The question's terms that stand in the cue, in their order there."""
    held = set(analyse(searchable_text(cue)).tokens)
    return tuple(term for term in planned.lexical.terms or planned.lexical.phrase if term in held)
