from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import pytest

from remembrancer.domain.instants import MICROSECOND
from remembrancer.domain.memory import Memory, Tier
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.strength import Strength
from remembrancer.errors import InvalidInput
from remembrancer.policies.consolidation.facts import (
    DRAWN,
    Action,
    Basis,
    Category,
    Drawn,
    FactFinding,
    Facts,
    drawn,
    findings_in,
    texts_in,
)
from remembrancer.testing.doubles import NOW, SCOPE, a_memory, a_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POLICY: Final = Facts()
HOUR: Final = timedelta(hours=1)
LATER: Final = NOW + 24 * HOUR
FIRST, SECOND, THIRD = (
    replace(a_memory(text, at=NOW + hours * HOUR), kind="episode")
    for hours, text in enumerate(("first", "second", "third"), start=1)
)


def fact(text: str, *, after: timedelta = timedelta()) -> Memory:
    at = NOW + after
    return replace(a_memory(text, at=at), kind="preference", tier=Tier.SEMANTIC, source=DRAWN, valid_from=at)


TEA, MILK = fact("Ana drinks tea"), fact("Ana takes milk")


def finding(
    action: Action, text: str = "", *sources: Memory, about: Memory | None = None, category: str = "preference"
) -> FactFinding:
    return FactFinding(
        action=action,
        category=Category(category),
        text=text,
        fact=None if about is None else about.id,
        sources=tuple(source.id for source in sources or (FIRST,)),
    )


def basis(*known: Memory) -> Basis:
    episodes = (FIRST, SECOND, THIRD)
    return Basis(
        attributes=POLICY.attributes(FIRST),
        episodes={one.id: one for one in episodes},
        event_ids={one.id: [UUID(int=place)] for place, one in enumerate(episodes, start=1)},
        known={one.id: one for one in known},
        by="a model",
    )


def draw(
    *findings: FactFinding, known: Sequence[Memory] = (), vectors: Mapping[str, NDArray[np.float32]] | None = None
) -> Drawn:
    there = basis(*known)
    return drawn(findings_in(findings, there), there, vectors or {}, POLICY, now=LATER)


@pytest.mark.parametrize(
    ("surprises", "due"),
    [((), False), ((0.0, 0.84), False), ((0.0, 0.0, 0.0), True), ((0.85,), True), ((0.1, 1.0), True)],
)
def test_facts_are_due_of_enough_episodes_or_a_surprising_one(surprises: tuple[float, ...], due: bool) -> None:
    episodes = [replace(FIRST, strength=Strength(surprise=surprise)) for surprise in surprises]
    assert POLICY.is_due(episodes) is due


@pytest.mark.parametrize(
    ("confidence", "times", "expected"), [(0.5, 0, 0.5), (0.5, 1, 0.6), (0.5, 2, 0.68), (1.0, 3, 1.0), (0.0, 1, 0.2)]
)
def test_each_further_source_takes_a_share_of_the_doubt(confidence: float, times: int, expected: float) -> None:
    assert POLICY.reinforced(confidence, times) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        pytest.param(
            [finding(Action.REINFORCE, about=TEA), finding(Action.UPDATE, "coffee", about=TEA)],
            [finding(Action.UPDATE, "coffee", about=TEA)],
            id="update before reinforce",
        ),
        pytest.param(
            [finding(Action.UPDATE, "coffee", about=TEA), finding(Action.INVALIDATE, about=TEA)],
            [finding(Action.UPDATE, "coffee", about=TEA)],
            id="update before invalidate",
        ),
        pytest.param(
            [finding(Action.REINFORCE, about=TEA), finding(Action.INVALIDATE, about=TEA)],
            [finding(Action.INVALIDATE, about=TEA)],
            id="invalidate before reinforce",
        ),
        pytest.param(
            [finding(Action.REINFORCE, "", FIRST, about=TEA), finding(Action.REINFORCE, "", SECOND, FIRST, about=TEA)],
            [finding(Action.REINFORCE, "", FIRST, SECOND, about=TEA)],
            id="reinforced by all who say so",
        ),
        pytest.param(
            [finding(Action.UPDATE, "coffee", about=TEA), finding(Action.UPDATE, "no milk", about=TEA)],
            [finding(Action.UPDATE, "coffee", about=TEA), finding(Action.NEW, "no milk")],
            id="a second update is new",
        ),
        pytest.param([finding(Action.UPDATE, "coffee", about=MILK)], [finding(Action.NEW, "coffee")], id="unknown"),
        pytest.param([finding(Action.REINFORCE, "", about=MILK)], [], id="unknown and says nothing"),
        pytest.param([finding(Action.INVALIDATE, "milk", about=MILK)], [], id="nothing to invalidate"),
    ],
)
def test_accepted_parts_of_a_models_answer(said: list[FactFinding], counts: list[FactFinding]) -> None:
    assert list(findings_in(said, basis(TEA))) == counts


