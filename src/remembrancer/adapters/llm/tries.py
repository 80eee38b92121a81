"""The requests of one task: retries after transient failures, usage totals, and the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    OutputTokenLimitExceeded,
    UnexpectedModelBehavior,
)
from pydantic_ai.models.wrapper import WrapperModel

from remembrancer.adapters.endpoints import error_text, service_message
from remembrancer.adapters.llm.service import LlmService
from remembrancer.ports.language_model import ModelUsage, NoAnswer
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

SleepFunction = Callable[[float], Awaitable[None]]
"""Waits for a number of seconds."""

# Transient failures: too many requests, an overloaded or failing server, a lost connection, a timeout.
_TRANSIENT: Final = (ModelRateLimitError, ModelUnavailableError, ModelServerError, ModelConnectionError)

# Exceptions that pydantic-ai lets through when an answer has an unexpected structure.
_UNREADABLE: Final = (AssertionError, AttributeError, LookupError, TypeError, ValueError)

RETRY_WAITS: Final = (1.0, 2.0, 4.0)
"""Seconds before each retry, unless the provider names a time. This also limits the number of retries per task."""

LONGEST_WAIT: Final = 60.0
"""The longest accepted wait, in seconds. If a provider asks for a longer wait, the task fails instead and can be run
later.
"""


@dataclass
class UsageTotals:
    """The usage of a task so far."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0

    def count(self, response: ModelResponse, service: LlmService) -> None:
        """Add one answer's usage. The cost becomes None when one answer's cost is unknown."""
        used = response.usage
        self.input_tokens += used.input_tokens
        self.output_tokens += used.output_tokens
        cost = cost_of(response, service)
        self.cost = None if self.cost is None or cost is None else self.cost + cost

    @property
    def usage(self) -> ModelUsage:
        return ModelUsage(
            requests=self.requests,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost=self.cost,
        )


class RetryingModel(WrapperModel):
    """A model that repeats a request after a transient failure, until the retries or the task's time are used up.

    Raises NoAnswer when it gives up, and pydantic-ai's own exceptions for an answer that is cut off or declined.
    """

    def __init__(
        self, wrapped: Model, service: LlmService, *, where: str, deadline: float, sleep: SleepFunction
    ) -> None:
        """`where` names the model in messages; `deadline` is a time of the event loop's clock."""
        super().__init__(wrapped)
        self.totals = UsageTotals()
        self.problem = ""
        """The problem of the last answer; empty if it is valid or there was no answer yet."""
        self._service = service
        self._where = where
        self._deadline = deadline
        self._sleep = sleep
        self._waits = iter(RETRY_WAITS)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        while True:
            self.totals.requests += 1
            try:
                async with asyncio.timeout(self._service.timeout):
                    response = await self.wrapped.request(messages, model_settings, model_request_parameters)
            except TimeoutError as error:
                await self._wait(None, f"did not answer within {self._service.timeout:g} s", error)
            except ModelAPIError as error:
                # A service's message about a key may contain the key, so the original exception is not chained.
                cause = None if isinstance(error, ModelHTTPError) else error
                if not isinstance(error, _TRANSIENT):
                    raise self._failure(self._failure_text(error)) from cause
                await self._wait(error.retry_after, self._failure_text(error), cause)
            except ContentFilterError:
                raise
            except (UnexpectedModelBehavior, *_UNREADABLE) as error:
                raise self._failure(f"answered against its protocol ({self._masked(error_text(error))})") from error
            else:
                self.problem = ""
                self.totals.count(response, self._service)
                return self._require_complete(response)

    async def _wait(self, asked_for: float | None, said: str, cause: Exception | None) -> None:
        """Wait before the next try. Raises NoAnswer when no retry is left, or the wait would exceed the
        remaining time.
        """
        usual = next(self._waits, None)
        if usual is None:
            raise self._failure(f"{said}, after {len(RETRY_WAITS) + 1} tries") from cause
        wait = usual if asked_for is None else asked_for
        left = self._deadline - asyncio.get_running_loop().time()
        if wait > min(LONGEST_WAIT, left):
            later = "" if asked_for is None else f"; it asks to be called again in {asked_for:.0f} s"
            raise self._failure(f"{said}{later}") from cause
        await self._sleep(wait)

    def _require_complete(self, response: ModelResponse) -> ModelResponse:
        if response.finish_reason == "length":
            # A cut answer may still parse as a complete object.
            raise OutputTokenLimitExceeded(f"the answer was cut off after {response.usage.output_tokens} tokens")
        if response.finish_reason == "content_filter":
            raise ContentFilterError("the model or its provider refused to answer")
        return response

    def _failure_text(self, error: ModelAPIError) -> str:
        if isinstance(error, ModelHTTPError):
            said = service_message(error.body) if error.body else ""
            words = f"answered {error.status_code}" + (f": {self._masked(said)}" if said else "")
            return f"{words}; is the API key right?" if isinstance(error, ModelAuthenticationError) else words
        if isinstance(error, ModelTimeoutError):
            return f"did not answer in time ({self._masked(error_text(error))})"
        if isinstance(error, ModelConnectionError) and error.phase == "connect":
            return f"cannot be reached ({self._masked(error_text(error))}): is it running there?"
        if isinstance(error, ModelConnectionError):
            return f"did not finish its answer ({self._masked(error_text(error))})"
        return f"answered against its protocol ({self._masked(error_text(error))})"

    def _masked(self, said: str) -> str:
        """The text on one line, with the key masked, cut to 200 characters."""
        said = said.replace(self._service.key, "***") if self._service.key else said
        return " ".join(said.split())[:200]

    def _failure(self, said: str) -> NoAnswer:
        return NoAnswer(f"{self._where}: {said}", self.totals.usage)


def cost_of(response: ModelResponse, service: LlmService) -> float | None:
    """The answer's cost in US dollars, from the service's prices, else from genai-prices at the provider's default
    address.

    None when neither price is known, or the answer does not report its tokens.
    """
    if response.usage.unmeasured_requests:
        return None
    if service.prices is not None:
        return service.prices.of(response.usage.input_tokens, response.usage.output_tokens)
    if service.url is not None or service.provider == "ollama":
        return None  # another vendor's prices
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError):
        return None
