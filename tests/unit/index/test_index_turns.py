"""Neighbouring turns: the linked arrays compared with a plain implementation."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import CONTEXT_GAP
from remembrancer.index.context import Turns, rarest
from remembrancer.ports.changes import CueTurn

MINUTE = 60_000_000
GAP = CONTEXT_GAP.total_seconds() * 1_000_000
Cue = tuple[str | None, bool, int, int]
NOTE: Cue = (None, False, 0, 0)


def turn(seq: int, *, minute: float = 0, stream: str = "one", session: bool = True) -> Cue:
    return (stream, session, seq, round(minute * MINUTE))


cues: st.SearchStrategy[Cue] = st.just(NOTE) | st.builds(
    turn,
    st.integers(1, 6),
    minute=st.sampled_from([0, 30, 60, 61]),
    stream=st.sampled_from(["one", "two"]),
)
# A number in a stream is one event, and has one time.
batches = st.lists(st.lists(cues, max_size=6, unique_by=lambda cue: cue[:3]), max_size=4)


def filled(*batches: list[Cue]) -> Turns:
    turns = Turns()
    for batch in batches:
        turns.extend(cue_turns(batch))
    return turns


def cue_turns(cues: list[Cue]) -> list[CueTurn | None]:
    return [_cue_turn(*cue) for cue in cues]


def _cue_turn(stream: str | None, session: bool, seq: int, at: int) -> CueTurn | None:
    if stream is None:
        return None
    return CueTurn(Scope(workspace="acme", agent=stream, session="monday" if session else None), seq, at, "user", "")


def neighbour_coverage(turns: Turns, *holding: int, weight: float = 1.0, long: Collection[int] = ()) -> list[float]:
    """Of each cue, with one word that these cues hold; those of `long` are no context."""
    turns.link()
    brief = ~np.isin(np.arange(100), list(long))
    return turns.neighbour_coverage([(np.array(holding, dtype=np.int32), weight)], brief).tolist()


def best_of_session(turns: Turns, *scores: float) -> list[float]:
    """Of each cue, with these scores."""
    every = np.arange(len(scores))
    given = np.array(scores, dtype=np.float32)
    return turns.best_of_session(every, given, np.flatnonzero(given).astype(np.int32)).tolist()


def test_the_next_turn_counts_whole_and_the_one_after_three_quarters() -> None:
    turns = filled([turn(seq) for seq in range(1, 7)])
    assert neighbour_coverage(turns, 2, weight=2.0) == [1.5, 2.0, 0.0, 2.0, 1.5, 0.0]


def test_of_two_words_each_counts_for_itself() -> None:
    turns = filled([turn(seq) for seq in range(1, 4)])
    turns.link()
    terms = [(np.array([0], dtype=np.int32), 1.0), (np.array([1], dtype=np.int32), 4.0)]
    assert turns.neighbour_coverage(terms, np.ones(3, dtype=np.bool_)).tolist() == [4.0, 1.0, 0.75 + 4.0]


@pytest.mark.parametrize(("most", "kept"), [(9, [5, 1, 3]), (8, [1, 3]), (4, [1, 3]), (3, [1]), (0, [1])])
def test_the_rarest_terms_are_kept_that_a_number_of_cues_contain(most: int, kept: list[int]) -> None:
    terms = [(np.zeros(cues, dtype=np.int32), 1.0) for cues in (5, 1, 3)]
    assert [len(cues) for cues, _ in rarest(terms, most)] == kept


def test_a_word_that_nobody_holds_is_around_nobody() -> None:
    turns = filled([turn(1), turn(2)])
    assert neighbour_coverage(turns, weight=3.0) == [0.0, 0.0]


def test_a_turn_that_holds_a_word_twice_counts_once() -> None:
    turns = filled([turn(1), turn(1), turn(2)])
    assert neighbour_coverage(turns, 0, 1) == [0.0, 0.0, 1.0]


def test_a_long_turn_is_no_context_and_has_its_own_words() -> None:
    turns = filled([NOTE, turn(1), turn(2), turn(3)])
    assert neighbour_coverage(turns, 0, 2, long=[2]) == [0.0, 0.0, 0.0, 0.0]
    assert neighbour_coverage(turns, 0, 1, 2, long=[2]) == [0.0, 0.0, 0.0, 0.75]


def test_a_turn_of_which_one_text_is_brief_is_context() -> None:
    turns = filled([turn(1), turn(1), turn(2)])
    assert neighbour_coverage(turns, 0, 1, long=[0]) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(("apart", "expected"), [(60.0, 1.0), (60 + 1 / MINUTE, 0.0), (-60.0, 1.0), (-61.0, 0.0)])
def test_turns_farther_apart_than_the_gap_are_not_linked(apart: float, expected: float) -> None:
    for turns in (filled([turn(1), turn(2, minute=apart)]), filled([turn(1)], [turn(2, minute=apart)])):
        assert neighbour_coverage(turns, 0) == [0.0, expected]


def test_turns_out_of_order_are_put_in_order() -> None:
    turns = filled([turn(3)], [turn(1), turn(4)], [turn(2)])
    assert neighbour_coverage(turns, 1) == [0.75, 0.0, 0.0, 1.0]


def test_a_cue_that_is_no_turn_has_no_neighbours() -> None:
    turns = filled([turn(1), NOTE, turn(2), NOTE])
    assert neighbour_coverage(turns, 1, 3) == [0.0, 0.0, 0.0, 0.0]
    assert neighbour_coverage(turns, 0) == [0.0, 0.0, 1.0, 0.0]


def test_where_there_are_no_turns_nothing_is_around_any() -> None:
    assert neighbour_coverage(filled([NOTE, NOTE]), 1) == [0.0, 0.0]


def test_a_buried_turn_leaves_its_neighbours_next_to_each_other() -> None:
    turns = filled([turn(seq) for seq in (1, 2, 3)])
    assert neighbour_coverage(turns, 0)[2] == 0.75
    turns.bury(np.array([1]))
    assert neighbour_coverage(turns, 0)[2] == 1.0


def test_a_turn_with_a_cue_left_is_not_buried() -> None:
    turns = filled([turn(1), turn(2), turn(2), turn(3)])
    turns.bury(np.array([1]))
    assert neighbour_coverage(turns, 0)[3] == 0.75


def test_a_buried_turn_that_comes_back_takes_its_place() -> None:
    turns = filled([turn(seq) for seq in (1, 2, 3)])
    turns.bury(np.array([1]))
    turns.link()
    turns.extend(cue_turns([turn(2)]))
    assert neighbour_coverage(turns, 0) == [0.0, 1.0, 0.75, 1.0]


def test_a_turn_follows_one_that_was_buried_before_it_came() -> None:
    turns = filled([turn(1), turn(2)])
    turns.bury(np.array([1]))
    turns.extend(cue_turns([turn(3)]))
    assert neighbour_coverage(turns, 0)[2] == 1.0


def test_a_stream_whose_turns_are_all_buried_begins_again() -> None:
    turns = filled([turn(1)])
    turns.bury(np.array([0]))
    turns.link()
    turns.extend(cue_turns([turn(2), turn(3)]))
    assert neighbour_coverage(turns, 1) == [0.0, 0.0, 1.0]


def test_the_best_of_a_session_is_on_every_cue_of_it() -> None:
    turns = filled([turn(1), turn(2), turn(1, stream="two"), NOTE, turn(1, stream="agent", session=False)])
    assert best_of_session(turns, 1.0, 3.0, 2.0, 0.5, 0.25) == [3.0, 3.0, 2.0, 0.5, 0.25]


def test_a_cue_that_is_no_turn_is_the_best_of_no_session() -> None:
    assert best_of_session(filled([NOTE, turn(1), turn(2)]), 9.0, 1.0, 2.0) == [9.0, 2.0, 2.0]


def test_where_nothing_of_a_session_has_a_score_its_best_is_none() -> None:
    assert best_of_session(filled([turn(1), turn(1, stream="two")]), 0.0, 2.0) == [0.0, 2.0]


def test_of_some_cues_the_best_counts_the_others_too() -> None:
    turns = filled([turn(1), turn(2)])
    scores = np.array([1.0, 3.0], dtype=np.float32)
    assert turns.best_of_session(np.array([0]), scores, np.array([0, 1, 1], dtype=np.int32)).tolist() == [3.0]


def test_without_any_turn_the_best_is_each_one_s_own() -> None:
    assert best_of_session(filled([NOTE, NOTE]), 1.0, 0.0) == [1.0, 0.0]


def test_of_no_cue_there_is_no_best() -> None:
    assert best_of_session(Turns()) == []


def test_turns_are_counted_in_the_size_of_the_index() -> None:
    assert filled([turn(seq) for seq in range(1, 1_001)]).nbytes > Turns().nbytes + 1_000 * 28


def plainly(living: list[Cue | None], held: set[int]) -> list[float]:
    """Of each cue, with one word of weight 1 that the living cues `held` hold; None: a buried one."""
    turns = {cue[:3]: cue[3] for cue in living if cue is not None and cue[0] is not None}
    own = {cue[:3] for cue in (living[place] for place in held) if cue is not None and cue[0] is not None}
    beside: dict[tuple[object, ...], list[tuple[object, ...]]] = {one: [] for one in turns}
    for stream in {one[0] for one in turns}:
        ordered = sorted(one for one in turns if one[0] == stream)
        for one, other in pairwise(ordered):
            if abs(turns[other] - turns[one]) <= GAP:
                beside[one].append(other)
                beside[other].append(one)

    def worth(cue: Cue | None) -> float:
        if cue is None or cue[:3] not in turns or cue[:3] in own:
            return 0.0
        near = beside[cue[:3]]
        if own & set(near):
            return 1.0
        return 0.75 if own & {two for one in near for two in beside[one]} else 0.0

    return [worth(cue) for cue in living]


@given(batches=batches, data=st.data())
def test_neighbours_equal_their_definition_after_any_order_of_changes(
    batches: list[list[Cue]], data: st.DataObject
) -> None:
    turns = Turns()
    living: list[Cue | None] = []
    times: dict[tuple[object, ...], int] = {}
    for batch in batches:
        told = [(*cue[:3], times.setdefault(cue[:3], cue[3])) for cue in batch]
        turns.extend(cue_turns(told))
        living += told
        if data.draw(st.booleans()):
            turns.link()
        present = [place for place, cue in enumerate(living) if cue is not None]
        gone = data.draw(st.lists(st.sampled_from(present), unique=True, max_size=2)) if present else []
        turns.bury(np.array(gone, dtype=np.int64))
        for place in gone:
            living[place] = None
    places = [place for place, cue in enumerate(living) if cue is not None]
    held = set(data.draw(st.lists(st.sampled_from(places), unique=True, max_size=3))) if places else set[int]()
    if not held:
        return
    expected = plainly(living, held)
    actual = neighbour_coverage(turns, *sorted(held))
    assert [value for value, cue in zip(actual, living, strict=True) if cue is not None] == [
        value for value, cue in zip(expected, living, strict=True) if cue is not None
    ]
