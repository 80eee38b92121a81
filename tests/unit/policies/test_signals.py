from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from found import Around, Match, found

from remembrancer.domain.candidates import ContextFeatures
from remembrancer.domain.memory import CueFlag, Memory
from remembrancer.domain.strength import Exposure, Strength, Usage
from remembrancer.errors import InvalidInput
from remembrancer.language.times.spans import TimeSpan
from remembrancer.policies.forgetting.decay import HalfLife
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.reinforcement import LinearGain
from remembrancer.policies.ranking import signals
from remembrancer.policies.ranking.scoring import (
    Clamp,
    Const,
    Expression,
    Greatest,
    MinMax,
    Product,
    Rrf,
    Saturating,
    Signal,
    Weighted,
)
from remembrancer.policies.ranking.signals import (
    MATCH_SIGNALS,
    NOTHING_MORE,
    SCALES,
    STATE_SIGNALS,
    EvaluationTime,
    QuestionFeatures,
    Scale,
)
from remembrancer.ports.states import states_of
from remembrancer.testing.doubles import NOW, a_memory

NAN = math.nan
DYNAMICS = Dynamics(curve=HalfLife(days=10), since=Since.EXPOSED, counted=Exposure.SHOWN, gain=LinearGain())
MOMENT = EvaluationTime(at=NOW, dynamics=DYNAMICS)
BM25, SIMILARITY, LEVEL = Signal("bm25"), Signal("similarity"), Signal("level")
STATE_SCALES = {name: signal.scale for name, signal in STATE_SIGNALS.items()}


def surrounded(
    name: str,
    asked: QuestionFeatures = NOTHING_MORE,
    *,
    nearby: float = 0.0,
    session: float = 0.0,
    spoken: float = 0.0,
    marks: CueFlag = CueFlag.NOTHING,
    bound: float = 8.0,
) -> float:
    """A signal of one candidate with these around it."""
    around = ContextFeatures(
        neighbour_coverage=np.array([nearby], dtype=np.float32),
        session=np.array([session], dtype=np.float32),
        speaker_match=np.array([spoken], dtype=np.float32),
        flags=np.array([int(marks)], dtype=np.int32),
        rank=np.array([1], dtype=np.int32),
        stream=np.array([-1], dtype=np.int32),
    )
    candidates = replace(found([a_memory()], [Match()], bound=bound), context_features=around)
    return float(signals.compute(candidates, MOMENT, asked)[name][0])


def signal(name: str, match: Match, *, bound: float = 8.0, memory: Memory | None = None) -> float:
    return float(signals.compute(found([memory or a_memory()], [match], bound=bound), MOMENT)[name][0])


# ── what a question and a candidate make together ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("cosine", "expected"), [(0.5, 0.5), (-0.5, 0.0), (1.25, 1.0), (NAN, NAN)])
def test_similarity_is_the_cosine_within_the_unit_interval(cosine: float, expected: float) -> None:
    assert signal("similarity", Match(similarity=cosine)) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("bm25", [0.0, 3.5, NAN])
def test_bm25_comes_as_it_is(bm25: float) -> None:
    assert signal("bm25", Match(bm25=bm25)) == pytest.approx(bm25, nan_ok=True)


@pytest.mark.parametrize(
    ("bm25", "bound", "expected"),
    [(2.0, 8.0, 0.25), (0.0, 8.0, 0.0), (9.0, 8.0, 1.0), (NAN, 8.0, NAN), (0.0, 0.0, NAN), (NAN, 0.0, NAN)],
)
def test_lexical_is_the_share_of_the_most_any_text_could_reach(bm25: float, bound: float, expected: float) -> None:
    assert signal("lexical", Match(bm25=bm25), bound=bound) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("coverage", [0.0, 0.5, 1.0, NAN])
def test_coverage_comes_as_it_is(coverage: float) -> None:
    assert signal("coverage", Match(coverage=coverage)) == pytest.approx(coverage, nan_ok=True)


@pytest.mark.parametrize(("dense", "expected"), [(True, -0.25), (False, NAN)])
def test_a_row_has_a_dense_rank_only_if_the_dense_search_returned_it(dense: bool, expected: float) -> None:
    match = Match(similarity=-0.25, bm25=1.0, dense=dense)
    assert signal("dense_leg", match) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("lexical", "expected"), [(True, 2.5), (False, NAN)])
def test_a_row_has_a_lexical_rank_only_if_the_lexical_search_returned_it(lexical: bool, expected: float) -> None:
    match = Match(similarity=0.5, bm25=2.5, lexical=lexical)
    assert signal("lexical_leg", match) == pytest.approx(expected, nan_ok=True)


# ── what stands around a candidate, and what else is asked ───────────────────────────────────────────────────────────

AROUND = ("nearby", "session", "speaker", "answer_kind", "statement")
ALL_ASKED = QuestionFeatures(kind=CueFlag.TIME, speakers=True)


@pytest.mark.parametrize("name", AROUND)
def test_without_context_features_there_is_no_signal_of_them(name: str) -> None:
    candidates = found([a_memory()], [Match(bm25=2.0)])
    assert math.isnan(signals.compute(candidates, MOMENT, ALL_ASKED)[name][0])


