from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import pytest
from condensed import DAY, HOUR, Life, a_note, living
from contexts import STORES, a_context, over
from numpy.typing import NDArray

from remembrancer.domain.event import Origin
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.scope import Level, Reach, Reader, Scope, Visibility
from remembrancer.domain.strength import Strength, Usage
from remembrancer.engine.index import index_batch
from remembrancer.engine.promote import Candidate, PromotionReport, candidates, promote, promote_recurring
from remembrancer.errors import InvalidInput, NotFound, StoreUnavailable
from remembrancer.policies.learning.promoting import PROMOTED_FROM, job_of
from remembrancer.ports.embedder import Embedded
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, READER, FixedClock, a_memory, a_vector, indexed
from remembrancer.testing.faults import Faults, every_fault

ACME: Final = Scope(workspace="acme")
SHOP: Final = Scope(workspace="acme", project="shop")
TEXTS: Final = (
    "Run the migrations before the deploy, never after it",
    "Run the migrations before the deploy, never after it!",
    "Run all the migrations before the deploy, never after it",
)


def job(name: str, *, project: str | None = "shop") -> Scope:
    return Scope(workspace="acme", project=project, crew="platform", agent="ana", session=name)


def learned(*texts: str, project: str | None = "shop") -> list[Memory]:
    """A learning in each of several tasks."""
    return [
        a_note(text, at=NOW + number * HOUR, scope=job(f"job-{number}", project=project))
        for number, text in enumerate(texts)
    ]


LEARNED: Final = learned(*TEXTS)


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


async def promoted_once(life: Life) -> Memory:
    [one] = (await promote_recurring(life.ctx, ACME)).promoted
    return await life.memory(one.memory_id, SHOP)


# ── by itself, to the project ────────────────────────────────────────────────────────────────────────────────────────


def test_a_learning_that_came_up_in_three_jobs_is_promoted_to_the_project(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[Memory, list[Status]]:
        memory = await promoted_once(life)
        assert await life.sources(memory.id, SHOP) == {each.id for each in LEARNED}
        return memory, await life.statuses(*LEARNED)

    memory, statuses = living(make, TEAPARTY, LEARNED, steps)
    assert (memory.scope, memory.visibility, memory.text) == (SHOP, Visibility.WORKSPACE, TEXTS[2])
    assert memory.metadata[PROMOTED_FROM] == ",".join(str(each.id) for each in LEARNED)
    assert statuses == [Status.ACTIVE] * 3


@pytest.mark.parametrize(
    "learnings",
    [
        LEARNED[:2],
        [*LEARNED[:2], replace(LEARNED[2], scope=LEARNED[0].scope)],
        [*LEARNED[:2], a_note("Run the migrations before the deploy, always after it", scope=job("job-2"))],
        [*LEARNED[:2], replace(LEARNED[2], scope=job("job-2", project="other"))],
        [*LEARNED[:2], replace(LEARNED[2], kind="directive")],
        [*LEARNED[:2], replace(LEARNED[2], visibility=Visibility.OWN)],
        [*LEARNED[:2], replace(LEARNED[2], topic_key="migrations")],
        [*LEARNED[:2], replace(LEARNED[2], tags=("institutional",))],
        [replace(each, scope=Scope(workspace="acme", project="shop", crew="platform")) for each in LEARNED],
    ],
    ids=[
        "two jobs",
        "one job twice",
        "other claim",
        "other project",
        "other kind",
        "private",
        "topic",
        "standing",
        "no job",
    ],
)
def test_a_learning_that_did_not_come_up_in_three_jobs_is_not_promoted(
    make: Callable[[], Store], learnings: list[Memory]
) -> None:
    async def steps(life: Life) -> PromotionReport:
        return await promote_recurring(life.ctx, ACME)

    report = living(make, TEAPARTY, learnings, steps)
    assert report == PromotionReport(reason="no learning of a project occurs in 3 different jobs")


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (a_memory("x", scope=job("monday")), "monday"),
        (replace(a_memory("x", scope=ACME), metadata={"session_id": "s-1"}), "s-1"),
        (replace(a_memory("x", scope=ACME), source="shop/.teaparty/jobs/j-7/institutional.md"), "j-7"),
        (replace(a_memory("x", scope=job("monday")), source="jobs/j-7/tasks/t/MEMORY.md"), "j-7"),
        (replace(a_memory("x", scope=ACME), source="projects/shop/.sessions/0901/MEMORY.md"), "0901"),
        (replace(a_memory("x", scope=ACME), source="shop/MEMORY.md", metadata={"session_id": 7}), None),
    ],
)
def test_a_task_is_the_folder_the_session_or_the_value_of_the_header(memory: Memory, expected: str | None) -> None:
    assert job_of(memory) == expected


