from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from remembrancer.domain.event import Origin
from remembrancer.domain.memory import Cue, MemoryDraft, Tier, searchable_text
from remembrancer.domain.scope import Visibility
from remembrancer.errors import InvalidInput

NOW = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)


def test_a_draft_needs_only_its_text() -> None:
    draft = MemoryDraft(text="Checkout needs 2 GiB")
    assert (draft.kind, draft.tier, draft.origin) == ("note", Tier.SEMANTIC, Origin.USER)
    assert (draft.importance, draft.priority, draft.confidence) == (0.5, 5, 0.5)
    assert (draft.tags, draft.metadata, draft.visibility) == ((), {}, Visibility.WORKSPACE)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("text", ""),
        ("title", "x" * 501),
        ("kind", "Decision"),
        ("tier", "cosmic"),
        ("source", ""),
        ("origin", "dream"),
        ("importance", 1.01),
        ("importance", float("nan")),
        ("priority", 0),
        ("priority", 5.0),
        ("confidence", -0.01),
        ("tags", "one"),
        ("tags", ["ok", " padded"]),
        ("metadata", {"a": {1, 2}}),
        ("topic_key", ""),
        ("valid_from", "today"),
        ("valid_until", datetime(2026, 3, 4)),  # noqa: DTZ001  what is refused
        ("occurred_at", 0),
        ("visibility", "everyone"),
        ("key", "a\tb"),
    ],
)
def test_each_field_is_checked_under_its_name(argument: str, value: Any) -> None:
    given: dict[str, Any] = {"text": "Checkout needs 2 GiB", argument: value}
    with pytest.raises(InvalidInput) as caught:
        MemoryDraft(**given)
    assert caught.value.argument.split(".")[0] == argument


@pytest.mark.parametrize("until", [NOW, NOW - timedelta(microseconds=1)])
def test_validity_must_end_after_it_begins(until: datetime) -> None:
    with pytest.raises(InvalidInput, match=r"^valid_until: .* a time after valid_from"):
        MemoryDraft(text="x", valid_from=NOW, valid_until=until)


def test_validity_may_last_a_microsecond() -> None:
    until = NOW + timedelta(microseconds=1)
    assert MemoryDraft(text="x", valid_from=NOW, valid_until=until).valid_until == until


def test_validity_is_compared_in_utc() -> None:
    elsewhere = datetime(2026, 3, 4, 9, 30, tzinfo=timezone(timedelta(hours=1)))
    with pytest.raises(InvalidInput, match="valid_until"):
        MemoryDraft(text="x", valid_from=NOW, valid_until=elsewhere)


def test_closed_sets_may_be_given_by_value() -> None:
    given: dict[str, Any] = {"tier": "working", "origin": "web", "visibility": "own"}
    draft = MemoryDraft(text="x", **given)
    assert (draft.tier, draft.origin, draft.visibility) == (Tier.WORKING, Origin.WEB, Visibility.OWN)


def test_tags_are_kept_distinct_and_in_order() -> None:
    given: Any = ["b", "a", "b"]
    assert MemoryDraft(text="x", tags=given).tags == ("b", "a")


def test_later_changes_to_the_arguments_do_not_change_the_draft() -> None:
    metadata: dict[str, Any] = {"run": [7]}
    draft = MemoryDraft(text="x", metadata=metadata)
    metadata["run"].append(8)
    assert draft.metadata == {"run": [7]}


def test_a_draft_is_frozen() -> None:
    draft: Any = MemoryDraft(text="x")
    with pytest.raises(FrozenInstanceError):
        draft.text = "other"


@pytest.mark.parametrize(("heading", "expected"), [("", "at nine"), ("ana, 4 March", "ana, 4 March at nine")])
def test_a_cue_is_searched_by_its_heading_and_its_text(heading: str, expected: str) -> None:
    assert searchable_text(Cue(memory_id=UUID(int=1), ordinal=0, text="at nine", heading=heading)) == expected
