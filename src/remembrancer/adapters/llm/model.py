"""A language model of any supported provider, through pydantic-ai.

Importing this module imports pydantic-ai and jsonschema, of the extra `llm`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Self

from jsonschema import Draft202012Validator
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
from remembrancer.adapters.llm.providers import OpenedModel, open_model
from remembrancer.adapters.llm.service import LlmService
from remembrancer.adapters.llm.tries import LONGEST_WAIT, RetryingModel, SleepFunction
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.language_model import Answer, NoAnswer, Task

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from pydantic_ai.output import OutputSpec

MAX_CORRECTIONS: Final = 2
"""The maximum number of times that the model is asked to correct an invalid answer."""

REQUESTS_IN_TIME: Final = 4
"""The time limit of a task is this many request timeouts plus `LONGEST_WAIT`."""

_PROBLEM_LENGTH: Final = 500
_NO_OBJECT: Final = "the answer contains no JSON object"


class PydanticAiModel:
    """One model of one provider. Tasks may run concurrently."""

    def __init__(self, service: LlmService, opened: OpenedModel, *, sleep: SleepFunction = asyncio.sleep) -> None:
        """`close` closes `opened`. Most callers use `open`."""
        self._service = service
        self._opened = opened
        self._sleep = sleep
        where = "" if service.url is None else f" at {host_and_port(opened.address)}"
        self._where = f"the language model {service.model_id}{where}"

    @classmethod
    def open(cls, service: LlmService, *, sleep: SleepFunction = asyncio.sleep) -> Self:
        """Create the client; nothing is sent yet. Blocks for a second or two, so call it outside of the event loop.

        `sleep`: waits between retries. Raises ModelUnavailable for an invalid address.
        """
        return cls(service, open_model(service), sleep=sleep)

    @property
    def model_id(self) -> str:
        return self._service.model_id

    async def answer(self, task: Task) -> Answer:
        """Run a task, see `LanguageModel.answer`. If an answer violates the schema or fails the check, the model is
        told why and asked again, at most twice.

        An answer that is cut off at `max_tokens`, or declined, ends the task without a value; it is not asked for
        again.
        """
        if self._opened.client.is_closed:
            raise ModelUnavailable("this language model is closed")
        seconds = REQUESTS_IN_TIME * self._service.timeout + LONGEST_WAIT
        deadline = asyncio.get_running_loop().time() + seconds
        model = RetryingModel(
            self._opened.model, self._service, where=self._where, deadline=deadline, sleep=self._sleep
        )

        def checked(value: dict[str, Any]) -> dict[str, Any]:
            model.problem = schema_violations(value, task.schema) or task.check(value)
            if model.problem:
                raise ModelRetry(model.problem)
            return value

        agent = Agent(
            model,
            output_type=self._output(task),
            instructions=_encodable(task.instructions),
            model_settings=ModelSettings(max_tokens=task.max_tokens),
            retries={"output": MAX_CORRECTIONS},
        )
        agent.output_validator(checked)
        try:
            async with asyncio.timeout_at(deadline):
                found = await agent.run(
                    _encodable(task.material), usage_limits=UsageLimits(request_limit=1 + MAX_CORRECTIONS)
                )
        except TimeoutError as error:
            raise NoAnswer(f"{self._where}: did not answer within {seconds:g} s", model.totals.usage) from error
        except (OutputTokenLimitExceeded, ContentFilterError) as error:
            return Answer(value=None, usage=model.totals.usage, problem=error.message)
        except (UnexpectedModelBehavior, UsageLimitExceeded):
            return Answer(value=None, usage=model.totals.usage, problem=(model.problem or _NO_OBJECT)[:_PROBLEM_LENGTH])
        return Answer(value=found.output, usage=model.totals.usage)

    async def close(self) -> None:
        """Close the HTTP client. Closing again does nothing."""
        await self._opened.client.aclose()

    def _output(self, task: Task) -> OutputSpec[dict[str, Any]]:
        shape = StructuredDict(dict(task.schema), name="answer")
        # Ollama constrains the output to the schema, also for models that were not trained to call tools.
        by_grammar = self._service.provider == "ollama" and self._opened.model.profile.get(
            "supports_json_schema_output"
        )
        return NativeOutput(shape) if by_grammar else shape


def _encodable(text: str) -> str:
    """The text with lone surrogates, which have no UTF-8 form, replaced by question marks."""
    return text.encode("utf-8", "replace").decode()


_MAX_VIOLATIONS: Final = 5


def schema_violations(value: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The schema violations, at most five, ordered by path; empty if there are none.

    The text names paths and rules but no values: the model knows what it wrote, and the spending ledger must not store
    it.

    >>> schema = {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1}}, "required": ["days"]}
    >>> schema_violations({"days": 0}, schema)
    '$.days does not meet "minimum": 1'
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return "the answer contains a number or a character that JSON does not allow"
    found: Iterator[ValidationError] = Draft202012Validator(schema).iter_errors(value)  # pyright: ignore[reportUnknownMemberType]  its stubs
    faults = sorted(found, key=lambda fault: fault.json_path)
    return "; ".join(_violation(fault) for fault in faults[:_MAX_VIOLATIONS])


def _violation(fault: ValidationError) -> str:
    if fault.validator == "additionalProperties":
        return f"{fault.json_path} has a property that the schema does not name"
    return f"{fault.json_path} does not meet {json.dumps(fault.validator)}: {json.dumps(fault.validator_value)[:200]}"
