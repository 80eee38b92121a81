"""Preparing a question: search terms, key terms, vectors, and the times it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from remembrancer import engine
from remembrancer.domain.instants import moment
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import answering
from remembrancer.errors import ModelUnavailable
from remembrancer.language.detection import named, none_read
from remembrancer.language.lexical import lexical_query
from remembrancer.language.reading import Reading, read_message, read_question, read_terms, salient_part
from remembrancer.policies import prompts
from remembrancer.policies.ranking.late_interaction import QuestionTokens, weighted
from remembrancer.policies.ranking.relevance import ANCHOR_COVERAGE
from remembrancer.ports.embedder import EmbeddedQuestion, computing, languages, load, token_embedder
from remembrancer.ports.index import SearchRequest
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.candidates import Candidates
    from remembrancer.engine.context import Context
    from remembrancer.policies.ranking.ranking import Ranking
    from remembrancer.ports.changes import ReadView

KEY_TERMS: Final = "key_terms"
"""The key of key terms in `Recall.degraded` and `Recall.timings`."""
LANGUAGE: Final = "language"
"""The key, in `Recall.degraded`, of a question in a language that the embedder does not read."""


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """A question's vector and token embeddings. If one is missing, `degraded` says why. `took`: the duration of
    embedding.
    """

    vector: NDArray[np.float32] | None = None
    question: EmbeddedQuestion | None = None
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])
    took: timedelta = timedelta(0)

    def tokens(self, planned: Reading, found: Candidates) -> QuestionTokens | None:
        """The question's token embeddings, weighted by the idf of their terms in the searched memories."""
        if self.question is None or found.idf is None:
            return None
        idf = dict(zip(planned.lexical.terms, found.idf.tolist(), strict=True))
        return weighted(self.question.token_embeddings, self.question.spelled, idf, self.question.sum_of_bits)


@dataclass(frozen=True, slots=True)
class Keyed:
    """The key terms for a question, and the time taken to find them.

    Empty if the preset uses none, if the question is short, or if no model answered; `degraded` then says why.
    """

    terms: tuple[str, ...] = ()
    took: timedelta | None = None
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])


async def key_terms(ctx: Context, scope: Scope, text: str) -> Keyed:
    """Ask the model for the question's key terms, if the preset uses them and the question is long."""
    settings = ctx.preset.key_terms
    if settings is None or not settings.are_needed(text):
        return Keyed()
    if ctx.llm is None:
        return Keyed(degraded={KEY_TERMS: ctx.without_llm})

    least, most, prompt = settings.least, settings.most, prompts.key_terms
    start = ctx.stopwatch()
    try:
        found = await engine.ask.ask_for(
            ctx,
            scope,
            lambda answer: prompt.read(answer, least, most),
            purpose="key terms",
            instructions=prompt.instructions(least, most),
            material=prompt.material(text, settings.read_chars),
            schema=prompt.schema(least, most),
            max_tokens=prompt.MAX_TOKENS,
        )
    except ModelUnavailable as error:
        return Keyed(took=_since(ctx, start), degraded={KEY_TERMS: f"the language model does not answer: {error}"})
    if isinstance(found, str):
        return Keyed(
            took=_since(ctx, start), degraded={KEY_TERMS: f"the language model's answer cannot be used: {found}"}
        )
    return Keyed(found, _since(ctx, start))


def planned_for(
    ctx: Context, view: ReadView, reader: Reader, text: str, where: Filter, ranking: Ranking, terms: Sequence[str] = ()
) -> Reading:
    """Read the question: what to search for, by `read_question` or `read_terms`. `terms`: the question's key terms.

    If it names a time relative to an event ("a week after the trip"), the date of the event is looked up.
    """
    keyed = ctx.preset.key_terms
    in_context = keyed is None and ranking.reads_context
    people = frozenset[str]()
    if in_context or ctx.embedder is not None:
        people = ctx.index.participants(view, reader, where, model=ctx.model)
    if not in_context:
        return read_terms(salient_part(text) if keyed is None else keyed.searched(text, terms), people)
    learned = engine.names.learned(ctx, view, reader, where, people, text)
    planned = read_question(text, people, where.current_at, learned)
    # "After the trip" alone does not say how long after: looking up the trip's date made answers worse on average.
    if planned.anchored is None or planned.anchored.soft:
        return planned
    happened_at = _happened_at(ctx, view, reader, planned.anchored.anchor, where)
    return planned if happened_at is None else planned.anchored_at(happened_at)


