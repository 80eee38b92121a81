"""A model that reads text and answers in a given shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from remembrancer.domain.validation import JsonValue
from remembrancer.errors import ModelUnavailable
from remembrancer.values import dataclass

JsonObject = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task for a model. `purpose`: a word for the ledger ("summarise"). `instructions`: trusted; `material`: fenced,
    untrusted text to read. `schema`: the JSON schema of the answer.

    `check`: returns what is wrong with an answer, in words that the model is given when it is asked again; empty:
    nothing. `max_tokens`: of one answer, at most.
    """

    purpose: str
    instructions: str
    material: str
    schema: JsonObject
    check: Callable[[JsonObject], str]
    max_tokens: int = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """The usage of all requests for one task. `cost`: in US dollars, of the answers received; None: the price is
    unknown.
    """

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`value`: an object of the task's schema that passed its check. None: no attempt gave one, and `problem` says what
    was wrong with the last.
    """

    value: JsonObject | None
    usage: ModelUsage
    problem: str = ""


class NoAnswer(ModelUnavailable):
    """No request got an answer. `usage`: what the requests used nevertheless."""

    def __init__(self, message: str, usage: ModelUsage) -> None:
        self.usage = usage
        super().__init__(message)


class LanguageModel(Protocol):
    @property
    def model_id(self) -> str:
        """Provider and name: `openai:gpt-5-mini`."""
        ...

    async def answer(self, task: Task) -> Answer:
        """Ask the model; ask again, a few times, if the answer is unusable.

        Raises ModelUnavailable when the model does not answer in time, refuses the key or the request, or cannot be
        reached after some retries; NoAnswer, its subclass, if requests were sent.
        """
        ...

    async def close(self) -> None:
        """Let go of connections. Twice is harmless."""
        ...
