"""Hypothesis strategies for random histories. Scopes, words and times are few, so that rows collide and steps
conflict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

import numpy as np
from hypothesis import strategies as st

from remembrancer.domain.event import Event, Role
from remembrancer.domain.memory import Memory, MemoryWrite
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.scope import Reach, Reader, Scope, Visibility
from remembrancer.domain.strength import Exposure
from remembrancer.testing.doubles import NOW, a_memory, a_vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCOPES: Final = (
    Scope(workspace="acme"),
    Scope(workspace="acme", crew="c1", agent="a1", session="s1"),
    Scope(workspace="acme", project="p1", crew="c1", agent="a2"),
    Scope(workspace="rival", crew="c1", agent="a1", session="s1"),
)
READERS: Final = (
    Reader(Scope(workspace="acme")),
    Reader(Scope(workspace="acme", project="p2", crew="c1", agent="a1", session="s1")),
    Reader(Scope(workspace="acme", crew="c1", agent="a2"), Reach.OWN),
    Reader(Scope(workspace="rival", crew="c1"), Reach.CREW_SHARED),
    Reader(Scope(workspace="acme", crew="c1", agent="a2"), Reach.CREW_SHARED, shared_from=0.5),
)
WORDS: Final = ("kestrel", "owl", "heron", "barn")
MODELS: Final = ("model-a", "model-b")
QUESTION: Final = a_vector(127, 96, 64, 32)
"""The vector of a question. Its similarity to each axis is different, also after quantisation to 8 bits."""
AXES: Final = tuple(a_vector(*(float(axis == n) for n in range(4))) for axis in range(4))
WHERES: Final = (
    Filter(current_at=NOW + timedelta(days=9)),
    Filter(current_at=NOW + timedelta(minutes=30), kinds=frozenset({"note"}), without_tags=frozenset({"t1"})),
)

scopes = st.sampled_from(SCOPES)
readers = st.sampled_from(READERS)
keys = st.sampled_from([None, None, "k1", "k2"])
topics = st.sampled_from([None, None, "t1"])
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
turns = st.lists(texts, min_size=1, max_size=3)
moments = st.integers(min_value=0, max_value=3).map(lambda hours: NOW + timedelta(hours=hours))
exposures = st.sampled_from(Exposure)
queries = st.sampled_from(["", "which bird?"])
sessions = st.sampled_from([None, "s1"])
similarities = st.sampled_from([None, -0.5, 0.25, 1.0])
minutes = st.sampled_from([0, 20, 60, 81, 145]).map(lambda minutes: NOW + timedelta(minutes=minutes))
"""Times that are less than, exactly and more than an hour apart, the longest gap within a conversation."""
pauses = st.sampled_from([0, 20, 60, 61]).map(lambda minutes: timedelta(minutes=minutes))
speaking = st.tuples(st.sampled_from([None, "Ana", "Ben"]), st.sampled_from([Role.USER, Role.ASSISTANT, Role.TOOL]))
kinds = st.sampled_from([RelationKind.SIMILAR, RelationKind.SUPERSEDES])
weights = st.sampled_from([0.25, 1.0])
picks = st.integers(min_value=0, max_value=1_000_000)
speaker_match = st.lists(st.none() | picks, max_size=3)
"""For each cue in turn the number of the event that it quotes; None: no event."""


talks = st.lists(st.tuples(texts, pauses, speaking), min_size=2, max_size=5)
"""Turns of one stream: text, time since the previous turn, and speaker."""


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    begin, end = sorted((draw(moments), draw(moments)))
    return replace(
        a_memory(draw(texts), scope=draw(scopes)),
        occurred_from=begin,
        occurred_to=end,
        recorded_at=draw(moments),
        visibility=draw(st.sampled_from(Visibility)),
        kind=draw(st.sampled_from(["note", "decision"])),
        tags=tuple(draw(st.lists(st.sampled_from(["t1", "t2"]), unique=True))),
        key=draw(keys),
        topic_key=draw(topics),
    )


def in_events(write: MemoryWrite, events: Sequence[Event | None]) -> MemoryWrite:
    """The write with its first cues attached to these events; the other cues stay as they are."""
    cues = [
        indexed if event is None else replace(indexed, cue=replace(indexed.cue, event_id=event.id))
        for indexed, event in zip_longest(write.cues, events[: len(write.cues)])
    ]
    return replace(write, cues=tuple(cues))


def words_of(text: str) -> NDArray[np.uint8] | None:
    """Token embeddings of two words with four components each; None for a text whose first and last word are
    the same.
    """
    first, *_, last = (WORDS.index(word) for word in (text.split() * 2))
    return None if first == last else np.array([[16 << first], [16 << last]], dtype=np.uint8)


def axis_of(text: str) -> NDArray[np.float32]:
    return AXES[WORDS.index(text.split(maxsplit=1)[0])]
