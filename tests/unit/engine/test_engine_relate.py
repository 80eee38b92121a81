from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from uuid import UUID, uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer import InvalidInput, Remembrancer, Settings
from remembrancer.domain.recall import Stage
from remembrancer.domain.relation import RelationKind
from remembrancer.errors import Conflict, NotFound
from remembrancer.ports.embedder import Embedded
from remembrancer.testing.doubles import NOW, FixedClock

ANGLES = {"deploy": 0.0, "release": 0.3, "ship": 0.5, "rollout": 0.6, "launch": 0.62, "lunch": 1.5}
"""Texts as directions in a plane: the cosine of two is that of the angle between them."""


class Compass:
    """An embedder that knows the words above."""

    model_id = "compass"
    dim = 2

    def reads(self, text: str) -> bool:
        return True

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        vectors = np.array([self._vector(text) for text in texts], dtype=np.float32)
        return Embedded(vectors, np.zeros(len(texts), dtype=np.bool_))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._vector(text)

    async def close(self) -> None:
        return None

    def _vector(self, text: str) -> NDArray[np.float32]:
        angle = next((angle for word, angle in ANGLES.items() if word in text), 3.0)
        return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


def opened(preset: str, clock: FixedClock | None = None, *, walk_agents: frozenset[str] = frozenset()) -> Remembrancer:
    settings = Settings(db=":memory:", preset=preset, agent="ana", background_index=False, walk_agents=walk_agents)
    return Remembrancer.open(settings=settings, embedder=Compass(), clock=clock or FixedClock())


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    with opened("crewship") as memory:
        yield memory


def kept(rem: Remembrancer, *texts: str) -> list[UUID]:
    """Remember and index the texts one after another; returns their ids."""
    ids: list[UUID] = []
    for text in texts:
        ids.append(rem.remember(text).id)
        rem.jobs.index_now()
    return ids


def edges(rem: Remembrancer, memory_id: UUID) -> dict[UUID, float]:
    """The targets of the edges from a memory, with their weights."""
    return {edge.target: edge.weight for edge in rem.show(memory_id).relations if edge.source == memory_id}


def test_an_indexed_memory_is_joined_to_the_three_nearest_before_it(rem: Remembrancer) -> None:
    ids = kept(rem, "deploy", "release", "ship", "rollout", "launch")
    assert set(edges(rem, ids[-1])) == {ids[1], ids[2], ids[3]}


def test_an_edge_weighs_the_cosine(rem: Remembrancer) -> None:
    first, second = kept(rem, "deploy", "release")
    assert edges(rem, second) == {first: pytest.approx(np.cos(0.3), abs=0.01)}


def test_memories_whose_cosine_is_not_above_the_threshold_are_not_linked(rem: Remembrancer) -> None:
    kept(rem, "deploy", "lunch")
    assert rem.health.stats().relations == 0


def test_memories_indexed_together_are_joined_later_to_earlier(rem: Remembrancer) -> None:
    first, second = rem.remember("deploy").id, rem.remember("release").id
    rem.jobs.index_now()
    assert (set(edges(rem, second)), edges(rem, first)) == ({first}, {})


def test_a_preset_without_links_adds_no_edges() -> None:
    with opened("default") as rem:
        kept(rem, "deploy", "release")
        assert rem.health.stats().relations == 0


def test_a_retired_memory_is_joined_to_nothing_new(rem: Remembrancer) -> None:
    (first,) = kept(rem, "deploy")
    rem.forget(first)
    (second,) = kept(rem, "release")
    assert edges(rem, second) == {}


def test_no_edge_leaves_the_workspace(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("walls") / "memory.db")
    for workspace in ("acme", "rival"):
        settings = Settings(db=path, preset="crewship", workspace=workspace, agent="ana", background_index=False)
        with Remembrancer.open(settings=settings, embedder=Compass()) as rem:
            kept(rem, "deploy")
            assert rem.health.stats().relations == 0


@pytest.mark.parametrize("together", [True, False])
def test_a_private_memory_takes_no_edge_from_a_public_one(rem: Remembrancer, together: bool) -> None:
    ben = rem.scoped(agent="ben")
    shared = ben.remember("rollout").id
    for text in ("deploy", "release", "ship"):
        rem.remember(text, visibility="own")
    if not together:
        rem.jobs.index_now()
    (launch,) = kept(ben, "launch")
    assert edges(ben, launch) == {shared: pytest.approx(np.cos(0.02), abs=0.01)}


@pytest.mark.parametrize("mine", [{"agent": "ana"}, {"agent": None}, {"agent": None, "project": "checkout"}], ids=str)
@pytest.mark.parametrize("together", [True, False])
def test_rows_of_others_take_no_neighbour_s_place(
    rem: Remembrancer, mine: dict[str, str | None], together: bool
) -> None:
    own, others = rem.scoped(**mine), rem.scoped(agent="ben", project="refunds")
    first = own.remember("release").id
    for number in range(40):
        others.remember(f"rollout {number}")
    if not together:
        rem.jobs.index_now()
    (launch,) = kept(own, "launch")
    assert edges(own, launch) == {first: pytest.approx(np.cos(0.32), abs=0.01)}


