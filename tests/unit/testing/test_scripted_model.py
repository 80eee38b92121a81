from __future__ import annotations

import asyncio

import pytest

from remembrancer.errors import ModelUnavailable
from remembrancer.ports.language_model import Answer, Task
from remembrancer.testing.scripted_model import ONE_REQUEST, ScriptedModel


def a_task(material: str = "", *, wrong: str = "") -> Task:
    return Task(purpose="title", instructions="Name it.", material=material, schema={}, check=lambda _: wrong)


def answered(model: ScriptedModel, task: Task) -> Answer:
    return asyncio.run(model.answer(task))


def test_answers_come_in_the_order_of_the_list() -> None:
    model = ScriptedModel([{"n": 1}, {"n": 2}])
    assert [answered(model, a_task()).value for _ in range(2)] == [{"n": 1}, {"n": 2}]


def test_an_answer_may_depend_on_the_task() -> None:
    model = ScriptedModel(lambda task: {"said": task.material})
    assert answered(model, a_task("deploy")) == Answer(value={"said": "deploy"}, usage=ONE_REQUEST)


def test_an_answer_that_fails_the_check_is_none() -> None:
    answer = answered(ScriptedModel([{"n": 1}]), a_task(wrong="too dull"))
    assert (answer.value, answer.problem) == (None, "too dull")


def test_a_string_is_the_fault_of_an_answer() -> None:
    answer = answered(ScriptedModel(["no JSON"]), a_task())
    assert (answer.value, answer.problem) == (None, "no JSON")


def test_a_failure_is_raised() -> None:
    with pytest.raises(ModelUnavailable, match="gone"):
        answered(ScriptedModel([ModelUnavailable("gone")]), a_task())


def test_calls_are_recorded_also_if_they_failed() -> None:
    model = ScriptedModel([ModelUnavailable("gone"), {"n": 1}])
    with pytest.raises(ModelUnavailable):
        answered(model, a_task("first"))
    answered(model, a_task("second"))
    assert ([task.material for task in model.tasks], model.asked) == (["first", "second"], 2)


def test_a_list_that_is_used_up_fails_the_test_that_asks_on() -> None:
    with pytest.raises(AssertionError, match="no answer left for a task to title"):
        answered(ScriptedModel([]), a_task())
