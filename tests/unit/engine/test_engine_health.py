from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer import InvalidInput, Memory, Remembrancer, Scope, Settings
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.event import EventDraft
from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.scope import Reader
from remembrancer.engine import health, record
from remembrancer.engine.context import Context
from remembrancer.engine.index import index_batch
from remembrancer.index.resident import ResidentIndex, ResidentSearch
from remembrancer.language.cues import analysed
from remembrancer.policies.health import SAMPLE, Band, Metric, band, why_absent
from remembrancer.ports.changes import ChangeFeed
from remembrancer.ports.embedder import Embedded
from remembrancer.ports.index import SearchRequest
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder, SequentialIds

DAY = timedelta(days=1)
TODAY = date(2026, 3, 4)
EIGHT_BITS = 0.2
"""Of 100: as near as an index of eight bits has a cosine."""
QUIET = Settings(db=":memory:", workspace="acme", background_index=False)


class Angles(HashEmbedder):
    """Embeds a text as the direction given by its last word, in degrees."""

    def __init__(self) -> None:
        super().__init__(dim=2)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        return Embedded(np.stack([_towards(text) for text in texts]), np.zeros(len(texts), dtype=np.bool_))

    def query_now(self, text: str) -> NDArray[np.float32]:
        return _towards(text)


def _towards(text: str) -> NDArray[np.float32]:
    angle = math.radians(float(text.rsplit(maxsplit=1)[-1]))
    return np.array([math.cos(angle), math.sin(angle)], dtype=np.float32)


@pytest.fixture
def angled(clock: FixedClock) -> Iterator[Remembrancer]:
    with Remembrancer.open(embedder=Angles(), settings=QUIET, clock=clock) as opened:
        yield opened


def taken(rem: Remembrancer, crew: str | None = None, *, force: bool = False) -> HealthSnapshot:
    """The snapshot there is after the health job."""
    rem.maintain(["health"], force=force)
    snapshot = rem.health.latest(crew)
    assert snapshot is not None
    return snapshot


def measured(rem: Remembrancer, crew: str | None = None) -> Metrics:
    """The metrics after indexing all memories."""
    rem.jobs.index_now()
    return taken(rem, crew, force=True).metrics


def remembered(rem: Remembrancer, *texts: str) -> list[Memory]:
    return [rem.remember(text) for text in texts]


NOTHING = Metrics(freshness=None, coverage=None, coherence=None, efficiency=None, reachability=None)


# ── what is measured ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_empty_workspace_has_no_data_and_no_score(rem: Remembrancer) -> None:
    assert taken(rem) == HealthSnapshot(crew=None, day=TODAY, taken_at=NOW, metrics=NOTHING, score=None)


def test_one_young_memory_is_fresh_and_covered_and_has_nothing_to_be_near_to(rem: Remembrancer) -> None:
    rem.remember("The deploy failed")
    assert measured(rem) == Metrics(freshness=100.0, coverage=100.0, coherence=None, efficiency=None, reachability=None)


def test_forgotten_memories_do_not_count(rem: Remembrancer) -> None:
    for memory in remembered(rem, "The deploy failed", "The deploy failed again"):
        rem.forget(memory.id)
    assert measured(rem) == NOTHING


def test_without_an_embedder_only_age_can_be_measured(wordy: Remembrancer) -> None:
    remembered(wordy, "The deploy failed", "The deploy failed again")
    wordy.mark(wordy.recall("deploy"), "shown")
    assert measured(wordy) == Metrics(
        freshness=100.0, coverage=None, coherence=None, efficiency=None, reachability=None
    )


def test_without_an_embedder_the_score_depends_on_age_alone(wordy: Remembrancer) -> None:
    wordy.remember("The deploy failed", occurred_at=NOW - 30 * DAY)
    assert taken(wordy).score == 50.0


def test_freshness_is_of_the_median_age(wordy: Remembrancer) -> None:
    for days in (0, 30, 300):
        wordy.remember(f"{days} days ago", occurred_at=NOW - days * DAY)
    assert measured(wordy).freshness == 50.0


def test_a_memory_dated_in_the_future_is_as_fresh_as_a_new_one(wordy: Remembrancer) -> None:
    wordy.remember("The release", occurred_at=NOW + 30 * DAY)
    assert measured(wordy).freshness == 100.0


