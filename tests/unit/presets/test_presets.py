from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from remembrancer.domain.scope import Reach
from remembrancer.errors import InvalidInput
from remembrancer.policies.scoring import Expression, MinMax, Product, Rrf, Signal, Weighted
from remembrancer.policies.signals import SIGNALS
from remembrancer.presets.catalogue import PRESETS, preset_named
from remembrancer.presets.default import DEFAULT

BM25 = Signal("bm25")
SIMILARITY = Signal("similarity")


def test_the_default_preset_is_named_so() -> None:
    assert preset_named("default") is DEFAULT


def test_a_preset_stands_under_its_own_name() -> None:
    assert {name: preset.name for name, preset in PRESETS.items()} == {name: name for name in PRESETS}


@pytest.mark.parametrize("name", ["", "Default", "deflaut"])
def test_an_unknown_preset_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"^preset: .*one of .*default"):
        preset_named(name)


def test_the_default_keeps_raw_output_out_of_recall() -> None:
    assert set(DEFAULT.admission.never) == {"exec.output_chunk", "container.metrics", "network.*"}


def test_the_default_lets_an_agent_look_at_its_own_and_a_lead_at_its_crew() -> None:
    assert DEFAULT.reach_by_role == {"AGENT": Reach.OWN, "LEAD": Reach.CREW_SHARED}


@pytest.mark.parametrize("score", [Signal("nearness"), Weighted(((SIMILARITY, 0.5), (Signal("nearness"), 0.5)))])
def test_an_unknown_signal_is_refused_with_those_there_are(score: Expression) -> None:
    with pytest.raises(InvalidInput, match=r"^preset\.score: 'nearness' .*similarity"):
        replace(DEFAULT, score=score)


@pytest.mark.parametrize(
    "score", [BM25, Weighted(((BM25, 0.5),)), Product((SIMILARITY, BM25)), Product((MinMax(BM25), BM25))]
)
def test_an_uncalibrated_signal_whose_scale_would_count_is_refused(score: Expression) -> None:
    with pytest.raises(InvalidInput, match=r"^preset\.score: 'bm25' .*only inside Rrf or MinMax"):
        replace(DEFAULT, score=score)


@pytest.mark.parametrize(
    "score",
    [MinMax(BM25), Rrf((BM25, SIMILARITY)), Rrf((Product((BM25, SIMILARITY)),)), Weighted(((MinMax(BM25), 1),))],
)
def test_an_uncalibrated_signal_may_be_ranked_or_rescaled(score: Expression) -> None:
    assert replace(DEFAULT, score=score).score == score


@pytest.mark.parametrize("name", sorted(name for name, signal in SIGNALS.items() if signal.calibrated))
def test_a_calibrated_signal_may_be_a_score(name: str) -> None:
    assert replace(DEFAULT, score=Signal(name)).score == Signal(name)


@pytest.mark.parametrize("depth", [0, -1, 10_001, True, 1.5])
def test_a_depth_out_of_range_is_refused(depth: int) -> None:
    with pytest.raises(InvalidInput, match=r"^preset\.depth: .* from 1 to 10000"):
        replace(DEFAULT, depth=depth)


@pytest.mark.parametrize("depth", [1, 10_000])
def test_a_depth_may_reach_its_bounds(depth: int) -> None:
    assert replace(DEFAULT, depth=depth).depth == depth


@pytest.mark.parametrize("half_life", [timedelta(), timedelta(days=-1)])
def test_a_half_life_that_is_no_time_is_refused(half_life: timedelta) -> None:
    with pytest.raises(InvalidInput, match=r"^preset\.recency_half_life: .*positive"):
        replace(DEFAULT, recency_half_life=half_life)


@pytest.mark.parametrize("name", ["", "My preset", "Ä"])
def test_a_name_that_is_no_plain_word_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"^preset\.name: "):
        replace(DEFAULT, name=name)
