from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.front_matter import Span
from remembrancer.policies.admission.passages import OVERLAP_CHARS, PASSAGE_CHARS
from remembrancer.policies.vault.chunks import Chunk, chunks

WORDS = st.lists(
    st.sampled_from(["word", "longer-word", "x" * 700, "\n\n", "\n", " ", "é", "\n# Heading\n", "\n```\n", "\r\n"])
)


def of(text: str) -> tuple[Chunk, ...]:
    return chunks(text, Span(0, len(text)))


@given(WORDS.map(" ".join))
def test_each_piece_is_the_text_at_its_offset(text: str) -> None:
    for chunk in of(text):
        assert text[chunk.offset : chunk.offset + len(chunk.text)] == chunk.text
        assert 0 < len(chunk.text) <= PASSAGE_CHARS


@given(WORDS.map(" ".join).filter(lambda text: "#" not in text))
def test_all_that_is_not_blank_is_in_some_piece(text: str) -> None:
    covered = {place for chunk in of(text) for place in range(chunk.offset, chunk.offset + len(chunk.text))}
    assert [place for place, one in enumerate(text) if not one.isspace() and place not in covered] == []


@given(WORDS.map(" ".join))
def test_pieces_come_in_order_and_overlap_no_more_than_they_may(text: str) -> None:
    found = of(text)
    for one, following in pairwise(found):
        assert one.offset < following.offset
        assert one.offset + len(one.text) - following.offset <= OVERLAP_CHARS


def test_a_text_is_cut_at_its_headings() -> None:
    text = "# One\n\nFirst.\n\n## Two\n\nSecond.\n"
    assert [chunk.text for chunk in of(text)] == ["# One\n\nFirst.", "## Two\n\nSecond."]


def test_a_heading_is_in_one_piece_with_the_following_text() -> None:
    assert [chunk.text for chunk in of("# One\n\n## Two\n\nSecond.\n")] == ["# One\n\n## Two\n\nSecond."]


def test_headings_alone_are_nothing_to_remember() -> None:
    assert of("# One\n\n## Two\n") == ()


def test_a_comment_in_a_block_of_code_is_no_heading() -> None:
    text = "# One\n\n```sh\n# not a heading\nls\n```\n\nWords.\n"
    assert len(of(text)) == 1


def test_a_later_piece_of_a_section_names_its_heading() -> None:
    text = "# Deploys\n\n" + "Words of a sentence.\n\n" * 200
    titles = [chunk.title for chunk in of(text)]
    assert titles == ["", *["Deploys"] * (len(titles) - 1)]
    assert len(titles) > 1


def test_a_piece_ends_where_a_paragraph_does() -> None:
    text = "Words of a sentence.\n\n" * 200
    assert all(chunk.text.endswith("sentence.") for chunk in of(text))


def test_only_the_requested_part_is_cut() -> None:
    text = "Before.\n\nInside.\n\nAfter."
    assert chunks(text, Span(9, 18)) == (Chunk(9, "Inside."),)
