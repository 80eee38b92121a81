from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.encoding import MAX_CHARS, MAX_TURNS, Encoding

SAID = [("Ana", "Good morning"), ("Ben", "Hello"), ("Ana", "When do we ship?")]


@pytest.mark.parametrize(
    ("heading", "given_heading", "expected"),
    [
        (True, "Ana, Monday", "Ana, Monday: On Friday"),
        (True, "", "On Friday"),
        (False, "Ana, Monday", "On Friday"),
    ],
)
def test_a_heading_is_embedded_where_it_is_chosen_and_there(heading: bool, given_heading: str, expected: str) -> None:
    assert Encoding(heading=heading).text(given_heading, "On Friday") == expected


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (0, ""),
        (1, "Ana: When do we ship? Ben: "),
        (2, "Ben: Hello Ana: When do we ship? Ben: "),
        (3, "Ana: Good morning Ben: Hello Ana: When do we ship? Ben: "),
        (10, "Ana: Good morning Ben: Hello Ana: When do we ship? Ben: "),
    ],
)
def test_a_turn_is_read_after_so_many_before_it(turns: int, expected: str) -> None:
    assert Encoding(turns=turns).before("Ben", SAID) == expected


def test_a_turn_with_nothing_before_it_is_read_after_its_speaker_s_name() -> None:
    assert Encoding(turns=3).before("Ben", []) == "Ben: "


def test_a_turn_without_a_speaker_has_no_context() -> None:
    assert Encoding(turns=3).before("", SAID) == ""


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
def test_of_the_preceding_text_the_last_characters_are_kept(chars: int, expected: str) -> None:
    assert Encoding(turns=3, chars=chars).before("Ben", SAID) == expected


@given(
    turns=st.integers(1, MAX_TURNS),
    chars=st.integers(0, MAX_CHARS),
    said=st.lists(st.tuples(st.just("Ana"), st.text(min_size=1, max_size=900)), max_size=12),
)
def test_the_preceding_text_of_a_turn_is_bounded(turns: int, chars: int, said: list[tuple[str, str]]) -> None:
    before = Encoding(turns=turns, chars=chars).before("Ben", said)
    assert len(before) <= chars + turns * len("Ana:  ") + len("Ben: ")
    assert before.endswith("Ben: ")


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        (Encoding(), False),
        (Encoding(heading=True, chars=9), False),
        (Encoding(turns=1), True),
        (Encoding(token_embeddings=True), True),
    ],
)
def test_token_embeddings_and_turns_are_embedded_in_context(encoding: Encoding, expected: bool) -> None:
    assert encoding.reads_in_context is expected


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"turns": -1}, r"^encoding\.turns: .*from 0 to 10"),
        ({"turns": 11}, r"^encoding\.turns: "),
        ({"turns": True}, r"^encoding\.turns: "),
        ({"chars": -1}, r"^encoding\.chars: .*from 0 to 2000"),
        ({"chars": 2001}, r"^encoding\.chars: "),
        ({"chars": 1.5}, r"^encoding\.chars: "),
    ],
)
def test_an_encoding_out_of_range_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Encoding(**wrong)
