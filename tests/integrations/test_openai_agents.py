"""The session of the OpenAI Agents SDK, used through the SDK's runner with a model of our own, on a real file."""

from __future__ import annotations

import asyncio
import json
import runpy
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from agents import Agent, Model, ModelResponse, Runner, TResponseInputItem, Usage, function_tool, set_tracing_disabled
from agents.memory.session import Session
from agents.memory.session_settings import SessionSettings
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from remembrancer import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.integrations.openai_agents import RemembrancerSession, recall_tool

EXAMPLE = Path(__file__).parents[2] / "examples" / "openai_agents_session.py"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
set_tracing_disabled(True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembrancer]:
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none", clock=lambda: START) as memory:
        yield memory


@pytest.fixture
def session(memory: Remembrancer) -> RemembrancerSession:
    return RemembrancerSession(memory, "monday")


ITEMS = cast(
    "list[TResponseInputItem]",
    [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "How is the weather in Porto?\n"},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Porto"}', "id": "f1"},
        {"type": "function_call_output", "call_id": "c1", "output": "18 degrees"},
        {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "18 degrees.", "annotations": [], "logprobs": []}],
        },
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "And "},
                {"type": "input_image", "image_url": "https://x.test/a", "detail": "auto"},
                {"type": "input_text", "text": "here?"},
            ],
        },
        {"role": "user", "content": " "},
        {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "abc"},
    ],
)


