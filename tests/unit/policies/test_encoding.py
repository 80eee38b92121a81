from __future__ import annotations

from typing import Any

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.encoding import Encoding


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
