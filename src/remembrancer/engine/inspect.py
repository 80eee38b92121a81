"""Inspection: one memory with its details, lists by time, counts, checks, and why a memory was not returned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.domain.event import Event
from remembrancer.domain.listing import USUAL, MemoryListing, MemoryOrder, MemoryPage, MemoryPlace, MemoryState
from remembrancer.domain.memory import FLAGGED, Cue, Memory, Revision
from remembrancer.domain.outcome import Credit
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import CandidateOutcome, FlaggedRecall, Hit, Recall, Shortfall, Stage
from remembrancer.domain.relation import Relation
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.selection import excluded_by
from remembrancer.engine import spaces
from remembrancer.engine.context import Context, answering
from remembrancer.engine.journal import query_words
from remembrancer.engine.recall import Question, pinned, recall, searched, shown
from remembrancer.engine.rerank import judged
from remembrancer.engine.search_state import SearchMode, search_state
from remembrancer.errors import ModelUnavailable, NotFound, StoreUnavailable
from remembrancer.language.detection import languages_of, named, none_read
from remembrancer.ports.embedder import is_uncalibrated, languages
from remembrancer.ports.inspection import Finding, Stats
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.memories import Audited
from remembrancer.ports.reranker import Reranker
from remembrancer.values import dataclass

SET_AN_EMBEDDER: Final = (
    "set `embedder` (REMEMBRANCER_EMBEDDER) to local, after pip install 'remembrancer[local]', or to"
    " ollama:nomic-embed-text, with KEEPER_OLLAMA_URL; `maintain` then indexes what is stored"
)
UNCALIBRATED: Final = Finding(
    "calibration",
    ok=True,
    warning=True,
    detail="the embedder's cosines are used as they are; the presets' thresholds are those of all-MiniLM-L6-v2",
    repair="remembrancer embedder calibrate",
)
LANGUAGE_SAMPLE: Final = 200
LANGUAGE_LEAST: Final = 5
LANGUAGE_SHARE: Final = 0.05
"""`doctor` warns of languages that the embedder does not read if they are at least this share of the newest texts."""
MOST_FLAGGED: Final = 1_000
"""The flagged memories that `doctor` counts."""
LEDGER: Final = timedelta(days=1)
"""`doctor` judges the language model by its calls within this time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDetails:
    """A memory with its details. `events`: those it was formed from, in order; `reviews`: oldest first;
    `credits`: its shares in the outcomes of tasks, oldest first.
    """

    memory: Memory
    cues: tuple[Cue, ...]
    events: tuple[Event, ...]
    revisions: tuple[Revision, ...]
    relations: tuple[Relation, ...]
    audit: tuple[Audited, ...]
    reviews: tuple[Review, ...]
    credits: tuple[Credit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """Why a memory was not returned: `reason` in words; `stage` if it was a candidate. `shortfall`: what it lacked of a
    score, of relevance or of probability. `probability`: as of a Hit. `advice`: what would change it, a sentence; "" if
    it is returned, or if nothing would.
    """

    memory: Memory
    returned: bool
    reason: str
    stage: Stage | None = None
    score: float | None = None
    rank: int | None = None
    shortfall: Shortfall | None = None
    advice: str = ""
    probability: float | None = None


async def get(ctx: Context, reader: Reader, memory_id: UUID) -> Memory:
    found = await ctx.store.get(reader, [memory_id])
    if memory_id not in found:
        raise NotFound("memory", memory_id)
    return found[memory_id]


async def show(ctx: Context, reader: Reader, memory_id: UUID) -> MemoryDetails:
    """A memory with its cues, provenance, revisions and relations. Raises NotFound."""
    memory = await get(ctx, reader, memory_id)
    cues = await ctx.store.cues(reader, [memory_id])
    return MemoryDetails(
        memory=memory,
        cues=cues.get(memory_id, ()),
        events=await ctx.store.provenance(reader, memory_id),
        revisions=await ctx.store.revisions(reader, memory_id),
        relations=await ctx.store.relations(reader, [memory_id]),
        audit=await ctx.store.audit(reader, memory_id),
        reviews=await ctx.store.reviews(reader, memory_id),
        credits=await ctx.store.credits(reader, memory_id),
    )


async def recent(ctx: Context, reader: Reader, *, limit: int, within: timedelta | None) -> tuple[Memory, ...]:
    """Current memories, newest first, without the kinds that the preset hides."""
    now = ctx.clock()
    since = None if within is None else now - within
    return await ctx.store.memories(reader, shown(ctx, Filter(current_at=now, since=since)), limit=limit)


async def page(
    ctx: Context,
    reader: Reader,
    where: Filter,
    *,
    limit: int,
    oldest_first: bool,
    after: str | None,
    listing: MemoryListing = USUAL,
) -> MemoryPage:
    """Up to `limit` memories after a cursor, and the cursor of the next page. Kinds that the preset hides are included
    only if the filter names them.
    """
    place = None if after is None else MemoryPlace.parse("after", after, listing.order)
    kept = shown(ctx, where)
    found = await ctx.read(
        where,
        lambda view: view.memories(
            reader, kept, limit=limit + 1, oldest_first=oldest_first, after=place, listing=listing
        ),
    )
    memories = found[:limit]
    more = len(found) > limit
    return MemoryPage(memories=memories, next=MemoryPlace.of(memories[-1], listing.order).cursor if more else None)


def listing_of(query: str | None, speaker: str | None, state: str, order: str) -> MemoryListing:
    """The listing of a caller's arguments. Raises InvalidInput naming the argument."""
    return MemoryListing(
        state=validation.choice("state", state, MemoryState),
        words=() if query is None else query_words(query),
        speaker=validation.optional_name("speaker", speaker),
        order=validation.choice("order", order, MemoryOrder),
    )


async def timeline(ctx: Context, reader: Reader, where: Filter, *, limit: int) -> tuple[Memory, ...]:
    """The memories that the filter keeps, oldest first. Kinds that the preset hides are included only if the filter
    names them.
    """
    return await ctx.store.memories(reader, shown(ctx, where), limit=limit, oldest_first=True)


async def events(
    ctx: Context, reader: Reader, where: EventFilter, *, limit: int, oldest_first: bool
) -> tuple[Event, ...]:
    return await ctx.store.events(reader, where, limit=limit, oldest_first=oldest_first)


async def stats(ctx: Context, reader: Reader) -> Stats:
    return await ctx.store.stats(reader)


async def doctor(ctx: Context, reader: Reader, *, mend: bool = False) -> tuple[Finding, ...]:
    """The store's checks, that of the audit trail, those of an index outside of the store, and whether the embedder and
    the reranker answer; and how many memories are flagged.

    `mend`: correct such an index.

    The language model is not called, because that may cost money; it is judged by its calls of the last day.
    """
    own, ctx = ctx, await answering(ctx, reader.scope)
    models = [await _llm_finding(ctx, reader.scope)]
    if is_uncalibrated(ctx.embedder):
        models.append(UNCALIBRATED)
    if (unread := await _language_finding(ctx, reader)) is not None:
        models.append(unread)
    models.append(await _embedder_finding(ctx))
    if (change := await _change_finding(own, reader.scope)) is not None:
        models.append(change)
    if (flagged := await _flagged_finding(ctx, reader)) is not None:
        models.append(flagged)
    if ctx.reranker is not None:
        models.append(await _reranker_finding(ctx.reranker))
    index = await engine.index_source.finding(ctx, reader.scope, mend=mend)
    trail = await engine.audit.finding(ctx, reader.scope)
    return (*await ctx.store.check(reader.scope, ctx.model), trail, *(() if index is None else (index,)), *models)


_RECALLED: Final = {
    FlaggedRecall.KEEP: "recall treats them as any other",
    FlaggedRecall.LOWER: "recall lowers their score",
    FlaggedRecall.HOLD_BACK: "recall holds them back",
}


async def _flagged_finding(ctx: Context, reader: Reader) -> Finding | None:
    """The number of flagged memories, and how to look at them; None if none is flagged."""
    where = Filter(current_at=ctx.clock(), tags=frozenset({FLAGGED}))
    count = len(await ctx.store.memories(reader, where, limit=MOST_FLAGGED))
    if not count:
        return None
    said = f"{count:,}{' or more' if count == MOST_FLAGGED else ''}"
    return Finding(
        "flagged memories",
        ok=True,
        detail=f"{said} of tools, the web or imports tell a language model what to do; {_RECALLED[ctx.preset.flagged]}."
        f" `remembrancer recent --tag {FLAGGED}` lists them, and `remembrancer release ID` releases a harmless one",
    )


async def ready(ctx: Context, scope: Scope) -> None:
    """Check that the store can be read and written, without changing anything."""
    await ctx.store.runs(scope)
    await ctx.store.settle(scope, "ready", ())


async def why_not(ctx: Context, reader: Reader, memory_id: UUID, question: Question, *, widest: Reader) -> WhyNot:
    """Ask the question, and explain why this memory is not among the hits. `widest`: the reader with the widest reach
    that it may request. Raises NotFound for a memory beyond that.
    """
    known = await get(ctx, widest, memory_id)
    then = await ctx.read(question.where, lambda view: view.get(widest, [memory_id]))
    memory = then.get(memory_id, known)  # recorded later, it is told of as it is now
    visible = (
        ctx.read(question.where, lambda view: view.get(reader, [memory_id]))
        if then
        else ctx.store.get(reader, [memory_id])
    )
    if memory_id not in await visible:
        reason = f"out of reach: this reader looks as far as {reader.reach}, the memory belongs to {_owner(memory)}"
        advice = "Ask with a wider reach, or as an agent that it belongs to."
        return WhyNot(memory=memory, returned=False, reason=reason, advice=advice)
    now = question.where.current_at
    if any(one.id == memory_id for one in await ctx.read(question.where, lambda view: pinned(ctx, view, reader, now))):
        reason = "the memory is pinned: it is in every answer, separate from the hits"
        return WhyNot(memory=memory, returned=False, reason=reason)
    excluded = excluded_by(memory, question.where) or excluded_by(memory, searched(ctx, question.where))
    if excluded:
        reason, advice = "left out before the search: " + ", ".join(excluded), _to_include(excluded)
        if memory.flagged and excluded == ("without_tags",):
            reason = f"held back: its text, of the origin {memory.origin}, tells a language model what to do"
            advice = f"Ask with the tag {FLAGGED} in the filter, or release it if it is harmless."
        return WhyNot(memory=memory, returned=False, reason=reason, advice=advice)
    answer = await recall(ctx, reader, question)
    hit = next((hit for hit in answer if hit.id == memory_id), None)
    if hit is not None:
        return WhyNot(
            memory=memory,
            returned=True,
            reason=_found(hit),
            stage=Stage.RETURNED,
            score=hit.score,
            rank=hit.rank,
            probability=hit.probability,
        )
    outcome = answer.trace.outcomes.get(memory_id)
    limit = ctx.preset.limit_of(question.mode, question.limit, answer.trace.kind)
    if outcome is None:
        depth = ctx.preset.ranking_of(question.mode, question.ranking).depth.of(limit)
        reason = _not_brought(answer, depth)
        advice = "Ask with words that it has, or name who said it, or when."
        return WhyNot(memory=memory, returned=False, reason=reason, advice=advice)
    # A neighbour added by the walk may have displaced it.
    outcome = replace(outcome, stage=Stage.LIMIT) if outcome.stage is Stage.RETURNED else outcome
    return WhyNot(
        memory=memory,
        returned=False,
        reason=_in_words(outcome, limit, ctx.preset.limits.most),
        stage=outcome.stage,
        score=outcome.score,
        rank=outcome.rank,
        shortfall=outcome.shortfall,
        advice=_ADVICE.get(outcome.stage, "").format(rank=outcome.rank),
        probability=outcome.probability,
    )


_ADVICE: Final = {
    Stage.LIMIT: "Ask for {rank} answers or more.",
    Stage.DUPLICATE: "Its text is among the candidates already, in the other memory.",
    Stage.ALIKE: "Ask for more answers, or by a ranking without diversity.",
    Stage.THRESHOLD: (
        "Ask without the relevance threshold (floor=off), with words that it has, or name who said it, or when."
    ),
    Stage.MIN_SCORE: "Ask with a lower min_score.",
    Stage.FLOOR: "Ask with a lower floor, or without one (floor=off).",
}
_TO_INCLUDE: Final = {
    "recorded later": "Ask about a later time.",
    "superseded": "Ask about an earlier time (as_of): a newer memory has replaced it.",
    "retired": "Restore it.",
    "not yet valid": "Ask about a later time (as_of).",
    "expired": "Ask about an earlier time (as_of).",
    "without_kinds": "Name its kind in the filter: this preset does not search it by itself.",
}


def _to_include(excluded: Sequence[str]) -> str:
    """The advice for the first condition that the memory does not meet."""
    return _TO_INCLUDE.get(excluded[0], f"Ask without the filter {excluded[0]}.")


def _found(hit: Hit) -> str:
    return f"it is returned, at rank {hit.rank}" + (f", one hop from {hit.via}" if hit.via else "")


def _not_brought(answer: Recall, depth: int) -> str:
    """Why no search found it. If a search returned fewer than `depth` memories, no other memory matches it."""
    words = (
        f"{depth} memories match the question's words better"
        if answer.trace.legs["lexical"] >= depth
        else "it shares no word with the question"
    )
    full = answer.trace.legs["dense"] >= depth
    meaning = f"{depth} memories are nearer in meaning" if full else answer.degraded.get("dense", "it has no vector")
    return f"neither search found it: {words}; {meaning}"


def _in_words(outcome: CandidateOutcome, limit: int, most: int) -> str:  # noqa: PLR0911  a case for each stage
    match outcome.stage:
        case Stage.RETURNED:
            return f"it is returned, at rank {outcome.rank}"
        case Stage.LIMIT:
            return f"ranked {outcome.rank}, but the limit is {limit} (at most {most})"
        case Stage.DUPLICATE:
            return f"ranked {outcome.rank}; {outcome.detail} has the same text and ranks higher"
        case Stage.ALIKE:
            return f"ranked {outcome.rank}; too similar to better hits"
        case Stage.THRESHOLD:
            return f"ranked {outcome.rank}, below the relevance threshold"
        case Stage.MIN_SCORE:
            return f"ranked {outcome.rank}, below the requested minimum score"
        case Stage.FLOOR:
            return f"ranked {outcome.rank}, below the requested probability"
        case Stage.MESSAGE:
            return "it has the text of the message, and says nothing new"
        case Stage.ROW_MISSING:
            return "the memory was deleted during the recall"


def _owner(memory: Memory) -> str:
    scope = memory.scope
    parts = (("project", scope.project), ("crew", scope.crew), ("agent", scope.agent), ("session", scope.session))
    return ", ".join(f"{name} {value}" for name, value in parts if value) or "the workspace"


async def _embedder_finding(ctx: Context) -> Finding:
    state = await search_state(ctx)
    detail = f"{state.mode}: {state.detail}"
    match state.mode:
        case SearchMode.VECTOR:
            return Finding("embedder", ok=True, detail=detail)
        case SearchMode.SPARSE_ONLY:
            return Finding("embedder", ok=True, warning=True, detail=detail, repair=SET_AN_EMBEDDER)
        case SearchMode.VECTOR_DEGRADED:
            return Finding("embedder", ok=False, detail=detail, repair="see the message; recall is lexical until then")


async def _language_finding(ctx: Context, reader: Reader) -> Finding | None:
    """The languages of recent memories that the embedder's model does not read; None if its languages are unknown."""
    read = languages(ctx.embedder)
    if read is None or ctx.embedder is None:
        return None
    try:
        recent = await ctx.store.memories(reader, Filter(current_at=ctx.clock()), limit=LANGUAGE_SAMPLE)
    except StoreUnavailable:  # of a damaged file: its own checks name what is damaged
        return None
    found = Counter(unread for one in recent if (unread := none_read(languages_of(one.text), read)) is not None)
    reads = f"{ctx.embedder.model_id} reads {', '.join(sorted(map(named, read)))}"
    if found.total() < max(LANGUAGE_LEAST, LANGUAGE_SHARE * len(recent)):
        return Finding("languages", ok=True, detail=reads)
    counts = ", ".join(f"{count} {named(language)}" for language, count in found.most_common())
    return Finding(
        "languages",
        ok=True,
        warning=True,
        detail=f"of the {len(recent)} newest texts, {counts}; {reads}",
        repair="these texts are found by words only; a multilingual model (`embedder`) finds them by meaning",
    )


async def _change_finding(ctx: Context, scope: Scope) -> Finding | None:
    """A change of embedder under way, or vectors of another model than the embedder's; None: neither."""
    try:
        found = await spaces.status(ctx, scope)
    except StoreUnavailable as error:  # of a damaged file: its own checks follow, and name what is damaged
        return Finding("change of embedder", ok=False, detail=str(error), repair="see the checks of the file")
    if found.building is not None:
        done = f"{found.building.vectors:,} of {found.building.cues:,} texts"
        detail = f"{found.answers} answers, {found.building.model} is being built: {done}"
    elif found.answers is None or found.embedder in {None, found.answers}:
        return None
    else:
        detail = f"{found.answers} answers; the embedder in use is {found.embedder}"
    return Finding("change of embedder", ok=True, warning=True, detail=detail, repair=found.advice)


async def _llm_finding(ctx: Context, scope: Scope) -> Finding:
    if ctx.llm is None:
        return Finding("language model", ok=True, detail=ctx.without_llm)
    model = ctx.llm.model_id
    spent = [row for row in await ctx.store.spending(scope, since=ctx.clock() - LEDGER) if row.model == model]
    calls, failed = sum(row.calls for row in spent), sum(row.failed for row in spent)
    if calls == 0:
        return Finding("language model", ok=True, detail=f"{model}, not asked in the last day")
    said = f"{model}, asked {calls} times in the last day, {failed} of them without a usable answer"
    if failed < calls:
        return Finding("language model", ok=True, detail=said)
    return Finding(
        "language model", ok=False, detail=said, repair="see the last errors; deferred work is kept and retried"
    )


async def _reranker_finding(reranker: Reranker) -> Finding:
    try:
        await judged(reranker, "Does the reranker answer?", ["It does."])
    except ModelUnavailable as error:
        return Finding(
            "reranker", ok=False, detail=str(error), repair="see the message; answers are ranked without it until then"
        )
    return Finding("reranker", ok=True, detail=reranker.model_id)
