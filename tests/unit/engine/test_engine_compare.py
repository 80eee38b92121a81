from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from remembrancer import InvalidInput, Remembrancer, Settings
from remembrancer.domain.recall import Stage
from remembrancer.engine.compare import ComparedMemory, Comparison, RankUnderPreset
from remembrancer.errors import ModelUnavailable
from remembrancer.policies.ranking.diversity import Mmr
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.relevance import RelevanceThreshold
from remembrancer.policies.ranking.scoring import Product, Signal, Weighted
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.spec import Limits, Preset
from remembrancer.presets.text import text_of
from remembrancer.testing.doubles import NOW, FailingEmbedder, FixedClock, HashEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DAY = timedelta(days=1)
QUIET = Settings(db=":memory:", workspace="acme", background_index=False)
QUESTION = "why did the deploy of checkout fail?"


def ranked(name: str, ranking: Ranking, **choices: Any) -> Preset:
    return replace(DEFAULT, name=name, ranking=ranking, **choices)


BY_WORDS = ranked("words", Ranking(score=Weighted(((Signal("lexical"), 0.5), (Signal("importance"), 0.1)))))
BY_IMPORTANCE = ranked("importance", Ranking(score=Product((Signal("importance"), Signal("confidence")))))


@pytest.fixture
def told(wordy: Remembrancer) -> Remembrancer:
    """Memories: `exact` is the best lexical match, `grave` is more important, `faint` is neither."""
    wordy.remember("The deploy of checkout failed", title="exact", importance=0.25, occurred_at=NOW)
    wordy.remember("A deploy went wrong", title="grave", importance=1, occurred_at=NOW)
    wordy.remember("Checkout has a new colour", title="faint", importance=0.125, occurred_at=NOW)
    return wordy


def titles(found: Comparison) -> list[str | None]:
    return [one.memory.title for one in found.memories]


def named(found: Comparison, title: str) -> ComparedMemory:
    return next(one for one in found.memories if one.memory.title == title)


def ranks(one: ComparedMemory) -> list[int | None]:
    return [place.rank if place.returned else None for place in one.places]


def test_each_preset_returns_the_same_as_its_recall(told: Remembrancer) -> None:
    found = told.presets.compare(QUESTION, [DEFAULT, BY_WORDS])
    assert [answer.preset for answer in found.answers] == ["default", "words"]
    assert [(hit.id, hit.score) for hit in found.answers[0].hits] == [
        (hit.id, hit.score) for hit in told.recall(QUESTION)
    ]


def test_a_memory_has_its_rank_under_each_preset(told: Remembrancer) -> None:
    found = told.presets.compare(QUESTION, [BY_WORDS, BY_IMPORTANCE])
    assert {one.memory.title: ranks(one) for one in found.memories} == {
        "exact": [1, 2],
        "grave": [2, 1],
        "faint": [3, 3],
    }


def test_memories_are_ordered_by_mean_rank_and_one_left_out_ranks_below_the_last(told: Remembrancer) -> None:
    told.remember("Deploy checkout", title="apart", importance=0.5, occurred_at=NOW)
    found = told.presets.compare(QUESTION, [BY_WORDS, BY_IMPORTANCE], limit=2)
    means = [sum(rank or 3 for rank in ranks(one)) / 2 for one in found.memories]
    assert means == sorted(means)
    assert None in [rank for one in found.memories for rank in ranks(one)]


def test_a_memory_that_no_preset_returns_is_not_compared(told: Remembrancer) -> None:
    assert titles(told.presets.compare(QUESTION, [BY_WORDS], limit=1)) == ["exact"]


def test_nothing_relevant_compares_nothing(told: Remembrancer) -> None:
    found = told.presets.compare("zebra", [DEFAULT, BY_WORDS])
    assert (found.memories, [answer.hits for answer in found.answers]) == ((), [(), ()])


def test_a_score_comes_with_the_parts_that_made_it(told: Remembrancer) -> None:
    [place] = named(told.presets.compare(QUESTION, [BY_IMPORTANCE]), "grave").places
    assert place.parts is not None
    assert (place.score, place.parts.contribution, place.leading) == (0.5, 0.5, "the memory itself")


