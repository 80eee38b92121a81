from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.learning import Domain, Learning
from remembrancer.domain.memory import Status
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context
from remembrancer.engine.learn import learn
from remembrancer.engine.stages import ENTERED, StageReport, current_stage, enter_stage, restore_stage, retire_stage
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.policies.learning.stages import LearningStage
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.store import Store
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, FixedClock
from remembrancer.testing.faults import Faults, every_fault

T = TypeVar("T")
PROJECT: Final = Scope(workspace="acme", project="checkout")
TEAM: Final = Scope(workspace="acme", project="checkout", crew="platform", agent="ana")
OTHER: Final = Scope(workspace="acme", project="ledger")
DESIGN: Final = "Stage: design"
BUILD: Final = "Stage: implementation"
DRAW: Final = UUID(int=1)
HABIT: Final = UUID(int=2)
CODE: Final = UUID(int=3)
ELSEWHERE: Final = UUID(int=4)


@dataclass(frozen=True)
class Project:
    ctx: Context
    clock: FixedClock

    async def learn(
        self, identifier: UUID, phase: LearningStage, domain: Domain = Domain.TASK, scope: Scope = TEAM
    ) -> None:
        learning = Learning(id=identifier, text=f"Learning {identifier.int}", phase=phase.value, domain=domain)
        await learn(self.ctx, scope, learning, source="MEMORY.md", tags=())

    async def active(self) -> set[UUID]:
        ids = [DRAW, HABIT, CODE, ELSEWHERE]
        found = await self.ctx.store.get(Reader(Scope(workspace="acme")), ids)
        return {memory.id for memory in found.values() if memory.status is Status.ACTIVE}


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


async def four(project: Project) -> None:
    """Learnings of two stages, of both domains, in two projects."""
    await project.learn(DRAW, LearningStage.DESIGN)
    await project.learn(HABIT, LearningStage.DESIGN, Domain.TEAM)
    await project.learn(CODE, LearningStage.IMPLEMENTATION)
    await project.learn(ELSEWHERE, LearningStage.DESIGN, scope=OTHER)


def project(make: Callable[[], Store], steps: Callable[[Project], Awaitable[T]]) -> T:
    async def run(store: Store) -> T:
        clock = FixedClock()
        life = Project(a_context(store, TEAPARTY, clock=clock), clock)
        await four(life)
        clock.advance(timedelta(days=1))
        return await steps(life)

    return over(make, run)


