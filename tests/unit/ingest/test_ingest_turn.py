"""Rules for every format: splitting long texts, keys, and leaving out recalled memories."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.recalled import without_recalled
from remembrancer.errors import InvalidInput
from remembrancer.ingest.turn import (
    ContentKeys,
    Turn,
    bounded,
    digest,
    drafts,
    identity,
    label,
    pieces,
)

OPEN, CLOSE = "<recalled-memory>", "</recalled-memory>"
UUID = "8b000000-0000-4000-8000-0000000000a0"


def test_a_text_within_the_limit_is_left_as_it_is() -> None:
    assert pieces("  a \n", limit=5) == ["  a \n"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aaaa bb\n\ncc dd", ["aaaa bb", "cc dd"]),
        ("aaaa bb\ncc dd", ["aaaa bb", "cc dd"]),
        ("aaaa bbb cc dd", ["aaaa bbb", "cc dd"]),
        ("aaaabbbbccccdd", ["aaaabbbbcc", "ccdd"]),
        ("éééééééé", ["ééééé", "ééé"]),
        ("€€€€€", ["€€€", "€€"]),
        ("aaaa" + " " * 30 + "b", ["aaaa", "    b"]),
        (" " * 30, []),
    ],
)
def test_a_longer_text_is_cut_where_it_hurts_least(text: str, expected: list[str]) -> None:
    assert pieces(text, limit=10) == expected


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(4, 40))
def test_pieces_are_within_the_limit_and_lose_only_blanks(text: str, limit: int) -> None:
    found = pieces(text, limit)
    assert all(len(piece.encode()) <= limit for piece in found)
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_turn_of_a_hundred_kilobytes_is_one_draft() -> None:
    text = "word " * 20_000
    assert [draft.text for draft in drafts(Turn(text=text, key="k"))] == [text]


def test_a_turn_longer_than_any_event_becomes_drafts_that_refer_to_the_first() -> None:
    made = drafts(Turn(text="word " * 4_000_000, key="k", payload={"a": 1}, refs={"r": 2}))
    assert [(draft.key, draft.payload, draft.refs) for draft in made] == [
        ("k", {"a": 1}, {"r": 2}),
        ("k#2", {}, {"r": 2, "continues": "k"}),
    ]


def test_the_pieces_of_a_turn_with_a_long_key_stay_within_the_limit_for_keys() -> None:
    made = drafts(Turn(text="word " * 4_000_000, key="k" * 200))
    assert len({draft.key for draft in made}) == 2


def test_a_turn_without_text_gives_no_draft() -> None:
    assert drafts(Turn(text=" \n", key="k")) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"a\n{OPEN}x{CLOSE}\nb", "a\n\nb"),
        (f'<recalled-memory count="2">x{CLOSE}b', "b"),
        (f"{OPEN}x{CLOSE}{OPEN}y{CLOSE}", ""),
        (f"a\n{OPEN}\nnever closed", "a"),
        (f"what does {OPEN} do?", f"what does {OPEN} do?"),
        (f"{OPEN}x{CLOSE} what does {OPEN} do?", f"what does {OPEN} do?"),
        ("<recalled-memoryless>", "<recalled-memoryless>"),
        (" plain ", " plain "),
    ],
)
def test_recalled_memory_is_taken_out_and_talk_about_it_stays(text: str, left: str) -> None:
    assert without_recalled(text) == left


def test_many_open_tags_take_linear_time() -> None:
    text = f"a {OPEN}" * 50_000
    assert without_recalled(text) == text


def test_a_uuid_is_a_key_wherever_it_turns_up() -> None:
    assert identity("s", UUID, "one") == identity("s", UUID, "two") == f"s:{UUID}"


def test_another_id_is_only_a_key_within_its_session() -> None:
    assert identity("s", "1", "one") != identity("s", "1", "two")


def test_content_keys_count_earlier_equal_turns() -> None:
    keys = ContentKeys("s")
    assert [keys.key("a"), keys.key("b"), keys.key("a")] == [
        f"s:{digest('a')}",
        f"s:{digest('b')}",
        f"s:{digest('a')}:2",
    ]


def test_a_digest_depends_on_where_a_part_ends() -> None:
    assert len({digest("a", "b"), digest("ab"), digest("a", None, "b"), digest("ab", "")}) == 4


@given(st.text(min_size=1), st.text(min_size=1))
def test_bounded_names_are_short_and_distinct(one: str, two: str) -> None:
    assert len(bounded(one * 30)) <= 200
    assert (bounded(one) == bounded(two)) == (one == two)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_label_is_fit_to_be_an_actor(name: str) -> None:
    actor = label(name)
    assert drafts(Turn(text="t", key="k", actor=actor))[0].actor == actor


def test_a_name_written_with_a_joiner_is_kept() -> None:
    assert label("علی‌رضا") == "علی‌رضا"


def test_no_name_is_no_actor() -> None:
    assert label(None) is None


def test_a_turn_that_is_no_draft_has_a_reason() -> None:
    with pytest.raises(InvalidInput, match="role"):
        drafts(Turn(text="t", key="k", role="king"))
