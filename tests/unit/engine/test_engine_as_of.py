from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from remembrancer import Recall, Remembrancer, Settings
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder

DAY = timedelta(days=1)
QUESTION = "how long can a customer return a jacket?"
RETURNS = "returns-policy"
FIRST = "A customer can return a jacket within 14 days"
SECOND = "A customer can return a jacket within 30 days"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def rem(clock: FixedClock) -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", workspace="acme", background_index=False)
    with Remembrancer.open(settings=settings, embedder=HashEmbedder(), clock=clock) as opened:
        yield opened


def texts(answer: Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


def told_anew(rem: Remembrancer, clock: FixedClock, *, first: str = FIRST, second: str = SECOND, **more: Any) -> None:
    """A topic remembered on the first day and updated on the second; now is the third day."""
    rem.remember(first, topic_key=RETURNS, **more)
    rem.jobs.index_now()
    clock.advance(DAY)
    rem.remember(second, topic_key=RETURNS)
    rem.jobs.index_now()
    clock.advance(DAY)


class TestATopicToldAnew:
    def test_is_recalled_as_it_was_told_then(self, rem: Remembrancer, clock: FixedClock) -> None:
        told_anew(rem, clock)
        assert texts(rem.recall(QUESTION, as_of=NOW)) == [FIRST]
        assert texts(rem.recall(QUESTION, as_of=NOW + DAY)) == [SECOND]
        assert texts(rem.recall(QUESTION)) == [SECOND]

    def test_is_found_by_the_words_of_then_only(self, rem: Remembrancer, clock: FixedClock) -> None:
        told_anew(rem, clock, first="The pilot is a kestrel", second="The pilot is an owl")
        found = [texts(rem.recall("kestrel", as_of=at)) for at in (NOW, NOW + DAY)]
        assert found == [["The pilot is a kestrel"], []]
        assert texts(rem.recall("kestrel")) == []
        assert texts(rem.recall("owl", as_of=NOW)) == []

    def test_is_found_by_its_meaning_of_then(self, rem: Remembrancer, clock: FixedClock) -> None:
        told_anew(rem, clock)
        (exact,) = rem.recall(FIRST, as_of=NOW)
        assert exact.explanation.signals["similarity"] == pytest.approx(1.0, abs=0.01)

    def test_is_rendered_as_it_was_told_then(self, rem: Remembrancer, clock: FixedClock) -> None:
        told_anew(rem, clock)
        block = rem.recall(QUESTION, as_of=NOW).render()
        assert "14 days" in block
        assert "30 days" not in block

    def test_has_the_score_it_would_have_had_then(self, rem: Remembrancer, clock: FixedClock) -> None:
        rem.remember(FIRST, topic_key=RETURNS)
        rem.jobs.index_now()
        before = rem.recall(QUESTION)
        clock.advance(DAY)
        rem.remember(SECOND, topic_key=RETURNS)
        after = rem.recall(QUESTION, as_of=NOW)
        assert [(hit.memory, hit.cue, hit.score, hit.age) for hit in after] == [
            (hit.memory, hit.cue, hit.score, hit.age) for hit in before
        ]

    def test_is_listed_as_it_was_told_then(self, rem: Remembrancer, clock: FixedClock) -> None:
        told_anew(rem, clock)
        assert [memory.text for memory in rem.memories(as_of=NOW).memories] == [FIRST]
        assert [memory.text for memory in rem.memories().memories] == [SECOND]

    def test_of_three_tellings_each_is_found_as_of_its_time(self, rem: Remembrancer, clock: FixedClock) -> None:
        for number in range(3):
            rem.remember(f"The jacket costs {number} euros", topic_key="price")
            clock.advance(DAY)
        asked = [NOW - DAY, *(NOW + number * DAY for number in range(3))]
        found = [texts(rem.recall("what does the jacket cost?", as_of=at)) for at in asked]
        assert found == [[], *([f"The jacket costs {number} euros"] for number in range(3))]


class TestAMemoryUpdated:
    def test_is_recalled_as_it_said_then(self, rem: Remembrancer, clock: FixedClock) -> None:
        memory = rem.remember(FIRST)
        clock.advance(DAY)
        rem.update(memory.id, text=SECOND)
        assert texts(rem.recall(QUESTION, as_of=NOW)) == [FIRST]

    @pytest.mark.parametrize(
        ("before", "after", "then", "now"),
        [
            ({"tags": ["a"]}, {"tags": ["b"]}, {"tags": ["a"]}, {"tags": ["b"]}),
            ({"kind": "note"}, {"kind": "decision"}, {"kinds": ["note"]}, {"kinds": ["decision"]}),
            ({"source": "a"}, {"source": None}, {"source": "a"}, {}),
            ({"metadata": {"n": 1}}, {"metadata": {"n": 2}}, {"metadata": {"n": 1}}, {"metadata": {"n": 2}}),
        ],
        ids=["tags", "kind", "source", "metadata"],
    )
    def test_is_filtered_by_what_it_had_then(
        self,
        rem: Remembrancer,
        clock: FixedClock,
        before: dict[str, Any],
        after: dict[str, Any],
        then: dict[str, Any],
        now: dict[str, Any],
    ) -> None:
        memory = rem.remember(FIRST, **before)
        clock.advance(DAY)
        rem.update(memory.id, **after)
        assert texts(rem.recall(QUESTION, as_of=NOW, **then)) == [FIRST]
        assert texts(rem.recall(QUESTION, **now)) == [FIRST]
        if now:
            assert texts(rem.recall(QUESTION, as_of=NOW, **now)) == []
        assert texts(rem.recall(QUESTION, **then)) == []

    def test_had_the_importance_and_priority_of_then(self, rem: Remembrancer, clock: FixedClock) -> None:
        memory = rem.remember(FIRST, importance=0.25, priority=3)
        clock.advance(DAY)
        rem.update(memory.id, importance=0.75, priority=8)
        (then,) = rem.recall(QUESTION, as_of=NOW)
        assert (then.memory.strength.importance, then.memory.strength.priority) == (0.25, 3)

    def test_is_pinned_as_of_when_it_was(self, clock: FixedClock) -> None:
        settings = Settings(db=":memory:", preset="teaparty", agent="ana", background_index=False)
        with Remembrancer.open(settings=settings, embedder="none", clock=clock) as rem:
            tag = rem.presets.in_use.pinned_tag
            assert tag is not None
            memory = rem.remember(FIRST, tags=[tag])
            clock.advance(DAY)
            rem.update(memory.id, tags=[])
            assert [one.text for one in rem.recall("x", as_of=NOW).pinned] == [FIRST]
            assert rem.recall("x").pinned == ()


class TestWhatIsNoRevision:
    def test_use_counts_as_of_then(self, rem: Remembrancer, clock: FixedClock) -> None:
        memory = rem.remember(FIRST)
        clock.advance(DAY)
        rem.mark([memory.id], "used")
        clock.advance(DAY)
        rem.mark([memory.id], "used")
        uses = [rem.recall(QUESTION, as_of=NOW + days * DAY)[0].memory.strength.usage for days in range(3)]
        assert [(usage.used, usage.last_used_at) for usage in uses] == [(0, None), (1, NOW + DAY), (2, NOW + 2 * DAY)]

    def test_feedback_counts_as_of_then(self, rem: Remembrancer, clock: FixedClock) -> None:
        memory = rem.remember(FIRST)
        before = memory.strength.confidence
        clock.advance(DAY)
        assert rem.feedback(memory.id, "helpful").confidence > before
        (then,) = rem.recall(QUESTION, as_of=NOW)
        assert then.memory.strength.confidence == before

    def test_a_memory_forgotten_and_restored_is_absent_in_between(self, rem: Remembrancer, clock: FixedClock) -> None:
        memory = rem.remember(FIRST)
        clock.advance(DAY)
        rem.forget(memory.id)
        clock.advance(DAY)
        rem.restore(memory.id)
        found = [texts(rem.recall(QUESTION, as_of=NOW + days * DAY)) for days in range(3)]
        assert found == [[FIRST], [], [FIRST]]

    def test_an_end_that_was_set_later_was_not_known_before(self, rem: Remembrancer, clock: FixedClock) -> None:
        memory = rem.remember(FIRST)
        clock.advance(2 * DAY)
        rem.update(memory.id, valid_until=NOW + DAY)
        assert texts(rem.recall(QUESTION, as_of=NOW + 1.5 * DAY)) == [FIRST]
        assert texts(rem.recall(QUESTION, as_of=NOW + 2 * DAY)) == []


class TestWhoMaySee:
    @pytest.mark.parametrize(("first", "second"), [("workspace", "own"), ("own", "workspace")])
    def test_nobody_sees_as_of_then_what_was_or_is_kept_from_them(
        self, rem: Remembrancer, clock: FixedClock, first: str, second: str
    ) -> None:
        ana, bob = rem.scoped(agent="ana"), rem.scoped(agent="bob")
        memory = ana.remember(FIRST, visibility=first)
        clock.advance(DAY)
        ana.update(memory.id, text=SECOND, visibility=second)
        assert (texts(ana.recall(QUESTION, as_of=NOW)), texts(bob.recall(QUESTION, as_of=NOW))) == ([FIRST], [])


class TestErased:
    def test_nothing_erased_returns_as_of_before(self, rem: Remembrancer, clock: FixedClock) -> None:
        told_anew(rem, clock)
        (hit,) = rem.recall(QUESTION)
        assert texts(rem.recall(QUESTION, as_of=NOW)) == [FIRST]
        rem.erase(ids=[hit.id])
        assert texts(rem.recall(QUESTION, as_of=NOW)) == []

    def test_what_was_said_before_by_an_erased_turn_does_not_return(self, rem: Remembrancer, clock: FixedClock) -> None:
        spoken = [rem.observe(text, session="s") for text in ("The secret is kestrel", "The weather is fine")]
        episode = rem.remember("kestrel and weather", kind="episode", events=[event.id for event in spoken])
        clock.advance(DAY)
        rem.update(episode.id, text="about the weather")
        rem.erase(events=[spoken[0].id])
        then = [hit.memory.text for hit in rem.recall("kestrel weather", as_of=NOW, kinds=["episode"])]
        assert not any("kestrel" in text for text in then)
        assert "kestrel" not in rem.recall("kestrel", as_of=NOW).render(detail="high")


def test_a_question_as_of_a_time_writes_nothing(rem: Remembrancer, clock: FixedClock) -> None:
    told_anew(rem, clock)
    before = rem.health.stats()
    rem.recall(QUESTION, as_of=NOW)
    assert rem.health.stats() == before


def test_why_not_says_what_was_so_then(rem: Remembrancer, clock: FixedClock) -> None:
    memory = rem.remember(FIRST, tags=["a"])
    clock.advance(DAY)
    rem.update(memory.id, tags=["b"])
    assert rem.why_not(memory.id, QUESTION, as_of=NOW, tags=["b"]).reason == "left out before the search: tags"
    assert rem.why_not(memory.id, QUESTION, as_of=NOW, tags=["a"]).returned