def test_memories_that_are_not_indexed_yet_are_not_covered(rem: Remembrancer) -> None:
    rem.remember("The deploy failed")
    rem.jobs.index_now()
    remembered(rem, "The deploy failed again", "It works", "It works again")
    assert taken(rem).metrics.coverage == 25.0


def test_where_nothing_is_indexed_there_is_nothing_to_be_reached(rem: Remembrancer) -> None:
    rem.remember("The deploy failed")
    assert taken(rem).metrics == Metrics(
        freshness=100.0, coverage=0.0, coherence=None, efficiency=None, reachability=None
    )


def test_coherence_is_the_mean_cosine_to_the_nearest_neighbour(angled: Remembrancer) -> None:
    remembered(angled, "at 0", "at 60", "at 90")
    expected = 100 * (math.cos(math.radians(60)) + 2 * math.cos(math.radians(30))) / 3
    assert measured(angled).coherence == pytest.approx(expected, abs=EIGHT_BITS)


def test_a_neighbour_in_the_opposite_direction_counts_as_none(angled: Remembrancer) -> None:
    remembered(angled, "at 0", "at 180")
    assert measured(angled).coherence == 0.0


def test_a_memory_is_not_its_own_neighbour(angled: Remembrancer) -> None:
    remembered(angled, "at 0", "at 90")
    assert measured(angled).coherence == pytest.approx(0.0, abs=EIGHT_BITS)


def test_memories_with_equal_texts_are_each_other_s_neighbours(angled: Remembrancer) -> None:
    remembered(angled, "one at 45", "two at 45", "three at 45", "four at 45")
    assert measured(angled).coherence == pytest.approx(100.0, abs=EIGHT_BITS)


def test_efficiency_is_the_mean_similarity_of_shown_memories(angled: Remembrancer, clock: FixedClock) -> None:
    remembered(angled, "at 0", "at 60")
    angled.jobs.index_now()
    for question in ("at 0", "at 25", "at 40"):
        clock.advance(timedelta(minutes=1))
        angled.mark(angled.recall(question, limit=1), "shown")
    similarities = [math.cos(math.radians(angle)) for angle in (0, 25, 20)]
    assert measured(angled).efficiency == pytest.approx(100 * sum(similarities) / 3, abs=EIGHT_BITS)


@pytest.mark.parametrize(("ago", "counts"), [(7 * DAY, True), (7 * DAY + timedelta(microseconds=1), False)])
def test_an_exposure_counts_for_seven_days(
    angled: Remembrancer, clock: FixedClock, ago: timedelta, counts: bool
) -> None:
    angled.remember("at 0")
    angled.jobs.index_now()
    angled.mark(angled.recall("at 0"), "shown")
    clock.advance(ago)
    assert (measured(angled).efficiency is not None) == counts


@pytest.mark.parametrize("exposure", ["retrieved", "used"])
def test_only_shown_memories_count_for_efficiency(angled: Remembrancer, exposure: str) -> None:
    angled.remember("at 0")
    angled.jobs.index_now()
    angled.mark(angled.recall("at 0"), exposure)
    assert measured(angled).efficiency is None


def test_exposures_without_a_similarity_do_not_count_for_efficiency(angled: Remembrancer) -> None:
    angled.mark([angled.remember("at 0").id], "shown")
    assert measured(angled).efficiency is None


@pytest.fixture
def relating(clock: FixedClock) -> Iterator[Remembrancer]:
    """A memory under a preset that links similar memories automatically."""
    with Remembrancer.open(embedder=HashEmbedder(), preset="crewship", settings=QUIET, clock=clock) as opened:
        yield opened


def test_reachability_is_the_share_that_has_an_edge(relating: Remembrancer) -> None:
    one, two, *_ = remembered(relating, "The deploy failed", "The disk is full", "It works", "It rains")
    relating.link(one.id, two.id, "supports")
    assert measured(relating).reachability == 50.0


@pytest.mark.parametrize("links", [0, 1])
def test_a_preset_that_relates_nothing_is_not_measured_by_relations(rem: Remembrancer, links: int) -> None:
    one, two, *_ = remembered(rem, "The deploy failed", "The disk is full", "It works", "It rains")
    for _ in range(links):
        rem.link(one.id, two.id, "supports")
    snapshot = measured(rem)
    assert snapshot.reachability is None
    assert why_absent(snapshot, Metric.REACHABILITY) == "the preset relates no memories by itself"


