from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from remembrancer.domain.event import EventDraft, Priority, Role, Severity
from remembrancer.errors import InvalidInput


def test_a_draft_needs_only_its_text() -> None:
    draft = EventDraft(text="hello")
    assert draft == EventDraft(
        text="hello",
        role=Role.USER,
        type="message",
        severity=Severity.INFO,
        priority=Priority.NORMAL,
        actor=None,
        occurred_at=None,
        session=None,
        payload={},
        refs={},
        key=None,
    )


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("text", " "),
        ("role", "robot"),
        ("type", "Tool Call"),
        ("severity", "loud"),
        ("priority", 7),
        ("actor", ""),
        ("occurred_at", "2026-03-04T09:00:00Z"),
        ("occurred_at", datetime(2026, 3, 4)),  # noqa: DTZ001  what is refused
        ("session", "two\nlines"),
        ("payload", ["a"]),
        ("refs", {"a": object()}),
        ("key", "x" * 201),
    ],
)
def test_each_field_is_checked_under_its_name(argument: str, value: Any) -> None:
    given: dict[str, Any] = {"text": "hello", argument: value}
    with pytest.raises(InvalidInput) as caught:
        EventDraft(**given)
    assert caught.value.argument.split(".")[0] == argument


def test_closed_sets_may_be_given_by_value() -> None:
    given: dict[str, Any] = {"role": "tool", "severity": "warn", "priority": "pin"}
    draft = EventDraft(text="hello", **given)
    assert (draft.role, draft.severity, draft.priority) == (Role.TOOL, Severity.WARN, Priority.PIN)


def test_when_it_happened_is_kept_in_utc() -> None:
    at = datetime(2026, 3, 4, 10, 0, tzinfo=timezone(timedelta(hours=1)))
    occurred_at = EventDraft(text="hello", occurred_at=at).occurred_at
    assert occurred_at is not None
    assert (occurred_at, occurred_at.tzinfo) == (datetime(2026, 3, 4, 9, 0, tzinfo=UTC), UTC)


def test_later_changes_to_the_arguments_do_not_change_the_draft() -> None:
    payload: dict[str, Any] = {"run": 7}
    draft = EventDraft(text="hello", payload=payload)
    payload["run"] = 8
    assert draft.payload == {"run": 7}


def test_a_draft_is_frozen() -> None:
    draft: Any = EventDraft(text="hello")
    with pytest.raises(FrozenInstanceError):
        draft.text = "other"
