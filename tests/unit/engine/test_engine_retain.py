from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.event import Event, Priority
from remembrancer.domain.scope import Reader
from remembrancer.engine.retain import RetentionReport, retain
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.policies.admission.formation import memory_of_event
from remembrancer.policies.forgetting.retaining import Retention
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.spec import Preset
from remembrancer.testing.doubles import NOW, SCOPE, FixedClock, an_event
from remembrancer.testing.faults import Faults, every_fault

DAY = timedelta(days=1)
OLD, NEW = NOW - 31 * DAY, NOW - 29 * DAY


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def telemetry(text: str, *, kind: str = "exec.output_chunk", priority: Priority = Priority.NORMAL) -> Event:
    return replace(an_event(text, at=OLD), type=kind, priority=priority)


async def texts(store: Store, *, archived: bool) -> list[str]:
    where = EventFilter(archived=archived)
    return sorted(event.text for event in await store.events(Reader(SCOPE), where, limit=10_000))


def retained(
    make: Callable[[], Store], events: Sequence[Event], *, preset: Preset = CREWSHIP, limit: int | None = None
) -> tuple[RetentionReport, list[str], list[str]]:
    """The report, the entries left in the journal, and those in the journal or the archive."""

    async def run(store: Store) -> tuple[RetentionReport, list[str], list[str]]:
        await store.append(SCOPE, [Entry(event) for event in events])
        report = await retain(a_context(store, preset, clock=FixedClock(NOW)), SCOPE, limit=limit)
        return report, await texts(store, archived=False), await texts(store, archived=True)

    return over(make, run)


def test_only_old_telemetry_is_archived(make: Callable[[], Store]) -> None:
    events = [
        telemetry("output"),
        telemetry("a port", kind="network.port_opened"),
        telemetry("a call", kind="llm.call"),
        telemetry("kept for ever", priority=Priority.PERMANENT),
        telemetry("said", kind="message"),
        replace(telemetry("young"), occurred_at=NEW),
    ]
    report, left, all_of_them = retained(make, events)
    assert (report, left) == (RetentionReport(archived=3), ["kept for ever", "said", "young"])
    assert len(all_of_them) == 6


def test_an_event_that_formed_a_memory_stays(make: Callable[[], Store]) -> None:
    async def run(store: Store) -> tuple[int, list[str]]:
        event = telemetry("output")
        await store.append(SCOPE, [Entry(event, memory_of_event(event, CREWSHIP.formation))])
        report = await retain(a_context(store, CREWSHIP, clock=FixedClock(NOW)), SCOPE)
        return report.archived, await texts(store, archived=False)

    assert over(make, run) == (0, ["output"])


def test_a_limit_leaves_the_youngest(make: Callable[[], Store]) -> None:
    events = [replace(telemetry(f"output {n}"), occurred_at=OLD - n * DAY) for n in range(5)]
    report, left, _ = retained(make, events, limit=3)
    assert (report, left) == (RetentionReport(archived=3, more=True), ["output 0", "output 1"])


def test_more_than_one_batch_is_moved(make: Callable[[], Store]) -> None:
    report, left, _ = retained(make, [telemetry(f"output {n}") for n in range(1_100)])
    assert (report.archived, report.more, left) == (1_100, False, [])


def test_an_empty_run_is_reported(make: Callable[[], Store]) -> None:
    report, _, _ = retained(make, [replace(telemetry("young"), occurred_at=NEW)])
    assert report == RetentionReport(reason="no event to archive is older than 30 days")


def test_a_preset_without_retention_says_so(make: Callable[[], Store]) -> None:
    report, left, _ = retained(make, [telemetry("output")], preset=DEFAULT)
    assert (report.reason, left) == ("preset default does not archive events", ["output"])


def test_a_limit_out_of_range_is_refused(make: Callable[[], Store]) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        retained(make, [], limit=0)


def test_after_the_failure_of_any_call_nothing_is_lost_and_the_next_run_continues(make: Callable[[], Store]) -> None:
    async def attempt(faults: Faults, store: Store) -> tuple[list[str], int]:
        await store.append(SCOPE, [Entry(telemetry(f"output {n}")) for n in range(700)])
        ctx = a_context(store, CREWSHIP, clock=FixedClock(NOW))
        with contextlib.suppress(StoreUnavailable):
            await retain(replace(ctx, store=faults.around(store)), SCOPE)
        assert len(await texts(store, archived=True)) == 700
        await retain(ctx, SCOPE)
        return await texts(store, archived=False), len(await texts(store, archived=True))

    for faults in every_fault():
        assert over(make, partial(attempt, faults)) == ([], 700)


@pytest.mark.parametrize(
    ("choices", "argument"),
    [
        ({"types": ()}, "retention.types"),
        ({"types": ("Not A Type",)}, "retention.types"),
        ({"types": ("a",), "after_days": 0.0}, "retention.after_days"),
    ],
)
def test_a_retention_out_of_range_is_refused(choices: dict[str, object], argument: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Retention(**choices)  # type: ignore[arg-type]
    assert caught.value.argument == argument
