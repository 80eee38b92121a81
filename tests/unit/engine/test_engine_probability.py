"""The probability of a hit, and `floor`, the least one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from judging import Judge

from remembrancer import Remembrancer
from remembrancer.config import Settings
from remembrancer.domain.recall import Shortfall, Stage
from remembrancer.policies.ranking.probability import HitProbability
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import FixedClock, WordHashEmbedder

QUIET = Settings(db=":memory:", workspace="acme", background_index=False)
ASKED = "Where does the heron fly?"
CALIBRATION = HitProbability(models=(WordHashEmbedder().model_id,), intercept=-2.0, score=5.0, lead=1.0, log_rank=-1.0)
CALIBRATED = replace(DEFAULT, ranking=replace(DEFAULT.ranking, probability=CALIBRATION))


@pytest.fixture
def birds(clock: FixedClock) -> Iterator[Remembrancer]:
    with Remembrancer.open(embedder=WordHashEmbedder(), settings=QUIET, preset=CALIBRATED, clock=clock) as opened:
        fill(opened)
        yield opened


def fill(rem: Remembrancer) -> None:
    for text in ("The heron does fly over the harbour", "The owl and the heron sleep", "Lunch in the old zoo"):
        rem.remember(text)
    rem.jobs.index_now()


def test_a_hit_has_the_probability_of_its_score_and_rank(birds: Remembrancer) -> None:
    hits = birds.recall(ASKED, floor="off").hits
    by_rank = CALIBRATION.of(np.array([hit.score for hit in hits])).tolist()
    assert [hit.probability for hit in hits] == by_rank
    assert len(set(by_rank)) == 3


def test_a_floor_returns_the_hits_with_that_probability(birds: Remembrancer) -> None:
    best, *_ = birds.recall(ASKED, floor="off")
    assert best.probability is not None
    assert [hit.id for hit in birds.recall(ASKED, floor=best.probability)] == [best.id]


def test_a_memory_below_the_floor_is_named_with_its_probability(birds: Remembrancer) -> None:
    hits = birds.recall(ASKED, floor="off").hits
    held = birds.recall(ASKED, floor=1.0).below_threshold
    assert [(one.memory_id, one.probability) for one in held] == [(hit.id, hit.probability) for hit in hits]


def test_why_not_names_the_floor_and_the_way_around_it(birds: Remembrancer) -> None:
    best = birds.recall(ASKED, floor="off")[0]
    told = birds.why_not(best.id, ASKED, floor=0.99)
    assert (told.stage, told.probability) == (Stage.FLOOR, best.probability)
    assert told.shortfall == Shortfall("probability", best.probability or 0.0, 0.99)
    assert told.advice == "Ask with a lower floor, or without one (floor=off)."


def test_a_kept_answer_has_its_probabilities(birds: Remembrancer) -> None:
    answer = birds.recall(ASKED, keep=True)
    assert answer.recall_id is not None
    replayed = birds.recalls.replay(answer.recall_id)
    assert [hit.probability for hit in replayed] == [hit.probability for hit in answer]


def test_with_another_embedder_no_hit_has_a_probability(clock: FixedClock) -> None:
    with Remembrancer.open(embedder=WordHashEmbedder(), settings=QUIET, preset=DEFAULT, clock=clock) as rem:
        fill(rem)
        assert {hit.probability for hit in rem.recall(ASKED)} == {None}


def test_without_an_embedder_no_hit_has_a_probability(clock: FixedClock) -> None:
    with Remembrancer.open(embedder="none", settings=QUIET, preset=CALIBRATED, clock=clock) as rem:
        fill(rem)
        assert {hit.probability for hit in rem.recall(ASKED)} == {None}


def test_a_message_has_no_probabilities(birds: Remembrancer) -> None:
    answer = birds.recall("The heron does fly today", mode="message", floor=0.5)
    assert {hit.probability for hit in answer} == {None}
    assert "floor" in answer.degraded


def test_reranked_hits_have_no_probabilities(clock: FixedClock) -> None:
    opened = Remembrancer.open(
        embedder=WordHashEmbedder(), reranker=Judge(lambda _: 0.5), settings=QUIET, preset=CALIBRATED, clock=clock
    )
    with opened as rem:
        fill(rem)
        answer = rem.recall(ASKED, floor=0.9)
        assert {hit.probability for hit in answer} == {None}
        assert "floor" in answer.degraded


def test_the_default_preset_is_calibrated_for_the_local_embedder(clock: FixedClock) -> None:
    with Remembrancer.open(embedder="local", settings=QUIET, clock=clock) as rem:
        fill(rem)
        assert all(hit.probability is not None for hit in rem.recall(ASKED, floor="off"))
