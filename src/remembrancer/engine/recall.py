"""Recall: gather candidates, rank them, and return the best as hits with explanations.

Recall only reads. The caller that shows the hits records that they were shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.domain.age import Age
from remembrancer.domain.memory import FLAGGED, Memory, turns_of
from remembrancer.domain.query import Filter, QuestionKind
from remembrancer.domain.recall import (
    LOWERED,
    MAX_HELD_BACK,
    OFF,
    FlaggedRecall,
    Floor,
    Hit,
    Recall,
    RecallMode,
    Trace,
)
from remembrancer.engine.asking import (
    KEY_TERMS,
    Keyed,
    QuestionVectors,
    embed,
    embed_now,
    key_terms,
    planned_for,
    planned_message,
)
from remembrancer.engine.choose import Ranked, choose, ranked_by
from remembrancer.engine.explained import CandidateOutcomes, Scores, explanations, held_back
from remembrancer.errors import ModelUnavailable
from remembrancer.language.reading import part_that_asks
from remembrancer.policies.ranking import signals
from remembrancer.policies.ranking.nearness import happened_in
from remembrancer.policies.ranking.ranking import LATE_INTERACTION, MAX_PINNED, PREFERENCE, Ranking
from remembrancer.policies.ranking.relevance import Acceptance
from remembrancer.ports.embedder import calibration, computing
from remembrancer.ports.index import SearchRequest
from remembrancer.values import dataclass, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.domain.candidates import Candidates
    from remembrancer.domain.scope import Reader
    from remembrancer.engine.context import Context
    from remembrancer.engine.journal_leg import UnformedEntry
    from remembrancer.language.reading import Reading
    from remembrancer.policies.ranking.scoring import FloatColumn
    from remembrancer.ports.changes import ReadView


BESIDE_FROM: Final = 16_384
"""In a workspace with more changes than this, the question is embedded in another thread while its words are looked up.
In a smaller one, that takes less time than handing the work over.
"""


FLOOR: Final = "floor"
"""The key of `Recall.degraded` for a `floor` that could not be applied."""
NO_PROBABILITY: Final = (
    "the scores of this question have no calibrated probability, so the preset's relevance threshold applies"
)


def searched(ctx: Context, where: Filter) -> Filter:
    """The filter of a question's search.

    Pinned memories are left out, because they are in every answer anyway. So are flagged memories that the preset holds
    back, unless the filter names their tag, and the kinds that it hides, unless the filter names kinds.
    """
    without = where.without_tags | (ctx.preset.hidden_tags - where.tags)
    if ctx.preset.pinned_tag is not None:
        without |= {ctx.preset.pinned_tag}
    return replace(where, without_tags=without, without_kinds=_hidden(ctx, where))


def shown(ctx: Context, where: Filter) -> Filter:
    """The filter without the kinds that the preset hides, unless it names kinds."""
    return replace(where, without_kinds=_hidden(ctx, where))


def _hidden(ctx: Context, where: Filter) -> frozenset[str]:
    return where.without_kinds | ctx.preset.hidden_kinds if where.kinds is None else where.without_kinds


def flagged_held_back(view: ReadView, reader: Reader, where: Filter, found: Candidates) -> int:
    """The number of flagged memories that the filter of the search leaves out, up to `MAX_HELD_BACK`."""
    if FLAGGED not in where.without_tags or found.has_left_out_tags is False:
        return 0
    if not view.state(reader.scope).change:  # nothing was written: a first start loads less
        return 0
    left_out = replace(where, tags=where.tags | {FLAGGED}, without_tags=where.without_tags - {FLAGGED})
    return len(view.memories(reader, left_out, limit=MAX_HELD_BACK))


def pinned(
    ctx: Context, view: ReadView, reader: Reader, at: datetime, found: Candidates | None = None
) -> tuple[Memory, ...]:
    """The memories that are in every answer, newest first. `found`: the candidates of a search that left them out."""
    tag = ctx.preset.pinned_tag
    if tag is None or not view.state(reader.scope).change:  # nothing was written: a first start loads less
        return ()
    if found is not None and found.has_left_out_tags is False:
        return ()
    where = Filter(current_at=at, tags=frozenset({tag}), without_tags=ctx.preset.hidden_tags)
    return view.memories(reader, where, limit=MAX_PINNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, or a message in the mode `message`. `limit`: from 1 to the preset's maximum; None: its default.
    `min_score`, in [0, 1], applies on top of the preset's relevance threshold; `floor`, a least probability, if given,
    applies in its place. `ranking`: one of the preset's by name; None: its default. `walk_depth` 1: also follow the
    `similar` relations of the hits, 0: do not; None: as set for the agent that asks.

    `explain`: also give the matched words and the reason of each hit, which analyses its text again.
    """

    text: str
    where: Filter
    mode: RecallMode = RecallMode.QUESTION
    limit: int | None = None
    min_score: float = 0.0
    floor: Floor | None = None
    ranking: str | None = None
    walk_depth: int | None = None
    explain: bool = False

    def __post_init__(self) -> None:
        validation.text("query", self.text)
        validation.fraction("min_score", self.min_score)
        if self.floor is not None:
            validation.fraction_or("floor", self.floor, OFF)
        if self.walk_depth is not None:
            validation.whole("walk_depth", self.walk_depth, 0, 1)

    @property
    def least_probability(self) -> float:
        """The least probability of a hit."""
        return 0.0 if self.floor is None or self.floor == OFF else self.floor


