"""The doctor's report on the language model, which it does not call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from remembrancer.adapters.reference.store import ReferenceStore
from remembrancer.engine.ask import ask
from remembrancer.engine.context import Context
from remembrancer.engine.inspect import doctor
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.inspection import Finding
from remembrancer.ports.language_model import Task
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import READER, SCOPE, FixedClock
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

TASK = Task(purpose="title", instructions="Name it.", material="...", schema={}, check=lambda _: "")
GOOD = {"title": "Deploy"}
DAY = timedelta(days=1)


def finding(*script: Scripted, later: timedelta = timedelta(0), model: ScriptedModel | None = None) -> Finding:
    """After so many tasks; `model`: the one in use by then."""
    clock = FixedClock()
    asked = ScriptedModel(script)
    ctx = Context(
        store=ReferenceStore(analyse=analysed),
        index=ResidentIndex(),
        embedder=None,
        without_embedder="none",
        preset=DEFAULT,
        clock=clock,
        stopwatch=lambda: 0.0,
        new_id=lambda _: UUID(int=1),
        llm=asked,
    )

    async def look() -> Finding:
        for _ in script:
            await ask(ctx, SCOPE, TASK)
        clock.advance(later)
        now = replace(ctx, llm=model or asked)
        [found] = [one for one in await doctor(now, READER) if one.check == "language model"]
        assert asked.asked == len(script)
        return found

    return asyncio.run(look())


def test_a_doctor_names_the_language_model_and_does_not_ask_it() -> None:
    assert finding() == Finding("language model", ok=True, detail="scripted:model, not asked in the last day")


def test_the_doctor_reports_how_often_it_answered() -> None:
    found = finding(GOOD, "no JSON", GOOD)
    assert found.ok
    assert found.detail == "scripted:model, asked 3 times in the last day, 1 of them without a usable answer"


def test_a_language_model_that_never_answers_is_a_fault() -> None:
    found = finding("no JSON", "no JSON")
    assert not found.ok
    assert found.detail == "scripted:model, asked 2 times in the last day, 2 of them without a usable answer"


def test_failures_older_than_a_day_are_no_fault() -> None:
    assert finding("no JSON", later=DAY + timedelta(seconds=1)).detail == "scripted:model, not asked in the last day"


def test_another_models_failures_are_no_fault_of_this() -> None:
    found = finding("no JSON", model=ScriptedModel([], model_id="openai:m"))
    assert found.detail == "openai:m, not asked in the last day"
