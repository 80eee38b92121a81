"""A language model with scripted answers, which records the tasks that it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from remembrancer.ports.language_model import Answer, JsonObject, ModelUsage, Task

Scripted = JsonObject | str | Exception
"""An answer: a JSON object; a text that describes why there is no usable answer; or an exception to raise."""

ONE_REQUEST: Final = ModelUsage(requests=1, input_tokens=100, output_tokens=20)


class ScriptedModel:
    """Answers from a list, in order, or from a function of the task. Each task counts as one request.

    As with a real model, the `value` of an answer that the task's check rejects is None.
    A test that asks more often than the list has answers fails.

    >>> import asyncio
    >>> model = ScriptedModel([{"title": "Deploy"}, "no JSON"])
    >>> task = Task(purpose="title", instructions="Name it.", material="...", schema={}, check=lambda _: "")
    >>> asyncio.run(model.answer(task)).value
    {'title': 'Deploy'}
    >>> asyncio.run(model.answer(task)).problem
    'no JSON'
    """

    def __init__(
        self,
        answers: Iterable[Scripted] | Callable[[Task], Scripted],
        *,
        usage: ModelUsage = ONE_REQUEST,
        model_id: str = "scripted:model",
    ) -> None:
        """`usage`: the usage reported for each answer."""
        self.tasks: list[Task] = []
        self.closed = 0
        """The number of tasks given, counted."""
        self._next = answers if callable(answers) else _in_order(iter(answers))
        self._usage = usage
        self._model_id = model_id

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def asked(self) -> int:
        """The number of tasks that it was given."""
        return len(self.tasks)

    async def answer(self, task: Task) -> Answer:
        """Returns the next scripted answer, or raises the exception in the script."""
        self.tasks.append(task)
        match self._next(task):
            case Exception() as failure:
                raise failure
            case str(problem):
                return Answer(value=None, usage=self._usage, problem=problem)
            case value:
                problem = task.check(value)
                return Answer(value=None if problem else value, usage=self._usage, problem=problem)

    async def close(self) -> None:
        self.closed += 1


def _in_order(answers: Iterator[Scripted]) -> Callable[[Task], Scripted]:
    def following(task: Task) -> Scripted:
        for answer in answers:
            return answer
        raise AssertionError(f"there is no answer left for a task to {task.purpose}")

    return following