@dataclass(slots=True)
class _Timer:
    """The duration of each stage, by name."""

    stopwatch: Callable[[], float]
    last: float
    stages: dict[str, timedelta] = field(default_factory=dict[str, timedelta])

    def lap(self, stage: str) -> None:
        now = self.stopwatch()
        self.stages[stage] = timedelta(seconds=now - self.last)
        self.last = now

    def shared(self, stage: str, inner: str, took: timedelta) -> None:
        """Split the duration of a stage: `inner`, which ran concurrently and took `took`, gets its part of it."""
        whole = self.stages.pop(stage)
        self.stages[inner] = min(took, whole)
        self.stages[stage] = whole - self.stages[inner]


@dataclass(frozen=True, slots=True)
class _Recalling:
    """The shared state of the steps of one recall. `where`: the filter of the search. The steps add to `degraded` and
    `timer`.
    """

    ctx: Context
    reader: Reader
    question: Question
    keyed: Keyed
    asked_at: datetime
    where: Filter
    limit: int
    ranking: Ranking
    timer: _Timer
    degraded: dict[str, str]

    @classmethod
    def of(cls, ctx: Context, reader: Reader, question: Question, keyed: Keyed, limit: int) -> _Recalling:
        return cls(
            ctx,
            reader,
            question,
            keyed,
            asked_at=ctx.clock(),
            where=searched(ctx, question.where),
            limit=limit,
            ranking=ctx.preset.ranking_of(question.mode, question.ranking),
            timer=_Timer(ctx.stopwatch, ctx.stopwatch()),
            degraded=dict(keyed.degraded),
        )

    @property
    def at(self) -> datetime:
        return self.where.current_at

    def answering(self, view: ReadView) -> _Recalling:
        """The same with the context whose embedder answers in this snapshot, so that an answer is of one model."""
        if self.ctx.before is None:
            return self
        return replace(self, ctx=self.ctx.answering(view.state(self.reader.scope)))

    def planned(self, view: ReadView) -> tuple[_Recalling, Reading]:
        """Parse the question into a plan of the search. Its kind sets the limit if none is given.

        A statement is ranked as a message, because a statement asks for nothing: signals and threshold for questions
        would mostly answer it with nothing.
        """
        self.timer.last = self.ctx.stopwatch()  # without the time spent waiting for a thread
        question = self.question
        if question.mode is RecallMode.MESSAGE:
            planned = planned_message(self.ctx, view, self.reader, question.text, self.where)
        else:
            planned = planned_for(
                self.ctx, view, self.reader, question.text, self.where, self.ranking, self.keyed.terms
            )
        ranking, messages = self.ranking, self.ctx.preset.messages
        if planned.kind is QuestionKind.STATEMENT and messages is not None and question.ranking is None:
            said = part_that_asks(question.text)
            message = planned_message(self.ctx, view, self.reader, said, self.where)
            planned = replace(message, kind=QuestionKind.STATEMENT, small_talk=False)
            ranking = messages.ranking
        self.timer.lap("plan")
        limit = self.ctx.preset.limit_of(question.mode, question.limit, planned.kind)
        if limit == self.limit and ranking is self.ranking:
            return self, planned
        return replace(self, limit=limit, ranking=ranking), planned