@pytest.mark.parametrize(
    ("other", "title", "stage", "reason"),
    [
        (ranked("short", BY_WORDS.ranking, limits=Limits(usual=1, most=1)), "grave", Stage.LIMIT, "ranked 2"),
        (
            ranked("strict", replace(BY_WORDS.ranking, threshold=RelevanceThreshold(similarity=0.9, coverage=0.9))),
            "faint",
            Stage.THRESHOLD,
            "ranked 3, below the relevance threshold",
        ),
        (
            ranked("varied", replace(BY_WORDS.ranking, diversity=Mmr(balance=0.01)), limits=Limits(usual=2, most=2)),
            "twin",
            Stage.ALIKE,
            "ranked 2, too similar to better hits",
        ),
    ],
    ids=lambda one: one.name if isinstance(one, Preset) else "",
)
def test_a_memory_that_is_left_out_has_the_stage_and_the_reason(
    told: Remembrancer, other: Preset, title: str, stage: Stage, reason: str
) -> None:
    if title == "twin":
        told.remember("The deploy of checkout failed on Tuesday", title="twin", importance=0.25, occurred_at=NOW)
    place = named(told.presets.compare(QUESTION, [BY_WORDS, other]), title).places[1]
    assert (place.returned, place.stage, place.reason) == (False, stage, reason)


def test_a_memory_that_no_search_found_is_reported_as_such(rem: Remembrancer) -> None:
    rem.remember("The deploy of checkout failed", title="exact")
    rem.remember("Lunch is at noon", title="lunch")
    rem.jobs.index_now()
    near = ranked("near", Ranking(score=Signal("similarity"), depth=DEFAULT.ranking.depth))
    shallow = ranked("shallow", Ranking(score=Signal("similarity"), depth=replace(DEFAULT.ranking.depth, least=1)))
    place = named(rem.presets.compare("deploy", [near, shallow], limit=1 + 1), "lunch").places[1]
    assert (place.stage, place.rank) in {(None, None), (Stage.RETURNED, 2)}


def test_a_pinned_memory_is_reported_as_part_of_every_answer(told: Remembrancer) -> None:
    told.remember("Deploys of checkout fail on Fridays", title="rule", tags=["institutional"], occurred_at=NOW)
    pinned = ranked("standing", BY_WORDS.ranking, pinned_tag="institutional")
    place = named(told.presets.compare(QUESTION, [BY_WORDS, pinned]), "rule").places[1]
    assert place == RankUnderPreset(
        preset="standing", returned=False, reason="pinned: in every answer, separate from the hits"
    )


def test_the_reasons_name_the_best_preset_and_why_another_leaves_it_out(told: Remembrancer) -> None:
    short = replace(BY_IMPORTANCE, name="short", limits=Limits(usual=1, most=1))
    why = named(told.presets.compare(QUESTION, [BY_WORDS, short]), "exact").why
    assert why.startswith("rank 1 under words: strong in words")
    assert why.endswith("; not under short (ranked 2: weak in the memory itself)")


def test_the_reasons_name_the_worst_preset_when_all_return_it(told: Remembrancer) -> None:
    why = named(told.presets.compare(QUESTION, [BY_WORDS, BY_IMPORTANCE]), "grave").why
    assert why.startswith("rank 1 under importance: strong in the memory itself; rank 2 under words")


def test_the_reasons_name_no_preset_where_all_agree(told: Remembrancer) -> None:
    why = named(told.presets.compare(QUESTION, [BY_WORDS, replace(BY_WORDS, name="same")]), "exact").why
    assert why.startswith("rank 1 everywhere: strong in words")


def test_the_reasons_name_two_presets_and_count_the_rest(told: Remembrancer) -> None:
    alike = [replace(BY_WORDS, name=f"words-{number}") for number in range(4)]
    why = named(told.presets.compare(QUESTION, [*alike, BY_IMPORTANCE]), "exact").why
    assert why.startswith("rank 1 under words-0, words-1 and 2 more: ")


def test_the_overlap_of_two_presets_counts_memories_that_both_return(told: Remembrancer) -> None:
    found = told.presets.compare(QUESTION, [BY_WORDS, BY_IMPORTANCE, replace(BY_WORDS, name="again")], limit=1)
    assert [(each.first, each.second, each.share) for each in found.overlaps] == [
        ("words", "importance", 0.0),
        ("words", "again", 1.0),
        ("importance", "again", 0.0),
    ]


def test_presets_that_both_return_nothing_agree(told: Remembrancer) -> None:
    [overlap] = told.presets.compare("zebra", [BY_WORDS, DEFAULT]).overlaps
    assert overlap.share == 1.0


def test_two_answers_that_share_half_of_their_memories_overlap_by_a_third(told: Remembrancer) -> None:
    told.remember("Deploy checkout", title="apart", importance=0.5, occurred_at=NOW)
    first = ranked("first", Ranking(score=Weighted(((Signal("lexical"), 1.0),))))
    found = told.presets.compare(QUESTION, [first, BY_IMPORTANCE], limit=2)
    both = sum(None not in ranks(one) for one in found.memories)
    assert found.overlaps[0].share == both / len(found.memories)


