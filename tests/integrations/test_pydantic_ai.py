"""The toolset for Pydantic AI, used by its agents with models of our own, on a real file."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from remembrancer import Remembrancer
from remembrancer.integrations.pydantic_ai import INSTRUCTIONS, RemembrancerToolset

EXAMPLE = Path(__file__).parents[2] / "examples" / "pydantic_ai_toolset.py"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembrancer]:
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none") as memory:
        yield memory


def answers(messages: list[ModelMessage]) -> list[str]:
    """What the tools answered, and why a call was refused, in order."""
    return [
        str(part.content)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


def told(memory: Remembrancer, tool: str, **arguments: Any) -> str:
    """What an agent is told whose model calls that tool once."""

    def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        found = answers(messages)
        return ModelResponse(parts=[TextPart(found[0]) if found else ToolCallPart(tool, arguments)])

    return asyncio.run(Agent(FunctionModel(model), toolsets=[RemembrancerToolset(memory)]).run("Go on")).output


def test_an_agent_recalls_a_block_marked_as_untrusted(memory: Remembrancer) -> None:
    memory.remember("Ana takes the aisle seat")
    query = "Which seat does Ana take?"
    assert told(memory, "recall", query=query) == memory.recall(query).block(ids=True).text


def test_an_agent_is_told_that_nothing_answers(memory: Remembrancer) -> None:
    assert told(memory, "recall", query="Which seat does Ana take?") == "No memory answers this."


def test_an_agent_remembers_as_an_assistant(memory: Remembrancer) -> None:
    answer = told(memory, "remember", text="Ana takes the aisle seat", kind="preference")
    (kept,) = memory.recent()
    assert (kept.text, kept.kind, kept.origin.value) == ("Ana takes the aisle seat", "preference", "assistant")
    assert answer == f"Remembered as {str(kept.id)[-8:]}."


def test_an_agent_corrects_a_memory_by_the_id_that_it_recalled(memory: Remembrancer) -> None:
    kept = memory.remember("Ana takes the aisle seat")
    told(memory, "update", memory_id=str(kept.id)[-8:], text="Ana takes the window seat")
    assert (memory.get(kept.id).text, memory.get(kept.id).revision) == ("Ana takes the window seat", 2)


def test_an_agent_retires_a_memory(memory: Remembrancer) -> None:
    kept = memory.remember("Ana takes the aisle seat")
    told(memory, "forget", memory_id=str(kept.id))
    assert len(memory.recall("Which seat does Ana take?")) == 0


def test_an_error_asks_the_model_to_try_again(memory: Remembrancer) -> None:
    assert told(memory, "forget", memory_id="00000000").startswith("no memory whose id ends with 00000000 here")


def test_errors_that_repeat_end_the_run(memory: Remembrancer) -> None:
    def model(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart("forget", {"memory_id": "00000000"})])

    agent = Agent(FunctionModel(model), toolsets=[RemembrancerToolset(memory)])
    with pytest.raises(UnexpectedModelBehavior):
        asyncio.run(agent.run("Go on"))


def test_the_memory_is_that_of_the_scope(memory: Remembrancer) -> None:
    memory.remember("Ana takes the aisle seat")
    other = memory.of_workspace("other")
    assert told(other, "recall", query="Which seat does Ana take?") == "No memory answers this."


def test_a_model_sees_four_tools_and_when_to_call_them(memory: Remembrancer) -> None:
    model = TestModel(call_tools=[])
    asyncio.run(Agent(model, toolsets=[RemembrancerToolset(memory)]).run("Go on"))
    seen = model.last_model_request_parameters
    assert seen is not None
    assert [tool.name for tool in seen.function_tools] == ["recall", "remember", "update", "forget"]
    assert all(tool.description for tool in seen.function_tools)
    assert INSTRUCTIONS in [part.content for part in seen.instruction_parts or ()]


def test_the_example_recalls_what_was_said_in_an_earlier_session(tmp_path: Path) -> None:
    program = f"import runpy; print(runpy.run_path({str(EXAMPLE)!r})['main']({str(tmp_path / 'example.db')!r}))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "aisle" in ran.stdout
