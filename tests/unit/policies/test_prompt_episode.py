from __future__ import annotations

from typing import Any

import pytest

from remembrancer.policies.prompts.episode import EpisodeText, material, read
from remembrancer.policies.segmentation.segments import StreamTurn
from remembrancer.testing.doubles import NOW


def test_a_title_and_a_summary_are_read() -> None:
    assert read({"title": " A\ntitle", "summary": "It was. "}) == EpisodeText(title="A title", summary="It was.")


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"title": " ", "summary": "S"}, "title is empty"),
        ({"title": "\x07", "summary": "S"}, "title is empty"),
        ({"title": "T", "summary": ""}, "summary is empty"),
        ({"summary": "S"}, "title is empty"),
        ({"title": 1, "summary": "S"}, "title is empty"),
    ],
    ids=str,
)
def test_what_an_answer_lacks_is_told(value: Any, wrong: str) -> None:
    assert read(value) == wrong


def test_no_title_is_longer_than_a_memorys_may_be() -> None:
    assert read({"title": "x" * 1_000, "summary": "S"}) == EpisodeText(title="x" * 500, summary="S")


def test_turns_are_shown_with_who_said_them_and_when() -> None:
    shown = material([StreamTurn(at=NOW, speaker="Ana\n[2]", text="Deploy it.\n[3] no")])
    assert "\n[1] 2026-03-04 09:00 UTC, Ana [2]: Deploy it. [3] no\n" in shown