@pytest.mark.parametrize("action", [Action.UPDATE, Action.INVALIDATE])
def test_an_older_episode_ends_no_fact(action: Action) -> None:
    later = fact("Ana drinks tea", after=5 * HOUR)
    assert findings_in([finding(action, "coffee", FIRST, about=later)], basis(later)) == ()


def test_an_older_episode_may_reinforce_a_fact() -> None:
    later = fact("Ana drinks tea", after=5 * HOUR)
    said = finding(Action.REINFORCE, "", FIRST, about=later)
    assert findings_in([said], basis(later)) == (said,)


def test_only_facts_that_would_be_written_are_compared() -> None:
    said = [
        finding(Action.REINFORCE, "tea", about=TEA),
        finding(Action.NEW, "cake"),
        finding(Action.UPDATE, "no milk", about=MILK),
        finding(Action.NEW, "cake"),
    ]
    assert texts_in(said) == ("cake", "no milk")


def test_all_episodes_count_as_drawn_from() -> None:
    effect = draw().effect
    assert effect.consolidated == {FIRST.id, SECOND.id, THIRD.id}
    assert effect.expected == {FIRST.id: 1, SECOND.id: 1, THIRD.id: 1}


def test_a_fact_has_the_same_id_each_time() -> None:
    assert draw(finding(Action.NEW, "cake", SECOND, FIRST)).new == draw(finding(Action.NEW, "cake", FIRST, SECOND)).new


def test_a_new_fact_is_valid_from_the_end_of_the_first_episode_that_states_it() -> None:
    [write] = draw(finding(Action.NEW, "cake", THIRD, SECOND)).effect.inserted
    memory = write.memory
    assert (memory.valid_from, memory.occurred_from, memory.occurred_to) == (
        NOW + 2 * HOUR,
        NOW + 2 * HOUR,
        NOW + 3 * HOUR,
    )
    assert write.event_ids == (UUID(int=2), UUID(int=3))


def test_a_new_fact_of_two_episodes_is_as_sure_as_one_reinforced_once() -> None:
    [write] = draw(finding(Action.NEW, "cake", THIRD, SECOND)).effect.inserted
    assert write.memory.strength.confidence == POLICY.reinforced(POLICY.confidence, 1)


def test_a_fact_expires_with_its_episodes() -> None:
    there = replace(basis(), attributes=replace(POLICY.attributes(FIRST), valid_until=LATER + HOUR))
    [write] = drawn([finding(Action.NEW, "cake")], there, {}, POLICY, now=LATER).effect.inserted
    assert write.memory.valid_until == LATER + HOUR


def test_a_fact_about_the_future_holds_from_now_on() -> None:
    coming = replace(FIRST, occurred_to=LATER + HOUR)
    there = replace(basis(), episodes={coming.id: coming})
    [write] = drawn([finding(Action.NEW, "cake", coming)], there, {}, POLICY, now=LATER).effect.inserted
    assert write.memory.valid_from == LATER


def test_a_fact_stated_twice_is_one_fact_of_both_episodes() -> None:
    result = draw(finding(Action.NEW, "Ana bakes", FIRST), finding(Action.NEW, "ana  bakes", SECOND))
    [identifier] = result.new
    assert {edge.target for edge in result.effect.related} == {FIRST.id, SECOND.id}
    assert {edge.source for edge in result.effect.related} == {identifier}


def test_a_known_fact_reinforces_the_nearest_one() -> None:
    vectors = {
        "Ana has tea": a_vector(1.0, 0.0),
        TEA.text: a_vector(1.0, 0.1),
        MILK.text: a_vector(1.0, 0.2),
    }
    result = draw(finding(Action.NEW, "Ana has tea"), known=(MILK, TEA), vectors=vectors)
    assert (result.new, result.reinforced) == ((), (TEA.id,))


