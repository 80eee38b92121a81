from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from remembrancer.domain.memory import Tier
from remembrancer.domain.scope import Reach
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.admission import Admission
from remembrancer.policies.forgetting.reinforcement import FeedbackSteps, Strikes
from remembrancer.policies.ranking.ranking import COMPARED, MAX_DEPTH, RERANK, Depth, Ranking
from remembrancer.policies.ranking.relevance import RelevanceThreshold
from remembrancer.policies.ranking.scoring import (
    Clamp,
    Expression,
    MinMax,
    Product,
    Rrf,
    Saturating,
    Signal,
    Weighted,
    signal_names,
)
from remembrancer.policies.ranking.signals import MEANINGS, SCALES, Scale
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.windows import Windows
from remembrancer.presets.catalogue import PRESETS, preset_named
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.spec import MAX_LIMIT, AccessPolicy, Fading, Limits, Preset

BM25 = Signal("bm25")
LEVEL = Signal("level")
SIMILARITY = Signal("similarity")

every_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)


def test_the_default_preset_is_named_so() -> None:
    assert preset_named("default") is DEFAULT


def test_a_preset_is_registered_under_its_own_name() -> None:
    assert {name: preset.name for name, preset in PRESETS.items()} == {name: name for name in PRESETS}


@pytest.mark.parametrize("name", ["", "Default", "deflaut"])
def test_an_unknown_preset_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"^preset: .*one of .*default.*, or a file"):
        preset_named(name)


@every_preset
def test_a_preset_has_a_description_of_one_line(preset: Preset) -> None:
    assert preset.description.endswith(".")


@every_preset
def test_every_signal_that_a_preset_reads_is_defined(preset: Preset) -> None:
    assert frozenset[str]().union(*map(signal_names, preset.expressions())) <= set(MEANINGS)


def test_the_default_keeps_raw_output_out_of_recall() -> None:
    assert set(DEFAULT.admission.never) == {"exec.output_chunk", "container.metrics", "network.*"}


def test_the_default_lets_an_agent_look_at_its_own_and_a_lead_at_its_crew() -> None:
    assert DEFAULT.access_policy.by_role == {"AGENT": Reach.OWN, "LEAD": Reach.CREW_SHARED}


@pytest.mark.parametrize("score", [Signal("nearness"), Weighted(((SIMILARITY, 0.5), (Signal("nearness"), 0.5)))])
def test_an_unknown_signal_is_refused_with_those_there_are(score: Expression) -> None:
    with pytest.raises(InvalidInput, match=r"^score: 'nearness' .*similarity"):
        Ranking(score=score)


def test_the_lexical_only_expression_is_checked_as_the_score_is() -> None:
    with pytest.raises(InvalidInput, match=r"^lexical_only: 'nearness' "):
        Ranking(score=SIMILARITY, lexical_only=Signal("nearness"))


@pytest.mark.parametrize(
    "score", [BM25, Weighted(((BM25, 0.5),)), Product((SIMILARITY, BM25)), Product((MinMax(BM25), BM25)), Clamp(BM25)]
)
def test_an_uncalibrated_signal_whose_scale_would_count_is_refused(score: Expression) -> None:
    with pytest.raises(InvalidInput, match=r"^score: 'bm25' .*only inside rrf or minmax"):
        Ranking(score=score)


@pytest.mark.parametrize(
    "score",
    [MinMax(BM25), Rrf((BM25, SIMILARITY)), Rrf((Product((BM25, SIMILARITY)),)), Weighted(((MinMax(BM25), 1),))],
)
def test_an_uncalibrated_signal_may_be_ranked_or_rescaled(score: Expression) -> None:
    assert Ranking(score=score).score == score


@pytest.mark.parametrize("score", [LEVEL, Weighted(((LEVEL, 0.5),)), Product((SIMILARITY, LEVEL))])
def test_a_factor_that_could_leave_the_unit_interval_is_refused(score: Expression) -> None:
    with pytest.raises(InvalidInput, match=r"^score: 'level' .*only inside clamp, saturating, rrf or minmax"):
        Ranking(score=score)


