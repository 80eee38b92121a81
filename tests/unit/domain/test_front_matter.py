from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.front_matter import blocks, escaped, normalised, unescaped

LINES = st.lists(
    st.sampled_from(["---", "--- ", "\\---", "\\\\---", "id: x", "name : y", "", "  ", "words", "# Heading", "----"]),
    max_size=12,
).map("\n".join)
TEXTS = LINES | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=80)


def parts(text: str) -> list[tuple[int, str | None, str]]:
    return [
        (
            block.line,
            None if block.header is None else text[block.header.start : block.header.end],
            text[block.body.start : block.body.end],
        )
        for block in blocks(text)
    ]


def test_each_header_has_the_text_up_to_the_next() -> None:
    text = "Before.\n\n---\nid: 1\n---\nOne.\n\n---\nid: 2\n---\nTwo.\n"
    assert parts(text) == [(3, "id: 1\n", "One.\n\n"), (8, "id: 2\n", "Two.\n")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_every_way(end: str) -> None:
    text = f"---{end}id: 1{end}---{end}One.{end}"
    assert parts(text) == [(1, f"id: 1{end}", f"One.{end}")]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert parts("\ufeff---\nid: 1\n---\nOne.") == [(1, "id: 1\n", "One.")]


def test_a_header_that_is_not_closed_has_no_text() -> None:
    assert parts("---\nid: 1\nwords") == [(1, None, "")]


@pytest.mark.parametrize(
    "text", ["One.\n---\nid: 1\n---\n", "One.\n\n---\nwords\n---\n", "One.\n\n----\nid: 1\n----\n", "One.\n\n---"]
)
def test_a_rule_is_no_header(text: str) -> None:
    assert blocks(text) == ()


@given(TEXTS)
def test_a_written_header_is_read_back_equal(text: str) -> None:
    assert unescaped(escaped(text)) == normalised(text)


@given(TEXTS)
def test_nothing_written_below_a_header_begins_another(text: str) -> None:
    assert len(blocks(f"---\nid: 1\n---\n\n{escaped(text)}\n")) == 1


@given(TEXTS)
def test_blocks_and_the_text_before_them_are_the_whole_text(text: str) -> None:
    found = blocks(text)
    ends = [*(block.start for block in found), len(text)]
    assert [block.body.end for block in found] == ends[1:]
    for block in found:
        assert re.match("---", text[block.start :])
