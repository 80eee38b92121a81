"""Contract of reading the journal: filters, words, pages, counts per day, and the order of recording."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.event import Event, Priority, Role, Severity
from remembrancer.domain.journal import ListingPosition, Recorded, RecordedPage
from remembrancer.domain.scope import Reach, Reader
from remembrancer.errors import InvalidInput
from remembrancer.language.lexical import every_word
from remembrancer.ports.journal import Aged, Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported
from remembrancer.testing.doubles import MATE, NOW, READER, SCOPE, a_memory, an_event, indexed

ANY: Final = EventFilter()
OLDEST_FIRST: Final = True
EVERYTHING_AGED: Final = Aged(types=frozenset({"*"}), keep=frozenset(), before=NOW + timedelta(days=1))


async def append(store: Store, *events: Event) -> None:
    await store.append(SCOPE, [Entry(event) for event in events])


async def texts(store: Store, where: EventFilter = ANY, reader: Reader = READER) -> list[str]:
    """The texts of the events, oldest first. Asserts that `count_events` gives their number."""
    listed = await store.events(reader, where, limit=100, oldest_first=True)
    assert await store.count_events(reader, where) == len(listed)
    return [event.text for event in listed]


def about(question: str, *, archived: bool = False) -> EventFilter:
    return EventFilter(words=every_word(question), archived=archived)


def turns(count: int, *, apart: timedelta = timedelta(minutes=1)) -> list[Event]:
    return [an_event(f"turn {n}", event_id=UUID(int=n + 1), at=NOW + n * apart) for n in range(count)]


class ReadingContract(StoreSuite):
    async def test_events_are_chosen_by_severity(self, store: Store) -> None:
        await append(store, *(replace(an_event(f"{severity}"), severity=severity) for severity in Severity))
        where = EventFilter(severities=frozenset({Severity.WARN, Severity.ERROR}))
        assert sorted(await texts(store, where)) == ["error", "warn"]

    async def test_events_are_chosen_by_the_usual_severity(self, store: Store) -> None:
        await append(store, *(replace(an_event(f"{severity}"), severity=severity) for severity in Severity))
        where = EventFilter(severities=frozenset({Severity.INFO, Severity.ERROR}))
        assert sorted(await texts(store, where)) == ["error", "info"]

    async def test_events_are_chosen_by_priority(self, store: Store) -> None:
        await append(store, *(replace(an_event(f"{priority}"), priority=priority) for priority in Priority))
        where = EventFilter(priorities=frozenset({Priority.PIN, Priority.PERMANENT}))
        assert sorted(await texts(store, where)) == ["permanent", "pin"]

    async def test_events_are_chosen_by_the_usual_priority(self, store: Store) -> None:
        await append(store, *(replace(an_event(f"{priority}"), priority=priority) for priority in Priority))
        assert await texts(store, EventFilter(priorities=frozenset({Priority.NORMAL}))) == ["normal"]

    async def test_events_are_chosen_by_role(self, store: Store) -> None:
        await append(store, *(replace(an_event(f"{role}"), role=role) for role in Role))
        assert sorted(await texts(store, EventFilter(roles=frozenset({Role.TOOL, Role.USER})))) == ["tool", "user"]

    async def test_events_are_chosen_by_actor(self, store: Store) -> None:
        await append(
            store, replace(an_event("hers"), actor="Ana"), replace(an_event("his"), actor="Bo"), an_event("it")
        )
        assert await texts(store, EventFilter(actor="Ana")) == ["hers"]

    async def test_events_are_chosen_by_the_actor_or_else_the_role_that_spoke(self, store: Store) -> None:
        hers, unnamed = replace(an_event("hers"), actor="Ana"), replace(an_event("its"), role=Role.ASSISTANT)
        await append(store, hers, unnamed, an_event("a user's"))
        found = [await texts(store, EventFilter(speaker=speaker)) for speaker in ("Ana", "assistant", "user")]
        assert found == [["hers"], ["its"], ["a user's"]]

    async def test_events_are_chosen_by_project_and_by_crew(self, store: Store) -> None:
        await append(
            store,
            an_event("web", scope=replace(SCOPE, project="web")),
            an_event("data", scope=replace(SCOPE, crew="data")),
            an_event("neither", scope=replace(SCOPE, crew=None)),
        )
        reader = Reader(replace(SCOPE, project="web"))
        assert await texts(store, EventFilter(project="web"), reader) == ["web"]
        assert await texts(store, EventFilter(crew="data")) == ["data"]

    async def test_events_are_chosen_by_any_of_several_crews_or_agents(self, store: Store) -> None:
        await append(
            store,
            an_event("data", scope=replace(SCOPE, crew="data")),
            an_event("bob", scope=MATE),
            an_event("neither", scope=replace(SCOPE, crew=None, agent=None)),
        )
        assert await texts(store, EventFilter(crews=frozenset({"data", "platform"}))) == ["data", "bob"]
        assert await texts(store, EventFilter(agents=frozenset({"bob", "eve"}))) == ["bob"]
        assert await texts(store, EventFilter(crews=frozenset())) == []

    async def test_all_that_is_asked_for_must_hold(self, store: Store) -> None:
        both = replace(an_event("both"), severity=Severity.ERROR, actor="Ana")
        await append(
            store, both, replace(an_event("loud"), severity=Severity.ERROR), replace(an_event("hers"), actor="Ana")
        )
        assert await texts(store, EventFilter(severities=frozenset({Severity.ERROR}), actor="Ana")) == ["both"]

    async def test_choosing_among_no_severity_finds_nothing(self, store: Store) -> None:
        await append(store, an_event())
        assert await texts(store, EventFilter(severities=frozenset())) == []

    async def test_a_filter_does_not_extend_the_readers_reach(self, store: Store) -> None:
        await append(store, an_event("mine"), an_event("theirs", scope=MATE))
        assert await texts(store, EventFilter(agent="bob"), Reader(SCOPE, Reach.OWN)) == []

    async def test_events_are_counted_by_the_day_in_utc_that_they_happened_on(self, store: Store) -> None:
        midnight = datetime(2026, 3, 4, tzinfo=UTC)
        at = (midnight, midnight - timedelta(microseconds=1), midnight + timedelta(hours=23))
        await append(store, *(an_event(event_id=UUID(int=n + 1), at=moment) for n, moment in enumerate(at)))
        days = await store.events_by_day(READER, ANY)
        assert list(days.items()) == [(date(2026, 3, 3), 1), (date(2026, 3, 4), 2)]

    async def test_days_before_1970_are_days_too(self, store: Store) -> None:
        midnight = datetime(1969, 12, 31, tzinfo=UTC)
        await append(store, an_event(at=midnight), an_event(event_id=UUID(int=9), at=midnight + timedelta(hours=23)))
        assert await store.events_by_day(READER, ANY) == {date(1969, 12, 31): 2}

    async def test_archived_events_count_for_their_day_on_request(self, store: Store) -> None:
        await append(store, an_event())
        await store.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=9)
        assert await store.events_by_day(READER, ANY) == {}
        assert await store.events_by_day(READER, EventFilter(archived=True)) == {NOW.date(): 1}

    async def test_days_count_events_that_match_the_filter_and_are_within_reach(self, store: Store) -> None:
        await append(store, an_event("mine"), an_event("theirs", scope=MATE))
        assert await store.events_by_day(Reader(SCOPE, Reach.OWN), ANY) == {NOW.date(): 1}
        assert await store.events_by_day(READER, EventFilter(agent="nobody")) == {}

    @pytest.mark.parametrize(
        ("question", "found"),
        [
            ("deploy", ["The deploy failed twice"]),
            ("FAILING deploys", ["The deploy failed twice"]),
            ("deploy checkout", []),
            ("the", ["The deploy failed twice"]),
            ("node-7", ["Checkout is slow"]),
            ("503", ["Checkout is slow"]),
            ("支付", ["支付失败了"]),
            ("付失", ["支付失败了"]),
            ("kestrel", []),
        ],
    )
    async def test_events_are_found_that_hold_every_word(self, store: Store, question: str, found: list[str]) -> None:
        slow = replace(an_event("Checkout is slow"), payload={"hosts": ["node-7", "node-8"], "status": 503})
        await append(store, an_event("The deploy failed twice"), slow, an_event("支付失败了"))
        assert await texts(store, about(question)) == found

    async def test_an_event_given_with_its_tokens_is_found_by_them(self, store: Store) -> None:
        await store.append(SCOPE, [Entry(an_event("said"), None, ("said", "kestrel"))])
        assert await texts(store, about("said")) == ["said"]

    async def test_a_word_in_any_of_its_forms_is_enough(self, store: Store) -> None:
        await append(store, an_event("owl"), an_event("kestrel"), an_event("heron"))
        where = EventFilter(words=(frozenset({"owl", "heron"}),))
        assert sorted(await texts(store, where)) == ["heron", "owl"]

    async def test_events_without_a_memory_are_found_too(self, store: Store) -> None:
        said = an_event("the deploy failed")
        await store.append(SCOPE, [Entry(said, indexed(a_memory(), event_ids=[said.id])), Entry(an_event("a deploy"))])
        assert sorted(await texts(store, about("deploy"))) == ["a deploy", "the deploy failed"]

    async def test_words_and_other_choices_hold_together(self, store: Store) -> None:
        await append(store, replace(an_event("a loud owl"), severity=Severity.ERROR), an_event("an owl"))
        where = replace(about("owl"), severities=frozenset({Severity.ERROR}))
        assert await texts(store, where) == ["a loud owl"]

    async def test_a_refused_batch_leaves_no_words(self, store: Store) -> None:
        await append(store, an_event("an owl", event_id=UUID(int=1)))
        with pytest.raises(InvalidInput):
            await append(store, an_event("an owl again"), an_event("x", scope=replace(SCOPE, workspace="rival")))
        assert await texts(store, about("owl")) == ["an owl"]

    async def test_archived_events_are_found_by_their_shortened_text(self, store: Store) -> None:
        await append(store, an_event(f"an owl {'x ' * 400} a kestrel"))
        await store.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=9)
        asked = [about("owl"), about("owl", archived=True), about("kestrel", archived=True)]
        assert [await store.count_events(READER, where) for where in asked] == [0, 1, 0]

    async def test_events_restored_from_the_archive_are_found_by_their_whole_text(self, store: Store) -> None:
        await append(store, an_event(f"an owl {'x ' * 400} a kestrel"))
        rows = await exported(store)
        await store.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=9)
        await store.import_rows(SCOPE, rows)
        asked = [about("kestrel"), about("owl", archived=True)]
        assert [await store.count_events(READER, where) for where in asked] == [1, 1]

    async def test_imported_events_are_found_by_their_words(self, store: Store) -> None:
        async with self.another_store() as source:
            await append(source, an_event("an owl"))
            await store.import_rows(SCOPE, await exported(source))
        assert await texts(store, about("owls")) == ["an owl"]

    async def pages(self, store: Store, where: EventFilter, *, size: int, oldest_first: bool) -> list[list[str]]:
        found: list[list[str]] = []
        after: ListingPosition | None = None
        while page := await store.events(READER, where, limit=size, oldest_first=oldest_first, after=after):
            found.append([event.text for event in page])
            after = ListingPosition.of(page[-1])
        return found

    @pytest.mark.parametrize("oldest_first", [True, False])
    @pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
    async def test_pages_together_are_the_whole_listing(self, store: Store, size: int, oldest_first: bool) -> None:
        twins = [an_event(f"twin {n}", scope=replace(SCOPE, session=f"s{n}"), at=NOW) for n in range(4)]
        await append(store, *turns(4), *twins)
        whole = await store.events(READER, ANY, limit=100, oldest_first=oldest_first)
        pages = await self.pages(store, ANY, size=size, oldest_first=oldest_first)
        assert [text for page in pages for text in page] == [event.text for event in whole]
        assert all(len(page) == size for page in pages[:-1])

    async def test_events_recorded_between_pages_do_not_shift_them(self, store: Store) -> None:
        await append(store, *turns(4))
        first = await store.events(READER, ANY, limit=2)
        await append(store, an_event("the newest", at=NOW + timedelta(days=1)))
        second = await store.events(READER, ANY, limit=2, after=ListingPosition.of(first[-1]))
        assert [event.text for event in second] == ["turn 1", "turn 0"]

    async def test_a_page_continues_after_an_entry_that_was_removed(self, store: Store) -> None:
        await append(store, *turns(4))
        first = await store.events(READER, ANY, limit=2, oldest_first=OLDEST_FIRST)
        await store.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=2)
        second = await store.events(
            READER, ANY, limit=9, oldest_first=OLDEST_FIRST, after=ListingPosition.of(first[-1])
        )
        assert [event.text for event in second] == ["turn 2", "turn 3"]

    async def test_pages_go_through_the_archive_too(self, store: Store) -> None:
        await append(store, *turns(5))
        await store.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=3)
        pages = await self.pages(store, EventFilter(archived=True), size=2, oldest_first=False)
        assert pages == [["turn 4", "turn 3"], ["turn 2", "turn 1"], ["turn 0"]]

    async def test_a_page_has_only_matching_events_and_is_full(self, store: Store) -> None:
        await append(store, *(replace(event, type=f"type-{n % 2}") for n, event in enumerate(turns(8))))
        pages = await self.pages(store, EventFilter(types=frozenset({"type-1"})), size=2, oldest_first=True)
        assert pages == [["turn 1", "turn 3"], ["turn 5", "turn 7"]]

    async def since(self, store: Store, after: int | None, where: EventFilter = ANY, *, limit: int = 9) -> list[str]:
        page = await store.recorded(READER, where, after=after, limit=limit)
        return [one.event.text for one in page.entries]

    async def test_nothing_recorded_is_the_position_0(self, store: Store) -> None:
        for after in (None, 0):
            assert await store.recorded(READER, ANY, after=after, limit=9) == RecordedPage((), 0)

    async def test_positions_follow_the_order_of_recording(self, store: Store) -> None:
        events = turns(3)
        await append(store, *events)
        page = await store.recorded(READER, ANY, after=0, limit=9)
        recorded = [Recorded(n, replace(event, seq=n)) for n, event in enumerate(events, start=1)]
        assert page == RecordedPage(tuple(recorded), 3)

    async def test_entries_come_in_the_order_of_recording_whenever_they_happened(self, store: Store) -> None:
        await append(store, an_event("new", at=NOW), an_event("old", at=NOW - timedelta(days=9)))
        assert await self.since(store, 0) == ["new", "old"]

    async def test_recorded_entries_continue_after_the_last_position(self, store: Store) -> None:
        await append(store, *turns(5))
        first = await store.recorded(READER, ANY, after=0, limit=2)
        second = await store.recorded(READER, ANY, after=first.position, limit=2)
        assert [one.event.text for one in (*first.entries, *second.entries)] == [f"turn {n}" for n in range(4)]
        assert (first.position, second.position) == (2, 4)

    async def test_the_latest_events_come_in_their_order_too(self, store: Store) -> None:
        await append(store, *turns(5))
        assert await self.since(store, None, limit=2) == ["turn 3", "turn 4"]

    async def test_a_limit_of_0_returns_the_end_of_the_journal(self, store: Store) -> None:
        await append(store, *turns(5))
        assert await store.recorded(READER, ANY, limit=0) == RecordedPage((), 5)
        assert await store.recorded(READER, ANY, after=2, limit=0) == RecordedPage((), 2)

    async def test_recorded_entries_skip_filtered_ones(self, store: Store) -> None:
        await append(store, *turns(3), an_event("theirs", scope=MATE))
        assert await store.recorded(READER, EventFilter(agent="bob"), after=4, limit=9) == RecordedPage((), 4)
        assert await store.recorded(READER, EventFilter(agent="carl"), after=1, limit=9) == RecordedPage((), 4)

    async def test_recorded_entries_are_filtered_by_words(self, store: Store) -> None:
        await append(store, an_event("an owl"), an_event("a kestrel"), an_event("two owls"))
        assert await self.since(store, 0, about("owl")) == ["an owl", "two owls"]

    async def test_events_out_of_reach_are_left_out(self, store: Store) -> None:
        await append(store, an_event("mine"), an_event("theirs", scope=MATE))
        page = await store.recorded(Reader(SCOPE, Reach.OWN), ANY, after=0, limit=9)
        assert [one.event.text for one in page.entries] == ["mine"]

    async def test_a_key_recorded_again_takes_no_position(self, store: Store) -> None:
        for _ in range(2):
            await append(store, an_event("said", key="k"))
        assert (await store.recorded(READER, ANY, limit=9)).position == 1

    async def test_a_refused_batch_takes_no_position(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            await append(store, an_event("fine"), an_event("x", scope=replace(SCOPE, workspace="rival")))
        await append(store, an_event("next"))
        assert (await store.recorded(READER, ANY, limit=9)).position == 1

    async def test_positions_are_not_given_again(self, store: Store) -> None:
        await append(store, *turns(3))
        await store.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=9)
        await append(store, an_event("next"))
        page = await store.recorded(READER, ANY, after=3, limit=9)
        assert [(one.position, one.event.text) for one in page.entries] == [(4, "next")]

    async def test_archived_events_are_left_out(self, store: Store) -> None:
        await append(store, *turns(3))
        await store.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=2)
        assert await self.since(store, 0, EventFilter(archived=True)) == ["turn 2"]

    async def test_imported_events_are_recorded_when_they_are_imported(self, store: Store) -> None:
        await append(store, an_event("here"))
        async with self.another_store() as source:
            await append(source, an_event("from elsewhere", at=NOW - timedelta(days=9), key="k"))
            await store.import_rows(SCOPE, await exported(source))
        assert await self.since(store, 1) == ["from elsewhere"]

    @pytest.mark.parametrize("after", [-1, 4])
    async def test_a_position_that_was_never_given_is_refused(self, store: Store, after: int) -> None:
        await append(store, *turns(3))
        with pytest.raises(InvalidInput, match="after"):
            await store.recorded(READER, ANY, after=after, limit=9)
