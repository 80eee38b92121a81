"""Which turn a cue is, and which turns stand before and after it in its stream."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from remembrancer.adapters.sqlite.resident.growing import GrowingArray
from remembrancer.ports.store import CONTEXT_GAP

NEXT_BUT_ONE: Final = 0.75
"""What a word is worth that stands only two turns away, beside 1 for the turn next to it."""
_GAP: Final = CONTEXT_GAP // timedelta(microseconds=1)
_NO_TURN: Final = -1

_Cue = tuple[str | None, bool, int, int]
"""Its stream (None: the cue is no turn), whether that is a session, its number there, its time in microseconds."""


class Turns:
    """A turn is an event with a cue, of whatever memory. Cues and turns are numbered from 0 as they are appended.

    Turns mostly come in the order of their streams and are linked as they come; a stream where one did not, or lost
    one, is linked anew when it is next asked about.
    """

    def __init__(self) -> None:
        self._of_cue = GrowingArray[np.int32](np.int32)
        self._stream = GrowingArray[np.int32](np.int32)
        self._seq = GrowingArray[np.int64](np.int64)
        self._at = GrowingArray[np.int64](np.int64)
        self._before = GrowingArray[np.int32](np.int32)
        self._after = GrowingArray[np.int32](np.int32)
        self._living = GrowingArray[np.int32](np.int32)
        """How many cues in use each turn has."""
        self._streams: dict[str, int] = {}
        self._in_session: list[bool] = []
        """By stream."""
        self._places: dict[tuple[int, int], int] = {}
        """Stream and number in it → turn."""
        self._last: dict[int, int] = {}
        self._unlinked: set[int] = set()
        self._coming: list[tuple[int, int, int]] = []
        """Stream, number and time of the turns that are being appended."""

    @property
    def nbytes(self) -> int:
        arrays = (self._of_cue, self._stream, self._seq, self._at, self._before, self._after, self._living)
        return sum(array.nbytes for array in arrays) + 200 * len(self._seq)

    def extend(self, cues: Sequence[_Cue]) -> None:
        """Append cues."""
        self._coming.clear()
        turns = np.array([self._turn(cue) for cue in cues], dtype=np.int32)
        known = len(self._seq)
        self._append(self._coming)
        self._of_cue.extend(turns)
        lost = np.unique(turns[(turns >= 0) & (turns < known)])
        self._unlinked.update(self._stream.values[lost[self._living.values[lost] == 0]].tolist())
        np.add.at(self._living.values, turns[turns >= 0], 1)

    def bury(self, cues: NDArray[np.integer]) -> None:
        """These cues are not in use any more."""
        for turn in self._of_cue.values[cues].tolist():
            if turn != _NO_TURN:
                self._living.values[turn] -= 1
                if not self._living.values[turn]:
                    self._unlinked.add(int(self._stream.values[turn]))

    def of(self, cues: NDArray[np.integer]) -> NDArray[np.int32]:
        """The turn that each cue is; -1 for one that is none."""
        return self._of_cue.values[cues]

    def link(self) -> None:
        """Bring the order of every stream up to date; to be called before `around`."""
        for stream in self._unlinked:
            turns = np.flatnonzero((self._stream.values == stream) & (self._living.values > 0))
            turns = turns[np.argsort(self._seq.values[turns])].astype(np.int32)
            self._before.values[turns] = self._after.values[turns] = _NO_TURN
            near = np.abs(np.diff(self._at.values[turns])) <= _GAP
            self._before.values[turns[1:][near]] = turns[:-1][near]
            self._after.values[turns[:-1][near]] = turns[1:][near]
            self._last.pop(stream, None)
            if len(turns):
                self._last[stream] = int(turns[-1])
        self._unlinked.clear()

    def around(self, turns: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The turns next to these, and those one farther, on either side; a turn may come more than once."""
        before, after = self._before.values, self._after.values
        last, following = _there(before[turns]), _there(after[turns])
        return np.concatenate([last, following]), _there(np.concatenate([before[last], after[following]]))

    def nearby(self, holding: Sequence[NDArray[np.int32]], idf: Sequence[float]) -> NDArray[np.float32]:
        """For each turn, the idf of the terms that stand around it and not in it, shape (turns,).

        `holding`: for each term the turns that hold it.
        """
        total = np.zeros(len(self._seq), dtype=np.float32)
        worth = np.zeros(len(self._seq), dtype=np.float32)
        for turns, weight in zip(holding, idf, strict=True):
            near, far = self.around(turns)
            worth[far] = NEXT_BUT_ONE
            worth[near] = 1.0
            worth[turns] = 0.0
            touched = np.concatenate([near, far])
            # A turn that comes twice is added to once: indexed addition reads before it writes.
            total[touched] += np.float32(weight) * worth[touched]
            worth[touched] = 0.0
        return total

    def best_of_session(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each cue, the greatest score, none below 0, of any cue of its session; its own where it is in none."""
        turns = self._of_cue.values
        streams = np.where(turns == _NO_TURN, -1, self._stream.values[turns]) if len(self._stream) else turns
        in_session = np.array([*self._in_session, False])[streams]  # the last one stands for no stream
        scored = np.flatnonzero(in_session & (scores > 0))
        best = np.zeros(len(self._in_session) + 1, dtype=np.float32)
        np.maximum.at(best, streams[scored], scores[scored])
        return np.where(in_session, best[streams], scores)

    def _turn(self, cue: _Cue) -> int:
        """The number of the cue's turn, which may be one of those to come."""
        stream, in_session, seq, at = cue
        if stream is None:
            return _NO_TURN
        code = self._streams.setdefault(stream, len(self._streams))
        if code == len(self._in_session):
            self._in_session.append(bool(in_session))
        turn = self._places.get((code, seq))
        if turn is None:
            turn = self._places[code, seq] = len(self._places)
            self._coming.append((code, seq, at))
        return turn

    def _append(self, coming: Sequence[tuple[int, int, int]]) -> None:
        """Turns in the order of their streams are linked at once; a stream where one is not is left for `link`."""
        first = len(self._seq)
        before, after = [_NO_TURN] * len(coming), [_NO_TURN] * len(coming)
        for place, (code, seq, at) in enumerate(coming):
            last = self._last.get(code)
            self._last[code] = first + place
            if last is None:
                continue
            told = coming[last - first][1:] if last >= first else (self._seq.values[last], self._at.values[last])
            if told[0] > seq:
                self._unlinked.add(code)
            elif abs(int(told[1]) - at) <= _GAP:
                before[place] = last
                if last >= first:
                    after[last - first] = first + place
                else:
                    self._after.values[last] = first + place
        columns = np.array(coming, dtype=np.int64).reshape(-1, 3)
        self._stream.extend(columns[:, 0].astype(np.int32))
        self._seq.extend(columns[:, 1])
        self._at.extend(columns[:, 2])
        self._before.extend(np.array(before, dtype=np.int32))
        self._after.extend(np.array(after, dtype=np.int32))
        self._living.extend(np.zeros(len(coming), dtype=np.int32))


def _there(turns: NDArray[np.int32]) -> NDArray[np.int32]:
    return turns[turns != _NO_TURN]
