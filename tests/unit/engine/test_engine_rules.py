from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.event import Event, EventDraft, Origin, Priority, Role
from remembrancer.domain.job import Run
from remembrancer.domain.memory import Memory, Status, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.scope import Reader, Scope, Visibility
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.context import Context
from remembrancer.engine.record import observe
from remembrancer.engine.rules import CONSOLIDATED, GENERATED, JOB, RulesReport, learn_rules
from remembrancer.errors import InvalidInput, ModelUnavailable, StoreUnavailable
from remembrancer.policies.consolidation.rules import Rules
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.language_model import Answer, Task
from remembrancer.ports.store import Store
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.presets.spec import Preset
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, FixedClock, a_memory, indexed
from remembrancer.testing.faults import Faults, every_fault
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

T = TypeVar("T")
CREW: Final = Scope(workspace="acme", crew="platform", agent="ana", session="monday")
OTHERS: Final = Scope(workspace="acme", crew="support", agent="bob", session="tuesday")
EVERYBODY: Final = Reader(Scope(workspace="acme"))
DAY: Final = timedelta(days=1)
NO_RULE: Final[Scripted] = {"rules": []}
LOOKS_BACK_THREE_DAYS: Final = replace(CREWSHIP, rules=Rules(lookback_hours=72.0))


def one_rule(when: str = "the saw binds", *, evidence: Sequence[int] = (1, 2), **told: JsonValue) -> JsonValue:
    said: dict[str, JsonValue] = {"when": when, "do": "stop and reset the fence", "confidence": 0.8}
    said["evidence"] = [*evidence]
    return {**said, **told}


def rule(when: str = "the saw binds", *, evidence: Sequence[int] = (1, 2), **told: JsonValue) -> Scripted:
    return {"rules": [one_rule(when, evidence=evidence, **told)]}


@dataclass(frozen=True)
class Journal:
    ctx: Context
    clock: FixedClock
    model: ScriptedModel

    async def happened(
        self, count: int, *, scope: Scope = CREW, role: Role = Role.ASSISTANT, priority: Priority = Priority.NORMAL
    ) -> list[UUID]:
        """Escalations, a minute apart; returns their memories."""
        start = len(await self.entries())
        drafts = [
            EventDraft(
                text=f"Escalation {number} of {scope.crew}: the saw binds",
                type="peer.escalation",
                role=role,
                priority=priority,
                occurred_at=self.clock() + timedelta(minutes=number),
            )
            for number in range(start, start + count)
        ]
        await observe(self.ctx, scope, drafts)
        return [memory.id for memory in (await self.entries())[start:]]

    async def entries(self) -> tuple[Memory, ...]:
        where = Filter(current_at=self.clock(), kinds=frozenset({"peer.escalation"}))
        return await self.ctx.store.workspace_memories(CREW, where, limit=1_000)

    async def learn(self, *, force: bool = False, limit: int = 500) -> RulesReport:
        return await learn_rules(self.ctx, Scope(workspace="acme"), force=force, limit=limit)

    async def rules(self) -> list[Memory]:
        where = Filter(current_at=self.clock(), kinds=frozenset({CONSOLIDATED}))
        return list(await self.ctx.store.workspace_memories(CREW, where, limit=100))

    async def told(self) -> list[Event]:
        where = EventFilter(types=frozenset({GENERATED}))
        return list(await self.ctx.store.events(EVERYBODY, where, limit=100, oldest_first=True))


Answers = Sequence[Scripted] | Callable[[Task], Scripted]


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def journal(
    make: Callable[[], Store], answers: Answers, steps: Callable[[Journal], Awaitable[T]], *, preset: Preset = CREWSHIP
) -> T:
    async def run(store: Store) -> T:
        clock, model = FixedClock(), ScriptedModel(answers)
        return await steps(Journal(a_context(store, preset, llm=model, clock=clock), clock, model))

    return over(make, run)


async def ten(life: Journal) -> RulesReport:
    await life.happened(10)
    return await life.learn()


# ── what is learned ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_rule_becomes_a_memory_of_the_kind_memory_consolidated(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[RulesReport, Memory]:
        report = await ten(life)
        [memory] = await life.rules()
        return report, memory

    report, memory = journal(make, [rule()], steps)
    assert report == RulesReport(learned=(memory.id,), owners=1, entries=10)
    assert (memory.text, memory.tier, memory.strength.confidence, memory.source) == (
        "When the saw binds: stop and reset the fence",
        Tier.SEMANTIC,
        0.8,
        "rules",
    )


