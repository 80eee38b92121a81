"""The ledger's entry for a request to a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from uuid import UUID

import pytest

from remembrancer.adapters.reference.store import ReferenceStore
from remembrancer.domain.scope import Scope
from remembrancer.domain.spending import ModelCall, Outcome, Spent
from remembrancer.engine.ask import ask
from remembrancer.engine.context import Context
from remembrancer.errors import ModelUnavailable, StoreUnavailable
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.language_model import Answer, JsonObject, LanguageModel, ModelUsage, NoAnswer, Task
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, SCOPE, FixedClock
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

TASK = Task(purpose="title", instructions="Name it.", material="...", schema={}, check=lambda _: "")
GOOD: JsonObject = {"title": "Deploy"}
PRICED = ModelUsage(requests=2, input_tokens=300, output_tokens=40, cost=0.25)


class Ledger(ReferenceStore):
    """Records the calls in the order of writing."""

    def __init__(self) -> None:
        super().__init__(analyse=analysed)
        self.calls: list[ModelCall] = []

    async def log_call(self, scope: Scope, call: ModelCall) -> None:
        self.calls.append(call)
        await super().log_call(scope, call)


class Full(ReferenceStore):
    """A ledger whose writes fail."""

    async def log_call(self, scope: Scope, call: ModelCall) -> None:
        raise StoreUnavailable("the disk is full")


def a_context(store: ReferenceStore, llm: LanguageModel | None) -> Context:
    ticks: Iterator[int] = count(start=10, step=3)
    return Context(
        store=store,
        index=ResidentIndex(),
        embedder=None,
        without_embedder="none",
        preset=DEFAULT,
        clock=FixedClock(),
        stopwatch=lambda: float(next(ticks)),
        new_id=lambda _: UUID(int=1),
        llm=llm,
    )


def asked(*script: Scripted, usage: ModelUsage = PRICED, task: Task = TASK) -> tuple[Answer, ModelCall]:
    store = Ledger()
    answer = asyncio.run(ask(a_context(store, ScriptedModel(script, usage=usage)), SCOPE, task))
    [call] = store.calls
    return answer, call


def failed(error: Exception) -> ModelCall:
    store = Ledger()
    with pytest.raises(type(error)) as raised:
        asyncio.run(ask(a_context(store, ScriptedModel([error])), SCOPE, TASK))
    assert raised.value is error
    [call] = store.calls
    return call


def test_an_answer_is_returned_and_written_down() -> None:
    answer, call = asked(GOOD)
    assert answer == Answer(value=GOOD, usage=PRICED)
    assert call == ModelCall(
        at=NOW,
        purpose="title",
        model="scripted:model",
        outcome=Outcome.ANSWERED,
        requests=2,
        input_tokens=300,
        output_tokens=40,
        took=timedelta(seconds=3),
        cost=0.25,
    )


def test_an_invalid_answer_is_returned_and_recorded_with_its_fault() -> None:
    def dull(_: JsonObject) -> str:
        return "too dull"

    answer, call = asked(GOOD, task=replace(TASK, check=dull))
    assert (answer.value, answer.problem) == (None, "too dull")
    assert (call.outcome, call.error, call.input_tokens, call.cost) == (Outcome.UNUSABLE, "too dull", 300, 0.25)


def test_a_failure_is_raised_and_recorded_with_its_usage() -> None:
    call = failed(NoAnswer("the model at gpu-box: answered 500", PRICED))
    assert (call.outcome, call.error) == (Outcome.FAILED, "the model at gpu-box: answered 500")
    assert (call.requests, call.input_tokens, call.output_tokens, call.cost) == (2, 300, 40, 0.25)
    assert call.took == timedelta(seconds=3)


def test_a_model_that_could_not_be_loaded_used_up_nothing() -> None:
    call = failed(ModelUnavailable("a package is missing"))
    assert (call.outcome, call.requests, call.input_tokens, call.output_tokens, call.cost) == (
        Outcome.FAILED,
        0,
        0,
        0,
        0.0,
    )


def test_the_reason_of_a_failure_is_recorded_up_to_the_ledgers_limit() -> None:
    assert len(failed(ModelUnavailable("x" * 10_000)).error) == 500


def test_the_ledger_is_that_of_the_callers_workspace() -> None:
    async def spent() -> tuple[Spent, ...]:
        store = Ledger()
        await ask(a_context(store, ScriptedModel([GOOD], usage=PRICED)), SCOPE, TASK)
        assert await store.spending(Scope(workspace="another")) == ()
        return await store.spending(SCOPE)

    [row] = asyncio.run(spent())
    assert (row.purpose, row.model, row.calls, row.failed, row.cost) == ("title", "scripted:model", 1, 0, 0.25)


def test_without_a_model_the_reason_is_raised_and_nothing_written() -> None:
    store = Ledger()
    with pytest.raises(ModelUnavailable, match=r"^no language model is set \(llm\)$"):
        asyncio.run(ask(a_context(store, None), SCOPE, TASK))
    assert store.calls == []


@pytest.mark.parametrize("script", [GOOD, ModelUnavailable("gone")], ids=["answered", "failed"])
def test_a_ledger_that_cannot_be_written_is_an_error(script: Scripted) -> None:
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        asyncio.run(ask(a_context(Full(analyse=analysed), ScriptedModel([script])), SCOPE, TASK))
