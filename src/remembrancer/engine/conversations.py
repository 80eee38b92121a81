"""Conversations: a list of them, and the turns around one turn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from remembrancer.domain.event import Event
from remembrancer.domain.journal import ListingPosition
from remembrancer.domain.memory import Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.stream import ConversationSummary
from remembrancer.engine.context import Context
from remembrancer.engine.journal import event as event_of
from remembrancer.errors import NotFound
from remembrancer.policies.admission.formation import memory_id_of
from remembrancer.policies.rendering.conversation_title import derived_title, is_readable
from remembrancer.policies.segmentation.segmentation import EPISODE
from remembrancer.values import dataclass

IMPORTED_TITLE: Final = "conversation"
"""The key of an event's payload under which importers keep the conversation's title."""
MOST_EPISODES: Final = 50
"""The most episodes that are read of one conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TitledConversation:
    """A conversation and its title: the session's name if people can read it; else the title in the service that it
    was imported from; else that of its first episode; else its day and who spoke. None outside of sessions.
    """

    summary: ConversationSummary
    title: str | None

    @property
    def name(self) -> str:
        """The title, or the name of the session."""
        return self.title or self.summary.stream.session or "Outside of sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPage:
    """Conversations, newest first, and the cursor of the next page; None on the last page."""

    conversations: tuple[TitledConversation, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationExcerpt:
    """The turns around one turn of a conversation, in the order of recording.

    `turn`: the one that was asked for. `memories`: the memory formed from each turn, by the turn's id, whatever its
    status. `episodes`: the current ones, oldest first, at most MOST_EPISODES. `earlier`, `later`: whether the
    conversation has turns before the first and after the last of `turns`.
    """

    conversation: TitledConversation
    turn: Event
    turns: tuple[Event, ...]
    memories: Mapping[UUID, Memory]
    episodes: tuple[Memory, ...]
    earlier: bool
    later: bool


async def page(ctx: Context, reader: Reader, *, limit: int, after: str | None) -> ConversationPage:
    """Up to `limit` conversations after a cursor, and the cursor of the next page."""
    place = None if after is None else ListingPosition.parse("after", after)
    found = await ctx.store.conversations(reader, limit=limit + 1, after=place)
    shown = [await titled(ctx, reader, one) for one in found[:limit]]
    more = len(found) > limit
    return ConversationPage(conversations=tuple(shown), next=shown[-1].summary.last.cursor if more else None)


async def around(ctx: Context, reader: Reader, event_id: UUID, *, before: int, after: int) -> ConversationExcerpt:
    """The turn with that id, with up to `before` turns before it and `after` turns after it. Raises NotFound.

    Who sees a turn sees its whole conversation, because all turns of a stream have one scope.
    """
    turn = await event_of(ctx, reader, event_id)
    told = await episodes(ctx, reader, turn.scope, limit=MOST_EPISODES)
    known = await _summary(ctx, reader, turn)
    start = turn.seq - before - 1
    found = await ctx.store.stream_events(turn.scope, after=max(start, 0), limit=before + 1 + after)
    turns = [*(one for one in found if one.seq < turn.seq), turn, *(one for one in found if one.seq > turn.seq)]
    turns = turns[: before + 1 + after]
    formed = await ctx.store.get(reader, [memory_id_of(one.id) for one in turns])
    return ConversationExcerpt(
        conversation=await titled(ctx, reader, known),
        turn=turn,
        turns=tuple(turns),
        memories={one.id: formed[memory_id_of(one.id)] for one in turns if memory_id_of(one.id) in formed},
        episodes=told,
        earlier=turns[0].seq > known.first.seq,
        later=turns[-1].seq < known.last.seq,
    )


async def episodes(ctx: Context, reader: Reader, stream: Scope, *, limit: int) -> tuple[Memory, ...]:
    """The current episodes of a conversation, oldest first."""
    if stream.session is None:
        return ()
    where = Filter(current_at=ctx.clock(), kinds=frozenset({EPISODE}), session=stream.session)
    found = await ctx.store.memories(reader, where, limit=limit, oldest_first=True)
    return tuple(one for one in found if one.scope == stream)


async def of_event(ctx: Context, reader: Reader, event_id: UUID) -> TitledConversation:
    """The conversation that an event was recorded in. Raises NotFound."""
    turn = await event_of(ctx, reader, event_id)
    return await titled(ctx, reader, await _summary(ctx, reader, turn))


async def _summary(ctx: Context, reader: Reader, turn: Event) -> ConversationSummary:
    for summary in await ctx.store.conversations(reader, limit=1, stream=turn.scope):
        return summary
    raise NotFound("conversation of event", turn.id)  # all of its turns are in the archive


async def titled(ctx: Context, reader: Reader, summary: ConversationSummary) -> TitledConversation:
    """The conversation with its title."""
    return TitledConversation(summary=summary, title=await _title(ctx, reader, summary))


async def titles(ctx: Context, reader: Reader, streams: Collection[Scope]) -> Mapping[Scope, str]:
    """The titles of conversations, by their streams. Streams outside of sessions, and those whose turns the reader does
    not see, are left out unless the session's name is a title.
    """
    found: dict[Scope, str] = {}
    for stream in {stream: None for stream in streams if stream.session is not None}:
        if is_readable(stream.session or ""):
            found[stream] = stream.session or ""
            continue
        for summary in await ctx.store.conversations(reader, limit=1, stream=stream):
            found[stream] = await _title(ctx, reader, summary) or ""
    return found


async def _title(ctx: Context, reader: Reader, summary: ConversationSummary) -> str | None:
    stream = summary.stream
    if stream.session is None or is_readable(stream.session):
        return stream.session
    for event in await ctx.store.stream_events(stream, after=summary.first.seq - 1, limit=1):
        imported = event.payload.get(IMPORTED_TITLE)
        if isinstance(imported, str) and imported.strip():
            return imported
    told = await episodes(ctx, reader, stream, limit=1)
    title = next((one.title for one in told if one.title), None)
    return title or derived_title(summary.first.occurred_at, summary.speakers)
