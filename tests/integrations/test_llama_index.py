"""The memory block for LlamaIndex, used by its `Memory` and its chat engine, on a real file."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# LlamaIndex's own types are not complete.

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from llama_index.core.utils import get_tokenizer
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from remembrancer import Remembrancer
from remembrancer.integrations.llama_index import RemembrancerMemoryBlock

EXAMPLE = Path(__file__).parents[2] / "examples" / "llama_index_memory.py"
QUESTION = "Which seat does Ana take?"
FACTS = ["Ana takes the aisle seat", "Ana takes the window seat by day", "Ana takes a seat at the table"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembrancer]:
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none") as memory:
        yield memory


@pytest.fixture
def block(memory: Remembrancer) -> RemembrancerMemoryBlock:
    return RemembrancerMemoryBlock(memory=memory)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def tokens_of(text: str) -> int:
    return len(cast("list[int]", get_tokenizer()(text)))


def recalled(block: RemembrancerMemoryBlock, *messages: ChatMessage) -> str:
    return asyncio.run(block.aget(list(messages)))


@pytest.fixture
def engine() -> Iterator[AsyncEngine]:
    """The database of LlamaIndex's short-term memory, which leaves its own open."""
    made = create_async_engine("sqlite+aiosqlite:///:memory:")
    yield made
    asyncio.run(made.dispose())


def chat_of(engine: AsyncEngine, block: RemembrancerMemoryBlock, tokens: int, ratio: float) -> Memory:
    """`tokens`: of the whole memory; `ratio`: the part of them for the messages of the chat."""
    return Memory(
        sql_store=SQLAlchemyChatStore(table_name="messages", async_engine=engine),
        session_id="monday",
        memory_blocks=[block],
        token_limit=tokens,
        token_flush_size=10,
        chat_history_token_ratio=ratio,
    )


def test_the_block_has_what_recall_finds_for_the_last_message_of_the_user(
    memory: Remembrancer, block: RemembrancerMemoryBlock
) -> None:
    memory.remember_many(FACTS)
    reply = ChatMessage(role="assistant", content="Wait.")
    assert recalled(block, user("Hello"), user(QUESTION), reply) == memory.recall(QUESTION).render()


@pytest.mark.parametrize("messages", [[], [user(" ")], [ChatMessage(role="assistant", content=QUESTION)]])
def test_the_block_is_empty_if_the_user_said_nothing(
    memory: Remembrancer, block: RemembrancerMemoryBlock, messages: list[ChatMessage]
) -> None:
    memory.remember_many(FACTS)
    assert recalled(block, *messages) == ""


def test_the_block_is_empty_if_nothing_answers(block: RemembrancerMemoryBlock) -> None:
    assert recalled(block, user(QUESTION)) == ""


def test_the_limits_are_those_of_the_block(memory: Remembrancer) -> None:
    memory.remember_many(FACTS)
    assert recalled(RemembrancerMemoryBlock(memory=memory, limit=1), user(QUESTION)).count("\n- ") == 1
    assert len(recalled(RemembrancerMemoryBlock(memory=memory, max_chars=300), user(QUESTION))) <= 300


def test_messages_are_turns_of_their_session(memory: Remembrancer, block: RemembrancerMemoryBlock) -> None:
    picture = ChatMessage(role="user", blocks=[TextBlock(text="See: "), ImageBlock(url="https://x.test/a")])
    call = ChatMessage(role="assistant", content="")
    spoken = [user(FACTS[0]), ChatMessage(role="tool", content="18 degrees"), picture, call]
    asyncio.run(block.aput(spoken, session_id="monday"))
    events = memory.journal.list(session="monday", oldest_first=True)
    said = [(one.role.value, one.text) for one in events]
    assert said == [("user", FACTS[0]), ("tool", "18 degrees"), ("user", "See: ")]


def test_messages_that_leave_the_short_term_memory_are_recalled(
    memory: Remembrancer, block: RemembrancerMemoryBlock, engine: AsyncEngine
) -> None:
    chat = chat_of(engine, block, tokens=400, ratio=0.1)
    chat.put_messages([user(FACTS[0]), ChatMessage(role="assistant", content="Noted.")])
    for number in range(8):
        chat.put_messages([user(f"Count to {number}"), ChatMessage(role="assistant", content=f"I am at {number}.")])
    first, *others = chat.get(input=QUESTION)
    assert FACTS[0] in str(first.content)
    assert FACTS[0] not in str(others)
    assert memory.journal.list(session="monday", oldest_first=True)[0].text == FACTS[0]


def test_a_truncated_block_has_fewer_memories_and_saves_the_tokens(
    memory: Remembrancer, block: RemembrancerMemoryBlock
) -> None:
    memory.remember_many(FACTS)
    whole = recalled(block, user(QUESTION))
    shorter = asyncio.run(block.atruncate(whole, 5))
    assert shorter is not None
    assert tokens_of(shorter) <= tokens_of(whole) - 5
    assert shorter.count("\n- ") < whole.count("\n- ")
    assert shorter.startswith(whole.split("\n- ")[0])
    assert shorter.endswith("</recalled-memory>")


def test_nothing_is_left_of_a_block_that_is_truncated_whole(
    memory: Remembrancer, block: RemembrancerMemoryBlock
) -> None:
    memory.remember_many(FACTS)
    assert asyncio.run(block.atruncate(recalled(block, user(QUESTION)), 10_000)) is None


def test_a_memory_without_room_shortens_the_block(
    memory: Remembrancer, block: RemembrancerMemoryBlock, engine: AsyncEngine
) -> None:
    memory.remember_many(FACTS)
    whole = recalled(block, user(QUESTION))
    chat = chat_of(engine, block, tokens=tokens_of(whole), ratio=0.9)
    chat.put(user("Hello, are you there?"))
    shown = str(chat.get(input=QUESTION)[0].content)
    assert 1 <= shown.count("\n- ") < whole.count("\n- ")


def test_a_chat_is_given_what_an_earlier_session_said(
    memory: Remembrancer, block: RemembrancerMemoryBlock, engine: AsyncEngine
) -> None:
    memory.observe(FACTS[0], session="sunday")
    chat = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=chat_of(engine, block, tokens=4_000, ratio=0.7))
    assert FACTS[0] in str(chat.chat(QUESTION))


def test_the_example_recalls_what_was_said_in_an_earlier_session(tmp_path: Path) -> None:
    program = f"import runpy; print(runpy.run_path({str(EXAMPLE)!r})['main']({str(tmp_path / 'example.db')!r}))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "aisle" in ran.stdout
