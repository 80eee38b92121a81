"""The memory service of Google's Agent Development Kit, used through its runner with a model of our own."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools.load_memory_tool import load_memory_tool
from google.adk.tools.preload_memory_tool import preload_memory_tool
from google.genai.types import Content, FunctionCall, Part

from remembrancer import Remembrancer
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.integrations.google_adk import RemembrancerMemoryService

EXAMPLE = Path(__file__).parents[2] / "examples" / "google_adk_memory.py"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
ANA: dict[str, Any] = {"app_name": "travel", "user_id": "ana"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembrancer]:
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none", clock=lambda: START) as memory:
        yield memory


@pytest.fixture
def service(memory: Remembrancer) -> RemembrancerMemoryService:
    return RemembrancerMemoryService(memory)


def event(text: str, *, author: str = "user", id: str = "e1", minute: int = 0) -> Event:  # noqa: A002  the field's name
    content = Content(role="user" if author == "user" else "model", parts=[Part(text=text)])
    return Event(id=id, author=author, content=content, timestamp=START.timestamp() - 3_600 + 60 * minute)


def session(*events: Event) -> Session:
    return Session(id="monday", events=list(events), **ANA)


def found(service: RemembrancerMemoryService, query: str, **whose: str) -> list[MemoryEntry]:
    return asyncio.run(service.search_memory(query=query, **{**ANA, **whose})).memories


def texts(entries: list[MemoryEntry]) -> list[str]:
    return [str(part.text) for entry in entries for part in entry.content.parts or ()]


class Scripted(BaseLlm):
    """A model that gives prepared answers, and keeps what it was asked."""

    answers: list[Content]
    asked: list[LlmRequest] = []  # noqa: RUF012  pydantic copies it

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.asked.append(llm_request.model_copy(deep=True))
        yield LlmResponse(content=self.answers.pop(0))


def said(text: str) -> Content:
    return Content(role="model", parts=[Part(text=text)])


async def talk(service: RemembrancerMemoryService, model: Scripted, text: str, tool: Any) -> None:
    sessions = InMemorySessionService()
    started = await sessions.create_session(**ANA)
    agent = LlmAgent(name="guide", model=model, tools=[tool])
    runner = Runner(app_name="travel", agent=agent, session_service=sessions, memory_service=service)
    message = Content(role="user", parts=[Part(text=text)])
    async for _ in runner.run_async(user_id="ana", session_id=started.id, new_message=message):
        pass


def test_the_turns_of_a_session_are_found(service: RemembrancerMemoryService) -> None:
    spoken = [event("I take the aisle seat"), event("Noted.", author="guide", id="e2", minute=1)]
    asyncio.run(service.add_session_to_memory(session(*spoken)))
    entry, *_ = found(service, "Which seat do I take?")
    assert texts([entry]) == ["I take the aisle seat"]
    assert (entry.author, entry.timestamp) == ("user", "2026-03-01T08:00:00+00:00")
    assert (entry.custom_metadata["session"], entry.custom_metadata["kind"]) == ("monday", "message")


def test_a_session_that_is_added_again_adds_its_new_events_only(
    memory: Remembrancer, service: RemembrancerMemoryService
) -> None:
    first, second = event("I take the aisle seat"), event("Noted.", author="guide", id="e2", minute=1)
    asyncio.run(service.add_session_to_memory(session(first)))
    asyncio.run(service.add_session_to_memory(session(first, second)))
    asyncio.run(service.add_events_to_memory(**ANA, events=[second], session_id="monday"))
    events = memory.of_workspace("default/travel/ana").journal.list(oldest_first=True)
    assert [(one.text, one.actor, one.role.value) for one in events] == [
        ("I take the aisle seat", None, "user"),
        ("Noted.", "guide", "assistant"),
    ]


def test_thoughts_and_events_without_text_are_no_turns(
    memory: Remembrancer, service: RemembrancerMemoryService
) -> None:
    call = Event(author="guide", content=Content(role="model", parts=[Part(function_call=FunctionCall(name="x"))]))
    thought = Event(author="guide", content=Content(role="model", parts=[Part(text="Hm.", thought=True)]))
    asyncio.run(service.add_session_to_memory(session(call, thought, Event(author="user"))))
    assert memory.of_workspace("default/travel/ana").journal.list() == ()


@pytest.mark.parametrize(
    "other", [{"user_id": "bo"}, {"app_name": "shop"}, {"app_name": "travel/ana", "user_id": ""}, {"user_id": "ANA"}]
)
def test_another_user_or_app_finds_nothing(service: RemembrancerMemoryService, other: dict[str, str]) -> None:
    asyncio.run(service.add_session_to_memory(session(event("I take the aisle seat"))))
    assert found(service, "Which seat do I take?", **other) == []


def test_a_slash_in_a_name_is_no_separator(service: RemembrancerMemoryService) -> None:
    spoken = Session(id="s", app_name="a/b", user_id="c", events=[event("I take the aisle seat")])
    asyncio.run(service.add_session_to_memory(spoken))
    assert found(service, "Which seat do I take?", app_name="a", user_id="b/c") == []
    assert len(found(service, "Which seat do I take?", app_name="a/b", user_id="c")) == 1


def test_an_entry_is_remembered_once_with_its_time_and_metadata(service: RemembrancerMemoryService) -> None:
    entry = MemoryEntry(
        id="m1",
        content=said("Ana takes the aisle seat"),
        author="guide",
        timestamp="2026-02-01T10:00:00",
        custom_metadata={"a": 1},
    )
    for _ in range(2):
        asyncio.run(service.add_memory(**ANA, memories=[entry], custom_metadata={"b": 2}))
    (kept,) = found(service, "Which seat does Ana take?")
    assert (kept.timestamp, kept.author) == ("2026-02-01T10:00:00+00:00", "guide")
    assert (kept.custom_metadata["a"], kept.custom_metadata["b"]) == (1, 2)


def test_an_entry_with_an_invalid_time_is_refused(service: RemembrancerMemoryService) -> None:
    entry = MemoryEntry(content=said("Ana takes the aisle seat"), timestamp="last week")
    with pytest.raises(InvalidInput, match="timestamp: 'last week' is not allowed; expected a time in ISO 8601"):
        asyncio.run(service.add_memory(**ANA, memories=[entry]))


def test_metadata_of_turns_are_refused(service: RemembrancerMemoryService) -> None:
    with pytest.raises(InvalidInput, match="custom_metadata"):
        asyncio.run(service.add_events_to_memory(**ANA, events=[event("x")], custom_metadata={"ttl": 1}))


def test_a_deleted_memory_is_not_found_even_if_its_event_is_added_again(service: RemembrancerMemoryService) -> None:
    spoken = session(event("I take the aisle seat"))
    asyncio.run(service.add_session_to_memory(spoken))
    (entry,) = found(service, "Which seat do I take?")
    asyncio.run(service.delete_memory(**ANA, memory_id=entry.id))
    asyncio.run(service.add_session_to_memory(spoken))
    assert found(service, "Which seat do I take?") == []


def test_the_memory_of_another_user_cannot_be_deleted(service: RemembrancerMemoryService) -> None:
    asyncio.run(service.add_session_to_memory(session(event("I take the aisle seat"))))
    (entry,) = found(service, "Which seat do I take?")
    with pytest.raises(NotFound):
        asyncio.run(service.delete_memory(app_name="travel", user_id="bo", memory_id=entry.id))
    assert len(found(service, "Which seat do I take?")) == 1


def test_the_limit_is_that_of_the_service(memory: Remembrancer) -> None:
    service = RemembrancerMemoryService(memory, limit=1)
    asyncio.run(
        service.add_session_to_memory(session(event("I take the aisle seat"), event("A seat is a seat", id="e2")))
    )
    assert len(found(service, "Which seat do I take?")) == 1


def test_an_agent_loads_the_memory_with_the_tool_of_the_kit(service: RemembrancerMemoryService) -> None:
    asyncio.run(service.add_session_to_memory(session(event("I take the aisle seat"))))
    call = Part(function_call=FunctionCall(name="load_memory", args={"query": "Which seat do I take?"}))
    model = Scripted(model="scripted", answers=[Content(role="model", parts=[call]), said("The aisle seat.")])
    asyncio.run(talk(service, model, "Book my seat", load_memory_tool))
    assert "I take the aisle seat" in model.asked[1].contents[-1].model_dump_json()


def test_an_agent_is_given_the_memory_with_the_preloading_tool_of_the_kit(service: RemembrancerMemoryService) -> None:
    asyncio.run(service.add_session_to_memory(session(event("I take the aisle seat"))))
    model = Scripted(model="scripted", answers=[said("The aisle seat.")])
    asyncio.run(talk(service, model, "Which seat do I take?", preload_memory_tool))
    assert "user: I take the aisle seat" in str(model.asked[0].contents)


def test_the_example_recalls_what_was_said_in_an_earlier_session(tmp_path: Path) -> None:
    assert "aisle" in runpy.run_path(str(EXAMPLE))["main"](str(tmp_path / "example.db"))
