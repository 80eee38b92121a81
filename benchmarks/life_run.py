"""Run a simulated life under one preset: events and questions as they come, and the jobs as the clock advances."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final, assert_never
from uuid import UUID

from benchmarks.life_audit import Audit, audit, read
from benchmarks.life_days import ABOUT_TO_KIND, DAYS, START, Action, End, Exchange, Life, Note, Question, Session
from benchmarks.life_model import RuleModel
from benchmarks.life_pictures import draw, faded_now
from remembrancer import AsyncRemembrancer, compose
from remembrancer.config import Settings
from remembrancer.domain.job import Job
from remembrancer.engine.clusters import ClustersReport
from remembrancer.engine.compact import CompactionReport
from remembrancer.engine.context import Context
from remembrancer.engine.end_session import EndReport
from remembrancer.engine.facts import FactsReport
from remembrancer.engine.promote import PromotionReport
from remembrancer.engine.retain import RetentionReport
from remembrancer.engine.review import ReviewReport
from remembrancer.engine.rules import RulesReport
from remembrancer.engine.segment import SegmentReport
from remembrancer.engine.sleep import AS_IT_IS, NOTHING, SleepReport
from remembrancer.jobs.indexer import IndexReport
from remembrancer.jobs.sweeps import BrokenOff, ExtractionReport, HealthReport, JobReport, NotDue, counted, jobs_of
from remembrancer.ports.embedder import Embedder
from remembrancer.presets.spec import Preset

WORKSPACE: Final = "life"
AWAKE: Final = (8, 19)
"""Hours of the day between which jobs are checked at the requested interval; otherwise they are checked every hour."""
SELDOM, DAILY = timedelta(hours=1), timedelta(days=1)
DOWN: Final = (START + timedelta(days=3, hours=12), START + timedelta(days=4, hours=12))
"""From Thursday noon to Friday noon no job runs, while events continue."""
MODEL_DOWN: Final = (START + timedelta(days=8, hours=10), START + timedelta(days=8, hours=14))
"""The model is unavailable for four hours on the second Tuesday."""
STAGES: Final[Mapping[int, str]] = {
    0: "# Intent\n\nThe requirements and the acceptance criteria: what is in scope, which open questions there are.",
    4: "# Intent\n\nThe architecture and the data model: alternatives, interfaces, a prototype of the design.",
    9: "# Intent\n\nImplement it: write the code, refactor, wire up the endpoints, unit tests.",
}
"""The text of the projects' INTENT.md, by the day on which it changes."""
LIMIT: Final = 5
SHOWN: Final = 3