@dataclass(frozen=True, slots=True)
class Gathered:
    """Candidates before scoring. `table`: their signals, without those of late interaction. `entries`: the candidates
    that are journal entries without a memory.
    """

    planned: Reading
    embedded: QuestionVectors
    found: Candidates
    table: signals.ComputedSignals
    asked: signals.QuestionFeatures
    any_at: tuple[tuple[datetime, datetime], ...]
    entries: Mapping[UUID, UnformedEntry]


async def recall(ctx: Context, reader: Reader, question: Question) -> Recall:
    """The memories that answer a question, best first; empty if none does. Raises InvalidInput for a blank question."""
    limit = ctx.preset.limit_of(question.mode, question.limit)  # before a model is asked for key terms
    keyed = await key_terms(ctx, reader.scope, question.text)
    begun = _Recalling.of(ctx, reader, question, keyed, limit)
    reranker = ctx.reranker if begun.ranking.rerank else None

    def at_once(view: ReadView) -> Recall | None:
        recalling = begun.answering(view)
        ctx = recalling.ctx
        if not _computes(ctx):
            return None
        recalling, planned = recalling.planned(view)
        embedding = partial(embed_now, ctx, planned, recalling.ranking)
        beside = ctx.embedder is not None and view.state(reader.scope).change > BESIDE_FROM
        gathered = gather(recalling, view, planned, ctx.executor.begin(embedding) if beside else embedding)
        return present(recalling, view, gathered, rank(recalling, view, gathered))

    def first(view: ReadView) -> tuple[_Recalling, Reading]:
        return begun.answering(view).planned(view)

    def best(view: ReadView) -> tuple[Gathered, Ranked]:
        gathered = gather(recalling, view, planned, lambda: embedded)
        return gathered, rank(recalling, view, gathered)

    if (
        reranker is None
        and (_computes(ctx) or (ctx.before is not None and _computes(ctx.before)))
        and (answer := await ctx.read(question.where, at_once)) is not None
    ):
        return answer
    # Nothing is awaited inside a read.
    recalling, planned = await ctx.read(question.where, first)
    embedded = await embed(recalling.ctx, planned, recalling.ranking)
    gathered, ranked = await ctx.read(question.where, best)
    if reranker is not None and recalling.ranking.rerank:
        try:
            ranked = await engine.rerank.rerank(
                ctx, reader, question.where, reranker, recalling.ranking, ranked, planned.searched
            )
        except ModelUnavailable as error:
            recalling.degraded["rerank"] = f"the reranker does not answer: {error}"
        recalling.timer.lap("rerank")
    return await ctx.read(question.where, lambda view: present(recalling, view, gathered, ranked))


def _computes(ctx: Context) -> bool:
    """Whether a question can be embedded within a read."""
    return ctx.embedder is None or computing(ctx.embedder) is not None


