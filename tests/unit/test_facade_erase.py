"""What a caller of the facade may erase, and the caller named in the receipt."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from remembrancer import InvalidInput, NotFound, Remembrancer, Settings
from remembrancer.testing.doubles import HashEmbedder


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", background_index=False)
    with Remembrancer.open(settings=settings, embedder=HashEmbedder(), agent="ana") as opened:
        yield opened


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"ids": []},
        {"ids": "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"},
        {"ids": ["not an id"]},
        {"events": {"id": 1}},
        {"before": datetime(2026, 3, 4, tzinfo=UTC)},
        {"ids": ["01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"], "agent": "ana"},
        {"agent": "ana", "before": "yesterday"},
    ],
)
def test_a_selection_by_none_or_several_criteria_erases_nothing(rem: Remembrancer, chosen: dict[str, Any]) -> None:
    rem.remember("It stays")
    with pytest.raises(InvalidInput):
        rem.erase(**chosen)
    assert (len(rem.recent()), rem.erasures()) == (1, ())


def test_ids_may_be_texts(rem: Remembrancer) -> None:
    memory = rem.remember("It goes")
    assert rem.erase(ids=[str(memory.id)]).memories == (memory.id,)
    assert rem.recent() == ()


def test_parts_of_a_scope_are_taken_together(rem: Remembrancer) -> None:
    rem.remember("Of Ana alone")
    mine = rem.scoped(session="monday").remember("Of Ana on Monday")
    rem.scoped(agent="bo", session="monday").remember("Of Bo on Monday")
    assert rem.erase(agent="ana", session="monday").memories == (mine.id,)


def test_it_reaches_memories_that_only_others_may_see(rem: Remembrancer) -> None:
    hidden = rem.scoped(agent="bo").remember("Of Bo, for Bo", visibility="own")
    rem.erase(ids=[hidden.id])
    assert rem.scoped(agent="bo").recent() == ()


def test_it_reaches_no_other_workspace(rem: Remembrancer) -> None:
    other = rem.of_workspace("another")
    memory = other.scoped(agent="ana").remember("Of another workspace")
    with pytest.raises(NotFound):
        rem.erase(ids=[memory.id])
    rem.erase(agent="ana")
    assert [one.id for one in other.recent()] == [memory.id]


def test_a_receipt_names_the_caller(rem: Remembrancer) -> None:
    rem.scoped(role="LEAD").erase(agent="ana")
    assert [one.by for one in rem.erasures()] == ["LEAD ana"]


@pytest.mark.parametrize("limit", [0, 10_001])
def test_a_listing_of_receipts_has_a_limit(rem: Remembrancer, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        rem.erasures(limit)