def test_a_rule_supports_itself_on_each_piece_of_evidence_with_the_weight_1(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[set[tuple[UUID, float]], set[UUID]]:
        entries = await life.happened(10)
        report = await life.learn()
        edges = await life.ctx.store.relations(EVERYBODY, report.learned)
        told = {(edge.target, edge.weight) for edge in edges if edge.kind is RelationKind.SUPPORTS}
        assert {edge.target for edge in edges if edge.kind is RelationKind.DERIVED_FROM} == {one for one, _ in told}
        assert {edge.source for edge in edges} == set(report.learned)
        return told, {entries[1], entries[4]}

    told, expected = journal(make, [rule(evidence=[5, 2, 5])], steps)
    assert told == {(one, 1.0) for one in expected}


def test_a_rule_comes_from_the_events_of_its_evidence(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> list[str]:
        report = await ten(life)
        return [event.text for event in await life.ctx.store.provenance(EVERYBODY, report.learned[0])]

    texts = journal(make, [rule()], steps)
    assert texts == ["Escalation 0 of platform: the saw binds", "Escalation 1 of platform: the saw binds"]


def test_a_rule_is_trusted_no_more_than_the_least_trusted_of_its_evidence(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> Origin:
        await life.happened(9)
        await life.happened(1, role=Role.TOOL)
        await life.learn()
        return (await life.rules())[0].origin

    assert journal(make, [rule(evidence=[1, 10])], steps) is Origin.TOOL


def test_the_owners_of_entries_are_read_apart(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> list[tuple[Scope, Visibility]]:
        await life.happened(10)
        await life.happened(10, scope=OTHERS)
        await life.learn()
        return [(memory.scope, memory.visibility) for memory in await life.rules()]

    assert journal(make, lambda _: rule(), steps) == [
        (CREW.narrowed(session=None), Visibility.WORKSPACE),
        (OTHERS.narrowed(session=None), Visibility.WORKSPACE),
    ]


def test_no_rule_is_visible_to_more_readers_than_its_sources(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> list[Visibility]:
        for number in range(10):
            private = replace(a_memory(f"Note {number}", scope=CREW), visibility=Visibility.OWN)
            await life.ctx.store.insert(CREW, indexed(private))
        await life.learn()
        return [memory.visibility for memory in await life.rules()]

    assert journal(make, [rule()], steps) == [Visibility.OWN]


# ── in what ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_fewer_than_ten_entries_are_too_few(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> RulesReport:
        await life.happened(9)
        return await life.learn()

    report = journal(make, [], steps)
    assert report.reason == "too few entries: 9 of one owner, 10 are needed, or a permanent one"


def test_a_permanent_one_among_fewer_is_enough(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> int:
        await life.happened(2)
        await life.happened(1, priority=Priority.PERMANENT)
        return len((await life.learn()).learned)

    assert journal(make, [rule(evidence=[1, 3])], steps) == 1


def test_a_pinned_one_among_fewer_is_not(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> int:
        await life.happened(2)
        await life.happened(1, priority=Priority.PIN)
        return (await life.learn()).owners

    assert journal(make, [], steps) == 0


def test_entries_older_than_a_day_are_not_read(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> RulesReport:
        await life.happened(10)
        life.clock.advance(2 * DAY)
        return await life.learn()

    assert journal(make, [], steps).owners == 0


def test_by_hand_they_are_read_from_any_time_on(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> int:
        await life.happened(10)
        life.clock.advance(9 * DAY)
        return (await learn_rules(life.ctx, CREW, since=NOW)).entries

    assert journal(make, [NO_RULE], steps) == 10


def test_retired_and_superseded_entries_are_not_read(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> int:
        entries = await life.happened(12)
        await life.ctx.store.set_status(EVERYBODY, entries[0], Status.RETIRED, at=NOW)
        await life.ctx.store.supersede(EVERYBODY, entries[1], entries[2], at=NOW)
        return (await life.learn()).entries

    assert journal(make, [NO_RULE], steps) == 10


def test_accounts_of_earlier_runs_are_no_entries(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> list[int]:
        await life.happened(10)
        first = await life.learn()
        second = await life.learn(force=True)
        return [first.entries, second.entries]

    assert journal(make, [NO_RULE, NO_RULE], steps) == [10, 10]


def test_the_newest_are_read_where_there_are_more_than_the_limit(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[int, int, bool]:
        await life.happened(15)
        report = await life.learn(limit=10)
        return report.entries, report.left, "Escalation 14 of" in life.model.tasks[0].material

    assert journal(make, [NO_RULE], steps) == (10, 5, True)


def test_many_entries_are_read_in_parts_of_about_one_size(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> list[int]:
        await life.happened(25)
        await life.learn()
        return [task.material.count("peer.escalation") for task in life.model.tasks]

    preset = replace(CREWSHIP, rules=Rules(at_once=10))
    assert journal(make, lambda _: NO_RULE, steps, preset=preset) == [9, 9, 7]


# ── again ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_second_run_over_the_same_entries_changes_nothing_and_calls_no_model(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[str, int, bool]:
        await ten(life)
        before = await exported(life.ctx.store)
        again = await life.learn()
        return again.reason, life.model.asked, await exported(life.ctx.store) == before

    expected = ("there are no new entries since the last run", 1, True)
    assert journal(make, [rule()], steps) == expected


def test_a_pattern_is_not_learned_again_within_seven_days(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[int, int, int]:
        await ten(life)
        life.clock.advance(6 * DAY)
        await life.happened(10)
        again = await life.learn()
        return len(again.learned), again.known, len(await life.rules())

    answers = [rule("the saw  binds."), rule("The Saw binds")]
    assert journal(make, answers, steps) == (0, 1, 1)


def test_a_pattern_that_recurs_later_replaces_the_old_rule(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[bool, list[UUID], list[UUID]]:
        first = await ten(life)
        life.clock.advance(8 * DAY)
        await life.happened(10)
        second = await life.learn()
        old = (await life.ctx.store.get(EVERYBODY, first.learned))[first.learned[0]]
        return old.superseded_by == second.learned[0], [one.id for one in await life.rules()], list(second.learned)

    superseded, current, learned = journal(make, [rule(), rule()], steps)
    assert (superseded, current) == (True, learned)


def test_one_pattern_twice_in_an_answer_is_learned_once(make: Callable[[], Store]) -> None:
    both: Scripted = {"rules": [one_rule(), one_rule("THE SAW BINDS", evidence=[3, 4])]}
    report = journal(make, [both], ten)
    assert (len(report.learned), report.known) == (1, 1)


def test_by_force_the_same_entries_are_read_again(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[int, int, int]:
        await ten(life)
        again = await life.learn(force=True)
        return life.model.asked, again.known, len(await life.told())

    assert journal(make, [rule(), rule()], steps) == (2, 1, 2)


def test_by_force_two_entries_are_enough_and_one_is_not(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> list[int]:
        await life.happened(1)
        one = await life.learn(force=True)
        await life.happened(1)
        two = await life.learn(force=True)
        return [one.owners, two.owners]

    assert journal(make, [NO_RULE], steps) == [0, 1]


# ── what is told ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_result_of_a_run_is_recorded_as_summary_generated(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[list[Event], RulesReport]:
        report = await ten(life)
        return await life.told(), report

    [told], report = journal(make, [rule()], steps)
    assert (told.text, told.role) == ("Rules were looked for in 10 entries: 1 learned, 0 known before.", Role.SYSTEM)
    expected = {"outcome": "goal_met", "entries_considered": 10, "rules": [str(report.learned[0])]}
    assert told.payload == {**expected, "owner": told.payload["owner"]}


def test_without_a_model_the_report_and_the_journal_record_it(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[str, list[str], int]:
        silent = replace(life, ctx=replace(life.ctx, llm=None))
        report = await ten(silent)
        await silent.learn()
        return report.reason, [event.text for event in await life.told()], len(await life.rules())

    reason, told, rules = journal(make, [], steps)
    assert reason == "no language model is set (llm)"
    assert told == ["No rules were looked for in 10 entries: no language model is set (llm)."]
    assert rules == 0


def test_failures_recorded_without_a_model_are_read_once_there_is_one(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> int:
        await ten(replace(life, ctx=replace(life.ctx, llm=None)))
        return len((await life.learn()).learned)

    assert journal(make, [rule()], steps) == 1


def test_a_preset_without_rules_says_so(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> str:
        return (await life.learn()).reason

    assert journal(make, [], steps, preset=TEAPARTY) == "preset teaparty does not learn rules"


def test_a_limit_of_nothing_is_refused(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> RulesReport:
        return await life.learn(limit=0)

    with pytest.raises(InvalidInput, match=r"^limit: 0 "):
        journal(make, [], steps)


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────────

BAD: Final[dict[str, Scripted]] = {
    "one piece of evidence": rule(evidence=[1]),
    "the same piece twice": rule(evidence=[2, 2]),
    "evidence that does not exist": rule(evidence=[1, 11]),
    "a confidence out of range": rule(confidence=1.5),
    "a blank pattern": rule(" "),
    "nothing to do": rule(do=""),
    "no list": {"rules": "none"},
    "nothing that was asked for": {},
    "words": "no JSON at all",
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_an_answer_that_will_not_do_writes_no_rule_and_waits(make: Callable[[], Store], answer: Scripted) -> None:
    async def steps(life: Journal) -> tuple[int, int, list[JsonValue], int]:
        report = await ten(life)
        told = [event.payload["outcome"] for event in await life.told()]
        return report.failed, len(await life.rules()), told, len(await life.ctx.store.deferrals(CREW, JOB))

    assert journal(make, [answer], steps) == (1, 0, ["failed"], 1)


def test_a_failed_item_is_pending_and_tried_again_when_it_is_due(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[RulesReport, RulesReport, int]:
        await ten(life)
        early = await life.learn()
        life.clock.advance(timedelta(seconds=30))
        late = await life.learn()
        return early, late, len(await life.ctx.store.deferrals(CREW, JOB))

    early, late, waiting = journal(make, [ModelUnavailable("down"), rule()], steps)
    assert (early, len(late.learned), waiting) == (RulesReport(left=1), 1, 0)


def test_failed_items_are_read_however_many_days_the_model_was_down(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[list[int], int]:
        await life.happened(10)
        read: list[int] = []
        for _ in range(4):
            life.clock.advance(2 * DAY)
            report = await life.learn()
            read.append(report.entries)
        return read, len(await life.ctx.store.deferrals(CREW, JOB))

    down = [ModelUnavailable("down")] * 2
    assert journal(make, [*down, NO_RULE], steps, preset=LOOKS_BACK_THREE_DAYS) == ([0, 0, 10, 0], 0)


def test_entries_recorded_while_the_job_did_not_run_are_read(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> int:
        await life.ctx.store.put_run(CREW, Run(job=JOB, started_at=life.clock(), ended_at=life.clock()))
        await life.happened(10)
        life.clock.advance(5 * DAY)
        return (await life.learn()).entries

    assert journal(make, [NO_RULE], steps) == 10


def test_a_failed_item_that_no_longer_exists_is_not_pending(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> int:
        entries = await life.happened(10)
        await life.learn()
        await life.ctx.store.set_status(EVERYBODY, entries[0], Status.RETIRED, at=life.clock())
        await life.learn()
        return len(await life.ctx.store.deferrals(CREW, JOB))

    assert journal(make, [ModelUnavailable("down")], steps) == 0


def test_an_owner_whose_entries_are_refused_delays_no_other(make: Callable[[], Store]) -> None:
    def answers(task: Task) -> Scripted:
        return ModelUnavailable("refused") if "of platform" in task.material else rule()

    async def steps(life: Journal) -> list[str | None]:
        await life.happened(10)
        await life.happened(10, scope=OTHERS)
        await life.learn()
        life.clock.advance(timedelta(minutes=1))
        await life.learn()
        return [memory.scope.crew for memory in await life.rules()]

    assert journal(make, answers, steps) == ["support"]


def test_evidence_that_was_retired_meanwhile_makes_no_rule(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[int, int, int]:
        entries = await life.happened(10)

        class Slow(ScriptedModel):
            async def answer(self, task: Task) -> Answer:
                await life.ctx.store.set_status(EVERYBODY, entries[0], Status.RETIRED, at=NOW)
                return await super().answer(task)

        report = await learn_rules(replace(life.ctx, llm=Slow([rule()])), CREW)
        return len(report.learned), report.left, len(await life.rules())

    assert journal(make, [], steps) == (0, 1, 0)


def test_of_two_concurrent_runs_one_writes_the_rule_and_one_finds_it_known(make: Callable[[], Store]) -> None:
    async def steps(life: Journal) -> tuple[int, int, int, int]:
        await life.happened(10)

        class Slow(ScriptedModel):
            async def answer(self, task: Task) -> Answer:
                await life.learn()
                return await super().answer(task)

        report = await learn_rules(replace(life.ctx, llm=Slow([rule()])), CREW)
        return len(report.learned), report.known, len(await life.rules()), len(await life.told())

    assert journal(make, [rule()], steps) == (0, 1, 1, 1)


def test_wherever_the_store_fails_nothing_is_learned_twice_or_lost(make: Callable[[], Store]) -> None:
    async def attempt(faults: Faults, store: Store) -> tuple[int, int, int]:
        life = Journal(a_context(store, CREWSHIP, llm=ScriptedModel(lambda _: rule())), FixedClock(), ScriptedModel([]))
        entries = await life.happened(10)
        with contextlib.suppress(StoreUnavailable):
            await learn_rules(replace(life.ctx, store=faults.around(store)), CREW)
        await life.learn()
        edges = await store.relations(EVERYBODY, entries)
        return len(await life.rules()), len(edges), len(await life.told())

    for faults in every_fault():
        assert over(make, partial(attempt, faults)) == (1, 4, 1)