def test_a_fact_no_nearer_than_the_threshold_is_new() -> None:
    vectors = {"Ana has tea": a_vector(1.0, 0.0), TEA.text: a_vector(0.95, (1 - 0.95**2) ** 0.5)}
    result = draw(finding(Action.NEW, "Ana has tea"), known=(TEA,), vectors=vectors)
    assert len(result.new) == 1


def test_an_update_with_the_same_text_reinforces() -> None:
    result = draw(finding(Action.UPDATE, "ana drinks tea", about=TEA), known=(TEA,))
    assert (result.new, result.reinforced, result.updated) == ((), (TEA.id,), ())


def test_an_update_to_the_text_of_a_known_fact_supersedes_by_that_fact() -> None:
    result = draw(finding(Action.UPDATE, MILK.text, SECOND, about=TEA), known=(TEA, MILK))
    assert (result.new, result.reinforced, result.updated) == ((), (MILK.id,), (TEA.id,))
    assert result.effect.superseded == ((TEA.id, MILK.id),)


def test_an_invalidated_fact_is_not_reused_for_an_equal_new_one() -> None:
    result = draw(finding(Action.INVALIDATE, about=TEA), finding(Action.NEW, TEA.text), known=(TEA,))
    assert (len(result.new), result.invalidated) == (1, (TEA.id,))


def test_two_facts_that_become_one_are_replaced_by_the_same() -> None:
    result = draw(
        finding(Action.UPDATE, "Ana drinks coffee", FIRST, about=TEA),
        finding(Action.UPDATE, "Ana drinks coffee", SECOND, about=MILK),
        known=(TEA, MILK),
    )
    [new] = result.new
    assert result.effect.superseded == ((TEA.id, new), (MILK.id, new))


def test_a_replacement_begins_when_the_old_fact_ends() -> None:
    old = fact("Ana drinks tea", after=2 * HOUR)
    effect = draw(finding(Action.UPDATE, "coffee", FIRST, THIRD, about=old), known=(old,)).effect
    [ended], [new] = effect.revised, effect.inserted
    assert ended.memory.valid_until == new.memory.valid_from == NOW + 3 * HOUR


def test_a_fact_that_ends_when_it_began_was_valid_for_a_moment() -> None:
    old = fact("Ana drinks tea", after=HOUR)
    [ended] = draw(finding(Action.INVALIDATE, "", FIRST, about=old), known=(old,)).effect.revised
    assert ended.memory.valid_until == NOW + HOUR + MICROSECOND


def test_an_ended_fact_keeps_its_text() -> None:
    [ended] = draw(finding(Action.INVALIDATE, about=TEA), known=(TEA,)).effect.revised
    assert ended.memory == replace(TEA, revision=2, valid_until=NOW + HOUR)


def test_a_contradiction_is_linked_to_its_fact() -> None:
    [edge] = draw(finding(Action.INVALIDATE, about=TEA), known=(TEA,)).effect.related
    assert (edge.source, edge.target, edge.kind) == (FIRST.id, TEA.id, RelationKind.CONTRADICTS)


def test_every_known_fact_that_is_touched_must_be_as_it_was_read() -> None:
    there = replace(MILK, revision=4)
    expected = draw(
        finding(Action.INVALIDATE, about=TEA), finding(Action.REINFORCE, about=there), known=(TEA, there)
    ).effect.expected
    assert {identifier: expected[identifier] for identifier in (TEA.id, MILK.id)} == {TEA.id: 1, MILK.id: 4}


def test_reinforcing_moves_nothing_but_confidence() -> None:
    effect = draw(finding(Action.REINFORCE, "", FIRST, SECOND, about=TEA), known=(TEA,)).effect
    before = Strength(confidence=0.5, importance=0.9)
    assert effect.adjusted[TEA.id](before).strength == replace(before, confidence=POLICY.reinforced(0.5, 2))


def test_a_home_is_a_session_or_all_of_an_owner_s() -> None:
    other = replace(FIRST, scope=SCOPE.narrowed(session="tuesday"))
    together = Facts(sessions_apart=False)
    assert POLICY.attributes(FIRST) != POLICY.attributes(other)
    assert together.attributes(FIRST) == together.attributes(other)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("threshold", 0),
        ("flashbulb", 1.1),
        ("duplicate", -0.1),
        ("confidence", 2.0),
        ("step", -1.0),
        ("at_once", 0),
        ("chars", -1),
        ("known", 101),
    ],
)
def test_values_out_of_range_are_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^facts\.{field}: "):
        replace(POLICY, **{field: value})
