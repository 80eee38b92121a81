"""A language model of any provider, over pydantic-ai.

Importing this module imports pydantic-ai and jsonschema, of the extra `llm`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic_ai import Agent, ModelRetry, NativeOutput, StructuredDict
from pydantic_ai.exceptions import (
    ContentFilterError,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from remembrancer.adapters.endpoints import host_and_port
from remembrancer.adapters.llm.providers import Opened, open_model
from remembrancer.adapters.llm.service import LlmService
from remembrancer.adapters.llm.shape import wrong_with
from remembrancer.adapters.llm.tries import LONGEST_WAIT, Sleep, Tries
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.language_model import Answer, NoAnswer, Task

if TYPE_CHECKING:
    from pydantic_ai.output import OutputSpec

ASKED_AGAIN: Final = 2
"""How often a model is told what is wrong with its answer, and asked again."""

REQUESTS_IN_TIME: Final = 4
"""All of a task together may take as long as so many requests and `LONGEST_WAIT`."""

_PROBLEM_LENGTH: Final = 500
_NO_OBJECT: Final = "there was no JSON object in the answer"


class PydanticAiModel:
    """One model of one provider. It may be given many tasks at a time."""

    def __init__(self, service: LlmService, opened: Opened, *, sleep: Sleep = asyncio.sleep) -> None:
        """`opened` is closed with this. Else as `open`."""
        self._service = service
        self._opened = opened
        self._sleep = sleep
        where = "" if service.url is None else f" at {host_and_port(opened.address)}"
        self._where = f"the language model {service.model_id}{where}"

    @classmethod
    def open(cls, service: LlmService, *, sleep: Sleep = asyncio.sleep) -> Self:
        """Prepare to call; nothing is sent yet. It takes a second or two, so call it off the event loop.

        `sleep` waits between the tries. Raises ModelUnavailable for an address that cannot be called.
        """
        return cls(service, open_model(service), sleep=sleep)

    @property
    def model_id(self) -> str:
        return self._service.model_id

    async def answer(self, task: Task) -> Answer:
        """As the port says. What is not of the schema, or fails the check, is told to the model, at most twice.

        An answer that is cut off at `max_tokens`, or declined, is none, and is not asked for again.
        """
        if self._opened.client.is_closed:
            raise ModelUnavailable("this language model is closed")
        seconds = REQUESTS_IN_TIME * self._service.timeout + LONGEST_WAIT
        deadline = asyncio.get_running_loop().time() + seconds
        tries = Tries(self._opened.model, self._service, where=self._where, deadline=deadline, sleep=self._sleep)

        def checked(value: dict[str, Any]) -> dict[str, Any]:
            tries.problem = wrong_with(value, task.schema) or task.check(value)
            if tries.problem:
                raise ModelRetry(tries.problem)
            return value

        agent = Agent(
            tries,
            output_type=self._output(task),
            instructions=_sendable(task.instructions),
            model_settings=ModelSettings(max_tokens=task.max_tokens),
            retries={"output": ASKED_AGAIN},
        )
        agent.output_validator(checked)
        try:
            async with asyncio.timeout_at(deadline):
                found = await agent.run(
                    _sendable(task.material), usage_limits=UsageLimits(request_limit=1 + ASKED_AGAIN)
                )
        except TimeoutError as error:
            raise NoAnswer(f"{self._where}: did not answer within {seconds:g} s", tries.tally.usage) from error
        except (OutputTokenLimitExceeded, ContentFilterError) as error:
            return Answer(value=None, usage=tries.tally.usage, problem=error.message)
        except (UnexpectedModelBehavior, UsageLimitExceeded):
            return Answer(value=None, usage=tries.tally.usage, problem=(tries.problem or _NO_OBJECT)[:_PROBLEM_LENGTH])
        return Answer(value=found.output, usage=tries.tally.usage)

    async def close(self) -> None:
        """Closing twice does nothing."""
        await self._opened.client.aclose()

    def _output(self, task: Task) -> OutputSpec[dict[str, Any]]:
        shape = StructuredDict(dict(task.schema), name="answer")
        # Ollama holds a model to the schema as it writes, also one that was never taught to call tools.
        by_grammar = self._service.provider == "ollama" and self._opened.model.profile.get(
            "supports_json_schema_output"
        )
        return NativeOutput(shape) if by_grammar else shape


def _sendable(text: str) -> str:
    """A lone surrogate, which JSON can carry, has no UTF-8 form; the model gets a question mark for it."""
    return text.encode("utf-8", "replace").decode()
