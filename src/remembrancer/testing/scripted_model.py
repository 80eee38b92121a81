"""A language model with scripted answers, which records the tasks that it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from remembrancer.ports.language_model import Answer, JsonObject, ModelUsage, Task

Scripted = JsonObject | str | Exception
"""An object it answers with; words for what was wrong where it answered with nothing that would do; or a failure."""

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
        """`usage`: of each answer."""
        self.tasks: list[Task] = []
        self.closed = 0
        """How often."""
        self._next = answers if callable(answers) else _in_order(iter(answers))
        self._usage = usage
        self._model_id = model_id

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def asked(self) -> int:
        """How many tasks it was given."""
        return len(self.tasks)

    async def answer(self, task: Task) -> Answer:
        """Raises the failure that the script says."""
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
