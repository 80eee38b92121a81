"""Language models that read text and answer in a given JSON shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from remembrancer.domain.validation import JsonValue
from remembrancer.errors import ModelUnavailable
from remembrancer.values import dataclass

JsonObject = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task for a model. `purpose`: a name for the ledger ("summarise"). `instructions`: trusted text; `material`:
    untrusted text, fenced in the prompt. `schema`: the JSON schema of the answer. `max_tokens`: the limit of one
    answer.

    `check`: returns the fault of an answer, in words for the model's next attempt; "" if the answer is valid.
    """

    purpose: str
    instructions: str
    material: str
    schema: JsonObject
    check: Callable[[JsonObject], str]
    max_tokens: int = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """The usage of all requests for one task. `cost`: US dollars for the answers received; None: unknown."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's answer to a task. `value`: an object that matches the task's schema and passed its check; None: no
    attempt gave one, and `problem` says what is wrong with the last.
    """

    value: JsonObject | None
    usage: ModelUsage
    problem: str = ""


class NoAnswer(ModelUnavailable):
    """No request got an answer. `usage`: the usage of the requests."""

    def __init__(self, message: str, usage: ModelUsage) -> None:
        self.usage = usage
        super().__init__(message)


class LanguageModel(Protocol):
    """Answers tasks with data of a given shape, over whichever provider."""

    @property
    def model_id(self) -> str:
        """Provider and name: `openai:gpt-5-mini`."""
        ...

    async def answer(self, task: Task) -> Answer:
        """Ask the model, and retry a few times if the answer is invalid.

        Raises ModelUnavailable if the model does not answer in time, refuses the key or the request, or stays
        unreachable after retries; NoAnswer, its subclass, if requests were sent.
        """
        ...

    async def close(self) -> None:
        """Close connections. Closing twice does nothing."""
        ...
