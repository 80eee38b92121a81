"""However a stream is handed over, the same turns fall into the same episodes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.policies.segmentation.segments import Note, Segment, StreamTurn
from remembrancer.policies.segmentation.topic_shift import TopicShift

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = ("lathe", "belt", "oil", "pear", "quince", "orchard", "ferry", "Porto", "tea", "thanks", "it", "?")

Said = st.tuples(
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from([1, 20, 20, 20, 300, 5_000, 200_000]),
)
Rules = st.builds(
    TopicShift,
    fewest=st.integers(1, 6),
    most=st.integers(12, 30),
    gap_minutes=st.sampled_from([0.0, 15.0]),
    eagerness=st.sampled_from([-2.0, 0.0, 2.0]),
)


@st.composite
def streams(draw: st.DrawFn) -> list[StreamTurn]:
    turns: list[StreamTurn] = []
    at = BEGIN
    for place, (text, axis, has_vector, pause) in enumerate(draw(st.lists(Said, max_size=60))):
        at += timedelta(seconds=pause)
        vector = 0.3 * np.cos(np.arange(1, 6) * (place + 1))
        vector[axis] += 1
        unit = (vector / np.linalg.norm(vector)).astype(np.float32)
        turns.append(StreamTurn(at=at, speaker="AB"[place % 2], text=text, vector=unit if has_vector else None))
    return turns


def fed(rules: TopicShift, turns: list[StreamTurn], sizes: list[int]) -> list[Segment]:
    """Segment in pieces; the note is converted to JSON and back in between, as in a store."""
    found: list[Segment] = []
    note: Note = {}
    cursor = seen = 0
    for size in [*sizes, len(turns)]:
        seen = min(seen + size, len(turns))
        ended = seen == len(turns)
        tail = turns[cursor:seen]
        plan = rules.plan(tail, note, ended=ended, with_model=False)
        decision = rules.apply(tail, plan, None)
        found += [
            Segment(start=one.start + cursor, end=one.end + cursor, surprise=one.surprise, reason=one.reason)
            for one in decision.segments
        ]
        cursor += decision.segments[-1].end if decision.segments else 0
        note = json.loads(json.dumps(dict(decision.note)))
        if ended:
            break
    return found


@given(streams(), st.lists(st.integers(1, 25), max_size=80), Rules)
def test_any_pieces_of_a_stream_give_the_same_episodes(
    turns: list[StreamTurn], sizes: list[int], rules: TopicShift
) -> None:
    assert fed(rules, turns, sizes) == fed(rules, turns, [])


@given(streams(), Rules)
def test_episodes_hold_every_turn_once_and_none_is_too_long(turns: list[StreamTurn], rules: TopicShift) -> None:
    found = fed(rules, turns, [])
    assert [place for one in found for place in range(one.start, one.end)] == list(range(len(turns)))
    assert all(one.end - one.start <= rules.most and 0 <= one.surprise <= 1 for one in found)
