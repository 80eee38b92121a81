"""An agent of the OpenAI Agents SDK that recalls an earlier session: `pip install 'remembrancer[local,openai-agents]'`.

`Scripted` stands for a model, so that no key is needed; with one, leave out `model=`.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from remembrancer import Remembrancer
from remembrancer.integrations.openai_agents import RemembrancerSession, recall_tool


class Scripted(Model):
    """Asks the memory what the user asked, and says what it is told."""

    async def get_response(self, system_instructions: str | None, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002
        last = input[-1]
        if last.get("type") == "function_call_output":
            return _said(last["output"])
        if not last["content"].endswith("?"):
            return _said("Noted.")
        asked = json.dumps({"query": last["content"]})
        call = ResponseFunctionToolCall(name="recall", arguments=asked, call_id="1", type="function_call")
        return ModelResponse(output=[call], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def _said(text: str) -> ModelResponse:
    content = ResponseOutputText(text=text, type="output_text", annotations=[])
    message = ResponseOutputMessage(id="1", content=[content], role="assistant", status="completed", type="message")
    return ModelResponse(output=[message], usage=Usage(), response_id=None)


async def chat(memory: Remembrancer) -> str:
    agent = Agent(name="Travel", model=Scripted(), tools=[recall_tool(memory)])
    await Runner.run(agent, "I always take the aisle seat", session=RemembrancerSession(memory, "monday"))
    memory.jobs.index_now()
    answer = await Runner.run(agent, "Which seat do I always take?", session=RemembrancerSession(memory, "friday"))
    return str(answer.final_output)


def main(path: str = "openai-agents.db") -> str:
    set_tracing_disabled(disabled=True)
    with Remembrancer.open(path) as memory:
        return asyncio.run(chat(memory))


if __name__ == "__main__":
    print(main())
