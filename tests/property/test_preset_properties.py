"""Properties of every preset and ranking, for any memories and questions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pytest
from found import Match, ask, found
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer import Remembrancer
from remembrancer.domain.event import EventDraft, Priority, Severity
from remembrancer.domain.memory import Memory
from remembrancer.domain.recall import Part
from remembrancer.domain.scope import Reach, Reader, Scope, Visibility
from remembrancer.domain.selection import can_see
from remembrancer.domain.strength import Exposure, Feedback, Strength, Usage
from remembrancer.policies.forgetting.reinforcement import after_feedback
from remembrancer.policies.ranking import signals
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.scoring import Scored, Signal, Weighted, evaluate
from remembrancer.policies.ranking.signals import EvaluationTime
from remembrancer.ports.states import states_of
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.engram import ENGRAM
from remembrancer.presets.mnemosyne import MNEMOSYNE
from remembrancer.presets.plastmem import PLASTMEM
from remembrancer.presets.spec import Preset
from remembrancer.testing.doubles import NOW, a_memory

if TYPE_CHECKING:
    from remembrancer.policies.ranking.scoring import FloatColumn

BOUND = 8.0
ROUNDING = 1e-12
SCOPE = Scope(workspace="acme")
PARTS = ("project", "crew", "agent", "session")
DAY = timedelta(days=1)

few = settings(max_examples=25)
every_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)


@dataclass(frozen=True)
class Way:
    """One way to rank: a preset's usual one or another by name, with the question's vector or without."""

    preset: Preset
    name: str | None
    with_vector: bool

    def __str__(self) -> str:
        return f"{self.preset.name} {self.name or ''} {'' if self.with_vector else 'words alone'}".strip()

    @property
    def ranking(self) -> Ranking:
        return self.preset.ranking_named(self.name)

    def scored(self, memories: list[Memory], matches: list[Match]) -> Scored:
        """The scores in the given order."""
        return evaluate(
            self.ranking.expression(with_vector=self.with_vector), self.table(memories, matches), len(memories)
        )

    def scores(self, memories: list[Memory], matches: list[Match]) -> FloatColumn:
        return np.nan_to_num(self.scored(memories, matches).values)

    def without_what_it_lacks(self, matches: list[Match]) -> list[Match]:
        if self.with_vector:
            return matches
        return [replace(match, similarity=math.nan, dense=False) for match in matches]

    def table(self, memories: list[Memory], matches: list[Match]) -> dict[str, FloatColumn]:
        candidates = found(memories, self.without_what_it_lacks(matches), bound=BOUND)
        places = [candidates.ids.index(memory.id) for memory in memories]
        table = signals.compute(candidates, EvaluationTime(NOW, self.preset.dynamics))
        return {name: values[places] for name, values in table.items()}


WAYS = [
    Way(preset, name, with_vector)
    for preset in PRESETS.values()
    for name in (None, *preset.rankings)
    for with_vector in (True, False)
]

fractions = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1, allow_subnormal=False)
# Hours and years, either side of now, and before 1970.
days = st.sampled_from([0.0, 1.0, 365.0, 36_525.0, -1.0]) | st.floats(-400, 40_000, allow_subnormal=False)
counts = st.sampled_from([0, 1, 1_000_000]) | st.integers(0, 2_000_000_000)
stabilities = st.sampled_from([0.001, 2.3065, 36_500.0]) | st.floats(0.001, 36_500)
similarities = st.sampled_from([math.nan, 0.0, 1.0, -1.0]) | st.floats(-1, 1, allow_subnormal=False)
weights_of_words = st.sampled_from([math.nan, 0.0, BOUND]) | st.floats(0, BOUND, allow_subnormal=False)


Answer = tuple[list[Memory], list[Match]]
"""Some candidates, and how each meets the question."""


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    def last(count: int) -> Any:
        return NOW - draw(days) * DAY if count else None

    retrieved, shown, used = draw(counts), draw(counts), draw(counts)
    return Usage(
        retrieved=retrieved,
        shown=shown,
        used=used,
        last_retrieved_at=last(retrieved),
        last_shown_at=last(shown),
        last_used_at=last(used),
    )


@st.composite
def strengths(draw: st.DrawFn) -> Strength:
    floor = draw(st.sampled_from([0.0, 0.8, 0.85, 0.95]))
    return Strength(
        importance=max(floor, draw(fractions)),
        importance_floor=floor,
        priority=draw(st.integers(1, 10)),
        confidence=draw(fractions),
        stability=draw(stabilities),
        last_reviewed_at=draw(st.none() | days.map(lambda ago: NOW - ago * DAY)),
        usage=draw(usages()),
    )


@st.composite
def memories(draw: st.DrawFn, number: int = 1) -> Memory:
    level = draw(st.integers(0, 4))
    scope = SCOPE.narrowed(**{PARTS[level - 1]: "x"}) if level else SCOPE
    memory = a_memory(f"memory {number}", memory_id=UUID(int=number), scope=scope, at=NOW - draw(days) * DAY)
    return replace(memory, strength=draw(strengths()))


@st.composite
def matched(draw: st.DrawFn) -> Match:
    return Match(
        similarity=draw(similarities), bm25=draw(weights_of_words), coverage=draw(fractions), lexical=draw(st.none())
    )


@st.composite
def answers(draw: st.DrawFn, least: int = 1) -> Answer:
    count = draw(st.integers(least, 6))
    return [draw(memories(number)) for number in range(1, count + 1)], [draw(matched()) for _ in range(count)]


def twin(memory: Memory, **strength: Any) -> Memory:
    """A copy of the memory with another id and another strength."""
    return replace(memory, id=UUID(int=1000), strength=replace(memory.strength, **strength))


def compare(way: Way, answer: Answer, other: Memory) -> tuple[float, float]:
    """The scores of the first candidate and of its twin with the same match."""
    kept, matches = answer
    scores = way.scores([*kept, other], [*matches, matches[0]])
    return float(scores[0]), float(scores[-1])


# ── bounds and reasons ───────────────────────────────────────────────────────────────────────────────────────────────


@given(answer=answers())
def test_every_score_is_a_fraction_and_its_parts_make_it_up(answer: Answer) -> None:
    for way in WAYS:
        scored = way.scored(*answer)
        for row, score in enumerate(np.nan_to_num(scored.values).tolist()):
            root = scored.explain(row)
            assert 0 <= score <= 1 + ROUNDING, way
            assert root.contribution == score, way
            _assert_made_up(root)


@settings(max_examples=15)
@given(answer=answers(), limit=st.integers(1, 6))
def test_reported_scores_fall_with_rank_and_their_reasons_end_in_them(answer: Answer, limit: int) -> None:
    for way in WAYS:
        kept, matches = answer[0], way.without_what_it_lacks(answer[1])
        hits = ask(way.preset, kept, found(kept, matches), ranking=way.name, with_vector=way.with_vector, limit=limit)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1)), way
        assert all(earlier.score >= later.score for earlier, later in pairwise(hits)), way
        for hit in hits:
            root = hit.explanation.score
            assert 0 <= hit.score <= 1 + ROUNDING, way
            assert (root.contribution, root.value or 0.0) == (hit.score, hit.score), way
            _assert_made_up(root)


@given(memory=memories())
def test_the_retention_of_a_memory_is_in_the_unit_interval(memory: Memory) -> None:
    assert all(0 <= strength_of(preset, memory) <= 1 for preset in PRESETS.values())


# ── age ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

times = st.timedeltas(timedelta(microseconds=1), timedelta(days=40_000))


@given(answer=answers(), by=times)
def test_older_never_scores_higher(answer: Answer, by: timedelta) -> None:
    older = _older(answer[0][0], by)
    for way in WAYS:
        first, other = compare(way, answer, older)
        assert other <= first + ROUNDING, way


@given(answer=answers(), by=times)
def test_an_older_memory_never_scores_higher_than_an_equal_newer_one(answer: Answer, by: timedelta) -> None:
    first = answer[0][0]
    earlier = replace(twin(first), occurred_from=first.occurred_from - by, occurred_to=first.occurred_to - by)
    for way in WAYS:
        now, then = compare(way, answer, earlier)
        assert then <= now + ROUNDING, way


@given(memory=memories(), by=times)
def test_retention_never_grows_with_time(memory: Memory, by: timedelta) -> None:
    for preset in PRESETS.values():
        assert strength_of(preset, memory, after=by) <= strength_of(preset, memory) + ROUNDING, preset.name


def _older(memory: Memory, by: timedelta) -> Memory:
    """A copy of the memory with all times moved back."""
    usage, reviewed = memory.strength.usage, memory.strength.last_reviewed_at
    earlier: dict[str, Any] = {
        name: None if moment is None else moment - by
        for name in ("last_retrieved_at", "last_shown_at", "last_used_at")
        for moment in [getattr(usage, name)]
    }
    return replace(
        twin(memory, usage=replace(usage, **earlier), last_reviewed_at=None if reviewed is None else reviewed - by),
        occurred_from=memory.occurred_from - by,
        occurred_to=memory.occurred_to - by,
    )


# ── use ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(answer=answers(), more=st.integers(1, 1_000_000), counted=st.sampled_from(Exposure))
def test_more_use_never_lowers_a_score(answer: Answer, more: int, counted: Exposure) -> None:
    usage = answer[0][0].strength.usage
    grown: dict[str, Any] = {
        counted.value: getattr(usage, counted.value) + more,
        f"last_{counted.value}_at": NOW,
    }
    for way in WAYS:
        before, after = compare(way, answer, twin(answer[0][0], usage=replace(usage, **grown)))
        assert after >= before - ROUNDING, way


@given(answer=answers(), more=fractions)
def test_more_confidence_or_importance_never_lowers_a_score(answer: Answer, more: float) -> None:
    strength = answer[0][0].strength
    surer = twin(answer[0][0], confidence=max(strength.confidence, more))
    weightier = twin(answer[0][0], importance=max(strength.importance, more))
    for way in WAYS:
        for grown in (surer, weightier):
            before, after = compare(way, answer, grown)
            assert after >= before - ROUNDING, way


# ── relevance ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(answer=answers(), near=st.floats(-1, 1), words=st.floats(0, BOUND))
def test_a_nearer_or_better_match_never_scores_lower(answer: Answer, near: float, words: float) -> None:
    kept, matches = answer
    met = matches[0]
    better = replace(
        met, similarity=float(np.fmax(met.similarity, near)), bm25=float(np.fmax(met.bm25, words)), lexical=None
    )
    for way in WAYS:
        scores = way.scores([*kept, twin(kept[0])], [*matches, better])
        assert scores[-1] >= scores[0] - ROUNDING, way


@pytest.mark.parametrize("way", [way for way in WAYS if not way.with_vector], ids=str)
@few
@given(words=st.lists(st.integers(1, 64), min_size=2, max_size=8, unique=True))
def test_with_lexical_search_only_the_best_match_comes_first_and_the_worst_last(way: Way, words: list[int]) -> None:
    kept = [a_memory(f"memory {number}", scope=SCOPE) for number in range(len(words))]
    scores = way.scores(kept, [Match(bm25=one / 8, coverage=one / 64) for one in words])
    assert np.argsort(-scores).tolist() == np.argsort(-np.array(words)).tolist()
    assert (np.diff(np.sort(scores)) > 0).all()
    assert scores.min() > 0


RELEVANCE = frozenset(signals.MATCH_SIGNALS)


def weights(ranking: Ranking) -> dict[str, float]:
    """The weights of a ranking that is a plain weighted sum of signals."""
    assert isinstance(ranking.score, Weighted)
    told = {term.name: weight for term, weight in ranking.score.terms if isinstance(term, Signal)}
    assert len(told) == len(ranking.score.terms)
    return told


@pytest.mark.parametrize(("preset", "bound"), [(DEFAULT, 0.042), (ENGRAM, 0.4), (MNEMOSYNE, 0.2)])
def test_signals_other_than_relevance_have_a_fixed_total_weight(preset: Preset, bound: float) -> None:
    rest = {name: weight for name, weight in weights(preset.ranking).items() if name not in RELEVANCE}
    assert sum(rest.values()) == pytest.approx(bound)


@pytest.mark.parametrize("preset", [DEFAULT, ENGRAM, MNEMOSYNE], ids=lambda preset: preset.name)
@few
@given(answer=answers(least=2))
def test_popularity_alone_never_outvotes_relevance(preset: Preset, answer: Answer) -> None:
    """A memory less relevant by more than the sum of all other weights (0.042 in the default) ranks lower."""
    told = weights(preset.ranking)
    way = Way(preset, None, with_vector=True)
    table = way.table(*answer)
    relevance = sum(np.nan_to_num(table[name]) * told[name] for name in RELEVANCE & told.keys())
    bound = sum(weight for name, weight in told.items() if name not in RELEVANCE)
    scores = way.scores(*answer)
    ahead = np.subtract.outer(relevance, relevance) > bound + ROUNDING
    assert (np.subtract.outer(scores, scores)[ahead] > 0).all()


@given(answer=answers(least=2))
def test_use_alone_moves_a_score_of_the_default_by_a_hundredth_at_most(
    answer: Answer,
) -> None:
    """Exposures reach its order by retention alone, which weighs 0.01; confidence, 0.04, is moved by feedback."""
    unused = twin(answer[0][0], usage=Usage(), last_reviewed_at=None)
    way = Way(DEFAULT, None, with_vector=True)
    one, other = compare(way, answer, unused)
    assert abs(one - other) <= 0.01 + ROUNDING


@pytest.mark.parametrize("name", ["crewship", "plastmem"])
@few
@given(answer=answers())
def test_where_factors_multiply_no_use_lifts_a_score_above_its_relevance(name: str, answer: Answer) -> None:
    way = Way(PRESETS[name], None, with_vector=True)
    scored = way.scored(*answer)
    assert (np.nan_to_num(scored.values) <= np.nan_to_num(scored.parts[0].values) + ROUNDING).all()


# ── importance floors ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("preset", [CREWSHIP, DEFAULT], ids=lambda preset: preset.name)
@pytest.mark.parametrize("priority", [Priority.PIN, Priority.HIGH, Priority.PERMANENT])
@pytest.mark.parametrize("after", [0, 180, 365, 36_500])
def test_an_importance_floor_holds_after_any_decay(preset: Preset, priority: Priority, after: int) -> None:
    importance = preset.formation.importance
    for severity in Severity:
        formed = importance.of("message", severity, priority)
        marked = replace(
            a_memory(scope=SCOPE),
            strength=Strength(importance=formed, importance_floor=importance.floor(priority)),
        )
        left = strength_of(preset, marked, after=after * DAY)
        assert left >= importance.floor(priority) - 1e-7
        assert left >= {"pin": 0.8, "high": 0.85, "permanent": 0.95}[priority] - 1e-7


@given(memory=memories(), similarity=st.floats(0, 1))
def test_an_importance_floor_holds_in_crewship_s_order_too(memory: Memory, similarity: float) -> None:
    way = Way(CREWSHIP, None, with_vector=True)
    score = way.scores([memory], [Match(similarity=similarity)])[0]
    assert score >= similarity * memory.strength.importance_floor - 1e-6


# ── thresholds ───────────────────────────────────────────────────────────────────────────────────────────────────────


@every_preset
def test_something_fades_in_finite_time_and_nothing_at_once(preset: Preset) -> None:
    new = a_memory(scope=SCOPE)
    assert strength_of(preset, new) > preset.fading.below
    assert strength_of(preset, new, after=3_650 * DAY) < preset.fading.below


def test_the_default_s_relevance_threshold_drops_some_candidates_and_not_others() -> None:
    floor = DEFAULT.ranking.threshold
    assert floor is not None
    passed = floor.passes(np.array([1.0, 0.0, 0.3, 0.14, math.nan]), np.array([0.0, 1.0, 0.0, 0.0, 0.1]), np.zeros(5))
    assert passed.tolist() == [True, True, True, False, False]


def test_three_bad_words_strike_an_ordinary_memory_of_engram_out_and_two_do_not() -> None:
    retired: list[bool] = []
    strength = Strength()
    for _ in range(3):
        adjusted = after_feedback(strength, Feedback.UNHELPFUL, ENGRAM.feedback)
        strength = adjusted.strength
        retired.append(bool(adjusted.retire))
    assert retired == [False, False, True]


def test_being_recalled_never_keeps_a_memory_of_engram_from_its_third_strike() -> None:
    strength = Strength(usage=Usage(retrieved=1_000_000, shown=1_000_000, used=1_000_000, last_retrieved_at=NOW))
    for _ in range(3):
        strength = after_feedback(strength, Feedback.UNHELPFUL, ENGRAM.feedback).strength
    assert after_feedback(strength, Feedback.UNHELPFUL, ENGRAM.feedback).retire


def test_a_near_memory_of_crewship_is_linked_and_a_far_one_is_not() -> None:
    links = CREWSHIP.links
    assert links is not None
    near = links.from_(UUID(int=0), {UUID(int=1): 1.0, UUID(int=2): 0.8, UUID(int=3): -1.0}, NOW)
    assert [edge.target for edge in near] == [UUID(int=1)]


def _admitted() -> Iterator[tuple[str, float]]:
    """Every type and severity that crewship remembers automatically, with its importance."""
    for kind in (*CREWSHIP.formation.importance.by_type, "peer.conversation"):
        for severity in Severity:
            draft = EventDraft(text="x", type=kind, severity=severity, payload={"state": "escalated"})
            if CREWSHIP.admission.admits(draft):
                yield f"{kind} {severity}", CREWSHIP.formation.importance.of(kind, severity, Priority.NORMAL)


def test_some_rows_of_a_crew_are_shared_with_it_and_some_are_not() -> None:
    reader = Reader(SCOPE.narrowed(crew="red", agent="ana"), Reach.CREW_SHARED, CREWSHIP.access_policy.shared_from)
    owner = SCOPE.narrowed(crew="red", agent="ben")
    shared = {name: can_see(reader, owner, Visibility.WORKSPACE, importance) for name, importance in _admitted()}
    assert {name for name, seen in shared.items() if not seen} == {
        "peer.conversation info",
        "peer.conversation notice",
    }
    assert shared["summary.generated info"]  # exactly at the mark


@every_preset
def test_a_reminder_is_due_after_sixty_events(preset: Preset) -> None:
    whose = {"agent": "ana", "crew": "red", "session": "monday", "background_index": False}
    with Remembrancer.open(":memory:", preset=preset.name, embedder="none", settings=whose) as rem:
        rem.observe_many([{"text": f"event {n}"} for n in range(59)])
        assert rem.learnings.nudge() is None
        rem.observe("one more")
        assert rem.learnings.nudge() is not None


@pytest.mark.parametrize(("surprise", "is_key"), [(0.0, False), (0.699, False), (0.7, True), (1.0, True)])
def test_a_moment_is_key_from_a_threshold_of_surprise_on(surprise: float, is_key: bool) -> None:
    memory = replace(a_memory("The deploy failed", scope=SCOPE), strength=Strength(surprise=surprise))
    answer = ask(PLASTMEM, [memory], found([memory], [Match(similarity=1.0)]))
    assert ("key moment" in answer.render()) is is_key


def strength_of(preset: Preset, memory: Memory, *, after: timedelta = timedelta(0)) -> float:
    """Its strength by the preset's own measure of fading."""
    table = signals.compute_states(states_of([memory]), EvaluationTime(NOW + after, preset.dynamics))
    return float(evaluate(preset.fading.strength, table, 1).values[0])


def _assert_made_up(part: Part) -> None:
    """Check recursively: a product's parts multiply to its value, those of all others add up to it."""
    for inner in part.parts:
        _assert_made_up(inner)
    if part.parts and part.value is not None:
        contributions = [inner.contribution for inner in part.parts]
        whole = math.prod(contributions) if part.label == "product" else sum(contributions)
        assert math.isclose(whole, part.value, rel_tol=1e-9, abs_tol=ROUNDING), part
