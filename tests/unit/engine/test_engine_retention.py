"""Retention rules and legal holds, over each store: what a run erases, and what it keeps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final, TypeVar
from uuid import UUID

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.erasure import ErasureSelection
from remembrancer.domain.event import EventDraft, Origin, Role
from remembrancer.domain.memory import MemoryDraft
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Scope
from remembrancer.engine import retain as engine
from remembrancer.engine.context import Caller, Context
from remembrancer.engine.erase import erase
from remembrancer.engine.record import observe, remember
from remembrancer.engine.retain import RetentionReport, add_rule, due, place_hold, retain
from remembrancer.errors import InvalidInput, OnHold
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, READER, SCOPE

T = TypeVar("T")
CALLER: Final = Caller(scope=SCOPE, role="LEAD")
DAY: Final = timedelta(days=1)
MONTH: Final = 30 * DAY
EVERY: Final = EventFilter(archived=True)


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def kept(make: Callable[[], Store], steps: Callable[[Context], Awaitable[T]]) -> T:
    return over(make, lambda store: steps(a_context(store, DEFAULT)))


async def said(ctx: Context, *texts: str, days: float = 40, scope: Scope = SCOPE, **fields: Any) -> list[UUID]:
    """Record texts so many days ago. Returns the ids of the events."""
    drafts = [EventDraft(text=text, occurred_at=NOW - days * DAY, **fields) for text in texts]
    return [one.event.id for one in await observe(ctx, scope, drafts)]


async def noted(ctx: Context, *texts: str, days: float = 40) -> None:
    """Remember texts of a web page that happened so many days ago."""
    for text in texts:
        await remember(ctx, SCOPE, MemoryDraft(text=text, origin=Origin.WEB, occurred_at=NOW - days * DAY))


async def left(ctx: Context) -> set[str]:
    """The texts of the events that are left."""
    return {event.text for event in await ctx.store.events(READER, EVERY, limit=1_000)}


def test_rows_past_the_time_of_a_rule_are_erased_with_their_memories(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> tuple[RetentionReport, set[str], int]:
        await said(ctx, "an old remark")
        await said(ctx, "a new remark", days=29)
        await add_rule(ctx, CALLER, after=MONTH, kind="message")
        report = await retain(ctx, SCOPE)
        return report, await left(ctx), len(await ctx.store.workspace_memories(SCOPE, Filter(current_at=NOW), limit=9))

    assert kept(make, steps) == (RetentionReport(erased=2), {"a new remark"}, 1)


def test_memories_of_an_origin_are_erased_by_their_age(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> list[str]:
        await noted(ctx, "an old page")
        await noted(ctx, "a new page", days=29)
        await said(ctx, "an old remark")
        await add_rule(ctx, CALLER, after=MONTH, origin=Origin.WEB)
        await retain(ctx, SCOPE)
        return [memory.text for memory in await ctx.store.workspace_memories(SCOPE, Filter(current_at=NOW), limit=9)]

    assert sorted(kept(make, steps)) == ["a new page", "an old remark"]


@pytest.mark.parametrize(
    ("parts", "texts"),
    [
        ({"kind": "message"}, {"a reading", "of tuesday", "Bo's"}),
        ({"kind": "sensor"}, {"a remark", "Bo's"}),
        ({"session": "tuesday"}, {"a remark", "a reading", "Bo's"}),
        ({"actor": "Bo"}, {"a remark", "a reading", "of tuesday"}),
        ({"session": "tuesday", "kind": "message"}, {"a remark", "a reading", "of tuesday", "Bo's"}),
        ({"session": "tuesday", "kind": "sensor"}, {"a remark", "a reading", "Bo's"}),
    ],
)
def test_a_rule_applies_to_rows_with_every_part(
    make: Callable[[], Store], parts: dict[str, str], texts: set[str]
) -> None:
    async def steps(ctx: Context) -> set[str]:
        await said(ctx, "a remark")
        await said(ctx, "a reading", type="sensor", role=Role.TOOL)
        await said(ctx, "of tuesday", type="sensor", scope=SCOPE.narrowed(session="tuesday"))
        await said(ctx, "Bo's", type="note", actor="Bo")
        await add_rule(ctx, CALLER, after=MONTH, **parts)
        await retain(ctx, SCOPE)
        return await left(ctx)

    assert kept(make, steps) == texts


def test_each_batch_has_a_receipt_that_names_the_rule(
    make: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BATCH", 2)

    async def steps(ctx: Context) -> tuple[str, list[str], list[ErasureSelection]]:
        await said(ctx, "one", "two", "three", type="sensor", role=Role.TOOL)
        rule = await add_rule(ctx, CALLER, after=MONTH, kind="sensor")
        await retain(ctx, SCOPE)
        receipts = await ctx.store.erasures(SCOPE, limit=9)
        return f"retention rule {rule.id}", [one.by for one in receipts], [one.asked for one in receipts]

    by, receipts, asked = kept(make, steps)
    assert len(receipts) > 1
    assert set(receipts) == {by}
    assert set(asked) == {ErasureSelection(kind="sensor", before=NOW - MONTH)}


def test_the_files_are_purged_once_after_all_rules(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> list[bool]:
        await said(ctx, "one")
        await said(ctx, "two", actor="Bo")
        await add_rule(ctx, CALLER, after=MONTH, actor="Bo")
        await add_rule(ctx, CALLER, after=MONTH, kind="message")
        await retain(ctx, SCOPE)
        return [one.purged_at == NOW for one in await ctx.store.erasures(SCOPE, limit=9)]

    assert kept(make, steps) == [True, True]


def test_a_run_without_rules_says_why_it_did_nothing(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> RetentionReport:
        await said(ctx, "one")
        return await retain(ctx, SCOPE)

    assert kept(make, steps) == RetentionReport(reason="preset default does not archive events")


def test_a_run_without_old_rows_says_so(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> str:
        await add_rule(ctx, CALLER, after=MONTH, kind="message")
        return (await retain(ctx, SCOPE)).reason

    assert kept(make, steps).endswith("no row is past the time of a rule")


def test_rows_on_hold_outlive_a_rule(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> tuple[RetentionReport, set[str]]:
        await said(ctx, "mine")
        await said(ctx, "Bo's", actor="Bo")
        await place_hold(ctx, CALLER, reason="case 12", actor="Bo")
        await add_rule(ctx, CALLER, after=MONTH, kind="message")
        report = await retain(ctx, SCOPE)
        return report, await left(ctx)

    assert kept(make, steps) == (RetentionReport(erased=2, held=2), {"Bo's"})


def test_a_row_is_kept_if_a_memory_derived_from_it_is_on_hold(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> tuple[RetentionReport, set[str]]:
        [source, _] = await said(ctx, "the source", "something else", type="sensor", role=Role.TOOL)
        draft = MemoryDraft(text="drawn from it", kind="fact")
        await remember(ctx, SCOPE, draft, [source])
        await place_hold(ctx, CALLER, reason="case 12", kind="fact")
        await add_rule(ctx, CALLER, after=MONTH, kind="sensor")
        return await retain(ctx, SCOPE), await left(ctx)

    report, texts = kept(make, steps)
    assert "the source" in texts
    assert "something else" not in texts
    assert report.held >= 1


def test_a_released_hold_lets_the_rule_apply(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> set[str]:
        await said(ctx, "mine")
        hold = await place_hold(ctx, CALLER, reason="case 12", kind="message")
        await add_rule(ctx, CALLER, after=MONTH, kind="message")
        await retain(ctx, SCOPE)
        await ctx.store.release_hold(SCOPE, hold.id, at=NOW)
        await retain(ctx, SCOPE)
        return await left(ctx)

    assert kept(make, steps) == set()


def test_a_person_cannot_erase_rows_on_hold(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> set[str]:
        await said(ctx, "mine")
        await place_hold(ctx, CALLER, reason="case 12", kind="message")
        with pytest.raises(OnHold, match="release the hold first"):
            await erase(ctx, CALLER, ErasureSelection(session=SCOPE.session), dry_run=False)
        return await left(ctx)

    assert kept(make, steps) == {"mine"}


def test_the_rows_that_are_due_are_counted_by_rule(make: Callable[[], Store]) -> None:
    async def steps(ctx: Context) -> tuple[list[tuple[int, int, int]], set[str]]:
        await said(ctx, "mine")
        await said(ctx, "Bo's", actor="Bo")
        await place_hold(ctx, CALLER, reason="case 12", actor="Bo")
        await add_rule(ctx, CALLER, after=MONTH, kind="message")
        await add_rule(ctx, CALLER, after=100 * DAY, kind="message")
        found = [(one.memories, one.events, one.held) for one in await due(ctx, SCOPE)]
        return found, await left(ctx)

    assert kept(make, steps) == ([(2, 2, 2), (0, 0, 0)], {"mine", "Bo's"})


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"after": MONTH}, "the rule"),
        ({"after": timedelta(minutes=59), "kind": "message"}, "after"),
        ({"after": timedelta(days=36_501), "kind": "message"}, "after"),
        ({"after": MONTH, "kind": ""}, "kind"),
        ({"after": MONTH, "origin": "gossip"}, "origin"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(
    make: Callable[[], Store], given: dict[str, Any], argument: str
) -> None:
    async def steps(ctx: Context) -> int:
        with pytest.raises(InvalidInput, match=argument):
            await add_rule(ctx, CALLER, **given)
        return len(await ctx.store.rules(SCOPE))

    assert kept(make, steps) == 0


@pytest.mark.parametrize(
    ("given", "argument"), [({"reason": "case 12"}, "the hold"), ({"reason": "", "kind": "fact"}, "reason")]
)
def test_a_hold_that_cannot_be_meant_is_refused(
    make: Callable[[], Store], given: dict[str, Any], argument: str
) -> None:
    async def steps(ctx: Context) -> int:
        with pytest.raises(InvalidInput, match=argument):
            await place_hold(ctx, CALLER, **given)
        return len(await ctx.store.holds(SCOPE))

    assert kept(make, steps) == 0
