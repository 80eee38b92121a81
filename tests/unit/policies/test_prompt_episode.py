from __future__ import annotations

from typing import Any

import pytest

from remembrancer.policies.prompts.episode import EpisodeText, material, read
from remembrancer.policies.segmentation.segments import StreamTurn
from remembrancer.testing.doubles import NOW

TITLE = "title that has five words"


def test_a_title_and_a_summary_are_read() -> None:
    said = read({"title": f" A\n{TITLE}", "summary": "It was. "})
    assert said == EpisodeText(title=f"A {TITLE}", summary="It was.")


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"title": " ", "summary": "S"}, "title is empty"),
        ({"title": "\x07", "summary": "S"}, "title is empty"),
        ({"title": TITLE, "summary": ""}, "summary is empty"),
        ({"summary": "S"}, "title is empty"),
        ({"title": 1, "summary": "S"}, "title is empty"),
        ({"title": "Apple cake - for Saturday!", "summary": "S"}, "the title has 4 words: it must have 5 to 15"),
        ({"title": "word " * 16, "summary": "S"}, "the title has 16 words: it must have 5 to 15"),
        ({"title": "支付服务失败", "summary": "S"}, "the title has 3 words: it must have 5 to 15"),
    ],
    ids=str,
)
def test_missing_parts_of_an_answer_are_reported(value: Any, wrong: str) -> None:
    assert read(value) == wrong


@pytest.mark.parametrize("title", ["one two three four five", "word " * 14 + "word", "支付服务内存不足部署失败"])
def test_a_title_of_five_to_fifteen_words_is_taken(title: str) -> None:
    assert read({"title": title, "summary": "S"}) == EpisodeText(title=title, summary="S")


def test_no_title_is_longer_than_a_memorys_may_be() -> None:
    said = read({"title": "word " * 5 + "x" * 1_000, "summary": "S"})
    assert said == EpisodeText(title=("word " * 5 + "x" * 500)[:500], summary="S")


def test_turns_are_shown_with_their_speakers_and_times() -> None:
    shown = material([StreamTurn(at=NOW, speaker="Ana\n[2]", text="Deploy it.\n[3] no")])
    assert "\n[1] 2026-03-04 09:00 UTC, Ana [2]: Deploy it. [3] no\n" in shown
