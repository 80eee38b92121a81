"""Markdown chats: the start, the speaker and the time of a turn."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from remembrancer.domain.event import EventDraft
from remembrancer.ingest import Format, Problem, read


def chat(tmp_path: Path, text: str) -> list[EventDraft | Problem]:
    path = tmp_path / "notes.md"
    path.write_text(text, encoding="utf-8")
    return list(read(path, format=Format.MARKDOWN))


def turns(found: list[EventDraft | Problem]) -> list[tuple[str | None, str]]:
    assert [item for item in found if isinstance(item, Problem)] == []
    return [(item.actor, item.text) for item in found if isinstance(item, EventDraft)]


@pytest.mark.parametrize(
    "text",
    [
        "**Ana** (2026-03-02 09:14): hi\n**Ben**: hello\n",
        "**Ana:** hi\n**Ben:** hello\n",
        "**Ana**\nhi\n\n**Ben**\nhello\n",
        "Ana: hi\nBen: hello\n",
        "Ana (09:14): hi\nBen [09:15]: hello\n",
        "[2026-03-02 09:14] Ana: hi\n[2026-03-02 09:15] Ben: hello\n",
        "### Ana\nhi\n### Ben\nhello\n",
        "# Title\n\n## Ana — 2026-03-02 09:14\n\nhi\n\n## Ben (2026-03-02 09:15)\n\nhello\n",
    ],
)
def test_every_style_of_turn_is_read(tmp_path: Path, text: str) -> None:
    assert turns(chat(tmp_path, text)) == [("Ana", "hi"), ("Ben", "hello")]


@pytest.mark.parametrize(
    "line",
    [
        "Note: mind the gap", "https://example.org: a page", "see: below", "A, B and C: three", "09:14: late",
        "- Ben: a list item", "> Ben: a quotation", "This is what he told me: no", "**Ben**: bold", "### Ben",
        "[link](https://x): a link",
    ],
)  # fmt: skip
def test_a_line_that_is_no_turn_stays_in_the_one_before(tmp_path: Path, line: str) -> None:
    assert turns(chat(tmp_path, f"Ana: hi\n{line}\n")) == [("Ana", f"hi\n{line}")]


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_name_in_a_code_block_starts_no_turn(tmp_path: Path, fence: str) -> None:
    text = f"Ana: {fence}yaml\nBen: value\n## 2026-03-02\n{fence}\nBen: ok\n"
    assert turns(chat(tmp_path, text)) == [
        ("Ana", f"{fence}yaml\nBen: value\n## 2026-03-02\n{fence}"),
        ("Ben", "ok"),
    ]


def test_a_shorter_fence_does_not_close_a_longer_one(tmp_path: Path) -> None:
    found = chat(tmp_path, "Ana: x\n````\n```\nBen: no\n````\nBen: yes\n")
    assert turns(found) == [("Ana", "x\n````\n```\nBen: no\n````"), ("Ben", "yes")]


def test_inline_code_opens_no_block(tmp_path: Path) -> None:
    assert turns(chat(tmp_path, "Ana: x\n``` a ``` b\nBen: yes\n"))[1] == ("Ben", "yes")


def test_a_code_block_that_is_never_closed_is_a_problem(tmp_path: Path) -> None:
    problem = chat(tmp_path, "Ana: x\n```\nBen: no\n")[0]
    assert isinstance(problem, Problem)
    assert (problem.line, "never closed" in problem.message) == (2, True)


def test_headings_inside_an_answer_start_no_turn_where_speakers_are_roles(tmp_path: Path) -> None:
    text = "## User\nhow?\n## Assistant\nlike so\n## Installation\nstep\n## User\nthanks\n"
    found = chat(tmp_path, text)
    assert [item.role for item in found if isinstance(item, EventDraft)] == ["user", "assistant", "user"]
    assert turns(found)[1] == (None, "like so\n## Installation\nstep")


@pytest.mark.parametrize(
    ("name", "role", "actor"),
    [
        ("User", "user", None),
        ("human", "user", None),
        ("Assistant", "assistant", None),
        ("ChatGPT", "assistant", "ChatGPT"),
        ("System", "system", None),
        ("Dr. Ana María", "user", "Dr. Ana María"),
        ("山田", "user", "山田"),
        ("Ana (PM)", "user", "Ana (PM)"),
    ],
)
def test_a_speaker_has_a_role_and_a_name(tmp_path: Path, name: str, role: str, actor: str | None) -> None:
    (found,) = chat(tmp_path, f"{name}: hi\n")
    assert isinstance(found, EventDraft)
    assert (found.role, found.actor) == (role, actor)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-03-02 09:14", datetime(2026, 3, 2, 9, 14, tzinfo=UTC)),
        ("2026-03-02T09:14:05+01:00", datetime(2026, 3, 2, 8, 14, 5, tzinfo=UTC)),
        ("2026-03-02 09:14 UTC", datetime(2026, 3, 2, 9, 14, tzinfo=UTC)),
        ("9:14", None),
    ],
)
def test_a_time_without_an_offset_is_utc(tmp_path: Path, written: str, expected: datetime | None) -> None:
    (found,) = chat(tmp_path, f"Ana ({written}): hi\n")
    assert isinstance(found, EventDraft)
    assert found.occurred_at == expected


def test_a_turn_without_a_time_has_that_of_the_one_before(tmp_path: Path) -> None:
    found = chat(tmp_path, "## 2026-03-02\nAna (09:14): a\nBen: b\n")
    assert [item.occurred_at for item in found if isinstance(item, EventDraft)] == [
        datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
    ] * 2


@pytest.mark.parametrize("written", ["2026-13-01 09:14", "25:61", "0001-01-01T00:00+14:00"])
def test_a_turn_with_an_impossible_time_is_a_problem_and_the_next_is_read(tmp_path: Path, written: str) -> None:
    first, second = chat(tmp_path, f"Ana ({written}): a\nmore\nBen: b\n")
    assert isinstance(first, Problem)
    assert (first.line, first.message.startswith(f"time: '{written}'")) == (1, True)
    assert isinstance(second, EventDraft)


def test_an_impossible_date_heading_is_a_problem(tmp_path: Path) -> None:
    first, second = chat(tmp_path, "## 2026-02-30\nAna: a\n")
    assert isinstance(first, Problem)
    assert isinstance(second, EventDraft)


def test_text_before_the_first_turn_is_one_problem(tmp_path: Path) -> None:
    first, second = chat(tmp_path, "# Title\n\nsome words\nmore words\nAna: hi\n")
    assert str(first).endswith("notes.md:3: text before the first turn is left out")
    assert isinstance(second, EventDraft)


def test_a_line_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"Ana: hi\n\xff\n")
    assert [type(item) for item in read(tmp_path / "a.md")] == [Problem, EventDraft]


def test_a_turn_without_text_is_no_event(tmp_path: Path) -> None:
    assert turns(chat(tmp_path, "Ana:\nBen: hi\n")) == [("Ben", "hi")]


def test_a_chat_that_grows_or_is_edited_above_keeps_the_keys_of_the_rest(tmp_path: Path) -> None:
    before = [item.key for item in chat(tmp_path, "Ana: a\nBen: b\n") if isinstance(item, EventDraft)]
    after = [item.key for item in chat(tmp_path, "Ben: new\nAna: a\nBen: b\nAna: c\n") if isinstance(item, EventDraft)]
    assert after[1:3] == before
