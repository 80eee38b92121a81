"""Context features of cues: the turn that a cue belongs to, its speaker, and the terms of the neighbouring turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from remembrancer.domain.candidates import ContextFeatures
from remembrancer.domain.event import SPEAKERS
from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import CONTEXT_GAP
from remembrancer.index.growing import GrowingArray
from remembrancer.index.order import distinct
from remembrancer.index.postings import LexicalScores
from remembrancer.ports.changes import CueTurn
from remembrancer.ports.index import ContextRules, SearchRequest

if TYPE_CHECKING:
    from numpy.typing import NDArray

Term = tuple["NDArray[np.int32]", float]
"""The cues that contain a term of the question, and its idf."""
RULES: Final = ContextRules(gap=CONTEXT_GAP, next_but_one=0.75, brief_terms=40, most_holding=65_536)
_GAP: Final = RULES.gap // timedelta(microseconds=1)
_NO_TURN: Final = -1
_NOBODY: Final = -1
"""The role code of a cue without an event, as in notes and facts."""
_ANOTHER: Final = -2
"""The role code of a cue whose event is from a tool or the system."""
_TURN_ARRAYS: Final = ("of_cue", "stream", "seq", "at", "turn_session", "around", "cues_in_use")
_ROLES: Final[Mapping[str, int]] = {str(role): code for code, role in enumerate(SPEAKERS)}


class CueContext:
    """The turn, speaker and flags of each cue. Cues are numbered from 0 in the order they are appended."""

    def __init__(self) -> None:
        self._turns = Turns()
        self._actor = GrowingArray[np.int32](np.int32)
        self._role = GrowingArray[np.int8](np.int8)
        """The index of its role in SPEAKERS; _NOBODY or _ANOTHER if no user or assistant said it."""
        self._flags = GrowingArray[np.int32](np.int32)
        self._actors: dict[str, int] = {"": 0}
        """The code in `_actor` of each speaker's name."""

    @classmethod
    def restored(
        cls, arrays: Mapping[str, GrowingArray[Any]], actors: Sequence[str], streams: Sequence[Sequence[str | None]]
    ) -> Self:
        """The context of the `arrays`, `actors` and `streams` of others."""
        context = cls()
        context._actor, context._role, context._flags = arrays["actor"], arrays["role"], arrays["flags"]
        context._actors = {actor: code for code, actor in enumerate(actors)}
        context._turns = Turns.restored(arrays, streams)
        return context

    def arrays(self) -> dict[str, GrowingArray[Any]]:
        """All arrays, by name."""
        return {"actor": self._actor, "role": self._role, "flags": self._flags, **self._turns.arrays()}

    @property
    def actors(self) -> list[str]:
        """The speakers' names, by their codes."""
        return list(self._actors)

    @property
    def streams(self) -> list[list[str | None]]:
        """The parts of each stream's scope, by the stream's number."""
        return self._turns.streams

    @property
    def nbytes(self) -> int:
        arrays = (self._actor, self._role, self._flags)
        return self._turns.nbytes + sum(array.nbytes for array in arrays)

    def extend(self, turns: Sequence[CueTurn | None], flags: Sequence[int]) -> None:
        """Append cues, given the turn and the flags of each."""
        self._turns.extend(turns)
        speakers = ["" if turn is None or turn.role not in _ROLES else turn.actor for turn in turns]
        actors = [self._actors.setdefault(speaker, len(self._actors)) for speaker in speakers]
        self._actor.extend(np.array(actors, dtype=np.int32))
        roles = [_NOBODY if turn is None else _ROLES.get(turn.role, _ANOTHER) for turn in turns]
        self._role.extend(np.array(roles, dtype=np.int8))
        self._flags.extend(np.array(flags, dtype=np.int32))

    def set_read_to(self, read_to: NDArray[np.int64]) -> None:
        """Say that turns may be missing. `read_to`, of the first cues: the `seq` to which the turns after it are
        here.
        """
        self._turns.read_to = read_to

    def bury(self, cues: NDArray[np.integer]) -> None:
        """Remove these cues from their turns: they are no longer in use."""
        self._turns.bury(cues)

    def speakers(self, kept: NDArray[np.bool_] | None) -> frozenset[str]:
        """The names of the speakers of the cues marked in `kept`, shape (cues,); None: of all cues."""
        if kept is None:
            return frozenset(name for name in self._actors if name)
        speaking = np.zeros(len(self._actors), dtype=np.bool_)
        speaking[self._actor.values[kept]] = True
        return frozenset(name for name, code in self._actors.items() if name and speaking[code])

    def neighbour_coverage(self, lexical: LexicalScores, lengths: NDArray[np.int32]) -> NDArray[np.float32]:
        """For each cue, the share of the question's idf in terms that neighbouring turns have and its own turn lacks.

        `lengths`: the number of terms of each cue. The result has shape (cues,).
        """
        self._turns.link()
        terms = rarest(list(zip(lexical.holding, lexical.idf, strict=True)), RULES.most_holding)
        neighbour_coverage = self._turns.neighbour_coverage(terms, lengths <= RULES.brief_terms)
        return neighbour_coverage / np.float32(sum(lexical.idf))

    def features(
        self,
        request: SearchRequest,
        lexical: LexicalScores,
        coverage: NDArray[np.float32],
        *,
        by_words: NDArray[np.int64],
        best: NDArray[np.int64],
        rank: NDArray[np.int32],
    ) -> ContextFeatures:
        """The context features of candidates; the arrays have one element for each.

        `by_words`: the best cue by lexical score; `best`: the best cue by both searches; `rank`: the rank in the
        context search. `coverage`: the result of `neighbour_coverage`.
        """
        return ContextFeatures(
            neighbour_coverage=coverage[by_words],
            session=self._turns.best_of_session(by_words, lexical.bm25, np.concatenate(lexical.holding)),
            speaker_match=self._speaker_match(request, best),
            flags=self._flags.values[best],
            rank=rank,
            stream=self._turns.session_of(best),
        )

    def _speaker_match(self, request: SearchRequest, cues: NDArray[np.int64]) -> NDArray[np.float32]:
        """The speaker signal: 1 for a cue of a requested speaker or role, else 0. If a role is requested, also 1 for
        cues without an event.
        """
        speaker_match = np.zeros(len(cues), dtype=np.bool_)
        for name in request.speakers:
            if name and name in self._actors:  # the empty name stands for all cues without a speaker
                speaker_match |= self._actor.values[cues] == self._actors[name]
        if request.roles:
            told_by = [_ROLES[role] for role in request.roles if role in _ROLES]
            speaker_match |= np.isin(self._role.values[cues], [_NOBODY, *told_by])
        return speaker_match.astype(np.float32)