MEASURES: Final = (
    "events",
    "notes",
    "questions",
    "episodes",
    "facts",
    "facts changed",
    "learned",
    "rules",
    "summaries",
    "clusters",
    "merged",
    "promoted",
    "reviewed",
    "retired",
    "archived",
    "failed",
    "broken off",
    "model calls",
)


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Waiting work after a day without jobs, and after the first round that followed."""

    waiting: Mapping[str, int]
    left: Mapping[str, int]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeResult:
    """The result of a run.

    `days`: counts by measure for each day, with the quiet period last. `seconds`: wall-clock time by kind of work.
    `faded`, `current`: numbers of memories at the end of the last day with events, and after the quiet period.
    """

    preset: str
    model: str
    embedder: str
    days: tuple[Mapping[str, int], ...]
    seconds: Mapping[str, float]
    catch_up: CatchUp | None
    waiting: Mapping[str, int]
    faded: tuple[int, int]
    current: tuple[int, int]
    bytes: int
    audit: Audit
    pictures: tuple[str, ...] = ()

    @property
    def total(self) -> Counter[str]:
        return sum((Counter(dict(day)) for day in self.days), Counter[str]())


class _Clock:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class _Measurements:
    clock: _Clock
    days: list[Counter[str]] = field(default_factory=lambda: [Counter[str]()])
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    quiet: bool = False

    def add(self, measure: str, count: int = 1) -> None:
        day = DAYS if self.quiet else (self.clock.now - START).days
        while len(self.days) <= day:
            self.days.append(Counter())
        self.days[day][measure] += count

    @contextmanager
    def timed(self, work: str) -> Generator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[work] += time.perf_counter() - began


async def live(
    life: Life,
    preset: Preset,
    embedder: Embedder | None,
    path: Path,
    *,
    with_model: bool,
    quiet_days: int,
    often: timedelta,
    out: Path | None,
) -> LifeResult:
    """Run the life in a new file. `quiet_days`: days after the life in which only jobs run; `often`: time between two
    rounds of jobs by day.
    """
    clock = _Clock(START)
    model = RuleModel(clock, [MODEL_DOWN]) if with_model else None
    settings = Settings(db=str(path), workspace=WORKSPACE, embedder="none", background_index=False)
    async with await AsyncRemembrancer.open(
        settings=settings, preset=preset, embedder=embedder, llm=model, clock=clock
    ) as rem:
        running = _Simulation(rem, preset, clock, often)
        await running.through(life.actions)
        ctx = compose.context(settings, preset=preset, embedder=embedder, clock=clock)
        try:
            first = await faded_now(ctx, rem.scope)
            drawn = [] if out is None else await draw(rem, ctx, out)
            await running.rest(quiet_days)
            return await _result(running, ctx, model, life, first, drawn)
        finally:
            await ctx.store.close()


async def _result(
    running: _Simulation,
    ctx: Context,
    model: RuleModel | None,
    life: Life,
    first: tuple[int, int],
    drawn: Sequence[Path],
) -> LifeResult:
    recorded = sum(len(one.step.drafts) for one in life.actions if isinstance(one.step, Exchange))
    rem = running.rem
    last = await faded_now(ctx, rem.scope)
    found = audit(
        await read(ctx.store, rem.scope), ctx.preset, recorded=recorded, noted=running.noted, now=running.clock.now
    )
    stats = await rem.health.stats()
    return LifeResult(
        preset=ctx.preset.name,
        model="none" if model is None else model.model_id,
        embedder=ctx.model or "none",
        days=tuple(dict(day) for day in running.tally.days),
        seconds=dict(running.tally.seconds),
        catch_up=running.catch_up,
        waiting=await running.waiting(),
        faded=(first[0], last[0]),
        current=(first[1], last[1]),
        bytes=stats.bytes,
        audit=found,
        pictures=tuple(str(path) for path in drawn),
    )


class _Simulation:
    def __init__(self, rem: AsyncRemembrancer, preset: Preset, clock: _Clock, often: timedelta) -> None:
        self.rem = rem
        self.clock = clock
        self.tally = _Measurements(clock)
        self.catch_up: CatchUp | None = None
        self.noted: set[UUID] = set()
        self._preset = preset
        self._jobs = jobs_of(preset)
        self._views: dict[str, AsyncRemembrancer] = {}
        self._chance = Random(11)  # for the feedback on answers
        self._calls = 0
        self._often = often
        self._next = START + often
        self._staged: set[int] = set()

    async def through(self, actions: Sequence[Action]) -> None:
        """Perform all actions at their times, with the jobs that are due between them."""
        for action in actions:
            await self._until(action.at)
            self.clock.now = action.at
            await self._act(action)
        await self._until(START + timedelta(days=DAYS))

    async def rest(self, days: int) -> None:
        """Run one round of jobs per day, without any action."""
        self.tally.quiet = True
        for _ in range(days):
            self.clock.now += DAILY
            await self._round()

    async def waiting(self) -> dict[str, int]:
        """For each job, the known backlog, and the failures that have not been resolved."""
        states = await self.rem.jobs.list()
        waits = {state.job.value: state.backlog or 0 for state in states}
        failures = {f"{state.job.value} failures": len(state.failures) for state in states}
        return {name: count for name, count in (waits | failures).items() if count}

    async def _until(self, at: datetime) -> None:
        """Run the rounds of jobs that are due before `at`, each at its time."""
        while self._next <= at:
            self.clock.now = self._next
            await self._stage()
            if DOWN[0] <= self.clock.now < DOWN[1]:
                self._next = DOWN[1]
                continue
            if self.clock.now == DOWN[1]:
                await self._catch_up()
            else:
                await self._round()
            awake = AWAKE[0] <= self.clock.now.hour < AWAKE[1]
            self._next += self._often if awake else SELDOM

    async def _catch_up(self) -> None:
        waiting = await self.waiting()
        began = time.perf_counter()
        await self._round()
        self.catch_up = CatchUp(waiting, await self.waiting(), time.perf_counter() - began)

    async def _round(self) -> None:
        """Run every due job, in the order of `maintain`, one at a time so that each can be timed."""
        for job in self._jobs:
            with self.tally.timed(job.value):
                reports = await self.rem.maintain([job])
            for report in reports.values():
                self._count(report)
        await self._count_calls()

    async def _stage(self) -> None:
        day = (self.clock.now - START).days
        if day not in STAGES or day in self._staged:
            return
        self._staged.add(day)
        for project in ("checkout", "catalogue", "survey"):
            report = await self.rem.scoped(project=project).learnings.enter_stage(STAGES[day])
            self.tally.add("retired", len(report.moved))

    async def _act(self, action: Action) -> None:
        view = self._view(action.session)
        match action.step:
            case Exchange(drafts):
                with self.tally.timed("record"):
                    await view.observe_many(drafts)
                self.tally.add("events", len(drafts))
            case Note() as note:
                await self._note(view, note)
            case Question() as question:
                await self._ask(view, question)
            case End():
                with self.tally.timed("end session"):
                    report = await view.end_session()
                self._count_end(report)
                await self._count_calls()
            case _:
                assert_never(action.step)

    def _view(self, session: Session) -> AsyncRemembrancer:
        if session.name not in self._views:
            self._views[session.name] = self.rem.scoped(
                project=session.project, crew=session.crew, agent=session.agent, session=session.name
            )
        return self._views[session.name]

    async def _note(self, view: AsyncRemembrancer, note: Note) -> None:
        kinds = self._preset.formation.kinds
        named = ABOUT_TO_KIND[note.about]
        kind = next((kind for kind in named if kind in kinds), None) if kinds else named[0]
        with self.tally.timed("record"):
            memory = await view.remember(
                note.text,
                kind=kind,
                importance=note.importance,
                topic_key=note.topic_key,
                valid_until=None if note.holds is None else self.clock.now + note.holds,
                visibility=note.visibility,
                origin="assistant",
            )
        self.noted.add(memory.id)
        self.tally.add("notes")

    async def _ask(self, view: AsyncRemembrancer, question: Question) -> None:
        """Recall, and give feedback: memories that name the topic are used and rated helpful, others are sometimes
        rated negatively and rarely forgotten.
        """
        with self.tally.timed("recall"):
            recall = await view.recall(question.text, limit=LIMIT)
        self.tally.add("questions")
        if not len(recall):
            return
        with self.tally.timed("mark"):
            await view.mark(recall, "retrieved")
            await view.mark(recall[:SHOWN], "shown", query=question.text)
            good = [hit for hit in recall if question.topic in hit.memory.text]
            if good:
                await view.mark(good[:1], "used", query=question.text)
                if self._chance.random() < 0.3:
                    await view.feedback(good[0].id, "helpful")
        for hit in recall:
            if question.topic in hit.memory.text or self._chance.random() >= 0.25:
                continue
            said = "harmful" if self._chance.random() < 0.4 else "unhelpful"
            before = (await view.get(hit.id)).status
            await view.feedback(hit.id, said)
            after = (await view.get(hit.id)).status
            self.tally.add("retired", int(before is not after))
            if before is after and self._chance.random() < 0.05:
                await view.forget(hit.id)
                self.tally.add("retired")

    async def _count_calls(self) -> None:
        calls = sum(spent.calls for spent in await self.rem.jobs.spending())
        self.tally.add("model calls", calls - self._calls)
        self._calls = calls

    def _count_end(self, report: EndReport) -> None:
        if report.segmented is not None:
            self.tally.add("episodes", len(report.segmented.episodes))
            self.tally.add("failed", int(bool(report.segmented.problem)))
        self.tally.add("learned", len(report.extracted.learned))
        self.tally.add("failed", len(report.extracted.failed))
        self._count(report.reviewed)

    def _count(self, report: JobReport) -> None:  # noqa: C901, PLR0912  a case for each
        add = self.tally.add
        add("failed", counted(report).failed)
        match report:
            case SegmentReport():
                add("episodes", report.episodes)
            case ExtractionReport():
                add("learned", sum(len(one.learned) for one in report.sessions))
            case ReviewReport():
                add("reviewed", len(report.reviews))
            case FactsReport():
                add("facts", len(report.new))
                add("facts changed", len(report.reinforced) + len(report.updated) + len(report.invalidated))
            case SleepReport():
                add("summaries", sum(one.by not in {AS_IT_IS, NOTHING} for one in report.slept))
            case RulesReport():
                add("rules", len(report.learned))
            case ClustersReport():
                add("clusters", len(report.consolidated))
            case CompactionReport():
                add("merged", sum(len(one.gone) for one in report.merged))
            case PromotionReport():
                add("promoted", len(report.promoted))
            case RetentionReport():
                add("archived", report.archived)
            case BrokenOff():
                add("broken off")
            case IndexReport() | HealthReport() | NotDue():
                pass
            case _:
                assert_never(report)


ORDER: Final = ("record", "recall", "mark", "end session", *(job.value for job in Job))
"""Kinds of work, in report order."""
