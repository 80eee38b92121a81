"""Defects of Mnemosyne only. Labels in brackets refer to sections of the research note on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest

from remembrancer import NotFound, Recall, Remembrancer
from remembrancer.domain.memory import Tier
from remembrancer.testing.doubles import NOW, FixedClock

DAY = timedelta(days=1)


@pytest.fixture
def rem(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("mnemosyne")


def texts(answer: Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


def scores(answer: Recall) -> dict[str, tuple[float, float | None]]:
    return {hit.memory.text: (hit.score, hit.explanation.signals["similarity"]) for hit in answer}


def test_similarity_does_not_depend_on_the_other_hits(rem: Remembrancer) -> None:
    """[B3] 1 - distance / greatest distance: the farthest candidate was always 0, and no two answers compared."""
    rem.remember("the deploy of checkout failed")
    rem.remember("the deploy of billing failed")
    rem.jobs.index_now()
    alone = {text: told[1] for text, told in scores(rem.recall("deploy of checkout failed")).items()}
    for number in range(30):
        rem.remember(f"{chr(97 + number % 26) * 6} {number}")
    rem.jobs.index_now()
    beside = {text: told[1] for text, told in scores(rem.recall("deploy of checkout failed", limit=40)).items()}
    assert len(beside) == 32
    assert {text: beside[text] for text in alone} == pytest.approx(alone, abs=1e-6)
    assert all(similarity is not None and similarity > 0.5 for similarity in alone.values())


def test_the_weakest_match_is_not_nothing_by_definition(rem: Remembrancer) -> None:
    """[B3] Min-max over the hits of one question: best 1, worst 0."""
    rem.remember("deploy of checkout failed")
    rem.remember("deploy of checkout failed again yesterday")
    answer = rem.recall("deploy of checkout failed")
    lexical = [hit.explanation.signals["lexical"] for hit in answer]
    assert all(one is not None and 0.2 < one < 1 for one in lexical)


def test_working_memory_is_found_by_meaning_before_it_is_summarised(rem: Remembrancer) -> None:
    """[B3] Working memory had no vectors: what was said today was found by its words or not at all."""
    kept = rem.remember("internationalization characterization decentralization")
    rem.jobs.index_now()
    answer = rem.recall("reinternationalization recharacterization redecentralization")
    assert (kept.tier, texts(answer)) == (Tier.WORKING, [kept.text])
    assert answer[0].explanation.ranks == {"dense": 1}


def test_lately_is_an_e_folding_time(rem: Remembrancer, clock: FixedClock) -> None:
    """[B3] A constant called half-life, after which 37 % was left."""
    rem.remember("the deploy failed")
    clock.advance(7 * DAY)
    assert rem.recall("deploy")[0].explanation.signals["retention"] == pytest.approx(math.exp(-1))


def test_a_memory_dated_in_the_future_counts_as_new(rem: Remembrancer) -> None:
    """[B3] Memories later than the question got a boost without end."""
    rem.remember("the deploy freeze", occurred_at=NOW + 30 * DAY)
    assert rem.recall("deploy freeze")[0].explanation.signals["retention"] == 1.0


def test_source_metadata_and_date_are_filters(rem: Remembrancer) -> None:
    """[B0] Metadata was neither indexed nor scored; [B4] dates selected by when a row was slept on."""
    rem.remember("the deploy failed", source="tool-result", metadata={"run": 7}, occurred_at=NOW - 10 * DAY)
    rem.remember("the deploy passed", source="user-feedback", metadata={"run": 8})
    assert texts(rem.recall("deploy", source="tool-result")) == ["the deploy failed"]
    assert texts(rem.recall("deploy", metadata={"run": 8})) == ["the deploy passed"]
    assert texts(rem.recall("deploy", until=NOW - 9 * DAY)) == ["the deploy failed"]


def test_an_unknown_id_is_an_error_and_hides_nothing(rem: Remembrancer) -> None:
    """[B6] The tool said it had worked, and a replacement that was not there hid a real memory."""
    told = rem.remember("the deploy failed")
    with pytest.raises(NotFound):
        rem.invalidate(told.id, replacement=uuid4())
    with pytest.raises(NotFound):
        rem.invalidate(uuid4())
    assert texts(rem.recall("deploy")) == ["the deploy failed"]


def test_remembering_the_same_again_moves_no_validity(rem: Remembrancer) -> None:
    """[B2] The same content again overwrote expiry and scope of the first."""
    first = rem.remember("the deploy key is blue")
    rem.remember("the deploy key is blue", valid_until=NOW + DAY)
    assert rem.get(first.id).valid_until is None
