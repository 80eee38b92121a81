"""LangChain's retriever and chat history, used through LangChain's own interfaces, on a real file."""

# pyright: reportUnknownMemberType=false
# LangChain's own types are not complete.

from __future__ import annotations

import asyncio
import json
import runpy
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from remembrancer import Remembrancer
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.integrations.langchain import RemembrancerChatHistory, RemembrancerRetriever

EXAMPLE = Path(__file__).parents[2] / "examples" / "langchain_chat.py"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembrancer]:
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none", clock=lambda: START) as memory:
        yield memory


@pytest.fixture
def history(memory: Remembrancer) -> RemembrancerChatHistory:
    return RemembrancerChatHistory(memory, "monday")


CALL = AIMessage(
    content="", tool_calls=[{"name": "weather", "args": {"city": "Porto"}, "id": "c1", "type": "tool_call"}]
)
CHAT: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("How is the weather in Porto?\n", name="Ana"),
    CALL,
    ToolMessage("18 degrees", tool_call_id="c1"),
    AIMessage("18 degrees.", response_metadata={"model": "m"}, id="run-1"),
    HumanMessage(
        [{"type": "text", "text": "And here?"}, {"type": "image_url", "image_url": {"url": "https://x.test/a"}}]
    ),
    HumanMessage(" "),
    ChatMessage(content="Rather warm.", role="assistant"),
]


def test_a_document_has_the_memory_and_where_it_comes_from(memory: Remembrancer) -> None:
    stored = memory.remember("Ana takes the aisle seat", kind="preference", tags=["travel"], title="Seat")
    (document,) = RemembrancerRetriever(memory=memory).invoke("Which seat does Ana take?")
    assert (document.id, document.page_content) == (str(stored.id), "Ana takes the aisle seat")
    assert 0 < document.metadata.pop("score") <= 1
    document.metadata.pop("passage", None)
    assert document.metadata == {
        "id": str(stored.id),
        "time": START.isoformat(),
        "time_to": START.isoformat(),
        "speaker": stored.speaker,
        "kind": "preference",
        "title": "Seat",
        "tags": ["travel"],
        "session": None,
    }


def test_documents_are_json(memory: Remembrancer) -> None:
    memory.remember("Ana takes the aisle seat")
    (document,) = RemembrancerRetriever(memory=memory).invoke("Which seat does Ana take?")
    assert json.loads(document.model_dump_json())["metadata"] == document.metadata


def test_the_documents_are_those_of_recall_in_its_order(memory: Remembrancer) -> None:
    memory.remember_many(["Ana takes the aisle seat", "Ana takes the window seat by day", "A seat costs 9 euros"])
    documents = RemembrancerRetriever(memory=memory, k=2).invoke("Which seat does Ana take?")
    assert [one.id for one in documents] == [str(hit.id) for hit in memory.recall("Which seat does Ana take?", limit=2)]


def test_further_arguments_go_to_recall(memory: Remembrancer) -> None:
    memory.remember_many([{"text": "Ana takes the aisle seat", "tags": ["plane"]}, "Ana takes the window seat"])
    retriever = RemembrancerRetriever(memory=memory, arguments={"tags": ["plane"]})
    assert [one.page_content for one in retriever.invoke("Which seat?")] == ["Ana takes the aisle seat"]


def test_nothing_is_retrieved_if_nothing_answers(memory: Remembrancer) -> None:
    assert RemembrancerRetriever(memory=memory).invoke("Which seat does Ana take?") == []


def test_a_retriever_can_be_awaited(memory: Remembrancer) -> None:
    memory.remember("Ana takes the aisle seat")
    found = asyncio.run(RemembrancerRetriever(memory=memory).ainvoke("Which seat does Ana take?"))
    assert [one.page_content for one in found] == ["Ana takes the aisle seat"]


def test_the_number_of_documents_can_be_given_with_the_question(memory: Remembrancer) -> None:
    memory.remember_many(["Ana takes the aisle seat", "Ana takes the window seat by day"])
    retriever, question = RemembrancerRetriever(memory=memory), "Which seat does Ana take?"
    assert [len(retriever.invoke(question, k=k)) for k in (1, 2)] == [1, 2]
    assert len(asyncio.run(retriever.ainvoke(question, k=1))) == 1