@pytest.mark.parametrize("nearby", [0.0, 0.75, 1.0])
def test_nearby_comes_as_it_is(nearby: float) -> None:
    assert surrounded("nearby", nearby=nearby) == nearby


@pytest.mark.parametrize(
    ("session", "bound", "expected"), [(2.0, 8.0, 0.25), (0.0, 8.0, 0.0), (9.0, 8.0, 1.0), (0.0, 0.0, NAN)]
)
def test_a_session_counts_as_the_share_of_the_most_any_text_could_reach(
    session: float, bound: float, expected: float
) -> None:
    assert surrounded("session", session=session, bound=bound) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("asked", "spoken", "expected"), [(True, 1.0, 1.0), (True, 0.0, 0.0), (False, 0.0, NAN)])
def test_the_speaker_counts_if_the_question_asks_for_it(asked: bool, spoken: float, expected: float) -> None:
    assert surrounded("speaker", QuestionFeatures(speakers=asked), spoken=spoken) == pytest.approx(
        expected, nan_ok=True
    )


@pytest.mark.parametrize(
    ("kind", "marks", "expected"),
    [
        (CueFlag.TIME, CueFlag.TIME | CueFlag.NAME, 1.0),
        (CueFlag.NUMBER, CueFlag.TIME | CueFlag.NAME, 0.0),
        (CueFlag.TIME, CueFlag.NOTHING, 0.0),
        (CueFlag.NOTHING, CueFlag.TIME, NAN),
    ],
)
def test_the_expected_answer_type_counts_if_a_text_contains_it(kind: CueFlag, marks: CueFlag, expected: float) -> None:
    assert surrounded("answer_kind", QuestionFeatures(kind=kind), marks=marks) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("marks", "expected"), [(CueFlag.NAME | CueFlag.TIME, 0.5), (CueFlag.NUMBER, 0.0)])
def test_for_a_list_a_name_counts_half_whatever_type_is_expected(marks: CueFlag, expected: float) -> None:
    asked = QuestionFeatures(kind=CueFlag.NUMBER, listed=True)
    assert surrounded("answer_kind", asked, marks=marks) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("marks", "expected"), [(CueFlag.QUESTION, 0.0), (CueFlag.QUESTION | CueFlag.TIME, 0.0), (CueFlag.NAME, 1.0)]
)
def test_a_text_that_asks_is_no_statement(marks: CueFlag, expected: float) -> None:
    assert surrounded("statement", marks=marks) == expected


def test_a_question_to_an_assistant_may_state_a_fact() -> None:
    assert math.isnan(surrounded("statement", QuestionFeatures(speakers=True, by_role=True), marks=CueFlag.QUESTION))


@pytest.mark.parametrize(("nearby", "expected"), [([0.0, 0.0], 0.75), ([0.0, 0.125], 0.5625), ([0.25, 0.0], 0.375)])
def test_a_text_s_own_words_count_more_if_texts_have_fewer_neighbours(nearby: list[float], expected: float) -> None:
    assert self_contained(nearby) == expected


@pytest.mark.parametrize("nearby", [0.5, 0.75])
def test_if_turns_have_neighbours_no_text_is_self_contained(nearby: float) -> None:
    assert math.isnan(self_contained([0.0, nearby]))


def self_contained(nearby: list[float]) -> float:
    """The signal of a text with all words of the question, in a session with half of the best score."""
    names = [a_memory(f"memory {place}") for place in range(len(nearby))]
    around = [Around(nearby=value, session=4.0) for value in nearby]
    candidates = found(names, [Match(bm25=4.0, coverage=1.0)] * len(names), bound=8.0, around=around, idf=(2.0,))
    return float(signals.compute(candidates, MOMENT)["self_contained"][0])


def test_a_memory_that_spans_the_asked_time_matches_it() -> None:
    day = TimeSpan(NOW - timedelta(days=50), NOW - timedelta(days=49), "that day", 0, 8)
    long = replace(a_memory(at=NOW), occurred_from=NOW - timedelta(days=100))
    assert signals.compute(found([long], [Match()]), MOMENT, QuestionFeatures(spans=(day,)))["time"][0] == 1.0


def test_a_memory_within_the_asked_time_has_the_greatest_time_signal() -> None:
    day = TimeSpan(NOW - timedelta(hours=9), NOW + timedelta(hours=15), "today", 0, 5)
    memories = [a_memory("then", at=NOW), a_memory("long before", at=NOW - timedelta(days=4_000))]
    near = signals.compute(found(memories, [Match()] * 2), MOMENT, QuestionFeatures(spans=(day,)))["time"]
    assert near[0] == 1.0
    assert near[1] < 0.01


def test_without_a_time_asked_about_nothing_is_near_to_it() -> None:
    assert math.isnan(signal("time", Match()))


def test_how_close_the_words_come_is_absent_until_they_are_compared() -> None:
    assert math.isnan(signal("late_interaction", Match(similarity=0.5, bm25=1.0)))