class Scripted(Model):
    """A model that gives prepared outputs, and keeps what it was asked."""

    def __init__(self, *outputs: Any) -> None:
        self.outputs = list(outputs)
        self.asked: list[Any] = []

    async def get_response(self, system_instructions: str | None, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002  the SDK's name
        self.asked.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def run(agent: Agent[Any], asked: str, session: Session | None = None) -> Any:
    return asyncio.run(Runner.run(agent, asked, session=session))


def said(text: str) -> ResponseOutputMessage:
    content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
    return ResponseOutputMessage(
        id="m", content=cast("Any", content), role="assistant", status="completed", type="message"
    )


def called(tool: str, **arguments: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(name=tool, arguments=json.dumps(arguments), call_id="c1", type="function_call")


def test_it_is_a_session_of_the_sdk(session: RemembrancerSession) -> None:
    assert isinstance(session, Session)


def test_items_come_back_as_they_were_added(session: RemembrancerSession) -> None:
    asyncio.run(session.add_items(ITEMS[:3]))
    asyncio.run(session.add_items(ITEMS[3:]))
    assert asyncio.run(session.get_items()) == ITEMS


def test_adding_does_not_change_the_items_given(session: RemembrancerSession) -> None:
    before = json.dumps(ITEMS)
    asyncio.run(session.add_items(ITEMS))
    assert json.dumps(ITEMS) == before


def test_a_new_session_is_empty(session: RemembrancerSession) -> None:
    assert (asyncio.run(session.get_items()), asyncio.run(session.pop_item())) == ([], None)


@pytest.mark.parametrize(("limit", "expected"), [(2, ITEMS[-2:]), (0, []), (99, ITEMS), (None, ITEMS)])
def test_a_limit_gives_the_latest_items_oldest_first(
    session: RemembrancerSession, limit: int | None, expected: list[TResponseInputItem]
) -> None:
    asyncio.run(session.add_items(ITEMS))
    assert asyncio.run(session.get_items(limit)) == expected


def test_the_settings_limit_the_items_unless_a_limit_is_given(memory: Remembrancer) -> None:
    session = RemembrancerSession(memory, "monday", session_settings=SessionSettings(limit=1))
    asyncio.run(session.add_items(ITEMS))
    assert asyncio.run(session.get_items()) == ITEMS[-1:]
    assert asyncio.run(session.get_items(3)) == ITEMS[-3:]


def test_popping_gives_the_latest_item_and_removes_it(session: RemembrancerSession) -> None:
    asyncio.run(session.add_items(ITEMS))
    assert [asyncio.run(session.pop_item()) for _ in range(2)] == [ITEMS[-1], ITEMS[-2]]
    assert asyncio.run(session.get_items()) == ITEMS[:-2]


def test_items_popped_at_the_same_time_are_different_ones(session: RemembrancerSession) -> None:
    async def both() -> list[Any]:
        return [*await asyncio.gather(session.pop_item(), session.pop_item())]

    asyncio.run(session.add_items(ITEMS[:2]))
    assert asyncio.run(both()) == [ITEMS[1], ITEMS[0]]


def test_a_popped_item_is_no_longer_recalled(memory: Remembrancer, session: RemembrancerSession) -> None:
    asyncio.run(session.add_items([{"role": "user", "content": "Ana takes the aisle seat"}]))
    assert len(memory.recall("Which seat does Ana take?")) == 1
    asyncio.run(session.pop_item())
    assert len(memory.recall("Which seat does Ana take?")) == 0


def test_a_cleared_session_is_empty_and_what_was_said_is_still_recalled(
    memory: Remembrancer, session: RemembrancerSession
) -> None:
    asyncio.run(session.add_items([{"role": "user", "content": "Ana takes the aisle seat"}]))
    asyncio.run(session.clear_session())
    assert asyncio.run(session.get_items()) == []
    assert len(memory.recall("Which seat does Ana take?")) == 1
    asyncio.run(session.add_items(ITEMS[:1]))
    assert asyncio.run(session.get_items()) == ITEMS[:1]


def test_sessions_do_not_see_each_other(memory: Remembrancer, session: RemembrancerSession) -> None:
    asyncio.run(session.add_items(ITEMS))
    assert asyncio.run(RemembrancerSession(memory, "tuesday").get_items()) == []


def test_an_addition_with_an_invalid_item_adds_nothing(session: RemembrancerSession) -> None:
    with pytest.raises(InvalidInput):
        asyncio.run(session.add_items([*ITEMS[:2], {"role": "user", "content": "a\x00b"}]))
    assert asyncio.run(session.get_items()) == []


def test_the_roles_of_turns_are_those_of_the_items(memory: Remembrancer, session: RemembrancerSession) -> None:
    asyncio.run(session.add_items(ITEMS[:5]))
    events = memory.journal.list(session="monday", oldest_first=True)
    assert [(event.role.value, event.type) for event in events] == [
        ("system", "message"),
        ("user", "message"),
        ("assistant", "openai-agents.message"),
        ("tool", "message"),
        ("assistant", "message"),
    ]


def test_an_agent_is_given_the_earlier_turns_of_its_session(session: RemembrancerSession) -> None:
    model = Scripted(said("Noted."), said("The aisle seat."))
    agent = Agent(name="Travel", model=model)
    run(agent, "I always take the aisle seat", session=session)
    result = run(agent, "Which seat do I take?", session=session)
    assert result.final_output == "The aisle seat."
    assert [item.get("content") for item in model.asked[1] if item["role"] == "user"] == [
        "I always take the aisle seat",
        "Which seat do I take?",
    ]
    assert len(asyncio.run(session.get_items())) == 4


def test_calls_of_tools_and_their_results_are_kept_in_the_session(session: RemembrancerSession) -> None:
    @function_tool
    def weather(city: str) -> str:
        return f"18 degrees in {city}"

    agent = Agent(name="Weather", model=Scripted(called("weather", city="Porto"), said("18 degrees.")), tools=[weather])
    run(agent, "How is the weather in Porto?", session=session)
    kinds = [item.get("type", "message") for item in asyncio.run(session.get_items())]
    assert kinds == ["message", "function_call", "function_call_output", "message"]


def test_the_recall_tool_answers_with_a_block_marked_as_untrusted(memory: Remembrancer) -> None:
    memory.remember("Ana takes the aisle seat")
    model = Scripted(called("recall", query="Which seat does Ana take?"), said("The aisle seat."))
    run(Agent(name="Travel", model=model, tools=[recall_tool(memory)]), "Book a seat for Ana")
    [output] = [item["output"] for item in model.asked[1] if item.get("type") == "function_call_output"]
    assert output == memory.recall("Which seat does Ana take?").block(ids=True).text


def test_the_recall_tool_says_that_nothing_answers(memory: Remembrancer) -> None:
    model = Scripted(called("recall", query="Which seat does Ana take?"), said("I do not know."))
    run(Agent(name="Travel", model=model, tools=[recall_tool(memory)]), "Book a seat for Ana")
    [output] = [item["output"] for item in model.asked[1] if item.get("type") == "function_call_output"]
    assert output == "No memory answers this."


def test_the_example_recalls_what_was_said_in_an_earlier_session(tmp_path: Path) -> None:
    assert "aisle" in runpy.run_path(str(EXAMPLE))["main"](str(tmp_path / "example.db"))
