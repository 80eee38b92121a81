"""A memory block of LlamaIndex's `Memory` over a memory: `pip install 'remembrancer[llama-index]'`.

from llama_index.core.memory import Memory
from remembrancer import Remembrancer
from remembrancer.integrations.llama_index import RemembrancerMemoryBlock

with Remembrancer.open("agent.db") as memory:
    chat = Memory.from_defaults(session_id="monday", memory_blocks=[RemembrancerMemoryBlock(memory=memory)])
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, cast

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer  # pyright: ignore[reportUnknownVariableType]  its own types are not complete
from pydantic import Field, PrivateAttr

from remembrancer import Remembrancer
from remembrancer.domain.recall import Recall

CHARS_PER_TOKEN: Final = 4
"""A block is made so much shorter for each token too many, and again while it is too long."""
MIN_CHARS: Final = 300
"""A shorter block has room for its frame alone."""
KEPT_ANSWERS: Final = 16
SESSION: Final = "session_id"
ROLES: Final[Mapping[MessageRole, str]] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
}


class RemembrancerMemoryBlock(BaseMemoryBlock[str]):
    """Messages that leave the short-term memory are recorded as turns of the session, and the block has what `recall`
    finds for the last message of the user: marked as untrusted, of at most `max_chars` characters, empty if nothing
    answers. `limit`: the most memories, from 1 to 200; None: the preset's. Earlier sessions are recalled too.

    `Memory` truncates blocks whose priority is not 0 if there is no room: the memories that rank lowest go first.
    """

    name: str = "remembered"
    priority: int = 1
    memory: Remembrancer
    limit: int | None = None
    max_chars: int = Field(default=4_000, ge=MIN_CHARS)
    _answers: dict[str, Recall] = PrivateAttr(default_factory=dict[str, Recall])
    """The newest answers by their blocks, from which shorter blocks are made."""

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        query = next((_text(one) for one in reversed(messages or []) if one.role is MessageRole.USER), "")
        if not query.strip():
            return ""
        return await asyncio.to_thread(self._recalled, query, self.max_chars)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        turns = [turn for message in messages if (turn := _turn(message))]
        if turns:
            await asyncio.to_thread(self.memory.observe_many, turns)

    async def atruncate(self, content: str | list[TextBlock], tokens_to_truncate: int) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]  Memory gives blocks
        """The block with fewer memories, which saves at least so many tokens; None if none is left."""
        text = content if isinstance(content, str) else "".join(block.text for block in content)
        answer = self._answers.get(text)
        if answer is None:
            return None
        return await asyncio.to_thread(_shortened, answer, text, tokens_to_truncate)

    def _recalled(self, query: str, max_chars: int) -> str:
        answer = self.memory.recall(query, limit=self.limit)
        text = answer.render(max_chars=max_chars)
        while len(self._answers) >= KEPT_ANSWERS:
            self._answers.pop(next(iter(self._answers)))
        self._answers[text] = answer
        return text


def _shortened(answer: Recall, text: str, tokens: int) -> str | None:
    most = _tokens(text) - tokens
    while text and (over := _tokens(text) - most) > 0:
        room = len(text) - CHARS_PER_TOKEN * over
        text = answer.render(max_chars=room) if room >= MIN_CHARS else ""
    return text or None


def _tokens(text: str) -> int:
    return len(cast("list[int]", get_tokenizer()(text)))


def _turn(message: ChatMessage) -> dict[str, Any] | None:
    text = _text(message)
    if not text.strip():
        return None
    session = message.additional_kwargs.get(SESSION)
    return {"text": text, "role": ROLES[message.role], "session": None if session is None else str(session)}


def _text(message: ChatMessage) -> str:
    """The texts of the message, without its images, files, and calls of tools."""
    return "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock))
