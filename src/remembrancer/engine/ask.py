"""Asking the language model. Every call is written to the ledger, with its cost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from remembrancer.domain.spending import ModelCall, Outcome
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.jobs import MAX_ERROR_CHARS
from remembrancer.ports.language_model import Answer, JsonObject, ModelUsage, NoAnswer, Task

if TYPE_CHECKING:
    from remembrancer.domain.scope import Scope
    from remembrancer.engine.context import Context

T = TypeVar("T")

# no request was sent
_NOTHING: Final = ModelUsage(requests=0, input_tokens=0, output_tokens=0, cost=0.0)


async def ask_for(
    ctx: Context,
    scope: Scope,
    read: Callable[[JsonObject], T | str],
    *,
    purpose: str,
    instructions: str,
    material: str,
    schema: JsonObject,
    max_tokens: int = 2048,
) -> T | str:
    """Ask the model for a value. `read` returns the value of an answer, or a text that says what is wrong with it; the
    model then gets that text and tries again.

    Returns the value, or what is wrong with the last answer. The other arguments are those of `Task`. Raises as `ask`
    does.
    """

    def check(value: JsonObject) -> str:
        said = read(value)
        return said if isinstance(said, str) else ""

    answer = await ask(
        ctx,
        scope,
        Task(
            purpose=purpose,
            instructions=instructions,
            material=material,
            schema=schema,
            check=check,
            max_tokens=max_tokens,
        ),
    )
    return answer.problem if answer.value is None else read(answer.value)


async def ask(ctx: Context, scope: Scope, task: Task) -> Answer:
    """Give the model a task, and add a row to the workspace's ledger, whether the call succeeds or not.

    An invalid answer is returned with `value` None. Raises ModelUnavailable if there is no model or it does not answer,
    and StoreUnavailable if the ledger cannot be written. A cancelled call is not in the ledger, because its cost is
    unknown.
    """
    if ctx.llm is None:
        raise ModelUnavailable(ctx.without_llm)
    llm, at, start = ctx.llm, ctx.clock(), ctx.stopwatch()

    async def write_down(outcome: Outcome, used: ModelUsage, error: str) -> None:
        call = ModelCall(
            at=at,
            purpose=task.purpose,
            model=llm.model_id,
            outcome=outcome,
            requests=used.requests,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            took=timedelta(seconds=ctx.stopwatch() - start),
            cost=used.cost,
            error=error[:MAX_ERROR_CHARS],
        )
        await ctx.store.log_call(scope, call)

    try:
        answer = await llm.answer(task)
    except ModelUnavailable as error:
        await write_down(Outcome.FAILED, error.usage if isinstance(error, NoAnswer) else _NOTHING, str(error))
        raise
    await write_down(Outcome.UNUSABLE if answer.value is None else Outcome.ANSWERED, answer.usage, answer.problem)
    return answer
