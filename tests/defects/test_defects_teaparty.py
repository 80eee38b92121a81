"""Defects of TeaParty only. Numbers in brackets refer to sections of the research note on it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer import Recall, Remembrancer
from remembrancer.testing.doubles import NOW

DAY = timedelta(days=1)


@pytest.fixture
def rem(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("teaparty")


@pytest.fixture
def wordy(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("teaparty", embedder="none")


def texts(answer: Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


def test_the_best_of_three_learnings_comes_first_and_does_not_score_nothing(wordy: Remembrancer) -> None:
    """[2.10] Of three entries the best match, importance 0.9, scored 0.0 and came last."""
    wordy.remember("checkout memory must be raised before a deploy of checkout", importance=0.9)
    wordy.remember("a deploy needs two reviews", importance=0.5)
    wordy.remember("the memory of a deploy is short", importance=0.5)
    answer = wordy.recall("checkout memory deploy")
    assert answer[0].memory.strength.importance == 0.9
    assert answer[0].score > 0.4
    assert all(hit.score > 0 for hit in answer)


def test_of_two_matches_nearly_as_good_the_proven_one_comes_first(wordy: Remembrancer) -> None:
    """[2.3] Min-max made the weaker of two matches nothing: no prominence could lift it."""
    proven = wordy.remember("raise the memory of checkout before you deploy it to production", importance=0.9)
    wordy.remember("raise the memory of checkout before you deploy", importance=0.2)
    for _ in range(3):
        wordy.mark([proven.id], "retrieved")
    assert wordy.recall("raise memory of checkout before deploy")[0].id == proven.id


def test_without_a_word_in_common_words_count_for_nothing(rem: Remembrancer) -> None:
    """[2.3] All equal is 1 in a min-max: no match at all would count as the best one."""
    rem.remember("internationalization characterization decentralization", importance=1.0)
    rem.jobs.index_now()
    hit = rem.recall("reinternationalization recharacterization")[0]
    similarity = hit.explanation.signals["similarity"]
    assert similarity is not None
    whole = 0.7 * similarity * 1.5
    assert hit.score == pytest.approx(whole / (1 + whole), rel=1e-6)


def test_meaning_alone_brings_a_candidate(rem: Remembrancer) -> None:
    """[2.3] [2.10] Vectors only scored anew what BM25 had found, and nothing ever filled the table they were in."""
    rem.remember("internationalization characterization decentralization")
    rem.remember("a deploy needs two reviews")
    rem.jobs.index_now()
    answer = rem.recall("reinternationalization recharacterization redecentralization", limit=1)
    assert texts(answer) == ["internationalization characterization decentralization"]
    assert answer[0].explanation.ranks == {"dense": 1}


def test_retired_learnings_are_no_candidates_even_if_prominent(rem: Remembrancer) -> None:
    """[2.3] A retired entry has prominence 0."""
    retired = rem.remember("raise the memory of checkout", importance=1.0)
    rem.mark([retired.id], "retrieved")
    kept = rem.remember("raise the memory of billing", importance=0.1)
    rem.forget(retired.id)
    rem.jobs.index_now()
    answer = rem.recall("raise the memory of checkout")
    assert [hit.id for hit in answer] == [kept.id]
    assert set(answer.trace.outcomes) == {kept.id}


def test_the_narrower_scope_counts_more(rem: Remembrancer) -> None:
    """[2.3] The scope factor applied in a mode that was not the default one."""
    told = "raise the memory of checkout before a deploy"
    workspace = rem.scoped(crew=None, agent=None)
    workspace.remember(f"{told} everywhere")
    rem.scoped(crew=None, agent=None, project="shop").remember(f"{told} of shop")
    rem.remember(f"{told} of ours")
    rem.jobs.index_now()
    answer = rem.recall(told, reach="workspace")
    assert [hit.explanation.signals["level"] for hit in answer] == [1.5, 1.2, 1.0]


def test_near_duplicates_make_room_and_none_is_lost(rem: Remembrancer) -> None:
    """[2.3] The third min-max, and lists that stopped at the first entry too long."""
    for number in range(4):
        rem.remember(f"raise the memory of checkout before a deploy number {number}")
    rem.remember("checkout deploys need a second review of memory limits")
    rem.jobs.index_now()
    answer = rem.recall("checkout memory deploy", limit=5)
    assert len(answer) == 5
    assert "second review" in " ".join(texts(answer)[:2])


def test_an_ancient_learning_of_worth_comes_before_an_ancient_one_of_little(wordy: Remembrancer) -> None:
    """[text] Decay bottoms out at a tenth: importance still tells the two apart."""
    for importance in (0.2, 0.9):
        wordy.remember(
            f"raise the memory of checkout {importance}", importance=importance, occurred_at=NOW - 5000 * DAY
        )
    answer = wordy.recall("raise memory of checkout")
    assert [hit.memory.strength.importance for hit in answer] == [0.9, 0.2]
    assert answer[0].explanation.signals["retention"] == pytest.approx(0.1)


def test_pinned_learnings_and_hits_do_not_compete(rem: Remembrancer) -> None:
    """[2.3] institutional.md was loaded whole, uncapped, beside what was retrieved."""
    rem.remember("institutional: checkout memory deploy", tags=["institutional"], importance=1.0)
    rem.remember("checkout memory deploy")
    rem.jobs.index_now()
    answer = rem.recall("checkout memory deploy")
    assert texts(answer) == ["checkout memory deploy"]
    assert [one.text for one in answer.pinned] == ["institutional: checkout memory deploy"]
    assert "institutional" not in answer.render()
    assert "institutional: checkout" in answer.render_pinned()