def test_a_fresh_import_of_old_conversations_is_not_red(rem: Remembrancer) -> None:
    for number in range(12):
        rem.observe(f"we went to the lake on day {number}", occurred_at=NOW - (400 + number) * DAY)
    rem.jobs.index_now()
    snapshot = taken(rem, force=True)
    assert snapshot.metrics.freshness == pytest.approx(0, abs=0.1)
    assert band(snapshot.score) is not Band.RED


# ── the sample ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Counting(ResidentIndex):
    def __init__(self) -> None:
        super().__init__()
        self.searches = 0

    def search(self, feed: ChangeFeed, reader: Reader, request: SearchRequest) -> ResidentSearch:
        self.searches += 1
        return super().search(feed, reader, request)


def sampled(*, indexed: int, left: int) -> tuple[int, float | None, float | None]:
    """The number of neighbours that were searched, and the coherence of two runs."""

    async def steps() -> tuple[int, float | None, float | None]:
        ids, index = SequentialIds(), Counting()
        store = RelationalStore(SqliteFile(":memory:"), analyse=analysed)
        ctx = Context(
            store=store,
            index=index,
            embedder=HashEmbedder(dim=16),
            without_embedder="",
            preset=DEFAULT,
            clock=FixedClock(),
            stopwatch=lambda: 0.0,
            new_id=lambda _: ids(),
        )
        scope = Scope(workspace="acme")
        await record.observe(ctx, scope, [EventDraft(text=f"text {number}") for number in range(indexed)])
        while not (await index_batch(ctx, scope)).idle:
            pass
        await record.observe(ctx, scope, [EventDraft(text=f"left {number}") for number in range(left)])
        [first] = await health.take_snapshots(ctx, scope, force=True)
        searches = index.searches
        [second] = await health.take_snapshots(ctx, scope, force=True)
        await store.close()
        return searches, first.metrics.coherence, second.metrics.coherence

    return asyncio.run(steps())


def test_of_many_memories_some_are_sampled() -> None:
    assert sampled(indexed=SAMPLE + 30, left=0)[0] == SAMPLE


def test_memories_without_a_vector_are_not_sampled() -> None:
    assert sampled(indexed=40, left=2 * SAMPLE)[0] == 40


def test_the_same_store_has_the_same_coherence_however_often_it_is_sampled() -> None:
    _, first, second = sampled(indexed=SAMPLE + 30, left=0)
    assert first == second is not None


# ── of whom ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def aged(rem: Remembrancer, days: int, *, crew: str | None, visibility: str = "workspace") -> None:
    rem.scoped(crew=crew, agent="ana").remember(
        f"{crew} {days} {visibility}", occurred_at=NOW - days * DAY, visibility=visibility
    )


def test_each_crew_is_measured_by_its_own_memories(wordy: Remembrancer) -> None:
    aged(wordy, 30, crew="platform")
    aged(wordy, 60, crew="sales")
    aged(wordy, 0, crew=None)
    wordy.maintain()
    assert [wordy.health.latest(crew).score for crew in ("platform", "sales", None)] == [50.0, 25.0, 50.0]  # type: ignore[union-attr]


def test_a_crew_s_neighbours_are_of_the_crew(angled: Remembrancer) -> None:
    remembered(angled.scoped(crew="platform"), "at 0", "at 90")
    remembered(angled, "at 0", "at 90")
    assert measured(angled, "platform").coherence == pytest.approx(0.0, abs=EIGHT_BITS)


def test_another_workspace_is_beyond_the_wall(clock: FixedClock, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("wall") / "a.db")
    settings = replace(QUIET, db=path)
    with (
        Remembrancer.open(settings=settings, workspace="rival", embedder=HashEmbedder(), clock=clock) as rival,
        Remembrancer.open(settings=settings, workspace="acme", embedder=HashEmbedder(), clock=clock) as acme,
    ):
        remembered(rival.scoped(crew="platform"), "The deploy failed", "The deploy failed again")
        rival.maintain()
        assert (taken(acme).metrics, acme.health.latest("platform")) == (NOTHING, None)


