"""The signals: the numbers for each candidate that a score expression may read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.memory import CueFlag
from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.nearness import nearness
from remembrancer.policies.ranking.preferring import applying
from remembrancer.policies.ranking.scoring import Clamp, Expression, MinMax, Rrf, Saturating, Signal, inner_expressions
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.domain.candidates import Candidates, ContextFeatures, States
    from remembrancer.language.times.spans import TimeSpan
    from remembrancer.policies.forgetting.dynamics import Dynamics, Moments
    from remembrancer.policies.ranking.scoring import FloatColumn


class Scale(StrEnum):
    """The range of a signal's values.

    `unit`: in [0, 1], comparable across questions. `factor`: at least 0 without an upper limit, comparable across
    questions. `raw`: comparable within one answer only.
    """

    UNIT = "unit"
    FACTOR = "factor"
    RAW = "raw"


class SignalGroup(StrEnum):
    """The subject of a signal, for people: every part of a score belongs to one of these five.

    Their order is that of legends and bars.
    """

    MEANING = "meaning"
    WORDS = "words"
    WHO_AND_WHEN = "who and when"
    CONVERSATION = "conversation"
    MEMORY = "the memory itself"


@dataclass(frozen=True, slots=True)
class EvaluationTime:
    """The inputs of a state signal besides the state: the time (one, or one for each memory) and the preset's
    forgetting curve and reinforcement.
    """

    at: datetime | Moments
    dynamics: Dynamics


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """The features of a question other than its words and vector.

    `spans`: the times it names. `kind`: the expected answer type. `listed`: whether it asks for a list. `request`:
    whether it asks for something to be done, or for advice. `speakers`: whether it names speakers of the answer;
    `by_role`: it names them by role (user or assistant).
    """

    spans: tuple[TimeSpan, ...] = ()
    kind: CueFlag = CueFlag.NOTHING
    listed: bool = False
    speakers: bool = False
    by_role: bool = False
    request: bool = False

    @property
    def no_evidence(self) -> frozenset[str]:
        """Signals that are no evidence for this question. With `by_role`, the speaker is none: half of all turns are
        the user's.
        """
        return frozenset({"speaker"}) if self.by_role else frozenset()


@dataclass(frozen=True, slots=True)
class MatchSignal:
    """A signal that depends on both question and candidate.

    `title`: its name in words. `evidence`: whether it shows that the memory is about the question, not just what type
    of text it is. `context`: whether it is made from context features.
    """

    title: str
    group: SignalGroup
    meaning: str
    scale: Scale
    compute: Callable[[Candidates, QuestionFeatures], FloatColumn]
    evidence: bool = True
    context: bool = False


@dataclass(frozen=True, slots=True)
class StateSignal:
    """A signal that depends on the memory and the time, not on the question. `title`: its name in words."""

    title: str
    group: SignalGroup
    meaning: str
    scale: Scale
    compute: Callable[[States, EvaluationTime], FloatColumn]


def _similarity(found: Candidates, _: QuestionFeatures) -> FloatColumn:
    return np.clip(found.similarity.astype(np.float64), 0.0, 1.0)


def _bm25(found: Candidates, _: QuestionFeatures) -> FloatColumn:
    return found.bm25.astype(np.float64)


def _lexical(found: Candidates, _: QuestionFeatures) -> FloatColumn:
    if found.bm25_bound <= 0:
        return np.full(len(found.ids), np.nan)
    return np.clip(found.bm25.astype(np.float64) / found.bm25_bound, 0.0, 1.0)


def _coverage(found: Candidates, _: QuestionFeatures) -> FloatColumn:
    return found.coverage.astype(np.float64)


def _neighbour_coverage(found: Candidates, _: QuestionFeatures) -> FloatColumn:
    return _around(found, lambda around: around.neighbour_coverage)


def _session(found: Candidates, _: QuestionFeatures) -> FloatColumn:
    if found.bm25_bound <= 0:
        return np.full(len(found.ids), np.nan)
    return np.clip(_around(found, lambda around: around.session) / found.bm25_bound, 0.0, 1.0)


def _self_contained(found: Candidates, asked: QuestionFeatures) -> FloatColumn:
    """The mean of coverage and session score, times 1 - 2 x the greatest neighbour coverage of any candidate.

    It counts a text's own words again if neighbours add little, as for notes and long turns. Absent if the factor is
    not positive.
    """
    around = _neighbour_coverage(found, asked)
    said = around[~np.isnan(around)]
    alone = 1.0 - 2.0 * float(said.max()) if said.size else 0.0
    if alone <= 0:
        return np.full(len(found.ids), np.nan)
    return alone * (np.nan_to_num(_coverage(found, asked)) + np.nan_to_num(_session(found, asked))) / 2.0


def _speaker(found: Candidates, asked: QuestionFeatures) -> FloatColumn:
    return _around(found, lambda around: around.speaker_match if asked.speakers else None)


def _answer_type(found: Candidates, asked: QuestionFeatures) -> FloatColumn:
    """Whether the text contains the expected answer type. For a list a name counts half, because each thing of a list
    is told by itself, and many things have names.
    """
    kind, value = (CueFlag.NAME, 0.5) if asked.listed else (asked.kind, 1.0)
    return _around(found, lambda around: ((around.flags & int(kind)) != 0) * value if kind else None)


def _is_declarative(found: Candidates, asked: QuestionFeatures) -> FloatColumn:
    """Absent if the question names a role: users say most things to an assistant in questions."""
    return _around(found, lambda around: None if asked.by_role else (around.flags & int(CueFlag.QUESTION)) == 0)


def _around(found: Candidates, column: Callable[[ContextFeatures], NDArray[np.generic] | None]) -> FloatColumn:
    """A column of the context features; NaN without them, or if they do not apply to this question."""
    values = None if found.context_features is None else column(found.context_features)
    return np.full(len(found.ids), np.nan) if values is None else values.astype(np.float64)


def _time(found: Candidates, asked: QuestionFeatures) -> FloatColumn:
    return nearness(asked.spans, found.states.occurred_from, found.states.occurred_at)


def _preference(found: Candidates, asked: QuestionFeatures) -> FloatColumn:
    """Absent unless something is requested. Of many preferences, those that are most about the request count."""
    if not asked.request or found.preferences is None:
        return np.full(len(found.ids), np.nan)
    return applying(found.preferences, found.similarity, found.coverage)


def _not_yet(found: Candidates, _: QuestionFeatures) -> FloatColumn:
    """Always absent: late interaction or a reranker fills it in later."""
    return np.full(len(found.ids), np.nan)


def _dense_leg(found: Candidates, _: QuestionFeatures) -> FloatColumn:
    return np.where(found.dense_rank > 0, found.similarity.astype(np.float64), np.nan)


def _lexical_leg(found: Candidates, _: QuestionFeatures) -> FloatColumn:
    return np.where(found.lexical_rank > 0, found.bm25.astype(np.float64), np.nan)


def _importance(states: States, _: EvaluationTime) -> FloatColumn:
    return states.importance.astype(np.float64)


def _importance_floor(states: States, _: EvaluationTime) -> FloatColumn:
    return states.importance_floor.astype(np.float64)


def _confidence(states: States, _: EvaluationTime) -> FloatColumn:
    return states.confidence.astype(np.float64)


def _priority(states: States, _: EvaluationTime) -> FloatColumn:
    return states.priority.astype(np.float64) / 10.0


def _retention(states: States, moment: EvaluationTime) -> FloatColumn:
    return moment.dynamics.retention(states, moment.at)


def _reinforcement(states: States, moment: EvaluationTime) -> FloatColumn:
    return moment.dynamics.reinforcement(states)


def _outcome(states: States, _: EvaluationTime) -> FloatColumn:
    worked = states.worked.astype(np.float64)
    return (worked + 1.0) / (worked + states.failed + 2.0)


def _level(states: States, moment: EvaluationTime) -> FloatColumn:
    return moment.dynamics.level_factor(states)


NOTHING_MORE: Final = QuestionFeatures()
"""The features of a question with words and a vector only."""

MATCH_SIGNALS: Final[Mapping[str, MatchSignal]] = {
    "similarity": MatchSignal(
        "similar meaning",
        SignalGroup.MEANING,
        "cosine of question and best cue, negative as 0",
        Scale.UNIT,
        _similarity,
    ),
    "bm25": MatchSignal("keyword score (BM25)", SignalGroup.WORDS, "BM25 of the best cue, unscaled", Scale.RAW, _bm25),
    "lexical": MatchSignal(
        "keyword score",
        SignalGroup.WORDS,
        "BM25 divided by the greatest possible value for this question",
        Scale.UNIT,
        _lexical,
    ),
    "dense_leg": MatchSignal(
        "vector search", SignalGroup.MEANING, "cosine, if the dense search found the memory", Scale.RAW, _dense_leg
    ),
    "lexical_leg": MatchSignal(
        "keyword search", SignalGroup.WORDS, "BM25, if the lexical search found the memory", Scale.RAW, _lexical_leg
    ),
    "coverage": MatchSignal(
        "words of the question",
        SignalGroup.WORDS,
        "share of the question's idf that occurs in the best cue",
        Scale.UNIT,
        _coverage,
    ),
    "nearby": MatchSignal(
        "words in neighbouring turns",
        SignalGroup.CONVERSATION,
        "share of the question's idf that occurs only in the neighbouring turns",
        Scale.UNIT,
        _neighbour_coverage,
        context=True,
    ),
    "session": MatchSignal(
        "words in its conversation",
        SignalGroup.CONVERSATION,
        "the greatest `lexical` of any turn of its session",
        Scale.UNIT,
        _session,
        context=True,
    ),
    "self_contained": MatchSignal(
        "words without their context",
        SignalGroup.WORDS,
        "mean of `coverage` and `session`, times 1 - 2 x the greatest `nearby`; absent from 0.5 on",
        Scale.UNIT,
        _self_contained,
        context=True,
    ),
    "speaker": MatchSignal(
        "speaker",
        SignalGroup.WHO_AND_WHEN,
        "1 if a requested speaker speaks or may speak, else 0",
        Scale.UNIT,
        _speaker,
        context=True,
    ),
    "time": MatchSignal(
        "time", SignalGroup.WHO_AND_WHEN, "nearness of its time to the requested time", Scale.UNIT, _time
    ),
    "answer_kind": MatchSignal(
        "type of answer",
        SignalGroup.MEMORY,
        "1 if it contains the expected answer type: a time, a number or a name; for a list 0.5 if it contains a name",
        Scale.UNIT,
        _answer_type,
        evidence=False,
        context=True,
    ),
    "statement": MatchSignal(
        "statement, not a question",
        SignalGroup.MEMORY,
        "0 if it is a question, else 1",
        Scale.UNIT,
        _is_declarative,
        evidence=False,
        context=True,
    ),
    "preference": MatchSignal(
        "preference or instruction",
        SignalGroup.MEMORY,
        "how far a stated preference or instruction applies to what is requested",
        Scale.UNIT,
        _preference,
        evidence=False,
    ),
    "late_interaction": MatchSignal(
        "meaning word by word",
        SignalGroup.MEANING,
        "MaxSim of the question's and its token embeddings",
        Scale.UNIT,
        _not_yet,
    ),
    "passage_words": MatchSignal(
        "meaning of its closest passage",
        SignalGroup.MEANING,
        "the same for its closest passage of 24 tokens",
        Scale.UNIT,
        _not_yet,
    ),
    "session_words": MatchSignal(
        "meaning of its conversation",
        SignalGroup.CONVERSATION,
        "as `late_interaction`, with the token embeddings of its session added",
        Scale.UNIT,
        _not_yet,
    ),
    "rerank": MatchSignal(
        "reranker", SignalGroup.MEANING, "score of the reranker", Scale.UNIT, _not_yet, evidence=False
    ),
}

STATE_SIGNALS: Final[Mapping[str, StateSignal]] = {
    "importance": StateSignal(
        "importance", SignalGroup.MEMORY, "importance, given or set when formed", Scale.UNIT, _importance
    ),
    "importance_floor": StateSignal(
        "least importance", SignalGroup.MEMORY, "lower bound of the decaying importance", Scale.UNIT, _importance_floor
    ),
    "confidence": StateSignal(
        "confidence", SignalGroup.MEMORY, "confidence, changed by feedback", Scale.UNIT, _confidence
    ),
    "priority": StateSignal("priority", SignalGroup.MEMORY, "priority over 10", Scale.UNIT, _priority),
    "retention": StateSignal(
        "retention",
        SignalGroup.MEMORY,
        "retention: the share left by the preset's forgetting curve",
        Scale.UNIT,
        _retention,
    ),
    "reinforcement": StateSignal(
        "use", SignalGroup.MEMORY, "reinforcement by use, by the preset's gain: 1 or more", Scale.FACTOR, _reinforcement
    ),
    "outcome": StateSignal(
        "outcomes of tasks",
        SignalGroup.MEMORY,
        "expected outcome of a task that uses it: (worked + 1) / (worked + failed + 2), so 0.5 without evidence",
        Scale.UNIT,
        _outcome,
    ),
    "level": StateSignal(
        "scope level", SignalGroup.MEMORY, "weight of its scope level in the preset", Scale.FACTOR, _level
    ),
}

SIGNALS: Final[Mapping[str, MatchSignal | StateSignal]] = {**MATCH_SIGNALS, **STATE_SIGNALS}

SCALES: Final[Mapping[str, Scale]] = {name: signal.scale for name, signal in SIGNALS.items()}

MEANINGS: Final[Mapping[str, str]] = {name: signal.meaning for name, signal in SIGNALS.items()}

TITLES: Final[Mapping[str, str]] = {name: signal.title for name, signal in SIGNALS.items()}
"""The name of each signal in words."""

GROUPS: Final[Mapping[str, SignalGroup]] = {name: signal.group for name, signal in SIGNALS.items()}


class ComputedSignals(Mapping[str, "FloatColumn"]):
    """Every signal of the candidates, in their order; NaN if absent. A signal is computed when it is first read: a
    score reads half of them, its explanation all.

    `given`: signals in place of the computed ones, such as those of late interaction.
    """

    def __init__(
        self,
        found: Candidates,
        moment: EvaluationTime,
        asked: QuestionFeatures,
        given: Mapping[str, FloatColumn] = MappingProxyType({}),
    ) -> None:
        self._found, self._moment, self._asked, self._columns = found, moment, asked, dict(given)

    def __getitem__(self, name: str) -> FloatColumn:
        column = self._columns.get(name)
        if column is None:
            match SIGNALS[name]:
                case MatchSignal() as signal:
                    column = signal.compute(self._found, self._asked)
                case StateSignal() as signal:
                    column = signal.compute(self._found.states, self._moment)
            self._columns[name] = column
        return column

    def __contains__(self, name: object) -> bool:
        return name in SIGNALS

    def __iter__(self) -> Iterator[str]:
        return iter(SIGNALS)

    def __len__(self) -> int:
        return len(SIGNALS)

    def having(self, given: Mapping[str, FloatColumn]) -> ComputedSignals:
        """The same with some signals given."""
        return ComputedSignals(self._found, self._moment, self._asked, {**self._columns, **given})


def compute(found: Candidates, moment: EvaluationTime, asked: QuestionFeatures = NOTHING_MORE) -> ComputedSignals:
    """Every signal of the candidates, in their order; NaN if absent."""
    return ComputedSignals(found, moment, asked)


def compute_states(states: States, moment: EvaluationTime) -> dict[str, FloatColumn]:
    """Every state signal, with one value for each memory of `states`, in its order."""
    return {name: signal.compute(states, moment) for name, signal in STATE_SIGNALS.items()}


def check(argument: str, expression: Expression, *, known: Mapping[str, Scale] = SCALES) -> None:
    """Check that all signals of an expression are known and allowed in their position, so that its value is in [0, 1].

    A raw signal may occur only inside Rrf or MinMax, a factor also inside Clamp or Saturating. Raises InvalidInput
    naming the signal.
    """
    _check(argument, expression, known, {Scale.UNIT})


_FITS: Final[tuple[tuple[type[Expression], frozenset[Scale]], ...]] = (
    (MinMax, frozenset(Scale)),
    (Rrf, frozenset(Scale)),
    (Clamp, frozenset({Scale.UNIT, Scale.FACTOR})),
    (Saturating, frozenset({Scale.UNIT, Scale.FACTOR})),
)


def _check(argument: str, expression: Expression, known: Mapping[str, Scale], fits: set[Scale]) -> None:
    if isinstance(expression, Signal):
        if expression.name not in known:
            raise InvalidInput(argument, expression.name, "a signal: one of " + ", ".join(sorted(known)))
        scale = known[expression.name]
        if scale not in fits:
            inside = "rrf or minmax" if scale is Scale.RAW else "clamp, saturating, rrf or minmax"
            raise InvalidInput(
                argument, expression.name, f"a signal in [0, 1]; this one is allowed only inside {inside}"
            )
    inner_fits = set(fits)
    for node, scales in _FITS:
        if isinstance(expression, node):
            inner_fits = fits | set(scales)
    for inner in inner_expressions(expression):
        _check(argument, inner, known, inner_fits)