def test_the_limit_is_the_same_for_all_up_to_the_maximum_of_each(told: Remembrancer) -> None:
    found = told.presets.compare(
        QUESTION, [BY_WORDS, replace(BY_WORDS, name="few", limits=Limits(usual=1, most=2))], limit=3
    )
    assert [(answer.limit, len(answer.hits)) for answer in found.answers] == [(3, 3), (2, 2)]


def test_the_preset_in_use_comes_first_and_then_all_that_are_shipped(told: Remembrancer) -> None:
    assert [answer.preset for answer in told.presets.compare(QUESTION).answers] == list(PRESETS)


def test_a_preset_of_ones_own_in_use_is_compared_with_those_that_are_shipped(clock: FixedClock) -> None:
    with Remembrancer.open(settings=QUIET, embedder="none", preset=BY_WORDS, clock=clock) as rem:
        assert [answer.preset for answer in rem.presets.compare(QUESTION).answers] == ["words", *PRESETS]


def test_presets_may_be_given_by_name_by_file_and_as_they_are(told: Remembrancer, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text_of(replace(DEFAULT, name="mine")), encoding="utf-8")
    found = told.presets.compare(QUESTION, ["engram", str(tmp_path / "mine.toml"), BY_WORDS])
    assert [answer.preset for answer in found.answers] == ["engram", "mine", "words"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"presets": ["unheard"]}, r"^preset: 'unheard' .*one of"),
        ({"presets": "default"}, r"^presets: 'default' .*a list"),
        ({"presets": [3]}, r"^presets: 3 .*a Preset"),
        ({"presets": []}, r"^presets: .*1 to 12 presets"),
        ({"presets": ["default", "default"]}, r"^presets: .*different names"),
        ({"limit": 0}, r"^limit: 0 "),
        ({"limit": 201}, r"^limit: 201 "),
        ({"query": " "}, r"^query: "),
    ],
)
def test_invalid_arguments_are_refused_by_name(told: Remembrancer, given: dict[str, Any], said: str) -> None:
    asked: dict[str, Any] = {"query": QUESTION, **given}
    with pytest.raises(InvalidInput, match=said):
        told.presets.compare(**asked)


def test_comparing_writes_nothing(told: Remembrancer) -> None:
    before = told.recent()
    told.presets.compare(QUESTION)
    assert told.recent() == before


def test_only_memories_that_the_caller_sees_are_compared(told: Remembrancer) -> None:
    told.scoped(agent="bob").remember("The deploy of checkout failed for bob", title="bob's")
    assert "bob's" not in titles(told.scoped(agent="ana").presets.compare(QUESTION))
    assert "bob's" in titles(told.scoped(agent="bob").presets.compare(QUESTION))


def test_a_preset_with_a_strict_access_policy_is_compared_like_any(told: Remembrancer) -> None:
    strict = next(preset for preset in PRESETS.values() if preset.access_policy.strict)
    assert titles(told.presets.compare(QUESTION, [strict])) != []


def test_a_question_may_be_asked_as_of_another_time(told: Remembrancer, clock: FixedClock) -> None:
    clock.advance(100 * DAY)
    told.remember("The deploy of checkout failed once more", title="later")
    found = told.presets.compare(QUESTION, [DEFAULT], as_of=NOW + DAY)
    assert (found.asked_at, "later" in titles(found)) == (NOW + DAY, False)
    assert found.answers[0].hits[0].age == DAY


class Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def query_now(self, text: str) -> NDArray[np.float32]:
        self.asked.append(text)
        return super().query_now(text)


def test_the_question_is_embedded_once(clock: FixedClock) -> None:
    embedder = Counting()
    with Remembrancer.open(settings=QUIET, embedder=embedder, clock=clock) as rem:
        rem.remember("The deploy of checkout failed")
        rem.jobs.index_now()
        rem.presets.compare(QUESTION)
    assert embedder.asked == [QUESTION]


def test_an_unavailable_embedder_is_asked_once_and_reported_for_all_presets(clock: FixedClock) -> None:
    class Down(FailingEmbedder):
        asked = 0

        def query_now(self, text: str) -> NDArray[np.float32]:
            Down.asked += 1
            raise ModelUnavailable("the model does not answer")

    with Remembrancer.open(settings=QUIET, embedder=Down(), clock=clock) as rem:
        rem.remember("The deploy of checkout failed")
        found = rem.presets.compare(QUESTION)
    assert Down.asked == 1
    assert {answer.degraded["dense"] for answer in found.answers} == {
        "the embedder does not answer: the model does not answer"
    }


@pytest.fixture
def rem(clock: FixedClock) -> Iterator[Remembrancer]:
    with Remembrancer.open(embedder=HashEmbedder(), settings=QUIET, clock=clock) as opened:
        yield opened