def gather(
    recalling: _Recalling, view: ReadView, planned: Reading, embedding: Callable[[], QuestionVectors]
) -> Gathered:
    """Search for candidates and compute their signals. `embedding` returns the question's vectors, waiting if
    necessary.
    """
    ctx, ranking, timer = recalling.ctx, recalling.ranking, recalling.timer
    any_at = tuple((span.start, span.end) for span in planned.spans) if planned.only_when else ()
    request = SearchRequest(
        where=recalling.where,
        depth=ranking.depth.of(recalling.limit),
        lexical=planned.lexical,
        model=ctx.model,
        context_features=ranking.reads_context,
        speakers=planned.speakers,
        roles=planned.roles,
        any_at=any_at,
        preferences=ranking.reads_preferences and planned.kind is QuestionKind.REQUEST,
    )
    search = ctx.index.search(view, recalling.reader, request)
    embedded = embedding()
    found = search.candidates(embedded.vector)
    if (scale := calibration(ctx.embedder)) is not None:
        found = replace(found, similarity=scale.similarities(found.similarity))
    timer.lap("search")
    timer.shared("search", "embed", embedded.took)
    recalling.degraded.update({**embedded.degraded, **found.degraded})
    if embedded.vector is not None and found.without_vector:
        recalling.degraded["dense"] = (
            f"index catching up: {found.without_vector} of {found.visible} memories have no vector yet"
        ) + engine.spaces.of_another_model(ctx, view.state(recalling.reader.scope))
    entries: Mapping[UUID, UnformedEntry] = {}
    if ranking.journal and request.lexical is not None:
        found, entries = engine.journal_leg.with_journal(ctx, view, recalling.reader, request, request.lexical, found)
    asked = signals.QuestionFeatures(
        planned.spans,
        planned.answer_type,
        listed=planned.kind is QuestionKind.LIST,
        speakers=bool(planned.speakers or planned.roles),
        by_role=bool(planned.roles),
        request=request.preferences,
    )
    # Ages are counted to the time of the question, also if that is in the past.
    table = signals.compute(found, signals.EvaluationTime(recalling.at, ctx.preset.dynamics), asked)
    return Gathered(planned, embedded, found, table, asked, any_at, entries)


def rank(recalling: _Recalling, view: ReadView, gathered: Gathered) -> Ranked:
    """Score the candidates; if there are token embeddings, score the best ones again with late interaction."""
    ranking, found = recalling.ranking, gathered.found
    # If no memory has a vector yet, there is nothing to compare, even if the embedder answers.
    with_vector = bool(found.dense_rank.any())
    tokens = gathered.embedded.tokens(gathered.planned, found) if with_vector else None
    close: Mapping[str, FloatColumn] | None = None
    if tokens is not None and recalling.ctx.model is not None:
        first = ranked_by(
            ranking.expression(with_vector=True, compared=False, request=gathered.asked.request),
            found,
            gathered.table,
            Acceptance(),
        )
        recalling.timer.lap("score")
        count = max(recalling.limit, ranking.late_interaction)
        try:
            close = engine.rerank.late_interaction(
                recalling.ctx, view, recalling.reader, first, recalling.ctx.model, tokens, count
            )
        except ModelUnavailable as error:
            recalling.degraded[LATE_INTERACTION] = f"no late-interaction reranking: {error}"
        recalling.timer.lap("late_interaction")
    compared = close is not None
    calibrated = ranking.calibrated(recalling.ctx.model, with_vector=with_vector, compared=compared)
    if ranking.rerank and recalling.ctx.reranker is not None:
        calibrated = None  # a reranker's scores mean something else
    floor = recalling.question.floor
    if calibrated is None and recalling.question.least_probability:
        floor = None
        recalling.degraded[FLOOR] = NO_PROBABILITY
    accepts = Acceptance(
        threshold=ranking.threshold if floor is None else None,
        least_evidence=ranking.least_evidence(with_vector=with_vector, compared=compared),
        anyway=_relevant_anyway(gathered),
        no_evidence=gathered.asked.no_evidence,
        min_score=recalling.question.min_score,
        min_probability=recalling.question.least_probability,
        silent=gathered.planned.small_talk and floor is None,
    )
    expression = ranking.expression(with_vector=with_vector, compared=compared, request=gathered.asked.request)
    table = gathered.table if close is None else gathered.table.having(close)
    factor = _factor_of_flagged(recalling, view, found)
    ranked = ranked_by(
        expression,
        found,
        table,
        accepts,
        factor=factor,
        outcome_weight=ranking.outcome_weight,
        calibrated=calibrated,
    )
    recalling.timer.lap("score" if tokens is None else "rescore")
    return ranked