def test_private_memories_of_an_agent_do_not_count(wordy: Remembrancer) -> None:
    aged(wordy, 30, crew="platform")
    aged(wordy, 600, crew="platform", visibility="own")
    aged(wordy, 600, crew="platform", visibility="session")
    wordy.maintain()
    assert [wordy.health.latest(crew).score for crew in (None, "platform")] == [50.0, 50.0]  # type: ignore[union-attr]


def test_memories_visible_to_a_crew_count_for_that_crew_only(wordy: Remembrancer) -> None:
    aged(wordy, 30, crew="platform", visibility="crew")
    wordy.maintain()
    assert [wordy.health.latest(crew).score for crew in (None, "platform")] == [None, 50.0]  # type: ignore[union-attr]


def test_the_health_of_the_workspace_is_the_same_for_every_caller(wordy: Remembrancer) -> None:
    aged(wordy, 30, crew="platform")
    aged(wordy, 60, crew=None)
    alone = taken(wordy)
    assert taken(wordy.scoped(project="shop", crew="sales", agent="bob", session="s"), force=True) == alone


# ── when ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def days_of(rem: Remembrancer, limit: int = 30) -> list[date]:
    return [snapshot.day for snapshot in rem.health.history(limit=limit)]


def test_before_the_first_snapshot_there_is_none(rem: Remembrancer) -> None:
    assert (rem.health.latest(), rem.health.latest("platform"), rem.health.history()) == (None, None, ())


def test_a_snapshot_is_taken_once_a_day(wordy: Remembrancer, clock: FixedClock) -> None:
    wordy.remember("The deploy failed")
    first = taken(wordy)
    clock.advance(timedelta(hours=10))
    assert taken(wordy) == first


def test_a_forced_snapshot_replaces_today_s(wordy: Remembrancer, clock: FixedClock) -> None:
    wordy.remember("The deploy failed")
    taken(wordy)
    clock.advance(timedelta(hours=10))
    assert (taken(wordy, force=True).taken_at, days_of(wordy)) == (clock.now, [TODAY])


def test_a_snapshot_without_data_is_taken_again_the_same_day(wordy: Remembrancer) -> None:
    taken(wordy)
    wordy.remember("The deploy failed")
    assert taken(wordy).score == 100.0


def test_days_on_which_nobody_asked_are_missing(wordy: Remembrancer, clock: FixedClock) -> None:
    wordy.remember("The deploy failed")
    for days in (0, 1, 5):
        clock.advance(days * DAY)
        wordy.maintain()
    assert days_of(wordy) == [TODAY + 6 * DAY, TODAY + DAY, TODAY]


def test_history_ends_at_the_given_day(wordy: Remembrancer, clock: FixedClock) -> None:
    wordy.remember("The deploy failed")
    for _ in range(3):
        wordy.maintain()
        clock.advance(DAY)
    assert days_of(wordy, limit=2) == [TODAY + 2 * DAY, TODAY + DAY]


def test_a_day_is_a_day_in_utc(wordy: Remembrancer, clock: FixedClock) -> None:
    clock.now = datetime(2026, 3, 4, 23, 30, tzinfo=timezone(timedelta(hours=-2)))
    wordy.remember("The deploy failed")
    snapshot = taken(wordy)
    assert (snapshot.day, snapshot.taken_at.tzinfo) == (date(2026, 3, 5), UTC)


def test_a_crew_that_came_later_that_day_gets_its_snapshot_all_the_same(wordy: Remembrancer) -> None:
    wordy.remember("The deploy failed")
    wordy.maintain()
    wordy.scoped(crew="sales").remember("The customer called")
    assert taken(wordy, "sales").score == 100.0


def test_a_process_whose_clock_is_ahead_does_not_make_others_measure_again_and_again(
    wordy: Remembrancer, clock: FixedClock
) -> None:
    wordy.remember("The deploy failed")
    clock.advance(DAY)
    taken(wordy)
    clock.advance(-DAY)
    wordy.maintain()
    assert wordy.maintain(["health"])["health"].reason == "taken today already"


def test_a_crew_without_a_name_is_refused(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match=r"^crew: ''"):
        rem.health.latest("")


@pytest.mark.parametrize("limit", [0, 10_001])
def test_a_history_has_bounds(rem: Remembrancer, limit: int) -> None:
    with pytest.raises(InvalidInput, match=r"^limit: "):
        rem.health.history(limit=limit)
