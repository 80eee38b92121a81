"""Facts: a model finds lasting facts in episodes; they are stored as memories that name their episodes.

New facts, changes of known ones, and the marks on the episodes are written together. The work list is the episodes
without that mark, so no episode is processed twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.event import Event
from remembrancer.domain.memory import Memory, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.engine.ask import ask_for
from remembrancer.engine.context import Context, answering, every_memory
from remembrancer.engine.journal import still_said
from remembrancer.errors import Conflict, ModelUnavailable, NotFound
from remembrancer.language.lexical import lexical_query
from remembrancer.policies.admission.digests import digest
from remembrancer.policies.consolidation import extractive
from remembrancer.policies.consolidation.condensing import SharedAttributes
from remembrancer.policies.consolidation.facts import (
    DRAWN,
    Basis,
    Category,
    Drawn,
    FactFinding,
    Facts,
    drawn,
    findings_in,
    texts_in,
)
from remembrancer.policies.prompts import facts as prompt
from remembrancer.policies.segmentation.segmentation import EPISODE
from remembrancer.policies.segmentation.segments import StreamTurn
from remembrancer.ports.changes import ReadView
from remembrancer.ports.index import SearchRequest
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

JOB: Final = "facts"
LIMIT: Final = 20
"""The most questions in one run."""
DEPTH: Final = 100
"""The candidates of each search for known facts; some have other `SharedAttributes`."""
TWINS: Final = 5
"""The number of known facts with which each new text is compared, the most similar ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsReport:
    """The result of a run over `episodes` episodes: ids of new facts, and of known ones that were reinforced, updated
    (replaced by another fact) or invalidated.

    `failed`: episodes without a valid answer, to be retried. `left`: episodes that are too few yet, wait, exceed the
    limit, or were processed by another worker. `reason`: why nothing, or not everything, was done.
    """

    episodes: int = 0
    new: tuple[UUID, ...] = ()
    reinforced: tuple[UUID, ...] = ()
    updated: tuple[UUID, ...] = ()
    invalidated: tuple[UUID, ...] = ()
    failed: int = 0
    left: int = 0
    reason: str = ""

    def with_drawn(self, drawn: Drawn) -> FactsReport:
        """The report with the facts of one more request."""
        return replace(
            self,
            episodes=self.episodes + len(drawn.effect.consolidated),
            new=(*self.new, *drawn.new),
            reinforced=(*self.reinforced, *drawn.reinforced),
            updated=(*self.updated, *drawn.updated),
            invalidated=(*self.invalidated, *drawn.invalidated),
        )


@dataclass(frozen=True, slots=True)
class _Batch:
    """Episodes with the same `SharedAttributes`, for one question, in time order."""

    attributes: SharedAttributes
    episodes: tuple[Memory, ...]

    @property
    def items(self) -> list[str]:
        return [str(episode.id) for episode in self.episodes]


async def draw_facts(ctx: Context, scope: Scope, *, force: bool = False, limit: int = LIMIT) -> FactsReport:
    """Draw facts from the current episodes of the workspace that are not consolidated yet.

    A group of episodes with the same `SharedAttributes` is due once it has enough of them, or a surprising one; with
    `force` always. At most `limit` questions are asked. Each is about some episodes of one group and the known facts
    most similar to them; its answer is one commit. Episodes without a valid answer are retried alone, after increasing
    delays. The run ends if the model or the embedder does not answer.
    """
    policy = ctx.preset.facts
    if policy is None:
        return FactsReport(reason=f"preset {ctx.preset.name} does not extract facts")
    ctx = await answering(ctx, scope)
    if ctx.llm is None:
        return FactsReport(reason=ctx.without_llm)
    report = FactsReport()
    tried = {one.item: one.retry_at for one in await ctx.store.deferrals(scope, JOB)}
    now = ctx.clock()
    groups: dict[SharedAttributes, list[Memory]] = {}
    gone = set(tried)
    where = Filter(current_at=now, kinds=frozenset({EPISODE}), tiers=frozenset({Tier.EPISODIC}))
    async for episode in every_memory(ctx, scope, where, unconsolidated=True):
        gone.discard(str(episode.id))
        if tried.get(str(episode.id), now) > now:
            report = replace(report, left=report.left + 1)
        else:
            groups.setdefault(policy.attributes(episode), []).append(episode)
    # Episodes that need no work any more: processed by another worker, out of recall or erased.
    await ctx.store.settle(scope, JOB, sorted(gone))
    batches: list[_Batch] = []
    for attributes, episodes in groups.items():
        # A failed episode is retried even if it is the only one left, fewer than the threshold.
        due = episodes if force or policy.is_due(episodes) else [each for each in episodes if str(each.id) in tried]
        batches += _batches(attributes, due, policy, tried)
        report = replace(report, left=report.left + len(episodes) - len(due))
    for place, batch in enumerate(batches):
        if place == limit:
            return replace(report, left=report.left + _count(batches[place:]))
        try:
            report = await _draw(ctx, scope, policy, ctx.llm.model_id, batch, tried, report)
        except ModelUnavailable as error:
            await _defer(ctx, scope, batch, str(error))
            left = report.left + _count(batches[place + 1 :])
            return replace(report, failed=report.failed + len(batch.episodes), left=left, reason=str(error))
    if batches:
        return report
    waiting = "there are too few unconsolidated episodes, or they are retried later"
    return replace(report, reason=waiting if report.left else "there are no unconsolidated episodes")


