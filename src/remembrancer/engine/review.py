"""Reviews: a model rates how useful retrieved memories were, by what was said afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.effect import Effect
from remembrancer.domain.event import Event
from remembrancer.domain.memory import Memory
from remembrancer.domain.review import Evidence, Review
from remembrancer.domain.scope import Reader, Scope, Visibility
from remembrancer.engine.ask import ask_for
from remembrancer.engine.context import Context
from remembrancer.engine.journal import still_said
from remembrancer.errors import Conflict, ModelUnavailable, NotFound
from remembrancer.policies.consolidation.rules import Owner, owner_of
from remembrancer.policies.forgetting.reviewing import Reviewing
from remembrancer.policies.prompts import review as prompt
from remembrancer.ports.journal import EventFilter
from remembrancer.values import dataclass

JOB: Final = "review"
LIMIT: Final = 100
LOOKED_THROUGH: Final = 500
"""The events of a session that are searched for its speakers; for exposures without a session, of all sessions."""
UNSEEN: Final = "no speaker of its session may see the memory"
UNRATED: Final = "the model's answer has no rating for the memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewReport:
    """The result of rating memories. `reviews`: those written. `failed`: memories without a rating, to be retried.
    `left`: memories that cannot be rated yet, or that another worker reviewed first. `reason`: why nothing, or not
    everything, was done.
    """

    reviews: tuple[Review, ...] = ()
    failed: int = 0
    left: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Case:
    """A memory to be rated, and its evidence. `tried`: whether an earlier attempt failed."""

    memory: Memory
    evidence: Evidence
    tried: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """Memories that are rated by one conversation, and what was said in it since the first of them was retrieved."""

    cases: tuple[_Case, ...]
    said: tuple[Event, ...]


@dataclass(slots=True)
class _Tally:
    reviews: tuple[Review, ...] = ()
    failed: int = 0
    left: int = 0

    def report(self, reason: str = "") -> ReviewReport:
        return ReviewReport(reviews=self.reviews, failed=self.failed, left=self.left, reason=reason)


async def review(ctx: Context, scope: Scope, *, limit: int = LIMIT, reader: Reader | None = None) -> ReviewReport:
    """Rate up to `limit` memories of the workspace whose evidence is due, and update their strength by FSRS-6.
    `reader`: only memories that it may see.

    Exposures in one session are rated together, by what was said from the first one on: one question, one commit.
    Memories with restricted visibility are asked about separately. A memory without a valid rating is retried alone,
    after increasing delays. The run ends if the model does not answer.
    """
    policy = ctx.preset.review
    if policy is None:
        return ReviewReport(reason=f"preset {ctx.preset.name} does not review memories")
    if ctx.llm is None:
        return ReviewReport(reason=ctx.without_llm)
    tally = _Tally()
    cases = await _due(ctx, scope, policy, limit, tally, reader)
    unasked = len(cases)
    for (session, _), several in _apart(cases).items():
        async for group in _groups(ctx, scope, policy, session, several):
            unasked -= len(group.cases)
            try:
                await _rate(ctx, scope, policy, ctx.llm.model_id, group, tally)
            except ModelUnavailable as error:
                await _defer(ctx, scope, [case.evidence for case in group.cases], str(error), tally)
                tally.left += unasked
                return tally.report(str(error))
    return tally.report()


async def _due(
    ctx: Context, scope: Scope, policy: Reviewing, limit: int, tally: _Tally, reader: Reader | None
) -> list[_Case]:
    """The cases that are due, by the time of their first exposure. Cases that are not due do not block later ones."""
    now = ctx.clock()
    deferrals = {deferral.item: deferral.retry_at for deferral in await ctx.store.deferrals(scope, JOB)}
    due: list[_Case] = []
    seen: set[UUID] = set()
    asked_for = limit
    while True:
        found = await ctx.store.unreviewed(scope, policy.counted, limit=asked_for)
        fresh = [evidence for evidence in found if evidence.memory_id not in seen]
        seen.update(evidence.memory_id for evidence in fresh)
        if reader is not None:
            visible = await ctx.store.get(reader, [evidence.memory_id for evidence in fresh])
            fresh = [evidence for evidence in fresh if evidence.memory_id in visible]
        tried = [evidence for evidence in fresh if deferrals.get(str(evidence.memory_id), now) <= now]
        tally.left += len(fresh) - len(tried)
        memories = await _memories(ctx, scope, tried)
        await _defer(ctx, scope, [one for one in tried if one.memory_id not in memories], UNSEEN, tally)
        for evidence in (one for one in tried if one.memory_id in memories):
            memory = memories[evidence.memory_id]
            if len(due) < limit and await _is_due(ctx, scope, policy, memory, evidence, now):
                due.append(_Case(memory, evidence, str(memory.id) in deferrals))
            else:
                tally.left += 1
        if len(found) < asked_for:
            # Items without unreviewed evidence: reviewed by another worker, replaced or erased.
            await ctx.store.settle(scope, JOB, sorted(deferrals.keys() - {str(memory_id) for memory_id in seen}))
            return due
        if len(due) == limit:
            return due
        asked_for *= 2


async def _is_due(
    ctx: Context, scope: Scope, policy: Reviewing, memory: Memory, evidence: Evidence, now: datetime
) -> bool:
    if policy.at(memory, evidence) > now:
        return False
    if policy.waited(evidence, now=now):
        return True
    return bool(await _said(ctx, scope, evidence.session, after=evidence.at[-1], limit=1))


async def _memories(ctx: Context, scope: Scope, evidence: Sequence[Evidence]) -> Mapping[UUID, Memory]:
    """The memories that may be seen by the workspace, or by a speaker in the session of the exposure."""
    everybody = Reader(Scope(workspace=scope.workspace))
    memories = dict(await ctx.store.get(everybody, [one.memory_id for one in evidence]))
    private = [one for one in evidence if one.memory_id not in memories]
    for session in dict.fromkeys(one.session for one in private):
        ids = [one.memory_id for one in private if one.session == session]
        said = await _said(ctx, scope, session, after=None, limit=LOOKED_THROUGH)
        for stream in dict.fromkeys(event.scope for event in said):
            memories.update(await ctx.store.get(Reader(stream), ids))
    return memories


def _apart(cases: Iterable[_Case]) -> Mapping[tuple[str | None, Owner | None], list[_Case]]:
    """The cases by session. Memories with restricted visibility are also separated by owner, so that no question mixes
    owners.
    """
    apart: dict[tuple[str | None, Owner | None], list[_Case]] = {}
    for case in cases:
        owner = None if case.memory.visibility is Visibility.WORKSPACE else owner_of(case.memory)
        apart.setdefault((case.evidence.session, owner), []).append(case)
    return apart


async def _groups(
    ctx: Context, scope: Scope, policy: Reviewing, session: str | None, cases: Sequence[_Case]
) -> AsyncIterator[_Group]:
    """The groups: each fits one question, without memories that the shown conversation cannot judge."""
    start = 0
    while start < len(cases):
        first = cases[start]
        after = first.evidence.at[0]
        said = await _said(ctx, scope, session, after=after, limit=policy.turns)
        kept = await still_said(ctx, Reader(Scope(workspace=scope.workspace)), said)
        told = prompt.fitting(kept, chars=policy.chars)
        is_all = len(said) < policy.turns and len(told) == len(kept)
        end = start + 1
        while end < min(len(cases), start + policy.at_once) and not (first.tried or cases[end].tried):
            last = cases[end].evidence.at[-1]
            if not is_all and not any(event.recorded_at > last for event in told):
                break
            end += 1
        yield _Group(tuple(cases[start:end]), told)
        start = end


async def _said(
    ctx: Context, scope: Scope, session: str | None, *, after: datetime | None, limit: int
) -> tuple[Event, ...]:
    """The first events of the session recorded after a time; for None, of events without a session."""
    reader, where = Reader(Scope(workspace=scope.workspace)), EventFilter(session=session, recorded_after=after)
    asked_for = limit if session is not None else max(limit, LOOKED_THROUGH)
    events = await ctx.store.events(reader, where, limit=asked_for, oldest_first=True)
    return tuple(event for event in events if event.scope.session == session)[:limit]


async def _rate(ctx: Context, scope: Scope, policy: Reviewing, by: str, group: _Group, tally: _Tally) -> None:
    """Ask about one group and write its reviews. Raises ModelUnavailable."""
    by_label = {f"m{number}": case for number, case in enumerate(group.cases, start=1)}
    looked_up = [prompt.LabelledMemory(label, case.memory, case.evidence.queries) for label, case in by_label.items()]
    ratings = await ask_for(
        ctx,
        scope,
        lambda answer: prompt.read(answer, frozenset(by_label)),
        purpose=prompt.PURPOSE,
        instructions=prompt.INSTRUCTIONS,
        material=prompt.material(looked_up, group.said),
        schema=prompt.SCHEMA,
        max_tokens=prompt.MAX_TOKENS,
    )
    if isinstance(ratings, str):
        await _defer(ctx, scope, [case.evidence for case in group.cases], ratings, tally)
        return
    rated = [by_label[label] for label in ratings]
    unrated = [case.evidence for label, case in by_label.items() if label not in ratings]
    await _defer(ctx, scope, unrated, UNRATED, tally)
    if not rated:
        return
    reviews = policy.reviews(
        [case.memory for case in rated], [case.evidence for case in rated], list(ratings.values()), by=by
    )
    try:
        await ctx.store.commit(scope, Effect(reviewed=reviews), at=ctx.clock())
    except (Conflict, NotFound):  # another worker wrote first, or a memory was erased
        tally.left += len(rated)
        return
    tally.reviews += reviews
    await ctx.store.settle(scope, JOB, [str(case.memory.id) for case in rated if case.tried])


async def _defer(ctx: Context, scope: Scope, evidence: Iterable[Evidence], error: str, tally: _Tally) -> None:
    now = ctx.clock()
    for one in evidence:
        await ctx.store.defer(scope, JOB, str(one.memory_id), error=error, now=now)
        tally.failed += 1