# ── what a memory has whatever is asked ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("importance", 0.75),
        ("importance_floor", 0.125),
        ("confidence", 0.25),
        ("priority", 0.7),
        ("retention", 0.5),
        ("reinforcement", 4.0),
        ("level", 1.0),
    ],
)
def test_a_state_is_read_as_its_signal(name: str, expected: float) -> None:
    usage = Usage(shown=3, last_shown_at=NOW - timedelta(days=10))
    strength = Strength(importance=0.75, importance_floor=0.125, confidence=0.25, priority=7, usage=usage)
    memory = replace(a_memory(at=NOW - timedelta(days=40)), strength=strength)
    assert signal(name, Match(), memory=memory) == pytest.approx(expected)


def test_every_signal_is_computed_for_every_candidate() -> None:
    memories = [a_memory(f"memory {n}") for n in range(3)]
    computed = signals.compute(found(memories, [Match()] * 3), MOMENT)
    assert {name: (values.shape, values.dtype) for name, values in computed.items()} == {
        name: ((3,), np.dtype(np.float64)) for name in SCALES
    }


def test_every_signal_of_no_candidate_is_empty() -> None:
    assert {values.shape for values in signals.compute(found([], []), MOMENT).values()} == {(0,)}


def test_the_signals_of_states_are_those_that_ask_for_no_question() -> None:
    computed = signals.compute_states(states_of([a_memory()]), MOMENT)
    assert set(computed) == set(STATE_SIGNALS) == set(SCALES) - set(MATCH_SIGNALS)


def test_only_the_raw_and_the_factors_may_leave_the_unit_interval() -> None:
    assert {name: scale for name, scale in SCALES.items() if scale is not Scale.UNIT} == {
        "bm25": Scale.RAW,
        "dense_leg": Scale.RAW,
        "lexical_leg": Scale.RAW,
        "reinforcement": Scale.FACTOR,
        "level": Scale.FACTOR,
    }


# ── where each may stand ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "expression",
    [
        *map(Signal, (name for name, scale in SCALES.items() if scale is Scale.UNIT)),
        Const(0.5),
        MinMax(BM25),
        MinMax(BM25, least=0),
        MinMax(LEVEL),
        Rrf((BM25, SIMILARITY)),
        Rrf((Product((BM25, SIMILARITY, LEVEL)),)),
        Rrf((Saturating(BM25),)),
        Weighted(((MinMax(BM25), 1),)),
        Clamp(Product((LEVEL, SIMILARITY))),
        Saturating(Product((Weighted(((SIMILARITY, 0.7), (MinMax(BM25), 0.3))), LEVEL))),
        Greatest((SIMILARITY, Clamp(LEVEL))),
    ],
    ids=str,
)
def test_a_signal_is_allowed_where_its_scale_does_not_count(expression: Expression) -> None:
    signals.check("score", expression)


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        (BM25, "bm25"),
        (Weighted(((BM25, 0.5),)), "bm25"),
        (Product((SIMILARITY, BM25)), "bm25"),
        (Product((MinMax(BM25), BM25)), "bm25"),
        (Clamp(BM25), "bm25"),
        (Saturating(Product((SIMILARITY, BM25))), "bm25"),
        (Greatest((SIMILARITY, Signal("lexical_leg"))), "lexical_leg"),
        (Signal("dense_leg"), "dense_leg"),
    ],
    ids=str,
)
def test_a_raw_signal_whose_scale_would_count_is_refused(expression: Expression, name: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^score: '{name}' .*only inside rrf or minmax"):
        signals.check("score", expression)


@pytest.mark.parametrize(
    "expression",
    [
        LEVEL,
        Weighted(((LEVEL, 0.5),)),
        Product((SIMILARITY, LEVEL)),
        Product((Clamp(LEVEL), LEVEL)),
        Greatest((SIMILARITY, LEVEL)),
    ],
    ids=str,
)
def test_a_factor_that_could_leave_the_unit_interval_is_refused(expression: Expression) -> None:
    with pytest.raises(InvalidInput, match=r"^score: 'level' .*only inside clamp, saturating, rrf or minmax"):
        signals.check("score", expression)


NEARNESS = Signal("nearness")


@pytest.mark.parametrize(
    "expression",
    [
        NEARNESS,
        Weighted(((SIMILARITY, 0.5), (NEARNESS, 0.5))),
        Product((SIMILARITY, NEARNESS)),
        MinMax(NEARNESS),
        Clamp(NEARNESS),
        Saturating(NEARNESS),
        Rrf((SIMILARITY, NEARNESS)),
        Greatest((SIMILARITY, NEARNESS)),
    ],
    ids=str,
)
def test_an_unknown_signal_is_refused_everywhere_with_the_known_ones(expression: Expression) -> None:
    with pytest.raises(InvalidInput, match=r"^score: 'nearness' .*one of answer_kind, bm25"):
        signals.check("score", expression)


@pytest.mark.parametrize("name", MATCH_SIGNALS)
def test_where_nothing_is_asked_no_signal_of_a_question_is_known(name: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^strength: '{name}' .*a signal: one of"):
        signals.check("strength", Rrf((Signal(name),)), known=STATE_SCALES)