@pytest.mark.parametrize("score", [Clamp(LEVEL), Saturating(Product((SIMILARITY, LEVEL))), MinMax(LEVEL)])
def test_a_factor_that_is_held_within_the_unit_interval_may_count(score: Expression) -> None:
    assert Ranking(score=score).score == score


@pytest.mark.parametrize("name", sorted({name for name, scale in SCALES.items() if scale is Scale.UNIT} - {RERANK}))
def test_a_calibrated_signal_may_be_a_score(name: str) -> None:
    assert Ranking(score=Signal(name), late_interaction=int(name in COMPARED)).score == Signal(name)


def test_a_strength_that_depends_on_the_question_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^fading\.strength: 'similarity' .*retention"):
        Fading(strength=SIMILARITY, below=0.1)


OUT_OF_RANGE: list[tuple[str, Callable[[], Any]]] = [
    ("depth.least", lambda: Depth(least=0)),
    ("depth.least", lambda: Depth(least=MAX_DEPTH + 1)),
    ("depth.least", lambda: Depth(least=True)),
    ("depth.per_hit", lambda: Depth(per_hit=0)),
    ("limits.most", lambda: Limits(most=MAX_LIMIT + 1)),
    ("limits.usual", lambda: Limits(usual=11, most=10)),
    ("limits.listed", lambda: Limits(listed=4)),
    ("limits.listed", lambda: Limits(listed=11, most=10)),
    ("access_policy.shared_from", lambda: AccessPolicy(shared_from=1.5)),
    ("access_policy.by_role", lambda: AccessPolicy(by_role={"": Reach.OWN})),
    ("fading.below", lambda: Fading(strength=Signal("retention"), below=-0.1)),
    ("Rrf.k", lambda: Rrf((SIMILARITY,), k=1_000_001)),
    ("admission.never", lambda: Admission(never=("",))),
    ("admission.always", lambda: Admission(always=("a\nb",))),
    ("admission.in_states.a", lambda: Admission(in_states={"a": ("",)})),
    ("name", lambda: replace(DEFAULT, name="My preset")),
    ("description", lambda: replace(DEFAULT, description="two\nlines")),
    ("rankings", lambda: replace(DEFAULT, rankings=MappingProxyType({"A B": DEFAULT.ranking}))),
    ("pinned_tag", lambda: replace(DEFAULT, pinned_tag="")),
    ("nudge_after", lambda: replace(DEFAULT, nudge_after=0)),
]


@pytest.mark.parametrize(("argument", "make"), OUT_OF_RANGE)
def test_a_choice_out_of_range_is_refused_by_name(argument: str, make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()
    assert caught.value.argument == argument


def test_no_search_is_deeper_than_the_maximum() -> None:
    assert Depth(per_hit=100).of(MAX_LIMIT) == MAX_DEPTH


def test_an_unknown_ranking_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"^ranking: 'hybrid' .*preset default has but one"):
        DEFAULT.ranking_named("hybrid")


# ── what each text says ──────────────────────────────────────────────────────────────────────────────────────────────


def test_crewship_gives_five_hits_unless_asked_and_fifty_at_most() -> None:
    limits = PRESETS["crewship"].limits
    assert (limits.of(None), limits.of(1), limits.of(50)) == (5, 1, 50)
    for asked in (0, 51):
        with pytest.raises(InvalidInput, match=r"^limit: .*from 1 to 50"):
            limits.of(asked)


@pytest.mark.parametrize(("limit", "expected"), [(1, 20), (5, 20), (6, 20), (7, 21), (17, 51), (20, 60), (50, 150)])
def test_each_search_of_crewship_s_hybrid_returns_three_times_the_requested_hits_and_at_least_twenty(
    limit: int, expected: int
) -> None:
    assert PRESETS["crewship"].ranking_named("hybrid").depth.of(limit) == expected


@pytest.mark.parametrize("limit", [1, 5, 50])
def test_plastmem_fuses_a_hundred_candidates_of_each_search(limit: int) -> None:
    assert PRESETS["plastmem"].ranking.depth.of(limit) == 100


def test_only_crewship_refuses_a_question_of_a_scope_too_wide_for_the_role() -> None:
    assert [name for name, preset in PRESETS.items() if preset.access_policy.strict] == ["crewship"]