def rarest(terms: list[Term], most: int) -> list[Term]:
    """The terms from the rarest on, as long as at most `most` cues contain them, together; always the rarest. If all
    are kept, they keep their order.
    """
    if sum(len(cues) for cues, _ in terms) <= most:
        return terms
    rising = sorted(terms, key=lambda term: len(term[0]))
    together = np.cumsum([len(cues) for cues, _ in rising])
    return rising[: max(1, int(np.searchsorted(together, most, side="right")))]


class Turns:
    """The turns of all streams, and their neighbours. A turn is an event that is a cue of any memory.

    Cues and turns are numbered from 0 in the order they are appended. Turns are linked to their neighbours when they
    are appended, which is usually the order of their streams. A stream that got a turn out of order, or lost one, is
    linked again by `link`.
    """

    def __init__(self) -> None:
        self._of_cue = GrowingArray[np.intp](np.intp)
        self._stream = GrowingArray[np.int32](np.int32)
        self._seq = GrowingArray[np.int64](np.int64)
        self._at = GrowingArray[np.int64](np.int64)
        self._session = GrowingArray[np.int32](np.int32)
        """The number of the turn's stream if the stream is a session, else -1."""
        self._around = GrowingArray[np.intp](np.intp, 4)
        """For each turn, the turns 1 before, 1 after, 2 before and 2 after it; -1 for none."""
        self._cues_in_use = GrowingArray[np.int32](np.int32)
        """For each turn, the number of its cues that are in use."""
        self._streams: dict[Scope, int] = {}
        """The number of each stream."""
        self._restored: Sequence[Sequence[str | None]] = ()
        """Streams read from a file that are not in `_streams` yet."""
        self._turns_of: dict[int, dict[int, int]] = {}
        """The turns of a stream by their `seq`; without streams of a file that nothing was appended to."""
        self._in_session: list[bool] = []
        """For each stream, whether it is a session."""
        self._last: dict[int, tuple[int, int, int]] = {}
        """For each stream in `_turns_of`, its last turn with the turn's `seq` and time."""
        self._unlinked: set[int] = set()
        self.read_to: NDArray[np.int64] | None = None
        """See `CueContext.set_read_to`; None: all turns are here."""

    @classmethod
    def restored(cls, arrays: Mapping[str, GrowingArray[Any]], streams: Sequence[Sequence[str | None]]) -> Self:
        """Turns of the `arrays` and `streams` of others."""
        turns = cls()
        turns._of_cue, turns._stream, turns._seq, turns._at = (arrays[name] for name in _TURN_ARRAYS[:4])
        turns._session, turns._around, turns._cues_in_use = (arrays[name] for name in _TURN_ARRAYS[4:])
        turns._restored = streams
        turns._in_session = [stream[-1] is not None for stream in streams]
        return turns

    def arrays(self) -> dict[str, GrowingArray[Any]]:
        """All arrays, by name. Links the turns first."""
        self.link()
        every = (self._of_cue, self._stream, self._seq, self._at, self._session, self._around, self._cues_in_use)
        return dict(zip(_TURN_ARRAYS, every, strict=True))

    @property
    def streams(self) -> list[list[str | None]]:
        """The parts of each stream's scope, by the stream's number."""
        self._read_streams()
        return [[getattr(stream, part) for part in Scope.__slots__] for stream in self._streams]

    @property
    def nbytes(self) -> int:
        arrays = (self._of_cue, self._stream, self._session, self._seq, self._at, self._around, self._cues_in_use)
        return sum(array.nbytes for array in arrays) + 200 * sum(map(len, self._turns_of.values()))

    def extend(self, cues: Sequence[CueTurn | None]) -> None:
        """Append cues, given the turn of each; None: a cue without an event."""
        known = len(self._seq)
        coming: list[tuple[int, int, int]] = []
        turns = np.array([self._turn(cue, known, coming) for cue in cues], dtype=np.intp)
        self._append(coming)
        self._of_cue.extend(turns)
        lost = distinct(turns[(turns >= 0) & (turns < known)])
        self._unlinked.update(self._stream.values[lost[self._cues_in_use.values[lost] == 0]].tolist())
        np.add.at(self._cues_in_use.values, turns[turns >= 0], 1)

    def bury(self, cues: NDArray[np.integer]) -> None:
        """Mark these cues as no longer in use."""
        for turn in self._of_cue.values[cues].tolist():
            if turn != _NO_TURN:
                self._cues_in_use.values[turn] -= 1
                if not self._cues_in_use.values[turn]:
                    self._unlinked.add(int(self._stream.values[turn]))

    def link(self) -> None:
        """Link the turns of all streams that changed. Call it before `neighbour_coverage`."""
        if self.read_to is not None:
            self._unlinked.update(self._streams.values())
        if not self._unlinked:
            return
        unlinked = np.zeros(len(self._in_session), dtype=np.bool_)
        unlinked[list(self._unlinked)] = True
        streams, seqs = self._stream.values, self._seq.values
        turns = np.flatnonzero(unlinked[streams] & (self._cues_in_use.values > 0))
        turns = turns[np.lexsort((seqs[turns], streams[turns]))]
        around = self._around.values
        around[turns] = _NO_TURN
        near = (np.abs(np.diff(self._at.values[turns])) <= _GAP) & (np.diff(streams[turns]) == 0)
        if self.read_to is not None:
            ends, those = seqs + 1, self._of_cue.values[: len(self.read_to)]
            np.maximum.at(ends, those[those != _NO_TURN], self.read_to[those != _NO_TURN])
            near &= seqs[turns[1:]] <= ends[turns[:-1]]
        around[turns[1:][near], 0] = turns[:-1][near]
        around[turns[:-1][near], 1] = turns[1:][near]
        self._reach_farther(turns)
        if self.read_to is None:
            stops = np.searchsorted(streams[turns], np.arange(len(unlinked)), side="right")
            for stream in self._unlinked:
                self._find_last(stream, turns[: stops[stream]][stops[stream - 1] if stream else 0 :])
        self._unlinked.clear()

    def neighbour_coverage(self, terms: Sequence[Term], brief: NDArray[np.bool_]) -> NDArray[np.float32]:
        """For each cue, the idf of the terms that are in neighbouring turns but not in its own, shape (cues,).

        `brief`: which cues are short enough to be context for others.
        """
        # One extra element at the end: the index -1 means no turn.
        total = np.zeros(len(self._seq) + 1, dtype=np.float32)
        of_cue, around = self._of_cue.values, self._around.values
        for cues, weight in terms:
            places = cues.astype(np.intp)  # once: 32-bit indexes are converted on each use
            turns = of_cue.take(places)
            is_turn = turns != _NO_TURN
            context = around.take(turns[is_turn & brief.take(places)], axis=0)
            beside, farther, saying = context[:, :2].ravel(), context[:, 2:].ravel(), turns[is_turn]
            # Add to the totals as they were before this term, nearest neighbours last, so that a turn reached twice
            # counts once. A turn that contains the term itself gets nothing.
            before = total.take(beside), total.take(farther), total.take(saying)
            total[farther] = before[1] + np.float32(weight * RULES.next_but_one)
            total[beside] = before[0] + np.float32(weight)
            total[saying] = before[2]
        total[_NO_TURN] = 0.0
        return total.take(of_cue)

    def best_of_session(
        self, cues: NDArray[np.int64], scores: NDArray[np.float32], scored: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """For each of `cues`, the greatest score (at least 0) of any cue of its session; without a session, its own
        score.

        `scored`: the cues that have a score; a cue may occur more than once.
        """
        sessions = self.session_of(cues)
        best = np.zeros(len(self._in_session) + 1, dtype=np.float32)
        wanted = np.zeros(len(best), dtype=np.bool_)
        wanted[sessions] = True
        wanted[_NO_TURN] = False
        theirs = self.session_of(scored)
        counted = np.flatnonzero(wanted.take(theirs))
        np.maximum.at(best, theirs.take(counted), scores.take(scored.take(counted)))
        return np.where(sessions == _NO_TURN, scores[cues], best[sessions])

    def session_of(self, cues: NDArray[np.integer]) -> NDArray[np.int32]:
        """The stream of each cue if it is a session, else -1."""
        turns = self._of_cue.values.take(cues)
        if not len(self._seq):
            return turns.astype(np.int32)
        return np.where(turns == _NO_TURN, np.int32(_NO_TURN), self._session.values.take(turns, mode="wrap"))

    def _turn(self, cue: CueTurn | None, known: int, coming: list[tuple[int, int, int]]) -> int:
        """The number of the cue's turn. A new turn is appended to `coming` as (stream, seq, time)."""
        if cue is None:
            return _NO_TURN
        stream, seq, at, _, _ = cue
        if self._restored:
            self._read_streams()
        code = self._streams.get(stream)
        if code is None:
            code = self._streams[stream] = len(self._streams)
            self._turns_of[code] = {}
            self._in_session.append(stream.session is not None)
        turns = self._turns_of.get(code)
        if turns is None:
            turns = self._read_turns(code)
        turn = turns.get(seq)
        if turn is None:
            turn = turns[seq] = known + len(coming)
            coming.append((code, seq, at))
        return turn

    def _read_streams(self) -> None:
        for parts in self._restored:
            workspace, project, crew, agent, session = parts
            stream = Scope(workspace=workspace or "", project=project, crew=crew, agent=agent, session=session)
            self._streams[stream] = len(self._streams)
        self._restored = ()

    def _read_turns(self, code: int) -> dict[int, int]:
        """The turns of a stream of a file, by their `seq`. Finds its last turn too."""
        turns = np.flatnonzero(self._stream.values == code)
        self._turns_of[code] = dict(zip(self._seq.values[turns].tolist(), turns.tolist(), strict=True))
        self._find_last(code, turns[self._cues_in_use.values[turns] > 0])
        return self._turns_of[code]

    def _find_last(self, code: int, turns: NDArray[np.integer]) -> None:
        """Set the last turn of a stream, given its turns in use."""
        self._last.pop(code, None)
        if len(turns):
            last = int(turns[np.argmax(self._seq.values[turns])])
            self._last[code] = last, int(self._seq.values[last]), int(self._at.values[last])

    def _append(self, coming: Sequence[tuple[int, int, int]]) -> None:
        """Append turns. A turn that continues its stream in order is linked at once; other streams are
        left for `link`.
        """
        first = len(self._seq)
        columns = np.array(coming, dtype=np.int64).reshape(-1, 3)
        streams = columns[:, 0].astype(np.int32)
        self._stream.extend(streams)
        self._session.extend(np.where(np.array([*self._in_session, False])[streams], streams, np.int32(_NO_TURN)))
        self._seq.extend(columns[:, 1])
        self._at.extend(columns[:, 2])
        self._around.extend(np.full((len(coming), 4), _NO_TURN, dtype=np.intp))
        self._cues_in_use.extend(np.zeros(len(coming), dtype=np.int32))
        linked: list[tuple[int, int]] = []
        for turn, (code, seq, at) in enumerate(coming, start=first):
            last = self._last.get(code)
            self._last[code] = turn, seq, at
            if last is None:
                continue
            if last[1] > seq:
                self._unlinked.add(code)
            elif abs(last[2] - at) <= _GAP:
                linked.append((last[0], turn))
        around = self._around.values
        earlier, later = np.array(linked, dtype=np.intp).reshape(-1, 2).T
        around[later, 0], around[earlier, 1] = earlier, later
        new = np.arange(first, len(self._seq))
        last_ones = around[new, 0]
        self._reach_farther(np.concatenate([new, last_ones, around[last_ones, 0]]))

    def _reach_farther(self, turns: NDArray[np.integer]) -> None:
        """Compute the neighbours two turns away of these turns, from their direct neighbours. -1 in
        `turns` is skipped.
        """
        around = self._around.values
        turns = turns[turns != _NO_TURN]
        for side in (0, 1):
            beside = around[turns, side]
            around[turns, 2 + side] = np.where(beside == _NO_TURN, _NO_TURN, around[beside, side])