def test_it_has_their_importance_and_no_use(make: Callable[[], Store]) -> None:
    strong = replace(
        LEARNED[0], strength=Strength(importance=0.9, usage=Usage(retrieved=7)), source="a/jobs/x/MEMORY.md"
    )
    heard = replace(LEARNED[1], origin=Origin.WEB, metadata={"domain": "team", "session_id": "s"})

    async def steps(life: Life) -> Memory:
        return await promoted_once(life)

    memory = living(make, TEAPARTY, [strong, heard, LEARNED[2]], steps)
    assert (memory.strength.importance, memory.strength.usage) == (0.9, Usage())
    assert (memory.origin, memory.source) == (Origin.WEB, None)


def test_promoting_twice_changes_nothing(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[bool, str]:
        await promote_recurring(life.ctx, ACME)
        before = await exported(life.store)
        report = await promote_recurring(life.ctx, ACME)
        return await exported(life.store) == before, report.reason

    assert living(make, TEAPARTY, LEARNED, steps) == (True, "every recurring learning is promoted already")


def test_another_task_supports_the_learning_of_the_project(make: Callable[[], Store]) -> None:
    fourth = a_note(f"{TEXTS[0]}.", scope=job("job-3"), at=NOW + 5 * HOUR)

    async def steps(life: Life) -> tuple[PromotionReport, Memory, bool]:
        memory = await promoted_once(life)
        await life.store.insert(fourth.scope, indexed(fourth))
        report = await promote_recurring(life.ctx, ACME)
        edges = await life.store.relations(READER, [fourth.id])
        told = [(edge.target, edge.kind) for edge in edges if edge.source == fourth.id]
        return report, memory, told == [(memory.id, RelationKind.SUPPORTS)]

    report, memory, joined = living(make, TEAPARTY, LEARNED, steps)
    assert ([one.memory_id for one in report.supported], report.promoted) == ([memory.id], ())
    assert joined


def test_a_learning_promoted_by_hand_is_not_promoted_again(make: Callable[[], Store]) -> None:
    by_hand = a_note(TEXTS[0].upper(), scope=SHOP)

    async def steps(life: Life) -> PromotionReport:
        return await promote_recurring(life.ctx, ACME)

    report = living(make, TEAPARTY, [*LEARNED, by_hand], steps)
    assert ([one.memory_id for one in report.supported], report.promoted) == ([by_hand.id], ())


def test_a_learning_that_a_person_retired_is_not_promoted_again(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> PromotionReport:
        memory = await promoted_once(life)
        await life.store.set_status(READER, memory.id, Status.RETIRED, at=NOW + DAY)
        return await promote_recurring(life.ctx, ACME)

    report = living(make, TEAPARTY, LEARNED, steps)
    assert (report.promoted, report.supported) == ((), ())


class Angles:
    """An embedder of texts that begin with their angle."""

    model_id = "angles"
    dim = 2

    def reads(self, text: str) -> bool:
        return True

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        rows = np.array([self._vector(text) for text in texts], dtype=np.float32)
        return Embedded(rows, np.zeros(len(texts), dtype=np.bool_))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._vector(text)

    async def close(self) -> None:
        return None

    def _vector(self, text: str) -> NDArray[np.float32]:
        angle = {"tests": 0.0, "checks": 0.3, "suite": 0.6, "lunch": 1.5}
        return a_vector(*(f(next(each for word, each in angle.items() if word in text)) for f in (np.cos, np.sin)))


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (("tests come ahead", "checks at the start", "the suite goes ahead of all"), 1),
        (("tests come ahead", "checks at the start", "lunch comes ahead"), 0),
    ],
)
def test_with_vectors_likeness_is_theirs(make: Callable[[], Store], texts: tuple[str, ...], told: int) -> None:
    async def steps(life: Life) -> int:
        await index_batch(life.ctx, ACME)
        return len((await promote_recurring(life.ctx, ACME)).promoted)

    assert living(make, TEAPARTY, learned(*texts), steps, embedder=Angles()) == told


