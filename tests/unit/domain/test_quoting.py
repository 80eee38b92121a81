"""Which log lines quote an erased text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from remembrancer.domain.erasure import quoter

PEANUTS: Final = "I am allergic to peanuts"
QUOTED: Final[Mapping[str, bool]] = {
    "I am allergic to peanuts": True,
    "what does 'I am  allergic to\npeanuts' mean?": True,
    "allergic to peanuts": True,
    "peanut": True,
    "allergic": False,
    "forgotten": False,
    "": False,
    "(erased)": False,
}


@pytest.mark.parametrize(("line", "quotes"), QUOTED.items())
def test_a_line_quotes_a_text_that_it_contains_is_part_of_or_shares_a_rare_word_with(line: str, quotes: bool) -> None:
    assert quoter([PEANUTS, "erased"], {"peanut"}.__contains__, str.split)(line) is quotes


def test_a_short_text_is_quoted_by_itself_alone() -> None:
    quotes = quoter(["ok"], set[str]().__contains__, str.split)
    assert (quotes("ok"), quotes("it looks ok")) == (True, False)
