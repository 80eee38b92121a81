"""Repeated texts: recognised if the preset says so, and counted instead of stored again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer import AsyncRemembrancer, Remembrancer, Settings
from remembrancer.domain.strength import Exposure
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import FixedClock

TEXT = "Checkout needs 2 GiB"
DAY = timedelta(days=1)
Opener = Callable[..., Remembrancer]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def open_memory(clock: FixedClock, tmp_path: Path) -> Iterator[Opener]:
    with ExitStack() as stack:

        def opened(preset: Any = "engram", db: str = ":memory:") -> Remembrancer:
            quiet = Settings(db=db, workspace="acme", agent="ana", background_index=False)
            return stack.enter_context(Remembrancer.open(preset=preset, embedder="none", settings=quiet, clock=clock))

        yield opened


@pytest.fixture
def rem(open_memory: Opener) -> Remembrancer:
    return open_memory()


def texts(rem: Remembrancer) -> list[str]:
    return [memory.text for memory in rem.recent()]


def test_the_same_text_given_twice_is_one_memory_with_a_count(rem: Remembrancer, clock: FixedClock) -> None:
    first = rem.remember(TEXT)
    clock.advance(DAY)
    again = rem.remember(TEXT)
    usage = again.strength.usage
    assert (again.id, again.revision, texts(rem)) == (first.id, 1, [TEXT])
    assert (first.strength.usage.retrieved, usage.retrieved, usage.last_retrieved_at) == (0, 1, clock())
    assert rem.get(first.id) == again


def test_it_is_counted_each_time(rem: Remembrancer) -> None:
    assert [rem.remember(TEXT).strength.usage.retrieved for _ in range(4)] == [0, 1, 2, 3]


def test_fields_given_the_second_time_are_not_lost(rem: Remembrancer) -> None:
    rem.remember(TEXT, kind="decision", tags=["checkout"])
    again = rem.remember(TEXT, priority=9, tags=["checkout", "memory"])
    assert (again.kind, again.strength.priority, again.tags) == ("decision", 9, ("checkout", "memory"))
    assert (again.strength.usage.retrieved, texts(rem)) == (1, [TEXT])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"text": TEXT}, {"text": TEXT + "."}),
        ({"text": TEXT}, {"text": TEXT.upper()}),
        ({"text": TEXT}, {"text": TEXT, "title": "Memory"}),
        ({"text": TEXT}, {"text": TEXT, "key": "k"}),
        ({"text": TEXT}, {"text": TEXT, "topic_key": "memory"}),
        ({"text": TEXT}, {"text": TEXT, "visibility": "own"}),
    ],
)
def test_another_content_or_a_key_is_a_memory_of_its_own(
    rem: Remembrancer, first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert rem.remember(**first).id != rem.remember(**second).id


def test_a_long_text_is_compared_to_its_end(rem: Remembrancer) -> None:
    long = "The deploy of checkout failed again, and again, and again. " * 40
    ids = [rem.remember(text).id for text in (long + "one", long + "two", long + "one")]
    assert ids[0] == ids[2] != ids[1]


def test_another_scope_has_its_own(rem: Remembrancer) -> None:
    assert rem.remember(TEXT).id != rem.scoped(agent="ben").remember(TEXT).id
    assert rem.scoped(session="monday").remember(TEXT).id == rem.remember(TEXT).id


def test_a_session_scoped_memory_is_recognised_in_its_session_only(rem: Remembrancer) -> None:
    monday, tuesday = (rem.scoped(session=session) for session in ("monday", "tuesday"))
    first = monday.remember(TEXT, visibility="session")
    assert tuesday.remember(TEXT, visibility="session").id != first.id
    assert monday.remember(TEXT, visibility="session").id == first.id


def test_a_forgotten_ended_or_changed_memory_is_stored_again(rem: Remembrancer, clock: FixedClock) -> None:
    forgotten = rem.remember("forgotten")
    rem.forget(forgotten.id)
    edited = rem.remember("edited")
    rem.update(edited.id, text="something else")
    ended = rem.remember("ended", valid_until=clock() + DAY)
    clock.advance(2 * DAY)
    for memory in (forgotten, edited, ended):
        assert rem.remember(memory.text).id != memory.id
    assert rem.remember("something else").id == edited.id


def test_a_preset_without_the_setting_stores_it_again(open_memory: Opener) -> None:
    rem = open_memory("default")
    assert rem.remember(TEXT).id != rem.remember(TEXT).id


def test_a_preset_chooses_how_a_repeat_is_counted(open_memory: Opener) -> None:
    engram = PRESETS["engram"]
    used = replace(engram, name="using", formation=replace(engram.formation, repeats=Exposure.USED))
    rem = open_memory(used)
    rem.remember(TEXT)
    assert rem.remember(TEXT).strength.usage.used == 1


def test_recognition_of_repeats_survives_an_import(open_memory: Opener, tmp_path: Path) -> None:
    before, after = open_memory(), open_memory()
    memory = before.remember(TEXT)
    before.export(tmp_path / "a.jsonl")
    after.import_(tmp_path / "a.jsonl", dry_run=False)
    assert after.remember(TEXT).id == memory.id


def test_a_text_given_by_many_at_once_is_one_memory(tmp_path: Path) -> None:
    async def tell() -> tuple[int, int]:
        settings = Settings(db=str(tmp_path / "a.db"), workspace="acme", background_index=False)
        async with await AsyncRemembrancer.open(preset="engram", embedder="none", settings=settings) as rem:
            told = await asyncio.gather(*(rem.remember(TEXT) for _ in range(8)))
            (memory,) = await rem.recent()
            return len({one.id for one in told}), memory.strength.usage.retrieved

    assert asyncio.run(tell()) == (1, 7)
