"""Contract of stream tails: the events of each stream that are in no episode yet."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import NAMESPACE_OID, uuid5

import pytest

from remembrancer.domain.effect import Effect
from remembrancer.domain.event import Priority
from remembrancer.domain.journal import ListingPosition
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.domain.stream import ConversationSummary, Cursor, Tail
from remembrancer.ports.journal import Aged, Entry
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, the_tail
from remembrancer.testing.doubles import NOW, SCOPE, an_event

ACME: Final = Scope(workspace="acme")
NEVER: Final = NOW - timedelta(days=99)
MONDAY, TUESDAY = (replace(SCOPE, session=day) for day in ("monday", "tuesday"))


async def say(store: Store, stream: Scope, *minutes: int, kind: str = "message", actor: str | None = None) -> None:
    """Record an event at each of these minutes after `NOW`, recorded half a minute later."""
    events = [
        replace(
            an_event(
                f"{stream.session} {minute}",
                event_id=uuid5(NAMESPACE_OID, f"{stream} {minute}"),
                scope=stream,
                at=NOW + timedelta(minutes=minute),
            ),
            recorded_at=NOW + timedelta(minutes=minute, seconds=30),
            type=kind,
            actor=actor,
        )
        for minute in minutes
    ]
    await store.append(stream, [Entry(event) for event in events])


async def read(store: Store, stream: Scope, to: int, *, expected: int = 0) -> None:
    await store.commit(stream, Effect(cursor=Cursor(stream=stream, expected=expected, to=to)), at=NOW)


async def archive(store: Store, kind: str) -> int:
    aged = Aged(types=frozenset({kind}), keep=frozenset({Priority.PIN}), before=NOW + timedelta(days=1))
    return await store.archive(ACME, aged, at=NOW, limit=99)


async def due(
    store: Store, *, at_least: int = 1, silent_since: datetime = NEVER, limit: int = 99, after: Scope | None = None
) -> list[Scope]:
    found = await store.tails(ACME, at_least=at_least, silent_since=silent_since, limit=limit, after=after)
    return [tail.stream for tail in found]


class TailContract(StoreSuite):
    async def test_a_conversation_tells_its_turns_its_times_and_who_took_part(self, store: Store) -> None:
        await say(store, MONDAY, 1, 2, 3, actor="Ana")
        await say(store, MONDAY, 9)
        [found] = await store.conversations(Reader(ACME), limit=9)
        first, *_, last = await store.stream_events(MONDAY, after=0, limit=9)
        assert found == ConversationSummary(
            stream=MONDAY,
            turns=4,
            first=ListingPosition.of(first),
            last=ListingPosition.of(last),
            speakers={"Ana": 3, "user": 1},
        )

    async def test_conversations_come_newest_first_a_page_at_a_time(self, store: Store) -> None:
        wednesday = replace(SCOPE, session="wednesday")
        for stream, minute in ((MONDAY, 5), (TUESDAY, 1), (wednesday, 3)):
            await say(store, stream, minute)
        first = await store.conversations(Reader(ACME), limit=2)
        rest = await store.conversations(Reader(ACME), limit=2, after=first[-1].last)
        assert [[one.stream for one in page] for page in (first, rest)] == [[MONDAY, wednesday], [TUESDAY]]

    async def test_one_conversation_is_found_by_its_stream(self, store: Store) -> None:
        await say(store, MONDAY, 1)
        await say(store, TUESDAY, 2)
        found = await store.conversations(Reader(ACME), limit=9, stream=MONDAY)
        assert [one.stream for one in found] == [MONDAY]

    async def test_a_conversation_whose_turns_all_left_the_journal_is_not_listed(self, store: Store) -> None:
        await say(store, MONDAY, 1, kind="network.ping")
        await archive(store, "network.ping")
        assert await store.conversations(Reader(ACME), limit=9) == ()

    async def test_a_reader_finds_no_conversation_beyond_its_reach(self, store: Store) -> None:
        theirs = replace(MONDAY, agent="somebody-else")
        await say(store, MONDAY, 1)
        await say(store, theirs, 2)
        reader = Reader(replace(SCOPE, session=None), Reach.OWN)
        assert [one.stream for one in await store.conversations(reader, limit=9)] == [MONDAY]
        assert await store.conversations(reader, limit=9, stream=theirs) == ()

    async def test_a_stream_without_a_cursor_is_all_tail(self, store: Store) -> None:
        await say(store, MONDAY, 0, 5, 9)
        assert await store.tail(MONDAY) == Tail(
            stream=MONDAY,
            cursor=0,
            last_seq=3,
            events=3,
            first_at=NOW,
            last_at=NOW + timedelta(minutes=9),
            recorded_at=NOW + timedelta(minutes=9, seconds=30),
        )

    async def test_turns_before_the_cursor_are_no_tail(self, store: Store) -> None:
        await say(store, MONDAY, 0, 5, 9)
        await read(store, MONDAY, 2)
        assert await store.tail(MONDAY) == Tail(
            stream=MONDAY,
            cursor=2,
            last_seq=3,
            events=1,
            first_at=NOW + timedelta(minutes=9),
            last_at=NOW + timedelta(minutes=9),
            recorded_at=NOW + timedelta(minutes=9, seconds=30),
        )

    async def test_a_stream_read_to_its_end_has_no_tail(self, store: Store) -> None:
        await say(store, MONDAY, 0, 5)
        await read(store, MONDAY, 2)
        assert (await store.tail(MONDAY), await due(store)) == (None, [])

    async def test_a_stream_that_continues_has_a_tail_again(self, store: Store) -> None:
        await say(store, MONDAY, 0)
        await read(store, MONDAY, 1)
        await say(store, MONDAY, 5)
        tail = await the_tail(store, MONDAY)
        assert (tail.cursor, tail.events, tail.first_at) == (1, 1, NOW + timedelta(minutes=5))

    async def test_a_stream_that_is_not_there_has_no_tail(self, store: Store) -> None:
        await say(store, MONDAY, 0)
        assert await store.tail(TUESDAY) is None

    async def test_a_wider_scope_is_another_stream(self, store: Store) -> None:
        await say(store, MONDAY, 0)
        assert await store.tail(replace(MONDAY, session=None)) is None

    async def test_the_tail_of_a_list_is_that_of_its_stream(self, store: Store) -> None:
        await say(store, MONDAY, 0, 5)
        note = Cursor(stream=MONDAY, expected=0, to=1, note={"topic": ["birds", 1.5, None]})
        await store.commit(ACME, Effect(cursor=note), at=NOW)
        (listed,) = await store.tails(ACME, at_least=1, silent_since=NEVER, limit=9)
        assert listed == await store.tail(MONDAY)
        assert listed.note == note.note

    async def test_a_stream_is_due_with_so_many_events(self, store: Store) -> None:
        await say(store, MONDAY, 0, 1, 2)
        await say(store, TUESDAY, 0, 1)
        assert await due(store, at_least=3) == [MONDAY]
        assert await due(store, at_least=2) == [MONDAY, TUESDAY]
        await read(store, MONDAY, 2)
        assert await due(store, at_least=2) == [TUESDAY]

    async def test_a_silent_stream_is_due_with_any(self, store: Store) -> None:
        await say(store, MONDAY, 0, 5)
        last = NOW + timedelta(minutes=5, seconds=30)
        assert await due(store, at_least=99, silent_since=last - timedelta(microseconds=1)) == []
        assert await due(store, at_least=99, silent_since=last) == [MONDAY]

    async def test_the_time_of_recording_counts_and_not_the_time_of_the_event(self, store: Store) -> None:
        told_late = replace(an_event("long ago", scope=MONDAY, at=NEVER), recorded_at=NOW)
        await store.append(MONDAY, [Entry(told_late)])
        assert await due(store, at_least=99, silent_since=NOW - timedelta(seconds=1)) == []

    async def test_a_silent_stream_that_was_read_is_not_due(self, store: Store) -> None:
        await say(store, MONDAY, 0, 5)
        await read(store, MONDAY, 2)
        assert await due(store, at_least=99, silent_since=NOW + timedelta(days=9)) == []

    async def test_streams_come_in_the_order_of_their_scopes(self, store: Store) -> None:
        streams = [
            ACME,
            Scope(workspace="acme", session="z"),
            Scope(workspace="acme", agent="ana"),
            Scope(workspace="acme", agent="bob"),
            Scope(workspace="acme", crew="a", agent="ana", session="ü"),
            Scope(workspace="acme", crew="a", agent="ana", session="三"),
            Scope(workspace="acme", crew="a", agent="ana", session="🚀"),
            Scope(workspace="acme", project="p"),
        ]
        for stream in reversed(streams):
            await say(store, stream, 0)
        assert await due(store) == streams

    @pytest.mark.parametrize("size", [1, 2, 3])
    async def test_a_list_continues_after_the_last_stream_of_the_previous_one(self, store: Store, size: int) -> None:
        streams = [replace(SCOPE, session=f"s{number}") for number in range(5)]
        for stream in streams:
            await say(store, stream, 0)
        found: list[Scope] = []
        while pages := await due(store, limit=size, after=found[-1] if found else None):
            assert len(pages) <= size
            found += pages
        assert found == streams

    async def test_a_list_continues_after_a_stream_that_has_been_read_since(self, store: Store) -> None:
        await say(store, MONDAY, 0)
        await say(store, TUESDAY, 0)
        await read(store, MONDAY, 1)
        assert await due(store, after=MONDAY) == [TUESDAY]

    async def test_archived_events_do_not_count(self, store: Store) -> None:
        await say(store, MONDAY, 0, 1)
        await say(store, MONDAY, 2, 3, 4, kind="network.probe")
        assert await archive(store, "network.*") == 3
        assert await store.tail(MONDAY) == Tail(
            stream=MONDAY,
            cursor=0,
            last_seq=2,
            events=2,
            first_at=NOW,
            last_at=NOW + timedelta(minutes=1),
            recorded_at=NOW + timedelta(minutes=1, seconds=30),
        )
        assert await due(store, at_least=3) == []

    async def test_a_stream_of_which_all_is_archived_has_no_tail(self, store: Store) -> None:
        await say(store, MONDAY, 0, 1)
        await archive(store, "message")
        assert (await store.tail(MONDAY), await due(store, silent_since=NOW + timedelta(days=9))) == (None, [])

    async def test_the_cursor_skips_archived_events(self, store: Store) -> None:
        await say(store, MONDAY, 0)
        await say(store, MONDAY, 1, kind="network.probe")
        await archive(store, "network.*")
        await read(store, MONDAY, 2)
        await say(store, MONDAY, 5)
        tail = await the_tail(store, MONDAY)
        assert (tail.cursor, tail.last_seq, tail.events) == (2, 3, 1)

    async def test_a_stream_s_events_come_in_its_order_whenever_they_happened(self, store: Store) -> None:
        await say(store, MONDAY, 9, 0, 5)
        events = await store.stream_events(MONDAY, after=0, limit=9)
        assert [(event.seq, event.text) for event in events] == [(1, "monday 9"), (2, "monday 0"), (3, "monday 5")]

    async def test_they_begin_behind_a_place(self, store: Store) -> None:
        await say(store, MONDAY, 0, 1, 2, 3)
        assert [event.seq for event in await store.stream_events(MONDAY, after=2, limit=9)] == [3, 4]

    async def test_there_are_no_more_than_were_requested(self, store: Store) -> None:
        await say(store, MONDAY, 0, 1, 2, 3)
        assert [event.seq for event in await store.stream_events(MONDAY, after=1, limit=2)] == [2, 3]

    async def test_other_streams_have_no_part_in_them(self, store: Store) -> None:
        await say(store, MONDAY, 0)
        for stream in (TUESDAY, replace(MONDAY, session=None), replace(MONDAY, crew=None)):
            await say(store, stream, 1)
        assert [event.scope for event in await store.stream_events(MONDAY, after=0, limit=9)] == [MONDAY]

    async def test_a_tail_leaves_out_archived_events(self, store: Store) -> None:
        await say(store, MONDAY, 0)
        await say(store, MONDAY, 1, kind="network.probe")
        await say(store, MONDAY, 2)
        await archive(store, "network.*")
        assert [event.seq for event in await store.stream_events(MONDAY, after=0, limit=9)] == [1, 3]
