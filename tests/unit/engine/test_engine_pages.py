"""Memories a page at a time, as a program lists them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from remembrancer import InvalidInput, Remembrancer, Settings
from remembrancer.testing.doubles import NOW, FixedClock

SETTINGS = Settings(db=":memory:", embedder="none", background_index=False)


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    with Remembrancer.open(settings=SETTINGS, clock=FixedClock()) as opened:
        for days in range(5):
            opened.remember(f"{days}", occurred_at=NOW - timedelta(days=days), kind="fact" if days % 2 else "note")
        yield opened


def pages(rem: Remembrancer, **chosen: Any) -> list[list[str]]:
    told: list[list[str]] = []
    after: str | None = None
    while True:
        page = rem.memories(limit=2, after=after, **chosen)
        told.append([memory.text for memory in page.memories])
        if page.next is None:
            return told
        after = page.next


def test_pages_end_to_end_are_the_whole_list(rem: Remembrancer) -> None:
    assert pages(rem) == [["0", "1"], ["2", "3"], ["4"]]
    assert pages(rem, oldest_first=True) == [["4", "3"], ["2", "1"], ["0"]]


def test_a_last_page_that_is_full_has_none_behind_it(rem: Remembrancer) -> None:
    assert pages(rem, kinds=["fact"]) == [["1", "3"]]


def test_a_page_continues_after_its_last_memory_was_forgotten(rem: Remembrancer) -> None:
    first = rem.memories(limit=2)
    rem.forget(first.memories[-1].id)
    assert [memory.text for memory in rem.memories(limit=2, after=first.next).memories] == ["2", "3"]


def test_episodes_are_left_out_unless_requested(rem: Remembrancer) -> None:
    rem.observe("it broke", session="monday", occurred_at=NOW - timedelta(days=9))
    rem.end_session("monday")
    told = [[memory.kind for memory in rem.memories(kinds=kinds).memories] for kinds in (None, ["episode"])]
    assert ("episode" in told[0], told[1]) == (False, ["episode"])


def test_pages_are_ordered_and_limited_as_asked(rem: Remembrancer) -> None:
    least, most = rem.remember("of little weight", importance=0.1), rem.remember("of great weight", importance=0.9)
    rem.forget(least.id)
    assert pages(rem, query="weight", order="importance", state="any") == [["of great weight", "of little weight"]]
    assert pages(rem, state="retired") == [["of little weight"]]
    rem.mark([most.id], "used")
    assert pages(rem, order="used") == [["of great weight"]]


@pytest.mark.parametrize(
    ("chosen", "argument"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 10_001}, "limit"),
        ({"after": "x"}, "after"),
        ({"order": "size"}, "order"),
        ({"state": "lost"}, "state"),
        ({"query": "???"}, "query"),
        ({"speaker": ""}, "speaker"),
    ],
)
def test_invalid_values_are_refused_by_argument(rem: Remembrancer, chosen: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        rem.memories(**chosen)
    assert refused.value.argument == argument