def _factor_of_flagged(recalling: _Recalling, view: ReadView, found: Candidates) -> FloatColumn | None:
    """The factor of each candidate's score: `LOWERED` for a flagged one, if the preset lowers them. None: 1 for all."""
    if recalling.ctx.preset.flagged is not FlaggedRecall.LOWER:
        return None
    any_of_them = replace(recalling.where, tags=recalling.where.tags | {FLAGGED})
    if not view.memories(recalling.reader, any_of_them, limit=1):
        return None
    rows = view.get(recalling.reader, found.ids)
    return np.array([LOWERED if one in rows and rows[one].flagged else 1.0 for one in found.ids])


def _relevant_anyway(gathered: Gathered) -> NDArray[np.bool_] | None:
    """The candidates that are relevant whatever they say: those of the time asked about, or, if something is requested,
    the preferences that apply to it. None: there are none.
    """
    states, asked = gathered.found.states, gathered.asked
    if asked.request:
        return gathered.table[PREFERENCE] >= 1.0
    return happened_in(gathered.any_at, states.occurred_from, states.occurred_at) if gathered.any_at else None


def present(recalling: _Recalling, view: ReadView, gathered: Gathered, ranked: Ranked) -> Recall:
    """The best candidates as hits with explanations, and the pinned memories."""
    question, planned, found, timer = recalling.question, gathered.planned, gathered.found, recalling.timer
    diversity, limit = recalling.ranking.diversity, recalling.limit
    message = question.text if question.mode is RecallMode.MESSAGE else None
    near_equals = recalling.ranking.near_equals
    choice = choose(
        view,
        recalling.reader,
        ranked,
        diversity,
        limit,
        question.min_score,
        gathered.entries,
        message,
        near_equals=near_equals,
    )
    if near_equals:
        engine.near_equals.put_together(view, recalling.reader, ranked, choice, limit, planned, gathered.entries)
    timer.lap("gather")
    explained = explanations(ranked, diversity, choice.chosen, planned if question.explain else None)
    hits = tuple(
        Hit(
            rank=place,
            score=chosen.score,
            memory=chosen.memory,
            cue=chosen.cue,
            age=Age.of(recalling.at - chosen.memory.occurred_to),
            turns=turns_of(chosen.cues, chosen.cue),
            explanation=explanation,
            journal_only=chosen.memory.id in gathered.entries,
            replies_to=chosen.replies_to,
            newer=chosen.newer,
            probability=chosen.probability,
        )
        for place, (chosen, explanation) in enumerate(zip(choice.chosen, explained, strict=True), start=1)
    )
    timer.lap("explain")
    walks = recalling.reader.scope.agent in recalling.ctx.walk_agents
    if walks if question.walk_depth is None else question.walk_depth:
        hits = engine.walk.walk(view, recalling.reader, hits, recalling.where, limit, question.min_score)
        timer.lap("walk")
    took = recalling.keyed.took
    legs = {"dense": found.dense_rank, "lexical": found.lexical_rank}
    if found.context_features is not None:
        legs["context"] = found.context_features.rank
    return Recall(
        query=question.text,
        asked_at=recalling.asked_at,
        hits=hits,
        degraded=recalling.degraded,
        timings=timer.stages if took is None else {KEY_TERMS: took, **timer.stages},
        trace=Trace(
            searched=planned.searched,
            embedded=planned.embedded,
            terms=planned.lexical.terms or planned.lexical.phrase,
            legs={leg: int(np.count_nonzero(ranks)) for leg, ranks in legs.items()},
            outcomes=CandidateOutcomes(ranked, choice),
            scores=Scores(ranked),
            kind=planned.kind,
            names=planned.names,
        ),
        renderer=recalling.ctx.preset.renderer,
        pinned=pinned(recalling.ctx, view, recalling.reader, recalling.at, found),
        below_threshold=held_back(ranked, choice, limit),
        flagged_held_back=flagged_held_back(view, recalling.reader, recalling.where, found),
    )
