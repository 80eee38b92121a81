"""PlastMem's routes: messages are recorded by conversation, and recalled as facts and episodes of that conversation."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends
from fastapi.responses import PlainTextResponse
from pydantic import Field

from remembrancer.domain import validation
from remembrancer.domain.api_key import Right
from remembrancer.domain.event import MAX_EVENT_MB, EventDraft, Role
from remembrancer.domain.memory import Memory, Tier
from remembrancer.domain.recall import Detail, Hit, Recall
from remembrancer.domain.scope import Reach
from remembrancer.domain.strength import Exposure
from remembrancer.engine.inspect import MemoryDetails
from remembrancer.engine.record import MAX_BATCH
from remembrancer.errors import InvalidInput, NotFound, RemembrancerError
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.access import Authenticated, Principal, ReadableMemory, WritableMemory
from remembrancer.interfaces.http.background import Background
from remembrancer.interfaces.http.dropin.crewship_memory import background
from remembrancer.interfaces.http.dropin.router import ForeignBody, foreign_router
from remembrancer.interfaces.http.idempotency import DerivedKey
from remembrancer.interfaces.wire.plastmem import PlastmemAcceptedOut, PlastmemEpisodeOut, PlastmemRetrievedOut
from remembrancer.policies.consolidation.facts import Category
from remembrancer.policies.rendering.frame import MAX_BLOCK_CHARS
from remembrancer.policies.rendering.markdown import Markdown
from remembrancer.policies.segmentation.segmentation import EPISODE
from remembrancer.presets.spec import MAX_LIMIT
from remembrancer.values import dataclass

MARKDOWN: Final = "text/markdown; charset=utf-8"
NOTHING_RECENT: Final = "No recent memories found."
SEMANTIC_OTHERWISE: Final = 100
"""The number of facts to look for if 0 or more than 1,000 are requested."""
SEMANTIC_MOST: Final = 1_000
_EPISODIC: Final = (Tier.EPISODIC, Tier.WORKING)
_RENDERER: Final = Markdown()

_log = logging.getLogger("remembrancer.server")

router = foreign_router("PlastMem")


class MarkdownResponse(PlainTextResponse):
    media_type = MARKDOWN


class MessageIn(ForeignBody):
    """A message of a conversation. `role`: user or assistant; any other value is the speaker's name. `timestamp`:
    milliseconds since 1970.
    """

    role: Annotated[str, Field(examples=["user"])]
    content: Annotated[str, Field(examples=["I moved to Lisbon last week"])]
    timestamp: int | None = None

    def draft(self, argument: str, key: str | None) -> EventDraft:
        """Raises InvalidInput, which names the field within `argument`."""
        spoken = self.role.lower()
        known = spoken in (Role.USER, Role.ASSISTANT)
        return EventDraft(
            text=validation.text(f"{argument}.content", self.content, max_bytes=MAX_EVENT_MB << 20),
            role=Role(spoken) if known else Role.USER,
            actor=None if known else validation.name(f"{argument}.role", self.role),
            occurred_at=None if self.timestamp is None else _moment(f"{argument}.timestamp", self.timestamp),
            key=key,
        )


class AddIn(ForeignBody):
    """One message of a conversation."""

    conversation_id: UUID
    message: MessageIn


class ImportIn(ForeignBody):
    """A whole conversation, which ends with its last message."""

    conversation_id: UUID
    messages: Annotated[list[MessageIn], Field(max_length=MAX_BATCH)]


class FactsIn(ForeignBody):
    """A request for facts. `semantic_limit`: the number of facts, at most 200; 0 or more than 1,000 means 100.
    `category`: only this one.
    """

    conversation_id: UUID
    query: Annotated[str, Field(examples=["where do they live now?"])]
    semantic_limit: Annotated[int, Field(ge=0)] = 20
    detail: Detail = Detail.AUTO
    category: Category | None = None


class RetrieveIn(FactsIn):
    """A request for facts and episodes. `episodic_limit`: the number of episodes, at most 200. `detail`: which episodes
    include their messages.
    """

    episodic_limit: Annotated[int, Field(ge=0)] = 5


class RecentIn(ForeignBody):
    """A request for the last episodes. `limit` is clamped to 1 to 100."""

    conversation_id: UUID
    days_limit: Annotated[float | None, Field(ge=0, le=36_500, allow_inf_nan=False)] = None
    limit: int = 10


Working = Annotated[Background, Depends(background)]


@router.post("/api/v0/add_message", summary="Record a message")
async def add_message(memory: WritableMemory, body: AddIn, written: DerivedKey) -> PlastmemAcceptedOut:
    """The message can be found by its words at once. It becomes part of an episode when its conversation moves on or
    pauses.
    """
    await _conversation(memory, body.conversation_id).observe_many([body.message.draft("message", written)])
    return PlastmemAcceptedOut(accepted=True)


@router.post("/api/v0/import_batch_messages", summary="Record a whole conversation")
async def import_batch_messages(
    memory: WritableMemory, working: Working, body: ImportIn, written: DerivedKey
) -> PlastmemAcceptedOut:
    """Record messages in their order, all or none, and end the conversation: all of it is formed into episodes, in the
    background.
    """
    conversation = _conversation(memory, body.conversation_id)
    drafts = [
        message.draft(f"messages.{place}", None if written is None else f"{written}:{place}")
        for place, message in enumerate(body.messages)
    ]
    name = f"conversation {body.conversation_id} of {memory.scope.workspace}"
    working.refuse_second(name)
    await conversation.observe_many(drafts)
    working.begin(name, _end(conversation))
    return PlastmemAcceptedOut(accepted=True)


@router.post("/api/v0/retrieve_memory", summary="Retrieve as markdown", response_class=MarkdownResponse)
async def retrieve_memory(memory: ReadableMemory, principal: Authenticated, body: RetrieveIn) -> MarkdownResponse:
    """Facts and episodes of the conversation that answer the query, as markdown. For keys that may write they are
    recorded as retrieved, which their review later takes into account.
    """
    found = await _retrieved(_conversation(memory, body.conversation_id), body)
    block = _RENDERER.hits(found.both, max_chars=MAX_BLOCK_CHARS, detail=body.detail)
    await _count(found.conversation, principal, block.hits, body.query)
    return MarkdownResponse(block.text)


@router.post("/api/v0/retrieve_memory/raw", summary="Retrieve as data")
async def retrieve_memory_raw(
    memory: ReadableMemory, principal: Authenticated, body: RetrieveIn
) -> PlastmemRetrievedOut:
    """The same facts and episodes with all their fields. Recorded in the same way."""
    found = await _retrieved(_conversation(memory, body.conversation_id), body)
    await _count(found.conversation, principal, found.both.hits, body.query)
    return PlastmemRetrievedOut.of(
        await _with_details(found.conversation, found.facts), await _with_details(found.conversation, found.episodes)
    )


@router.post("/api/v0/context_pre_retrieve", summary="Retrieve facts only", response_class=MarkdownResponse)
async def context_pre_retrieve(memory: ReadableMemory, body: FactsIn) -> MarkdownResponse:
    """Facts of the conversation that answer the query, as markdown. It has no side effect: nothing is recorded."""
    facts = await _facts(_conversation(memory, body.conversation_id), body)
    text = "" if facts is None else _RENDERER.hits(facts, max_chars=MAX_BLOCK_CHARS, detail=body.detail).text
    return MarkdownResponse(text)


@router.post("/api/v0/recent_memory", summary="List the last episodes as markdown", response_class=MarkdownResponse)
async def recent_memory(memory: ReadableMemory, body: RecentIn) -> MarkdownResponse:
    """The last episodes of the conversation, newest first, as markdown."""
    recent = await _recent(_conversation(memory, body.conversation_id), body)
    text = _RENDERER.recent(recent, now=memory.now, max_chars=MAX_BLOCK_CHARS)
    return MarkdownResponse(text or NOTHING_RECENT)


@router.post("/api/v0/recent_memory/raw", summary="List the last episodes as data", response_model_exclude_unset=True)
async def recent_memory_raw(memory: ReadableMemory, body: RecentIn) -> list[PlastmemEpisodeOut]:
    """The same episodes with all their fields except a score."""
    conversation = _conversation(memory, body.conversation_id)
    recent = await _recent(conversation, body)
    return [PlastmemEpisodeOut.of(await conversation.show(one.id)) for one in recent]


@dataclass(frozen=True, slots=True)
class _Found:
    """The hits of a request. `both`: an answer with the hits of facts, followed by those of episodes."""

    conversation: AsyncRemembrancer
    both: Recall
    facts: Sequence[Hit]
    episodes: Sequence[Hit]


def _conversation(memory: AsyncRemembrancer, conversation_id: UUID) -> AsyncRemembrancer:
    return memory.scoped(session=str(conversation_id))


async def _retrieved(conversation: AsyncRemembrancer, body: RetrieveIn) -> _Found:
    facts = await _facts(conversation, body)
    episodes = await _ask(conversation, body.query, _EPISODIC, None, min(body.episodic_limit, MAX_LIMIT))
    answers = [one for one in (facts, episodes) if one is not None]
    if not answers:
        raise InvalidInput("episodic_limit", 0, "1 or more, where no facts are asked for")
    of_facts = () if facts is None else facts.hits
    of_episodes = () if episodes is None else episodes.hits
    both = replace(answers[0], hits=(*of_facts, *of_episodes))
    return _Found(conversation, both, of_facts, of_episodes)


async def _facts(conversation: AsyncRemembrancer, body: FactsIn) -> Recall | None:
    limit = body.semantic_limit if 0 < body.semantic_limit <= SEMANTIC_MOST else SEMANTIC_OTHERWISE
    return await _ask(conversation, body.query, (Tier.SEMANTIC,), body.category, limit)


async def _ask(
    conversation: AsyncRemembrancer, query: str, tiers: Iterable[Tier], category: Category | None, limit: int
) -> Recall | None:
    """The hits of this conversation, at most `limit`; None if `limit` is 0."""
    if limit == 0:
        validation.text("query", query)
        return None
    return await conversation.recall(
        query,
        limit=min(limit, conversation.presets.in_use.limits.most),
        tiers=tiers,
        kinds=None if category is None else [category.value],
        session=conversation.scope.session,
        reach=Reach.SESSION,
        mark=False,
    )


async def _recent(conversation: AsyncRemembrancer, body: RecentIn) -> tuple[Memory, ...]:
    since = None if body.days_limit is None else conversation.now - timedelta(days=body.days_limit)
    page = await conversation.memories(
        limit=max(1, min(body.limit, 100)),
        # If episodes are formed, turns outside of any episode belong to the current conversation, which the caller
        # knows.
        kinds=None if conversation.presets.in_use.segmentation is None else [EPISODE],
        tiers=_EPISODIC,
        session=conversation.scope.session,
        since=since,
    )
    return page.memories


async def _count(conversation: AsyncRemembrancer, principal: Principal, hits: Iterable[Hit], query: str) -> None:
    """Record the hits as retrieved, unless the key may only read."""
    if not principal.right.allows(Right.WRITE):
        return
    try:
        await conversation.mark(hits, Exposure.RETRIEVED, query=query)
    except (
        NotFound
    ):  # One of the memories was erased after it was found. The answer still has it, but it is no longer counted.
        return


async def _with_details(conversation: AsyncRemembrancer, hits: Iterable[Hit]) -> list[tuple[Hit, MemoryDetails]]:
    return [(hit, await conversation.show(hit.id)) for hit in hits]


async def _end(conversation: AsyncRemembrancer) -> None:
    """End the conversation. If a part fails, the worker's sweeps do it later."""
    try:
        await conversation.end_session()
    except RemembrancerError as error:
        _log.warning("an imported conversation was not formed into episodes: %s", error.code)


def _moment(argument: str, milliseconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        raise InvalidInput(argument, milliseconds, "milliseconds since 1970, in the years 1 to 9999") from None
