"""The context of a passage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.ports.embedder import Passage

SAID = (("Ana", "Good morning"), ("Ben", "Hello"), ("Ana", "When do we ship?"))


def test_the_context_is_the_turns_before_a_text_and_its_speaker() -> None:
    assert Passage("On Friday", "Ben", SAID).context == "Ana: Good morning Ben: Hello Ana: When do we ship? Ben: "


def test_the_context_of_a_first_turn_is_its_speaker() -> None:
    assert Passage("On Friday", "Ben").context == "Ben: "


def test_a_text_without_speaker_and_turns_has_no_context() -> None:
    assert Passage("On Friday").context == ""


@pytest.mark.parametrize(
    ("chars", "expected"),
    [
        (0, "Ben: "),
        (1, "Ana: ? Ben: "),
        (5, "Ana: ship? Ben: "),
        (len("Ana: When do we ship? "), "Ana: When do we ship? Ben: "),
        (len("Ana: When do we ship? ") + 2, "Ben: lo Ana: When do we ship? Ben: "),
    ],
)
def test_of_the_turns_the_last_characters_are_kept(chars: int, expected: str) -> None:
    assert Passage("On Friday", "Ben", SAID, chars).context == expected


@given(
    chars=st.integers(0, 2_000),
    said=st.lists(st.tuples(st.just("Ana"), st.text(min_size=1, max_size=900)), max_size=12),
)
def test_the_context_is_bounded(chars: int, said: list[tuple[str, str]]) -> None:
    context = Passage("On Friday", "Ben", tuple(said), chars).context
    assert len(context) <= chars + len(said) * len("Ana:  ") + len("Ben: ")
    assert context.endswith("Ben: ")
