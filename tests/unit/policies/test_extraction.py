from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.event import Role
from remembrancer.domain.scope import Level, Scope
from remembrancer.errors import InvalidInput
from remembrancer.policies.learning.extraction import (
    EXTRACTED,
    Extraction,
    ExtractionScope,
    SessionPhase,
    StreamPassage,
    owner,
)
from remembrancer.policies.learning.nudge import NUDGED
from remembrancer.testing.doubles import NOW, an_event

USUAL = Extraction()
WHOLE = Scope(workspace="acme", project="p", crew="c", agent="a", session="s")


def passages(*texts: str) -> list[StreamPassage]:
    return [
        StreamPassage(number=number, at=NOW, speaker="ana", text=text) for number, text in enumerate(texts, start=1)
    ]


texts = st.lists(st.text(alphabet="abc \n", min_size=1, max_size=700), max_size=30)


@given(texts, st.integers(200, 600), st.integers(0, 6))
def test_every_character_of_every_passage_is_in_some_window(said: list[str], chars: int, overlap: int) -> None:
    told = passages(*said)
    windows = Extraction(window_chars=chars, overlap=overlap).windows(told)
    new: dict[int, str] = {}
    seen = 0
    for window in windows:
        for piece in window:
            if piece.number > seen or (piece.number == seen and len(new[seen]) < len(said[seen - 1])):
                new[piece.number] = new.get(piece.number, "") + piece.text
        seen = window[-1].number
    assert "".join(new.values()) == "".join(said)


@given(texts, st.integers(200, 600), st.integers(0, 6))
def test_no_window_is_longer_than_it_may_be(said: list[str], chars: int, overlap: int) -> None:
    windows = Extraction(window_chars=chars, overlap=overlap).windows(passages(*said))
    assert [window for window in windows if sum(len(piece.text) for piece in window) > chars] == []


@given(texts, st.integers(200, 600), st.integers(0, 6))
def test_every_window_brings_something_new(said: list[str], chars: int, overlap: int) -> None:
    windows = Extraction(window_chars=chars, overlap=overlap).windows(passages(*said))
    ends = [(window[-1].number, window[-1].text) for window in windows]
    assert all(one != other or len(said[one[0] - 1]) > chars for one, other in pairwise(ends))


def test_a_window_begins_with_the_last_turns_of_the_one_before() -> None:
    first, second = Extraction(window_chars=200, overlap=2).windows(passages("a" * 90, "b" * 40, "c" * 40, "d" * 90))
    assert ([one.number for one in first], [one.number for one in second]) == ([1, 2, 3], [2, 3, 4])


def test_windows_overlap_by_at_most_half() -> None:
    _, second = Extraction(window_chars=200, overlap=9).windows(passages("a" * 60, "b" * 60, "c" * 60, "d" * 60))
    assert [one.number for one in second] == [3, 4]


def test_nothing_makes_no_window() -> None:
    assert USUAL.windows([]) == ()


def test_output_of_a_tool_is_cut_with_the_omitted_length() -> None:
    event = replace(an_event("x" * 2_000), role=Role.TOOL)
    [told] = USUAL.passages([event])
    assert told.text == "x" * 500 + " [… 1,500 more characters]"


def test_texts_of_people_are_not_cut() -> None:
    [told] = USUAL.passages([an_event("x" * 2_000)])
    assert told.text == "x" * 2_000


@pytest.mark.parametrize("kind", [EXTRACTED, NUDGED])
def test_entries_that_the_memory_wrote_itself_are_not_read(kind: str) -> None:
    assert USUAL.passages([replace(an_event(), type=kind)]) == ()


@pytest.mark.parametrize("path", [".premortem.md", "docs/.premortem.md", r"docs\.premortem.md"])
def test_the_text_of_a_file_is_known_by_the_files_name(path: str) -> None:
    [told] = USUAL.passages([replace(an_event(), payload={"path": path})])
    assert told.file == ".premortem.md"


@pytest.mark.parametrize("path", [7, None, ["a"]])
def test_a_path_that_is_no_text_names_no_file(path: Any) -> None:
    [told] = USUAL.passages([replace(an_event(), payload={"path": path})])
    assert told.file == ""


@pytest.mark.parametrize(
    ("stream", "level", "expected"),
    [
        (WHOLE, Level.WORKSPACE, Scope(workspace="acme")),
        (WHOLE, Level.PROJECT, Scope(workspace="acme", project="p")),
        (WHOLE, Level.CREW, Scope(workspace="acme", project="p", crew="c")),
        (WHOLE, Level.AGENT, Scope(workspace="acme", project="p", crew="c", agent="a")),
        (WHOLE, Level.SESSION, WHOLE),
        (replace(WHOLE, project=None), Level.PROJECT, Scope(workspace="acme", crew="c")),
        (replace(WHOLE, project=None, crew=None), Level.PROJECT, Scope(workspace="acme", agent="a")),
        (replace(WHOLE, crew=None), Level.CREW, Scope(workspace="acme", project="p", agent="a")),
        (replace(WHOLE, crew=None, agent=None), Level.CREW, Scope(workspace="acme", project="p")),
        (Scope(workspace="acme", session="s"), Level.PROJECT, Scope(workspace="acme")),
    ],
)
def test_whose_a_learning_is(stream: Scope, level: Level, expected: Scope) -> None:
    assert owner(stream, level) == expected


def test_there_are_ten_scopes_and_all_are_asked_about_at_the_end() -> None:
    assert USUAL.at(SessionPhase.RETROSPECTIVE) == tuple(ExtractionScope)


@pytest.mark.parametrize("moment", [SessionPhase.PROSPECTIVE, SessionPhase.IN_FLIGHT, SessionPhase.CORRECTIVE])
def test_before_the_end_the_scope_of_the_moment_is_asked_about(moment: SessionPhase) -> None:
    assert USUAL.at(moment) == (ExtractionScope(moment.value),)


def test_a_scope_that_a_preset_leaves_out_is_asked_about_at_no_moment() -> None:
    assert Extraction(scopes={ExtractionScope.TEAM: Level.CREW}).at(SessionPhase.CORRECTIVE) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [("window_chars", 199), ("overlap", -1), ("result_chars", 0), ("at_most", 0), ("at_most", 51)],
)
def test_a_setting_out_of_range_is_refused(field: str, value: int) -> None:
    with pytest.raises(InvalidInput, match=rf"^extraction\.{field}: {value} "):
        replace(USUAL, **{field: value})