def test_a_dry_run_reports_its_result_and_writes_nothing(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[PromotionReport, PromotionReport, bool]:
        before = await exported(life.store)
        planned = await promote_recurring(life.ctx, ACME, dry_run=True)
        same = await exported(life.store) == before
        return planned, await promote_recurring(life.ctx, ACME), same

    planned, done, same = living(make, TEAPARTY, LEARNED, steps)
    assert same
    assert replace(planned, dry_run=False) == done


def test_a_limit_leaves_some(make: Callable[[], Store]) -> None:
    others = [
        a_note(f"Ask before you delete anything{mark}", at=NOW + DAY, scope=job(name))
        for name, mark in (("a", "."), ("b", "!"), ("c", "?"))
    ]

    async def steps(life: Life) -> tuple[int, int]:
        report = await promote_recurring(life.ctx, ACME, limit=1)
        return len(report.promoted), report.left

    assert living(make, TEAPARTY, [*LEARNED, *others], steps) == (1, 1)


def test_a_limit_out_of_range_is_refused(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> None:
        await promote_recurring(life.ctx, ACME, limit=0)

    with pytest.raises(InvalidInput, match="limit"):
        living(make, TEAPARTY, [], steps)


def test_a_preset_without_promotion_says_so(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[str, tuple[object, ...]]:
        return (await promote_recurring(life.ctx, ACME)).reason, await candidates(life.ctx, Reader(ACME))

    assert living(make, DEFAULT, LEARNED, steps) == ("preset default does not promote learnings", ())


def test_of_two_workers_at_once_one_promotes(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[int, int]:
        reports = await asyncio.gather(*(promote_recurring(life.ctx, ACME) for _ in range(2)))
        return sum(len(report.promoted) for report in reports), len(await life.current(ACME))

    assert living(make, TEAPARTY, LEARNED, steps) == (1, 4)


def test_a_learning_is_promoted_once_after_the_failure_of_any_call(make: Callable[[], Store]) -> None:
    async def attempt(faults: Faults, store: Store) -> int:
        for memory in LEARNED:
            await store.insert(memory.scope, indexed(memory))
        clock = FixedClock(NOW + DAY)
        ctx = a_context(store, TEAPARTY, clock=clock)
        with contextlib.suppress(StoreUnavailable):
            await promote_recurring(replace(ctx, store=faults.around(store)), ACME)
        await promote_recurring(ctx, ACME)
        return len(await Life(ctx, clock).current(ACME))

    for faults in every_fault():
        assert over(make, partial(attempt, faults)) == 4


# ── by approval, to the workspace ────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_promoted_to_the_whole_workspace_without_approval(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> PromotionReport:
        return await promote_recurring(life.ctx, ACME)

    assert living(make, TEAPARTY, learned(*TEXTS, project=None), steps).promoted == ()


def test_a_learning_that_recurred_in_tasks_of_no_project_is_a_candidate(make: Callable[[], Store]) -> None:
    learnings = learned(*TEXTS, project=None)

    async def steps(life: Life) -> list[tuple[Memory, int, int]]:
        return [(one.memory, one.jobs, len(one.similar)) for one in await candidates(life.ctx, Reader(ACME))]

    assert living(make, TEAPARTY, learnings, steps) == [(learnings[2], 3, 3)]


def test_learnings_beyond_the_reach_of_a_reader_are_no_candidates_for_it(make: Callable[[], Store]) -> None:
    learnings = learned(*TEXTS, project=None)
    stranger = Reader(Scope(workspace=ACME.workspace, crew="data", agent="carl"), Reach.OWN)

    async def steps(life: Life) -> tuple[Candidate, ...]:
        return await candidates(life.ctx, stranger)

    assert living(make, TEAPARTY, learnings, steps) == ()


def test_a_learning_of_a_project_is_a_candidate_until_it_is_approved(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[bool, int, int]:
        memory = await promoted_once(life)
        [one] = await candidates(life.ctx, Reader(ACME))
        await promote(life.ctx, Reader(SHOP), one.memory.id, to=Level.WORKSPACE)
        return one.memory == memory, one.jobs, len(await candidates(life.ctx, Reader(ACME)))

    assert living(make, TEAPARTY, LEARNED, steps) == (True, 3, 0)


def test_an_approved_learning_is_promoted_to_all_and_links_to_its_sources(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[Memory, bool, bool]:
        memory = await promoted_once(life)
        wide, new = await promote(life.ctx, Reader(SHOP), memory.id, to=Level.WORKSPACE)
        stays = (await life.memory(memory.id, SHOP)).status is Status.ACTIVE
        return wide, new, stays and await life.sources(wide.id, ACME) == {memory.id}

    wide, new, kept = living(make, TEAPARTY, LEARNED, steps)
    assert (wide.scope, wide.text, new, kept) == (ACME, TEXTS[2], True, True)


def test_approving_twice_is_as_once(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[bool, bool]:
        first, _ = await promote(life.ctx, Reader(LEARNED[0].scope), LEARNED[0].id, to=Level.PROJECT)
        life.clock.advance(DAY)
        second, new = await promote(life.ctx, Reader(LEARNED[0].scope), LEARNED[0].id, to=Level.PROJECT)
        return first == second, new

    assert living(make, TEAPARTY, LEARNED, steps) == (True, False)


@pytest.mark.parametrize(
    ("memory", "to", "argument"),
    [
        (a_note("x", scope=job("a")), Level.SESSION, "to"),
        (a_note("x", scope=SHOP), Level.PROJECT, "to"),
        (a_note("x", scope=Scope(workspace="acme", agent="ana")), Level.CREW, "to"),
        (replace(a_note("x", scope=job("a")), visibility=Visibility.OWN), Level.WORKSPACE, "memory_id"),
        (replace(a_note("x", scope=job("a")), valid_until=NOW + HOUR), Level.WORKSPACE, "memory_id"),
    ],
    ids=["its own level", "its own project", "a crew it has not", "private", "expired"],
)
def test_a_memory_that_cannot_be_promoted_is_refused(
    make: Callable[[], Store], memory: Memory, to: Level, argument: str
) -> None:
    async def steps(life: Life) -> None:
        await promote(life.ctx, Reader(memory.scope), memory.id, to=to)

    with pytest.raises(InvalidInput) as caught:
        living(make, TEAPARTY, [memory], steps)
    assert caught.value.argument == argument


def test_a_learning_that_the_approver_does_not_see_is_not_found(make: Callable[[], Store]) -> None:
    hidden = replace(a_note("x", scope=job("a")), visibility=Visibility.OWN)

    async def steps(life: Life) -> None:
        await promote(life.ctx, Reader(ACME), hidden.id, to=Level.WORKSPACE)

    with pytest.raises(NotFound):
        living(make, TEAPARTY, [hidden], steps)