def planned_message(ctx: Context, view: ReadView, reader: Reader, text: str, where: Filter) -> Reading:
    """Read a message: what to search for, by `read_message`."""
    return read_message(text, ctx.index.participants(view, reader, where, model=ctx.model))


async def embed(ctx: Context, planned: Reading, ranking: Ranking) -> QuestionVectors:
    """Embed the question. If that is impossible, the result says why."""
    embedder = ctx.embedder
    if embedder is None or not embedder.reads(planned.embedded):
        return _not_embedded(ctx)
    with_tokens = token_embedder(embedder) if ranking.late_interaction else None
    start = ctx.stopwatch()
    try:
        if with_tokens is None:
            return _embedded(ctx, planned, start, await embedder.embed_query(planned.embedded))
        return _embedded(ctx, planned, start, await with_tokens.embed_question(planned.embedded))
    except ModelUnavailable as error:
        return _embedded(ctx, planned, start, error)


def embed_now(ctx: Context, planned: Reading, ranking: Ranking) -> QuestionVectors:
    """As `embed`, in the calling thread, for an embedder that computes locally."""
    embedder = computing(ctx.embedder)
    if embedder is None or not embedder.reads(planned.embedded):
        return _not_embedded(ctx)
    with_tokens = ranking.late_interaction and token_embedder(ctx.embedder) is not None
    start = ctx.stopwatch()
    try:
        asked = embedder.question_now(planned.embedded) if with_tokens else embedder.query_now(planned.embedded)
        return _embedded(ctx, planned, start, asked)
    except ModelUnavailable as error:
        return _embedded(ctx, planned, start, error)


def _not_embedded(ctx: Context) -> QuestionVectors:
    unsupported = f"{ctx.model} does not read the question's script: words only"
    return QuestionVectors(degraded={"dense": ctx.without_embedder if ctx.embedder is None else unsupported})


def _embedded(
    ctx: Context, planned: Reading, start: float, answer: NDArray[np.float32] | EmbeddedQuestion | ModelUnavailable
) -> QuestionVectors:
    took = _since(ctx, start)
    if isinstance(answer, ModelUnavailable):
        return QuestionVectors(degraded={"dense": f"the embedder does not answer: {answer}"}, took=took)
    read = languages(ctx.embedder)
    unread = None if read is None else none_read(planned.languages, read)
    degraded = (
        {} if unread is None else {LANGUAGE: f"{ctx.model} does not read {named(unread)}: found by words at best"}
    )
    if isinstance(answer, EmbeddedQuestion):
        return QuestionVectors(answer.vector, answer, degraded, took)
    return QuestionVectors(answer, degraded=degraded, took=took)


async def load_embedder(ctx: Context) -> None:
    """Load the embedder that answers, which the first question would otherwise wait for. If that is impossible, the
    first question says why.
    """
    for each in (ctx, ctx.before):
        with suppress(ModelUnavailable):
            await load(None if each is None else each.embedder)


async def load_index(ctx: Context, scope: Scope, model: str | None = None) -> None:
    """Load what the index holds of a workspace in memory, which the first question would otherwise wait for. `model`:
    the one to compare vectors of; None: the one that answers.
    """
    reader, where = Reader(scope), Filter(current_at=ctx.clock())
    model = model or (await answering(ctx, scope)).model
    await ctx.store.read(lambda view: ctx.index.participants(view, reader, where, model=model))


def _since(ctx: Context, start: float) -> timedelta:
    return timedelta(seconds=ctx.stopwatch() - start)


def _happened_at(ctx: Context, view: ReadView, reader: Reader, event: str, where: Filter) -> datetime | None:
    """The time of an event that another time is relative to: the time of the memory with most of the event's words."""
    terms = lexical_query(event)
    if terms.is_empty:
        return None
    request = SearchRequest(where=where, depth=1, lexical=terms, model=ctx.model)
    found = ctx.index.search(view, reader, request).candidates()
    if not found.ids or found.coverage[0] < ANCHOR_COVERAGE:
        return None
    return moment(int(found.states.occurred_at[0]))