def _batches(
    attributes: SharedAttributes, episodes: Sequence[Memory], policy: Facts, tried: Mapping[str, datetime]
) -> Iterator[_Batch]:
    """The episodes in batches, in time order. An episode that failed before gets a batch of its own."""
    batch: list[Memory] = []
    for episode in episodes:
        alone = str(episode.id) in tried
        if batch and (alone or len(batch) == policy.at_once):
            yield _Batch(attributes, tuple(batch))
            batch = []
        if alone:
            yield _Batch(attributes, (episode,))
        else:
            batch.append(episode)
    if batch:
        yield _Batch(attributes, tuple(batch))


def _count(batches: Sequence[_Batch]) -> int:
    return sum(len(batch.episodes) for batch in batches)


async def _draw(
    ctx: Context,
    scope: Scope,
    policy: Facts,
    by: str,
    batch: _Batch,
    tried: Mapping[str, datetime],
    report: FactsReport,
) -> FactsReport:
    """Ask one question and commit its answer. Raises ModelUnavailable."""
    reader = Reader(batch.attributes.scope)
    events: dict[UUID, Sequence[Event]] = {}
    told: list[Memory] = []
    for episode in batch.episodes:
        every = await ctx.store.provenance(reader, episode.id)
        events[episode.id] = left = await still_said(ctx, reader, every)
        if left or not every:
            told.append(episode if len(left) == len(every) else _told_by(episode, left))
    known = await _known(ctx, batch.attributes, policy, [_searched(episode) for episode in told], policy.known)
    episodes = {f"e{number}": episode for number, episode in enumerate(told, start=1)}
    facts = {f"f{number}": fact for number, fact in enumerate(known.values(), start=1)}
    turns = {identifier: _turns(several) for identifier, several in events.items()}
    said = await _said(ctx, scope, episodes, turns, facts, policy) if episodes else ()
    if isinstance(said, str):
        await _defer(ctx, scope, batch, said)
        return replace(report, failed=report.failed + len(batch.episodes))
    basis = Basis(
        attributes=batch.attributes,
        episodes={episode.id: episode for episode in batch.episodes},
        event_ids={identifier: [event.id for event in several] for identifier, several in events.items()},
        known=known,
        by=by,
    )
    named = {label: fact.id for label, fact in facts.items()}
    findings = findings_in([_finding(one, named, episodes) for one in said], basis)
    texts = texts_in(findings)
    if texts:
        basis = replace(basis, known={**known, **await _known(ctx, batch.attributes, policy, texts, TWINS)})
    compared = [*texts, *(fact.text for fact in basis.known.values())] if texts else []
    vectors = await _vectors(ctx, scope, compared)
    now = ctx.clock()
    result = drawn(findings, basis, vectors, policy, now=now)
    try:
        await ctx.store.commit(scope, result.effect, at=now)
    except (Conflict, NotFound):  # another worker wrote first, or a memory changed or was erased
        return replace(report, left=report.left + len(batch.episodes))
    await ctx.store.settle(scope, JOB, [item for item in batch.items if item in tried])
    return report.with_drawn(result)