def test_when_a_stage_ends_its_task_learnings_retire(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> tuple[StageReport, set[UUID]]:
        return await retire_stage(life.ctx, PROJECT, LearningStage.DESIGN), await life.active()

    report, active = project(make, steps)
    assert report == StageReport(stage=None, at=NOW + timedelta(days=1), ended=LearningStage.DESIGN, moved=(DRAW,))
    assert active == {HABIT, CODE, ELSEWHERE}


def test_the_audit_names_the_stage(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> list[tuple[str, str]]:
        await retire_stage(life.ctx, PROJECT, LearningStage.DESIGN)
        lines = await life.ctx.store.audit(Reader(TEAM), DRAW)
        return [(line.action, line.reason) for line in lines]

    assert project(make, steps) == [("retired", "the stage design has ended")]


def test_retiring_a_stage_twice_changes_nothing(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> tuple[str, bool]:
        await retire_stage(life.ctx, PROJECT, LearningStage.DESIGN)
        before = await exported(life.ctx.store)
        again = await retire_stage(life.ctx, PROJECT, LearningStage.DESIGN)
        return again.reason, await exported(life.ctx.store) == before

    assert project(make, steps) == ("there are no active learnings of stage design only", True)


def test_restoring_a_stage_restores_only_the_learnings_that_it_retired(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> tuple[tuple[UUID, ...], set[UUID]]:
        await life.ctx.store.set_status(Reader(OTHER), ELSEWHERE, Status.RETIRED, at=life.clock())
        ended = await retire_stage(life.ctx, PROJECT, LearningStage.DESIGN)
        life.clock.advance(timedelta(days=1))
        back = await restore_stage(life.ctx, PROJECT, LearningStage.DESIGN, at=ended.at)
        return back.moved, await life.active()

    assert project(make, steps) == ((DRAW,), {DRAW, HABIT, CODE})


def test_a_time_at_which_nothing_was_retired_brings_nothing_back(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> str:
        return (await restore_stage(life.ctx, PROJECT, LearningStage.DESIGN, at=NOW)).reason

    assert project(make, steps) == "no learning was retired with stage design at 2026-03-04T09:00:00+00:00"


def test_an_intent_of_another_stage_ends_the_one_before(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> tuple[StageReport, StageReport, LearningStage | None, set[UUID]]:
        first = await enter_stage(life.ctx, TEAM, DESIGN)
        second = await enter_stage(life.ctx, TEAM, BUILD)
        return first, second, await current_stage(life.ctx, PROJECT), await life.active()

    first, second, stage, active = project(make, steps)
    assert (first.ended, first.moved) == (None, ())
    assert (second.stage, second.ended, second.moved) == (LearningStage.IMPLEMENTATION, LearningStage.DESIGN, (DRAW,))
    assert (stage, active) == (LearningStage.IMPLEMENTATION, {HABIT, CODE, ELSEWHERE})


def test_a_project_may_come_back_to_a_stage(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> list[LearningStage | None]:
        stages: list[LearningStage | None] = []
        for intent in (DESIGN, BUILD, DESIGN):
            await enter_stage(life.ctx, TEAM, intent)
            stages.append(await current_stage(life.ctx, TEAM))
        return stages

    assert project(make, steps) == [LearningStage.DESIGN, LearningStage.IMPLEMENTATION, LearningStage.DESIGN]


def test_projects_have_stages_of_their_own(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> list[LearningStage | None]:
        await enter_stage(life.ctx, TEAM, DESIGN)
        return [await current_stage(life.ctx, scope) for scope in (PROJECT, OTHER, Scope(workspace="acme"))]

    assert project(make, steps) == [LearningStage.DESIGN, None, None]


@pytest.mark.parametrize(
    ("intent", "reason"),
    [(DESIGN, "the project is in stage design already"), ("We sell tea.", "the text does not show the stage")],
)
def test_an_intent_that_names_no_other_stage_changes_nothing(
    make: Callable[[], Store], intent: str, reason: str
) -> None:
    async def steps(life: Project) -> tuple[LearningStage | None, str, bool]:
        await enter_stage(life.ctx, TEAM, DESIGN)
        before = await exported(life.ctx.store)
        report = await enter_stage(life.ctx, TEAM, intent)
        return report.stage, report.reason, await exported(life.ctx.store) == before

    assert project(make, steps) == (LearningStage.DESIGN, reason, True)


def test_a_blank_intent_is_refused(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> StageReport:
        return await enter_stage(life.ctx, TEAM, " ")

    with pytest.raises(InvalidInput, match=r"^intent: "):
        project(make, steps)


def test_a_preset_without_stages_reports_it(make: Callable[[], Store]) -> None:
    async def steps(life: Project) -> list[str]:
        ctx = replace(life.ctx, preset=CREWSHIP)
        entered, retired = await enter_stage(ctx, TEAM, DESIGN), await retire_stage(ctx, TEAM, LearningStage.DESIGN)
        return [entered.reason, retired.reason]

    assert project(make, steps) == ["preset crewship has no stages"] * 2


def test_wherever_the_store_fails_a_stage_ends_whole_and_once(make: Callable[[], Store]) -> None:
    async def attempt(faults: Faults, store: Store) -> tuple[set[UUID], LearningStage | None, int]:
        life = Project(a_context(store, TEAPARTY), FixedClock())
        await four(life)
        await enter_stage(life.ctx, TEAM, DESIGN)
        with contextlib.suppress(StoreUnavailable):
            await enter_stage(replace(life.ctx, store=faults.around(store)), TEAM, BUILD)
        await enter_stage(life.ctx, TEAM, BUILD)
        told = await store.count_events(Reader(PROJECT), EventFilter(types=frozenset({ENTERED})))
        return await life.active(), await current_stage(life.ctx, TEAM), told

    for faults in every_fault():
        expected = ({HABIT, CODE, ELSEWHERE}, LearningStage.IMPLEMENTATION, 2)
        assert over(make, partial(attempt, faults)) == expected
