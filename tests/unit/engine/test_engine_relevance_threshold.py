"""When recall returns nothing, and how many hits it returns otherwise."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from found import Around, Match, ask, found

from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.relevance import RelevanceThreshold
from remembrancer.policies.ranking.scoring import Signal, Weighted
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, a_memory

# With `nearby`, a question is read for its times.
SCORE = Weighted(
    ((Signal("similarity"), 0.5), (Signal("coverage"), 0.25), (Signal("time"), 0.125), (Signal("nearby"), 0.125))
)


def told(
    threshold: RelevanceThreshold, *matches: Match, text: str = "what of checkout?", with_vector: bool = True
) -> list[str]:
    """The texts that come back, of memories "0", "1" … of today, yesterday …, each met by the question like this."""
    memories = [a_memory(str(place), at=NOW - timedelta(days=place)) for place in range(len(matches))]
    preset = replace(DEFAULT, name="mine", ranking=Ranking(score=SCORE, lexical_only=SCORE, threshold=threshold))
    candidates = found(memories, matches, around=[Around() for _ in matches], idf=(1.0,))
    answer = ask(preset, memories, candidates, text=text, with_vector=with_vector)
    return [hit.memory.text for hit in answer]


def test_where_too_little_speaks_for_any_memory_nothing_comes_back() -> None:
    threshold = RelevanceThreshold(similarity=0.25, coverage=0.25, evidence=0.5)
    assert told(threshold, Match(similarity=0.5, coverage=0.25), Match(similarity=0.25)) == []


def test_if_one_memory_has_enough_evidence_others_close_to_it_are_returned_too() -> None:
    threshold = RelevanceThreshold(similarity=0.25, coverage=0.25, evidence=0.5, then=0.5)
    matches = [Match(similarity=0.75, coverage=0.5), Match(similarity=0.5), Match(similarity=0.25)]
    assert told(threshold, *matches) == ["0", "1"]


def test_a_memory_without_a_vector_is_judged_by_its_words_only() -> None:
    threshold = RelevanceThreshold(similarity=0.25, coverage=0.25, evidence=0.5, then=0.5)
    assert told(threshold, Match(similarity=0.25), Match(coverage=0.25, bm25=1.0)) == ["1"]


def test_in_lexical_only_recall_the_thresholds_decide_whether_there_is_an_answer() -> None:
    threshold = RelevanceThreshold(similarity=0.25, coverage=0.25, evidence=0.5)
    assert told(threshold, Match(coverage=0.25, bm25=1.0), with_vector=False) == ["0"]


def test_in_lexical_only_recall_a_memory_that_reaches_the_thresholds_is_returned_however_low_its_evidence() -> None:
    threshold = RelevanceThreshold(similarity=0.25, coverage=0.25, evidence=0.5, then=0.5)
    matches = [Match(coverage=1.0, bm25=3.0), Match(coverage=0.125, bm25=2.0), Match(coverage=0.0625, bm25=1.0)]
    assert told(threshold, *matches, with_vector=False) == ["0", "1"]


@pytest.mark.parametrize(("evidence", "first_stage", "expected"), [(0.5, 0.0, ["0"]), (0.0, 0.5, [])])
def test_where_no_words_are_compared_the_share_of_the_first_stage_is_requested(
    evidence: float, first_stage: float, expected: list[str]
) -> None:
    memories = [a_memory("0")]
    threshold = RelevanceThreshold(similarity=0.25, coverage=0.25, evidence=evidence, evidence_first_stage=first_stage)
    compared = Weighted((*SCORE.terms[:2], (Signal("late_interaction"), 0.25)))
    ranking = Ranking(score=compared, first_stage=SCORE, late_interaction=9, threshold=threshold)
    candidates = found(memories, [Match(similarity=0.25)], around=[Around()], idf=(1.0,))
    answer = ask(replace(DEFAULT, name="mine", ranking=ranking), memories, candidates)
    assert [hit.memory.text for hit in answer] == expected


def test_a_question_of_a_time_alone_returns_memories_of_that_time() -> None:
    threshold = RelevanceThreshold(similarity=0.25, coverage=0.25, evidence=0.5, then=0.5)
    unlike = [Match(similarity=0.125)] * 3
    assert told(threshold, *unlike, text="What happened yesterday?") == ["1"]


def test_a_memory_that_begins_at_the_end_of_the_asked_time_is_not_of_that_time() -> None:
    midnight = NOW.replace(hour=0, minute=0, second=0, microsecond=0)
    memories = [a_memory("today", at=midnight), a_memory("yesterday", at=midnight - timedelta(days=1))]
    threshold = RelevanceThreshold(similarity=0.25, coverage=0.25, evidence=0.5, then=0.5)
    preset = replace(DEFAULT, name="mine", ranking=Ranking(score=SCORE, threshold=threshold))
    candidates = found(memories, [Match(similarity=0.125)] * 2, around=[Around()] * 2, idf=(1.0,))
    answer = ask(preset, memories, candidates, text="What happened yesterday?")
    assert [hit.memory.text for hit in answer] == ["yesterday"]


def test_a_matching_time_is_not_enough_if_more_is_asked() -> None:
    threshold = RelevanceThreshold(similarity=0.25, coverage=0.25, evidence=0.5, then=0.5)
    unlike = [Match(similarity=0.125)] * 3
    assert told(threshold, *unlike, text="What broke yesterday?") == []


@pytest.mark.parametrize("name", ["evidence", "evidence_first_stage", "then"])
def test_a_share_of_the_evidence_is_refused_where_no_weighted_sum_scores(name: str) -> None:
    threshold = replace(RelevanceThreshold(similarity=0.25, coverage=0.25), **{name: 0.5})
    with pytest.raises(InvalidInput, match=rf"^threshold\.{name}: 0\.5 .*weighted sum"):
        Ranking(score=Signal("similarity"), threshold=threshold)