def test_memories_of_nobody_are_neighbours_of_an_agent_s(rem: Remembrancer) -> None:
    (shared,) = kept(rem.scoped(agent=None), "rollout")
    (launch,) = kept(rem, "launch")
    assert set(edges(rem, launch)) == {shared}


def test_a_walk_leads_to_nothing_that_is_no_longer_valid(rem: Remembrancer) -> None:
    deploy, release = kept(rem, "deploy", "release")
    rem.invalidate(release)
    assert [hit.id for hit in rem.recall("deploy", limit=5, walk_depth=1)] == [deploy]


def test_a_walk_does_not_return_a_duplicate_of_a_hit() -> None:
    with opened("default") as rem:
        first, second, far = kept(rem, "deploy", "deploy", "lunch")
        rem.link(first, second, "similar")
        for near in (first, second):
            rem.link(near, far, "similar", 0.5)
        assert [hit.memory.text for hit in rem.recall("deploy", walk_depth=1)] == ["deploy", "lunch"]


def test_a_memory_reached_by_a_walk_is_traced_as_returned() -> None:
    with opened("default") as rem:
        near, far = kept(rem, "deploy", "lunch")
        rem.link(near, far, "similar", 0.5)
        told = rem.why_not(far, "deploy", walk_depth=1)
        assert (told.returned, told.rank, str(near) in told.reason) == (True, 2, True)


def test_a_hit_whose_place_a_walk_took_is_described_as_left_out() -> None:
    with opened("default") as rem:
        best, second, far = kept(rem, "deploy", "the deploy of a release", "lunch")
        rem.link(best, far, "similar")
        told = rem.why_not(second, "deploy", limit=2, walk_depth=1)
        assert (told.returned, told.stage) == (False, Stage.LIMIT)


def test_a_memory_reached_by_a_walk_scores_the_hits_score_times_the_edge() -> None:
    with opened("default") as rem:
        near, far = kept(rem, "deploy", "lunch")
        rem.link(near, far, "similar", 0.5)
        walked = {hit.id: hit for hit in rem.recall("deploy", walk_depth=1)}
        assert walked[far].score == pytest.approx(walked[near].score / 2)


def test_a_memory_reached_by_a_walk_names_the_hit() -> None:
    with opened("default") as rem:
        near, far = kept(rem, "deploy", "lunch")
        rem.link(far, near, "similar", 0.5)
        assert [hit.via for hit in rem.recall("deploy", walk_depth=1)] == [None, near]


@pytest.mark.parametrize(("agent", "depth", "walks"), [("ana", None, True), ("ben", None, False), ("ana", 0, False)])
def test_a_default_walk_depth_of_an_agent_can_be_overridden_by_a_question(
    agent: str, depth: int | None, walks: bool
) -> None:
    with opened("default", walk_agents=frozenset({"ana", "eve"})) as rem:
        near, far = kept(rem, "deploy", "lunch")
        rem.link(near, far, "similar", 0.5)
        assert (far in {hit.id for hit in rem.scoped(agent=agent).recall("deploy", walk_depth=depth)}) is walks


def test_without_a_walk_only_hits_are_returned() -> None:
    with opened("default") as rem:
        near, far = kept(rem, "deploy", "lunch")
        rem.link(near, far, "similar", 0.5)
        assert [hit.id for hit in rem.recall("deploy")] == [near]


@pytest.mark.parametrize("kind", [kind for kind in RelationKind if kind is not RelationKind.SIMILAR])
def test_a_walk_follows_no_other_edges(kind: RelationKind) -> None:
    with opened("default") as rem:
        near, far = kept(rem, "deploy", "lunch")
        rem.link(near, far, kind)
        assert [hit.id for hit in rem.recall("deploy", walk_depth=1)] == [near]


def test_a_walk_stays_within_the_filter() -> None:
    with opened("default") as rem:
        near = rem.remember("deploy", tags=["ops"]).id
        far = rem.remember("lunch").id
        rem.jobs.index_now()
        rem.link(near, far, "similar")
        assert [hit.id for hit in rem.recall("deploy", tags=["ops"], walk_depth=1)] == [near]


def test_a_walk_stays_within_the_limit_and_the_least_score() -> None:
    with opened("default") as rem:
        near, far = kept(rem, "deploy", "lunch")
        rem.link(near, far, "similar", 0.1)
        assert [
            len(rem.recall("deploy", limit=1, walk_depth=1)),
            len(rem.recall("deploy", min_score=0.3, walk_depth=1)),
        ] == [1, 1]


