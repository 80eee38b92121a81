"""The requests of one task: tried again where that may help, counted, and cut off in time."""

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

from remembrancer.adapters.endpoints import said_by, said_in
from remembrancer.adapters.llm.service import LlmService
from remembrancer.ports.language_model import NoAnswer, Usage
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

Sleep = Callable[[float], Awaitable[None]]
"""Waits so many seconds."""

# What another try may mend: too many requests, an overloaded or failing server, a cut connection, a slow answer.
_PASSING: Final = (ModelRateLimitError, ModelUnavailableError, ModelServerError, ModelConnectionError)

# What reading an answer of quite another shape comes to, where pydantic-ai does not look first.
_UNREADABLE: Final = (AssertionError, AttributeError, LookupError, TypeError, ValueError)

WAITS: Final = (1.0, 2.0, 4.0)
"""Seconds before each further try, where the provider names none. A task has no more tries than these."""

LONGEST_WAIT: Final = 60.0
"""Seconds. A provider that names more is not waited for: the task is better left for another time."""


@dataclass
class Tally:
    """What a task has used up so far."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0

    def count(self, response: ModelResponse, service: LlmService) -> None:
        used = response.usage
        self.input_tokens += used.input_tokens
        self.output_tokens += used.output_tokens
        cost = cost_of(response, service)
        self.cost = None if self.cost is None or cost is None else self.cost + cost

    @property
    def usage(self) -> Usage:
        return Usage(
            requests=self.requests,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost=self.cost,
        )


class Tries(WrapperModel):
    """A model that is asked again after a passing failure, for as long as one task has.

    Raises NoAnswer, and for an answer that is cut off or declined what pydantic-ai has for that.
    """

    def __init__(self, wrapped: Model, service: LlmService, *, where: str, deadline: float, sleep: Sleep) -> None:
        """`where` names the model in messages; `deadline` is on the event loop's clock."""
        super().__init__(wrapped)
        self.tally = Tally()
        self.problem = ""
        """What was found wrong with the last answer that came; empty: nothing, or nothing yet."""
        self._service = service
        self._where = where
        self._deadline = deadline
        self._sleep = sleep
        self._waits = iter(WAITS)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        while True:
            self.tally.requests += 1
            try:
                async with asyncio.timeout(self._service.timeout):
                    response = await self.wrapped.request(messages, model_settings, model_request_parameters)
            except TimeoutError as error:
                await self._wait(None, f"did not answer within {self._service.timeout:g} s", error)
            except ModelAPIError as error:
                # What a service says of a key may hold it: of an answer nothing is shown but what is told here.
                cause = None if isinstance(error, ModelHTTPError) else error
                if not isinstance(error, _PASSING):
                    raise self._failure(self._told(error)) from cause
                await self._wait(error.retry_after, self._told(error), cause)
            except ContentFilterError:
                raise
            except (UnexpectedModelBehavior, *_UNREADABLE) as error:
                raise self._failure(f"answered unlike its protocol ({self._short(said_by(error))})") from error
            else:
                self.problem = ""
                self.tally.count(response, self._service)
                return self._whole(response)

    async def _wait(self, asked_for: float | None, said: str, cause: Exception | None) -> None:
        """Until the next try. Raises NoAnswer where there is none, or not in the time that is left."""
        usual = next(self._waits, None)
        if usual is None:
            raise self._failure(f"{said}, after {len(WAITS) + 1} tries") from cause
        wait = usual if asked_for is None else asked_for
        left = self._deadline - asyncio.get_running_loop().time()
        if wait > min(LONGEST_WAIT, left):
            later = "" if asked_for is None else f"; it asks to be called again in {asked_for:.0f} s"
            raise self._failure(f"{said}{later}") from cause
        await self._sleep(wait)

    def _whole(self, response: ModelResponse) -> ModelResponse:
        if response.finish_reason == "length":
            # What was there in time may read as a whole object, and lack its end.
            raise OutputTokenLimitExceeded(f"the answer was cut off after {response.usage.output_tokens} tokens")
        if response.finish_reason == "content_filter":
            raise ContentFilterError("the model declined to answer, or its provider did for it")
        return response

    def _told(self, error: ModelAPIError) -> str:
        if isinstance(error, ModelHTTPError):
            said = said_in(error.body) if error.body else ""
            words = f"answered {error.status_code}" + (f": {self._short(said)}" if said else "")
            return f"{words}; is the API key right?" if isinstance(error, ModelAuthenticationError) else words
        if isinstance(error, ModelTimeoutError):
            return f"did not answer in time ({self._short(said_by(error))})"
        if isinstance(error, ModelConnectionError) and error.phase == "connect":
            return f"cannot be reached ({self._short(said_by(error))}): is it running there?"
        if isinstance(error, ModelConnectionError):
            return f"did not finish its answer ({self._short(said_by(error))})"
        return f"answered unlike its protocol ({self._short(said_by(error))})"

    def _short(self, said: str) -> str:
        """On one line and without the key, cut to its length."""
        said = said.replace(self._service.key, "***") if self._service.key else said
        return " ".join(said.split())[:200]

    def _failure(self, said: str) -> NoAnswer:
        return NoAnswer(f"{self._where}: {said}", self.tally.usage)


def cost_of(response: ModelResponse, service: LlmService) -> float | None:
    """In US dollars: by the service's prices, else, at the provider's own address, by those that genai-prices knows.

    None where neither is known, or the answer does not say how many tokens it used.
    """
    if response.usage.unmeasured_requests:
        return None
    if service.prices is not None:
        return service.prices.of(response.usage.input_tokens, response.usage.output_tokens)
    if service.url is not None or service.provider == "ollama":
        return None  # somebody else's price, if any
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError):
        return None
