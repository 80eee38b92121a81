from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

import pytest

from remembrancer import EventDraft, InvalidInput, NotFound, Remembrancer
from remembrancer.facade.view import one_of
from remembrancer.testing.doubles import NOW

NAMELESS = "67a1c8f0-1b2c-8000-9d3e-4f5a6b7c8d9e"


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    with Remembrancer.open(":memory:", embedder="none", clock=lambda: NOW) as opened:
        yield opened


def test_a_memory_an_event_a_key_and_an_answer_are_known_by_the_last_digits_of_their_ids(rem: Remembrancer) -> None:
    note, event, key = rem.remember("a barn"), rem.observe("it burned"), rem.keys.create("ci")
    answer = rem.recall("barn", keep=True)
    assert rem.get(note.id.hex[-8:]) == note
    assert rem.journal.get(event.id.hex[-9:]) == event
    assert rem.keys.revoke(key.key.id.hex[-8:]).id == key.key.id
    assert answer.recall_id is not None
    assert [hit.id for hit in rem.recalls.replay(answer.recall_id.hex[-8:])] == [hit.id for hit in answer]


def test_digits_that_no_id_ends_with_are_not_found(rem: Remembrancer) -> None:
    with pytest.raises(NotFound, match="no memory whose id ends with deadbeef"):
        rem.get("deadbeef")


def test_too_few_digits_are_no_id(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match="its last 8 digits or more"):
        rem.get("beef")


def test_digits_of_several_ids_name_them_all() -> None:
    with pytest.raises(InvalidInput, match=f"more digits, as 2 ids end with these: {UUID(int=1)}, {UUID(int=2)}"):
        one_of("memory_id", "00000000", "memory", [UUID(int=1), UUID(int=2)])


def titled(rem: Remembrancer, session: str, payload: dict[str, str], at: datetime = NOW) -> str:
    event = rem.observe_many([EventDraft(text="hello", actor="Ana", session=session, payload=payload, occurred_at=at)])[
        0
    ]
    return rem.journal.titles([event.scope])[event.scope]


def test_a_conversation_has_its_session_s_name_if_people_can_read_it(rem: Remembrancer) -> None:
    assert titled(rem, "standup", {"conversation": "New chat"}) == "standup"


def test_an_imported_conversation_has_its_title_from_there(rem: Remembrancer) -> None:
    assert titled(rem, NAMELESS, {"conversation": "Refund rules"}) == "Refund rules"


def test_a_conversation_without_any_name_has_its_day_and_who_spoke(rem: Remembrancer) -> None:
    assert titled(rem, NAMELESS, {}) == "Wednesday 4 March 2026, Ana"
