"""The journal read through the engine: pages, one entry, an endless tail, and priorities set by operators."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.event import EventDraft, Priority, Role, Severity
from remembrancer.domain.journal import Recorded
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Caller
from remembrancer.engine.journal import AT_ONCE, EventFilters, event, filter_of, page, set_priority, tail
from remembrancer.engine.record import observe
from remembrancer.engine.retain import retain
from remembrancer.errors import InvalidInput, NotFound, PermissionDenied
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.store import Store
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.spec import AccessPolicy
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, SCOPE, FixedClock

READER: Final = Reader(SCOPE)
LEAD: Final = Caller(scope=SCOPE, role="LEAD")
ANY: Final = EventFilter()

Make = Callable[[], Store]


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Make:
    return STORES[request.param]


def said(*texts: str, **given: Any) -> list[EventDraft]:
    return [EventDraft(text=text, **given) for text in texts]


class TestAPage:
    def test_names_the_cursor_of_the_next_page(self, make: Make) -> None:
        async def read(store: Store) -> list[list[str]]:
            ctx = a_context(store, DEFAULT)
            await observe(ctx, SCOPE, said("one", "two", "three"))
            pages: list[list[str]] = []
            after: str | None = None
            while not pages or after is not None:
                found = await page(ctx, READER, ANY, limit=2, oldest_first=True, after=after)
                pages.append([one.text for one in found.events])
                after = found.next
            return pages

        assert over(make, read) == [["one", "two"], ["three"]]

    def test_that_is_full_and_the_last_has_no_next(self, make: Make) -> None:
        async def read(store: Store) -> str | None:
            ctx = a_context(store, DEFAULT)
            await observe(ctx, SCOPE, said("one", "two"))
            return (await page(ctx, READER, ANY, limit=2, oldest_first=False, after=None)).next

        assert over(make, read) is None

    def test_of_a_cursor_that_is_none_is_refused(self, make: Make) -> None:
        with pytest.raises(InvalidInput, match=r"^after: "):
            over(
                make, lambda store: page(a_context(store, DEFAULT), READER, ANY, limit=2, oldest_first=True, after="x")
            )


class TestAnEntry:
    def test_is_found_in_the_archive_too(self, make: Make) -> None:
        async def read(store: Store) -> tuple[int, str]:
            clock = FixedClock()
            ctx = a_context(store, CREWSHIP, clock=clock)
            (one,) = await observe(ctx, SCOPE, said("x" * 500, type="exec.output_chunk"))
            clock.advance(timedelta(days=400))
            archived = (await retain(ctx, SCOPE)).archived
            return archived, (await event(ctx, READER, one.event.id)).text

        assert over(make, read) == (1, "x" * 400)

    def test_that_is_not_there_is_not_found(self, make: Make) -> None:
        with pytest.raises(NotFound, match="no event"):
            over(make, lambda store: event(a_context(store, DEFAULT), READER, UUID(int=404)))


class Poll:
    """Awaited when there is no new entry: runs the next of the given actions, and stops after the last."""

    def __init__(self, *meanwhile: Callable[[], Any]) -> None:
        self.waited = 0
        self._meanwhile = iter(meanwhile)

    async def __call__(self) -> None:
        self.waited += 1
        following = next(self._meanwhile, None)
        if following is None:
            raise KeyboardInterrupt
        await following()


async def until_interrupted(entries: AsyncGenerator[Recorded, None]) -> list[str]:
    texts: list[str] = []
    try:
        async for one in entries:
            texts.append(one.event.text)
    except KeyboardInterrupt:
        pass
    return texts


class TestATail:
    def test_yields_entries_recorded_from_now_on(self, make: Make) -> None:
        async def follow(store: Store) -> tuple[list[str], int]:
            ctx = a_context(store, DEFAULT)
            await observe(ctx, SCOPE, said("before"))
            pause = Poll(
                lambda: observe(ctx, SCOPE, said("one", "two")),
                lambda: observe(ctx, SCOPE, []),
                lambda: observe(ctx, SCOPE, said("long ago", occurred_at=NOW - timedelta(days=9))),
            )
            return await until_interrupted(tail(ctx, READER, ANY, after=None, pause=pause)), pause.waited

        assert over(make, follow) == (["one", "two", "long ago"], 4)

    def test_continues_from_a_position(self, make: Make) -> None:
        async def follow(store: Store) -> list[str]:
            ctx = a_context(store, DEFAULT)
            await observe(ctx, SCOPE, said("one", "two", "three"))
            return await until_interrupted(tail(ctx, READER, ANY, after=1, pause=Poll()))

        assert over(make, follow) == ["two", "three"]

    def test_misses_none_of_very_many(self, make: Make) -> None:
        many = [f"turn {n}" for n in range(AT_ONCE + 1)]

        async def follow(store: Store) -> tuple[list[str], int]:
            ctx = a_context(store, CREWSHIP)
            await observe(ctx, SCOPE, said(*many))
            pause = Poll()
            return await until_interrupted(tail(ctx, READER, ANY, after=0, pause=pause)), pause.waited

        assert over(make, follow) == (many, 1)

    def test_yields_only_matching_entries(self, make: Make) -> None:
        async def follow(store: Store) -> list[str]:
            ctx = a_context(store, DEFAULT)
            where = filter_of({"severities": ["error"]})
            pause = Poll(
                lambda: observe(ctx, SCOPE, said("fine")), lambda: observe(ctx, SCOPE, said("bad", severity="error"))
            )
            return await until_interrupted(tail(ctx, READER, where, after=None, pause=pause))

        assert over(make, follow) == ["bad"]


class TestAMark:
    @pytest.mark.parametrize(("priority", "floor"), [("pin", 0.80), ("high", 0.85), ("permanent", 0.95)])
    def test_raises_the_memory_of_the_event_to_its_importance_floor(
        self, make: Make, priority: str, floor: float
    ) -> None:
        async def mark(store: Store) -> tuple[float, float]:
            ctx = a_context(store, CREWSHIP)
            (one,) = await observe(ctx, SCOPE, said("all is well", type="summary.generated"))
            await set_priority(ctx, LEAD, READER, one.event.id, Priority(priority), reason="")
            (memory,) = [row for row in await exported(store) if row["record"] == "memory"]
            return float(str(memory["importance"])), float(str(memory["importance_floor"]))

        assert over(make, mark) == (floor, floor)

    def test_taken_back_leaves_the_memory_as_it_began(self, make: Make) -> None:
        async def mark(store: Store) -> bool:
            ctx = a_context(store, CREWSHIP)
            (one,) = await observe(ctx, SCOPE, said("all is well", type="summary.generated"))
            before = [row for row in await exported(store) if row["record"] not in {"priority", "state"}]
            for priority in (Priority.PIN, Priority.PERMANENT, Priority.NORMAL):
                await set_priority(ctx, LEAD, READER, one.event.id, priority, reason="")
            return [row for row in await exported(store) if row["record"] not in {"priority", "state"}] == before

        assert over(make, mark)

    def test_records_who_set_it_when_and_why(self, make: Make) -> None:
        async def mark(store: Store) -> list[tuple[str, str, bool]]:
            ctx = a_context(store, CREWSHIP)
            (one,) = await observe(ctx, SCOPE, said("all is well"))
            nobody = Caller(scope=replace(SCOPE, agent=None), role="LEAD")
            await set_priority(ctx, LEAD, READER, one.event.id, Priority.PIN, reason="post-mortem")
            await set_priority(ctx, nobody, READER, one.event.id, Priority.HIGH, reason="")
            changes = await store.priority_changes(READER, one.event.id)
            return sorted((change.by, change.reason, change.at == NOW) for change in changes)

        assert over(make, mark) == [("LEAD", "", True), ("LEAD ana", "post-mortem", True)]

    def test_by_a_role_that_is_no_operator_s_is_denied_and_changes_nothing(self, make: Make) -> None:
        async def mark(store: Store) -> bool:
            ctx = a_context(store, CREWSHIP)
            (one,) = await observe(ctx, SCOPE, said("all is well"))
            before = await exported(store)
            with pytest.raises(PermissionDenied, match="only LEAD may change a priority, not AGENT"):
                await set_priority(
                    ctx, Caller(scope=SCOPE, role="AGENT"), READER, one.event.id, Priority.PIN, reason=""
                )
            return await exported(store) == before

        assert over(make, mark)

    def test_is_for_those_that_the_preset_names(self, make: Make) -> None:
        async def mark(store: Store) -> Priority:
            ctx = a_context(store, replace(CREWSHIP, access_policy=AccessPolicy(operators=("AGENT",))))
            (one,) = await observe(ctx, SCOPE, said("all is well"))
            agent = Caller(scope=SCOPE, role="AGENT")
            return (await set_priority(ctx, agent, READER, one.event.id, Priority.PIN, reason="")).priority

        assert over(make, mark) is Priority.PIN


class TestWhatIsChosen:
    def test_is_validated_and_passed_to_the_store(self) -> None:
        chosen: EventFilters = {
            "project": "web",
            "crew": "platform",
            "agent": "ana",
            "session": "monday",
            "crews": ["platform", "data"],
            "agents": ["ana"],
            "types": ["tool.call"],
            "without_types": ["network.probe"],
            "severities": ["warn"],
            "priorities": [Priority.PIN],
            "roles": ["tool"],
            "actor": "Ana",
            "query": "deploys",
            "since": NOW,
            "until": NOW + timedelta(days=1),
            "archived": True,
        }
        assert filter_of(chosen) == EventFilter(
            project="web",
            crew="platform",
            agent="ana",
            session="monday",
            crews=frozenset({"platform", "data"}),
            agents=frozenset({"ana"}),
            types=frozenset({"tool.call"}),
            without_types=frozenset({"network.probe"}),
            severities=frozenset({Severity.WARN}),
            priorities=frozenset({Priority.PIN}),
            roles=frozenset({Role.TOOL}),
            actor="Ana",
            words=(frozenset({"deploi"}),),
            since=NOW,
            until=NOW + timedelta(days=1),
            archived=True,
        )

    def test_defaults_to_every_entry(self) -> None:
        assert filter_of({}) == EventFilter()

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            ("crews", "platform"),
            ("agents", [" ana"]),
            ("types", "message"),
            ("types", ["Not A Type"]),
            ("without_types", 7),
            ("severities", ["loud"]),
            ("priorities", ["low"]),
            ("roles", {"tool": 1}),
            ("actor", ""),
            ("project", " web"),
            ("query", " "),
            ("query", "???"),
            ("query", "x" * 5000),
            ("since", NOW.replace(tzinfo=None)),
        ],
    )
    def test_that_cannot_be_is_refused_by_name(self, argument: str, value: object) -> None:
        given: Any = {argument: value}
        with pytest.raises(InvalidInput, match=f"^{argument}: "):
            filter_of(given)

    def test_by_a_name_there_is_not_is_an_error_as_of_any_function(self) -> None:
        given: Any = {"colour": "blue"}
        with pytest.raises(TypeError, match="'colour'"):
            filter_of(given)
