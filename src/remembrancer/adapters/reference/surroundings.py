"""What stands around each turn, by its definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer.adapters.reference.rows import Rows
from remembrancer.domain.candidates import Surroundings
from remembrancer.domain.event import SPEAKERS, Event
from remembrancer.domain.memory import IndexedCue
from remembrancer.domain.scope import Scope
from remembrancer.ports.store import BRIEF_TERMS, CONTEXT_GAP, NEXT_BUT_ONE, SearchRequest


class Around:
    """The turns of a workspace in the order of their streams, and of each the terms that the reader may see."""

    def __init__(self, rows: Rows, visible: Mapping[int, IndexedCue], idf: Mapping[str, float]) -> None:
        self._rows = rows
        self._idf = idf
        self._terms: dict[UUID, set[str]] = {}
        self._briefly: dict[UUID, set[str]] = {}
        """Those of the cues that are brief."""
        self._beside: dict[UUID, list[UUID]] = {}
        turns: set[UUID] = set()
        for ref, indexed in rows.cues.items():
            event_id = indexed.cue.event_id
            if event_id is not None:
                turns.add(event_id)
                told = idf.keys() & set(indexed.terms) if ref in visible else set[str]()
                self._terms.setdefault(event_id, set()).update(told)
                brief = len(indexed.terms) <= BRIEF_TERMS
                self._briefly.setdefault(event_id, set()).update(told if brief else ())
        in_order = sorted((rows.events[turn] for turn in turns), key=lambda event: event.seq)
        for scope in {event.scope for event in in_order}:
            for one, other in pairwise(event for event in in_order if event.scope == scope):
                if abs(other.occurred_at - one.occurred_at) <= CONTEXT_GAP:
                    self._beside.setdefault(one.id, []).append(other.id)
                    self._beside.setdefault(other.id, []).append(one.id)

    def nearby(self, indexed: IndexedCue) -> float:
        """The share of the question's idf that stands around the cue's turn and not in it."""
        turn = indexed.cue.event_id
        if turn is None:
            return 0.0
        beside = self._beside.get(turn, [])
        farther = {two for one in beside for two in self._beside[one]}
        near = {term for one in beside for term in self._briefly[one]} - self._terms[turn]
        far = {term for two in farther for term in self._briefly[two]} - self._terms[turn] - near
        worth = sum(self._idf[term] for term in near) + NEXT_BUT_ONE * sum(self._idf[term] for term in far)
        return worth / sum(self._idf.values())

    def told(
        self,
        turns: Sequence[tuple[IndexedCue, int]],
        best: Sequence[IndexedCue],
        ranks: Sequence[int],
        bm25: Mapping[int, float],
        request: SearchRequest,
    ) -> Surroundings:
        """Of each candidate its turn, with its ref, its best cue, and its rank in this leg."""
        return Surroundings(
            nearby=np.array([self.nearby(turn) for turn, _ in turns], dtype=np.float32),
            session=np.array([self._session(turn, ref, bm25) for turn, ref in turns], dtype=np.float32),
            spoken=np.array([self._spoken(cue, request) for cue in best], dtype=np.float32),
            marks=np.array([int(cue.marks) for cue in best], dtype=np.int32),
            rank=np.array(ranks, dtype=np.int32),
            stream=self._streams(best),
            idf=np.array(list(self._idf.values())),
        )

    def _streams(self, best: Sequence[IndexedCue]) -> NDArray[np.int32]:
        numbers: dict[Scope, int] = {}
        events = [self._event(cue) for cue in best]
        return np.array(
            [
                -1 if event is None or event.scope.session is None else numbers.setdefault(event.scope, len(numbers))
                for event in events
            ],
            dtype=np.int32,
        )

    def _session(self, indexed: IndexedCue, ref: int, bm25: Mapping[int, float]) -> float:
        event = self._event(indexed)
        if event is None or event.scope.session is None:
            return bm25.get(ref, 0.0)
        return max(
            (
                score
                for other, score in bm25.items()
                if (spoken := self._event(self._rows.cues[other])) is not None and spoken.scope == event.scope
            ),
            default=0.0,
        )

    def _spoken(self, indexed: IndexedCue, request: SearchRequest) -> bool:
        event = self._event(indexed)
        if event is None:
            return bool(request.roles)
        if event.role not in SPEAKERS:
            return False
        return event.actor in request.speakers or event.role in request.roles

    def _event(self, indexed: IndexedCue) -> Event | None:
        return None if indexed.cue.event_id is None else self._rows.events[indexed.cue.event_id]
