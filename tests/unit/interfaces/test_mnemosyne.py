from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from inspect import signature
from uuid import uuid4

import pytest

from remembrancer import InvalidInput, Remembrancer, Settings
from remembrancer.domain.memory import Tier
from remembrancer.errors import NotFound
from remembrancer.interfaces.mnemosyne import Mnemosyne
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def rem(clock: FixedClock) -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", preset="mnemosyne", background_index=False)
    with Remembrancer.open(settings=settings, embedder=HashEmbedder(), clock=clock) as opened:
        yield opened


@pytest.fixture
def bank(rem: Remembrancer) -> Mnemosyne:
    return Mnemosyne(rem)


def contents(found: list[dict[str, object]]) -> list[object]:
    return [one["content"] for one in found]


def test_a_remembered_text_begins_in_working_memory(bank: Mnemosyne, rem: Remembrancer) -> None:
    assert rem.get(bank.remember("User approved the mockup.")).tier is Tier.WORKING


def test_a_memory_of_one_session_is_found_from_another(bank: Mnemosyne) -> None:
    bank.remember("User approved the mockup.", session_id="monday")
    assert contents(bank.recall("mockup")) == ["User approved the mockup."]


def test_a_session_scoped_memory_is_found_from_its_session_only(bank: Mnemosyne, rem: Remembrancer) -> None:
    bank.remember("User approved the mockup.", session_id="monday", scope="session")
    tuesday = Mnemosyne(rem, session_id="tuesday")
    assert [contents(bank.recall("mockup", session_id="monday")), tuesday.recall("mockup")] == [
        ["User approved the mockup."],
        [],
    ]


def test_a_session_filter_keeps_to_that_session(bank: Mnemosyne) -> None:
    bank.remember("The mockup is blue.", session_id="monday")
    bank.remember("The mockup is green.", session_id="tuesday")
    assert contents(bank.recall("mockup", session_id="tuesday")) == ["The mockup is green."]


def test_a_source_filter_keeps_to_that_source(bank: Mnemosyne) -> None:
    bank.remember("The mockup is blue.", source="user-feedback")
    bank.remember("The mockup is green.", source="tool-result")
    assert contents(bank.recall("mockup", source="user-feedback")) == ["The mockup is blue."]


def test_a_day_is_within_the_dates_that_name_it(bank: Mnemosyne) -> None:
    bank.remember("The mockup is blue.")
    day = NOW.date().isoformat()
    assert contents(bank.recall("mockup", from_date=day, to_date=day)) == ["The mockup is blue."]


def test_memories_of_other_days_are_outside_the_dates(bank: Mnemosyne) -> None:
    bank.remember("The mockup is blue.")
    assert bank.recall("mockup", from_date="2026-03-05") + bank.recall("mockup", to_date="2026-03-03") == []


def test_a_date_that_no_calendar_has_is_an_error(bank: Mnemosyne) -> None:
    with pytest.raises(InvalidInput, match="to_date"):
        bank.recall("mockup", to_date="2026-02-30")


def test_an_expired_memory_is_not_recalled(bank: Mnemosyne, clock: FixedClock) -> None:
    bank.remember("The mockup is blue.", valid_until=NOW + timedelta(hours=1))
    clock.advance(timedelta(hours=1))
    assert bank.recall("mockup") == []


def test_recalling_counts_the_returned_memories(bank: Mnemosyne) -> None:
    bank.remember("The mockup is blue.")
    assert [bank.recall("mockup")[0]["recall_count"], bank.recall("mockup")[0]["recall_count"]] == [1, 2]


def test_recalling_counts_nothing_that_it_does_not_return(bank: Mnemosyne, rem: Remembrancer) -> None:
    kept = [bank.remember(f"The mockup is {colour}.") for colour in ("blue", "green", "red")]
    bank.recall("mockup", top_k=1)
    assert sorted(rem.get(one).strength.usage.retrieved for one in kept) == [0, 0, 1]


def test_a_result_has_the_documented_fields(bank: Mnemosyne) -> None:
    bank.remember("The mockup is blue.", importance=0.7, metadata={"file": "a.png"})
    (found,) = bank.recall("mockup")
    assert set(found) == {
        "id",
        "content",
        "source",
        "timestamp",
        "session_id",
        "tier",
        "score",
        "dense_score",
        "fts_score",
        "recency_decay",
        "importance",
        "recall_count",
        "last_recalled",
        "scope",
        "metadata",
        "valid_until",
        "superseded_by",
    }


def test_importance_is_kept_as_it_was_given(bank: Mnemosyne) -> None:
    bank.remember("The mockup is blue.", importance=0.7)
    (found,) = bank.recall("mockup")
    assert found["importance"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("remember", "content source importance metadata valid_until scope session_id"),
        ("recall", "query top_k session_id source from_date to_date"),
        ("sleep", "dry_run"),
    ],
)
def test_the_calls_take_the_documented_arguments(call: str, arguments: str) -> None:
    assert list(signature(getattr(Mnemosyne, call)).parameters) == ["self", *arguments.split()]


def test_a_result_has_its_session_source_scope_and_metadata(bank: Mnemosyne) -> None:
    bank.remember("The mockup is blue.", source="user", metadata={"file": "a.png"}, session_id="monday")
    (found,) = bank.recall("mockup")
    assert [found[name] for name in ("session_id", "source", "scope", "metadata")] == [
        "monday",
        "user",
        "global",
        {"file": "a.png"},
    ]


def test_an_unknown_scope_is_an_error(bank: Mnemosyne) -> None:
    with pytest.raises(InvalidInput, match="scope"):
        bank.remember("The mockup is blue.", scope="galaxy")


def test_an_invalidated_memory_is_not_recalled(bank: Mnemosyne) -> None:
    old, new = bank.remember("The mockup is blue."), bank.remember("The mockup is green.")
    bank.invalidate(old, new)
    assert contents(bank.recall("mockup")) == ["The mockup is green."]


def test_invalidating_an_unknown_id_is_an_error(bank: Mnemosyne) -> None:
    with pytest.raises(NotFound):
        bank.invalidate(str(uuid4()))


def test_a_replacement_that_is_not_there_hides_nothing(bank: Mnemosyne) -> None:
    old = bank.remember("The mockup is blue.")
    with pytest.raises(NotFound):
        bank.invalidate(old, str(uuid4()))
    assert contents(bank.recall("mockup")) == ["The mockup is blue."]


def test_times_may_be_given_whole(bank: Mnemosyne) -> None:
    bank.remember("The mockup is blue.")
    assert bank.recall("mockup", from_date=datetime(2026, 3, 4, 9, 0, 1, tzinfo=UTC)) == []


def test_a_summary_is_recalled_as_an_episodic_memory_that_names_its_rows(bank: Mnemosyne, clock: FixedClock) -> None:
    rows = [bank.remember(f"The mockup {part} is blue.") for part in ("header", "footer")]
    clock.advance(timedelta(hours=13))
    bank.sleep()
    (found,) = bank.recall("mockup")
    assert (found["tier"], sorted(found["metadata"]["summary_of"].split(","))) == ("episodic", sorted(rows))


def test_a_dry_run_of_sleep_reports_its_rows_and_changes_nothing(bank: Mnemosyne, clock: FixedClock) -> None:
    bank.remember("The mockup is blue.")
    clock.advance(timedelta(hours=13))
    assert (bank.sleep(dry_run=True).rows, [found["tier"] for found in bank.recall("mockup")]) == (1, ["working"])