async def _said(
    ctx: Context,
    scope: Scope,
    episodes: Mapping[str, Memory],
    turns: Mapping[UUID, Sequence[StreamTurn]],
    facts: Mapping[str, Memory],
    policy: Facts,
) -> tuple[prompt.FactEntry, ...] | str:
    """The model's entries, or what is wrong with its answer. Raises ModelUnavailable."""
    told = {label: (episode, turns[episode.id]) for label, episode in episodes.items()}
    return await ask_for(
        ctx,
        scope,
        lambda answer: prompt.read(answer, episodes),
        purpose=prompt.PURPOSE,
        instructions=prompt.INSTRUCTIONS,
        material=prompt.material(told, facts, chars=policy.chars),
        schema=prompt.SCHEMA,
        max_tokens=prompt.MAX_TOKENS,
    )


async def _known(
    ctx: Context, attributes: SharedAttributes, policy: Facts, texts: Sequence[str], limit: int
) -> Mapping[UUID, Memory]:
    """The current known facts with these attributes that are nearest to any of the texts, by words or meaning."""
    if limit == 0:
        return {}
    reader = Reader(attributes.scope, Reach.WORKSPACE if attributes.scope.agent is None else Reach.OWN)
    where = Filter(
        current_at=ctx.clock(),
        kinds=frozenset(category.value for category in Category),
        tiers=frozenset({Tier.SEMANTIC}),
        visibilities=frozenset({attributes.visibility}),
        source=DRAWN,
        crew=attributes.scope.crew,
        session=attributes.scope.session,
    )
    vectors = await _vectors(ctx, attributes.scope, texts)

    def nearest(view: ReadView) -> Mapping[UUID, Memory]:
        known: dict[UUID, Memory] = {}
        for text in texts:
            request = SearchRequest(where=where, depth=DEPTH, lexical=lexical_query(text), model=ctx.model)
            ids = _nearest_first(ctx.index.search(view, reader, request).candidates(vectors.get(text)))
            found = view.get(reader, ids)
            mine = [
                found[each]
                for each in ids
                if each in found and policy.attributes(found[each]).scope == attributes.scope
            ]
            known.update({fact.id: fact for fact in mine[:limit] if fact.valid_until == attributes.valid_until})
        return known

    return await ctx.store.read(nearest)


def _nearest_first(found: Candidates) -> list[UUID]:
    """The candidates ordered by the better of their two ranks."""
    far = len(found.ids) + 1
    ranks = np.minimum(
        np.where(found.dense_rank > 0, found.dense_rank, far), np.where(found.lexical_rank > 0, found.lexical_rank, far)
    )
    return [identifier for _, identifier in sorted(zip(ranks.tolist(), found.ids, strict=True))]


def _searched(episode: Memory) -> str:
    told = episode.text[: prompt.MAX_EPISODE_CHARS]
    return told if episode.title is None else f"{episode.title}\n{told}"


def _told_by(episode: Memory, left: Sequence[Event]) -> Memory:
    """The episode summarised from its remaining turns, after others were forgotten."""
    said = [extractive.AttributedText(turn.speaker, turn.text) for turn in _turns(left)]
    return replace(episode, title=None, text=extractive.summary(said))


def _turns(events: Sequence[Event]) -> list[StreamTurn]:
    """The turns, without text that a recall inserted: facts come from the turn that said them first."""
    said = [(event, without_recalled(event.beginning)) for event in events]
    return [
        StreamTurn(at=event.occurred_at, speaker=event.actor or event.role, text=text) for event, text in said if text
    ]


def _finding(said: prompt.FactEntry, facts: Mapping[str, UUID], episodes: Mapping[str, Memory]) -> FactFinding:
    return FactFinding(
        action=said.action,
        category=said.category,
        text=said.text,
        fact=facts.get(said.fact),
        sources=tuple(episodes[label].id for label in said.episodes),
    )


async def _vectors(ctx: Context, scope: Scope, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
    """Vectors by text, for texts in a script that the embedder reads; empty without an embedder. Raises
    ModelUnavailable.
    """
    if ctx.embedder is None:
        return {}
    read = [text for text in dict.fromkeys(texts) if ctx.embedder.reads(text)]
    if not read:
        return {}
    digests = {text: digest(text) for text in read}
    stored = await ctx.store.embedded(scope, ctx.embedder.model_id, digests.values())
    known = {text: stored[key].vector for text, key in digests.items() if key in stored}
    if new := [text for text in read if text not in known]:
        known |= zip(new, (await ctx.embedder.embed_documents(new)).vectors, strict=True)
    return known


async def _defer(ctx: Context, scope: Scope, batch: _Batch, error: str) -> None:
    now = ctx.clock()
    for item in batch.items:
        await ctx.store.defer(scope, JOB, item, error=error, now=now)