def test_only_crewship_keeps_a_crew_s_rows_of_little_importance_from_it() -> None:
    shared = {name: preset.access_policy.shared_from for name, preset in PRESETS.items()}
    assert shared == {**dict.fromkeys(PRESETS, 0.0), "crewship": 0.65}


def test_only_crewship_links_similar_memories_by_itself() -> None:
    assert [name for name, preset in PRESETS.items() if preset.links is not None] == ["crewship"]


def test_a_note_of_engram_and_teaparty_is_of_one_of_their_kinds() -> None:
    assert PRESETS["engram"].formation.kinds == tuple(
        "fact decision preference todo error context workflow meeting_ledger".split()
    )
    assert set(PRESETS["teaparty"].formation.kinds) == set("declarative procedural directive corrective".split())


def test_turns_begin_in_working_memory_where_something_else_is_to_take_their_place() -> None:
    tiers = {name: (preset.formation.event_tier, preset.formation.note_tier) for name, preset in PRESETS.items()}
    assert tiers == {
        **dict.fromkeys(PRESETS, (Tier.EPISODIC, Tier.SEMANTIC)),
        "plastmem": (Tier.WORKING, Tier.SEMANTIC),
        "mnemosyne": (Tier.WORKING, Tier.WORKING),
    }


def test_episodes_replace_turns_under_plastmem_and_are_added_to_them_under_the_default() -> None:
    formed = {name: preset.segmentation.replaces for name, preset in PRESETS.items() if preset.segmentation is not None}
    assert formed == {"default": False, "plastmem": True}


def test_an_episode_added_to_its_turns_is_hidden() -> None:
    assert {name: preset.hidden_kinds for name, preset in PRESETS.items() if preset.hidden_kinds} == {
        "default": frozenset({"episode"})
    }


def test_plastmem_asks_a_model_about_windows_and_uses_its_two_channels_without_one() -> None:
    segmentation = PRESETS["plastmem"].segmentation
    assert segmentation is not None
    assert segmentation.segmenter == Windows(size=20, fewest=5, hours=2.0, otherwise=DualChannel())


def test_only_engram_strikes_out() -> None:
    assert [name for name, preset in PRESETS.items() if preset.feedback.strikes is not None] == ["engram"]


def test_only_teaparty_is_diverse_and_the_default_pins_too() -> None:
    assert [name for name, preset in PRESETS.items() if preset.ranking.diversity is not None] == ["teaparty"]
    assert [name for name, preset in PRESETS.items() if preset.pinned_tag is not None] == ["default", "teaparty"]


def test_only_the_default_has_a_relevance_threshold() -> None:
    assert [name for name, preset in PRESETS.items() if preset.ranking.threshold is not None] == ["default"]


def test_a_memory_counts_as_faded_below_the_threshold_of_its_preset() -> None:
    assert {name: preset.fading.below for name, preset in PRESETS.items()} == {
        "default": 0.05,
        "crewship": 0.15,
        "teaparty": 0.1,
        "plastmem": 0.5,
        "engram": 0.3,
        "mnemosyne": 0.1,
    }


def test_the_searches_of_each_preset_go_as_deep_as_its_score_can_promote_from() -> None:
    assert {name: (preset.ranking.depth.of(5), preset.ranking.depth.of(50)) for name, preset in PRESETS.items()} == {
        "default": (200, 200),
        "crewship": (MAX_DEPTH, MAX_DEPTH),
        "teaparty": (20, 200),
        "plastmem": (100, 100),
        "engram": (100, 150),
        "mnemosyne": (50, 150),
    }


def test_default_number_of_hits() -> None:
    usual = {name: preset.limits.of(None) for name, preset in PRESETS.items()}
    assert usual == {**dict.fromkeys(PRESETS, 5), "teaparty": 10}


def test_engram_s_feedback_steps_are_those_of_its_text() -> None:
    assert PRESETS["engram"].feedback == FeedbackSteps(
        helpful=0.15, unhelpful=-0.2, harmful=-0.2, strikes=Strikes(negatives=3, below=0.15)
    )


def test_the_default_s_relevance_threshold_is_the_measured_one() -> None:
    assert DEFAULT.ranking.threshold == RelevanceThreshold(
        similarity=0.3, coverage=0.35, evidence=0.2, evidence_first_stage=0.14, then=0.5
    )