def test_scores_fall_with_rank_after_a_walk(rem: Remembrancer) -> None:
    kept(rem, "deploy", "release", "ship", "rollout", "launch", "lunch")
    scores = [hit.score for hit in rem.recall("deploy", limit=6, walk_depth=1)]
    assert scores == sorted(scores, reverse=True)


def test_an_edge_given_again_gets_the_new_weight(rem: Remembrancer) -> None:
    first, second = kept(rem, "deploy", "lunch")
    rem.link(first, second, "contradicts", 0.2)
    rem.link(first, second, "contradicts", 0.9)
    assert edges(rem, first) == {second: 0.9}


def test_a_memory_is_not_linked_to_itself(rem: Remembrancer) -> None:
    (first,) = kept(rem, "deploy")
    with pytest.raises(InvalidInput, match="target"):
        rem.link(first, first, "supports")


def test_an_edge_to_an_unknown_memory_is_refused(rem: Remembrancer) -> None:
    (first,) = kept(rem, "deploy")
    with pytest.raises(NotFound):
        rem.link(first, uuid4(), "supports")


def test_a_superseded_memory_is_no_longer_recalled(rem: Remembrancer) -> None:
    old, new = kept(rem, "deploy on Fridays", "deploy on Mondays")
    rem.supersede(old, new)
    assert [hit.id for hit in rem.recall("deploy")] == [new]


def test_a_superseded_memory_is_found_as_of_before() -> None:
    clock = FixedClock()
    with opened("default", clock) as rem:
        old, new = kept(rem, "deploy on Fridays", "deploy on Mondays")
        before = clock()
        clock.advance(timedelta(days=1))
        rem.supersede(old, new)
        assert {hit.id for hit in rem.recall("deploy", as_of=before)} == {old, new}


def test_a_superseded_memory_names_its_successor_and_when(rem: Remembrancer) -> None:
    old, new = kept(rem, "deploy on Fridays", "deploy on Mondays")
    ended = rem.supersede(old, new)
    assert (ended.superseded_by, ended.superseded_at) == (new, NOW)


def test_superseding_leaves_an_edge_and_a_line_in_the_audit(rem: Remembrancer) -> None:
    old, new = kept(rem, "deploy on Fridays", "lunch")
    rem.supersede(old, new)
    shown = rem.show(old)
    assert ([(edge.source, edge.kind) for edge in shown.relations], [line.action for line in shown.audit]) == (
        [(new, RelationKind.SUPERSEDES)],
        ["superseded"],
    )


def test_two_memories_cannot_supersede_each_other(rem: Remembrancer) -> None:
    one, two = kept(rem, "deploy on Fridays", "deploy on Mondays")
    rem.supersede(one, two)
    with pytest.raises(Conflict):
        rem.supersede(two, one)


@pytest.mark.parametrize("unknown", ["old", "new"])
def test_superseding_with_an_unknown_id_is_an_error_and_changes_nothing(rem: Remembrancer, unknown: str) -> None:
    (one,) = kept(rem, "deploy")
    ends = {"old": one, "new": one, unknown: uuid4()}
    with pytest.raises(NotFound):
        rem.supersede(ends["old"], ends["new"])
    assert rem.get(one).superseded_by is None


def test_an_invalidated_memory_holds_until_then(rem: Remembrancer) -> None:
    (one,) = kept(rem, "deploy")
    assert rem.invalidate(one).valid_until == NOW


def test_an_invalidated_memory_with_a_replacement_is_superseded(rem: Remembrancer) -> None:
    old, new = kept(rem, "deploy on Fridays", "deploy on Mondays")
    assert rem.invalidate(old, new).superseded_by == new


def test_invalidating_a_memory_valid_from_later_means_that_it_never_becomes_valid(rem: Remembrancer) -> None:
    later = NOW + timedelta(days=7)
    one = rem.remember("deploy", valid_from=later)
    ended = rem.invalidate(one.id)
    assert ended.valid_until is not None
    assert ended.valid_until - later <= timedelta(microseconds=1)


@pytest.mark.parametrize("end", ["retired", "expired", "superseded"])
def test_a_memory_that_is_no_longer_valid_cannot_supersede_another(rem: Remembrancer, end: str) -> None:
    old, new, newest = kept(rem, "deploy on Fridays", "deploy on Mondays", "deploy on Tuesdays")
    match end:
        case "retired":
            rem.forget(new)
        case "expired":
            rem.invalidate(new)
        case _:
            rem.supersede(new, newest)
    with pytest.raises(Conflict):
        rem.supersede(old, new)


def test_a_walk_as_of_a_time_follows_no_edge_that_was_made_later() -> None:
    clock = FixedClock()
    with opened("default", clock) as rem:
        near, far = kept(rem, "deploy", "lunch")
        before = clock()
        clock.advance(timedelta(days=1))
        rem.link(near, far, "similar")
        assert [hit.id for hit in rem.recall("deploy", as_of=before, walk_depth=1)] == [near]