def test_messages_come_back_as_they_were_added(history: RemembrancerChatHistory) -> None:
    history.add_messages(CHAT[:3])
    history.add_messages(CHAT[3:])
    assert history.messages == CHAT


def test_a_new_history_is_empty(history: RemembrancerChatHistory) -> None:
    assert history.messages == []


def test_a_streamed_message_comes_back_whole(history: RemembrancerChatHistory) -> None:
    history.add_message(AIMessageChunk(content="18 ") + AIMessageChunk(content="degrees"))
    assert [(type(one), one.content) for one in history.messages] == [(AIMessage, "18 degrees")]


def test_messages_of_a_session_are_turns_that_recall_finds(
    history: RemembrancerChatHistory, memory: Remembrancer
) -> None:
    history.add_messages([HumanMessage("I always take the aisle seat", name="Ana"), AIMessage("Noted.")])
    (event,) = memory.journal.list(query="aisle")
    assert (event.role, event.actor, event.scope.session) == ("user", "Ana", "monday")
    assert memory.recall("Which seat does Ana take?")[0].cue.text == "I always take the aisle seat"


def test_a_message_with_an_id_is_added_once(history: RemembrancerChatHistory) -> None:
    said = [HumanMessage("hello", id="1"), AIMessage("good morning", id="2")]
    history.add_messages(said)
    history.add_messages([*said, HumanMessage("hello", id="3")])
    assert [one.id for one in history.messages] == ["1", "2", "3"]


def test_a_message_without_an_id_is_added_at_every_call(history: RemembrancerChatHistory) -> None:
    history.add_user_message("yes")
    history.add_user_message("yes")
    assert [one.content for one in history.messages] == ["yes", "yes"]


def test_another_text_under_the_same_id_is_a_conflict_and_adds_nothing(history: RemembrancerChatHistory) -> None:
    history.add_message(HumanMessage("hello", id="1"))
    with pytest.raises(Conflict):
        history.add_messages([HumanMessage("new", id="2"), HumanMessage("goodbye", id="1")])
    assert [one.content for one in history.messages] == ["hello"]


def test_a_cleared_history_starts_anew_and_its_turns_are_still_recalled(
    history: RemembrancerChatHistory, memory: Remembrancer
) -> None:
    history.add_message(HumanMessage("I always take the aisle seat", id="1"))
    history.clear()
    assert history.messages == []
    history.add_message(HumanMessage("I always take the aisle seat", id="1"))
    assert [one.id for one in history.messages] == ["1"]
    assert memory.recall("Which seat do I take?").hits


def test_sessions_and_agents_have_their_own_histories(history: RemembrancerChatHistory, memory: Remembrancer) -> None:
    history.add_user_message("hello")
    assert RemembrancerChatHistory(memory, "tuesday").messages == []
    assert RemembrancerChatHistory(memory.scoped(agent="other"), "monday").messages == []
    RemembrancerChatHistory(memory.scoped(agent="other"), "monday").clear()
    assert len(history.messages) == 1


def test_what_was_recorded_otherwise_is_not_in_the_history(
    history: RemembrancerChatHistory, memory: Remembrancer
) -> None:
    memory.observe("a deploy failed", session="monday")
    assert history.messages == []


def test_a_message_with_too_much_beside_its_text_adds_nothing(history: RemembrancerChatHistory) -> None:
    with pytest.raises(InvalidInput, match="payload"):
        history.add_messages([HumanMessage("x"), AIMessage("y", additional_kwargs={"image": "x" * 70_000})])
    assert history.messages == []


def test_a_long_text_is_no_problem(history: RemembrancerChatHistory) -> None:
    history.add_user_message("long " * 20_000)
    assert history.messages[0].content == "long " * 20_000


def test_a_history_can_be_awaited(history: RemembrancerChatHistory) -> None:
    async def talk() -> list[BaseMessage]:
        await history.aadd_messages(CHAT)
        read = await history.aget_messages()
        await history.aclear()
        return read

    assert asyncio.run(talk()) == CHAT
    assert history.messages == []


def test_the_example_recalls_the_earlier_chat(tmp_path: Path) -> None:
    told = runpy.run_path(str(EXAMPLE))["main"](str(tmp_path / "langchain.db"))
    assert told == "Remembered: I always take the aisle seat"
