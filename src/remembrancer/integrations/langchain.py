"""LangChain's retriever and chat history over a memory: `pip install 'remembrancer[langchain]'`.

from remembrancer import Remembrancer
from remembrancer.integrations.langchain import RemembrancerChatHistory, RemembrancerRetriever

with Remembrancer.open("agent.db") as memory:
    documents = RemembrancerRetriever(memory=memory, k=5).invoke("Which seat does Ana take?")
    history = RemembrancerChatHistory(memory, "monday")
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, BaseMessageChunk, message_chunk_to_message, messages_from_dict
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from remembrancer import Remembrancer
from remembrancer.integrations.history import History

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun

    from remembrancer.domain.event import Event
    from remembrancer.domain.recall import Hit
    from remembrancer.domain.validation import JsonValue

NAME: Final = "langchain"
ROLES: Final[Mapping[str, str]] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}


class RemembrancerRetriever(BaseRetriever):
    """Documents are the memories that `recall` finds, best first; none if none answers. `k`: their greatest number,
    from 1 to 200, also as `invoke(query, k=3)`; None: the preset's. `arguments`: further arguments of `recall`, such as
    {"tags": ["travel"]}.

    A document's text is that of the memory. Its metadata are JSON: `id`, `score` in [0, 1], `time` and `time_to` (ISO
    8601), `speaker`, `kind`, `title`, `tags`, `session`, and `passage`: the turn that matched, where it is not the
    memory's own text. The asynchronous methods run in a thread.
    """

    memory: Remembrancer
    k: int | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        found = self.memory.recall(query, limit=self.k if k is None else k, **self.arguments)
        return [_document(hit) for hit in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return await asyncio.to_thread(self._get_relevant_documents, query, run_manager=run_manager.get_sync(), k=k)


class RemembrancerChatHistory(BaseChatMessageHistory):
    """The messages of one session are events in the journal, so that they are recalled, and episodes and facts are
    formed from them, as from all turns. They come back as they were added, oldest first.

    A message with an id is added once, whatever is repeated; one without an id is added at every call. An addition
    records all of its messages or none.

    `clear` starts the history anew. The messages before it stay in the journal and are still recalled;
    `memory.erase(session=…)` removes them for good. Messages that the memory has archived are left out. What a message
    has besides plain text (calls of tools, images, metadata) is at most 64 KiB of JSON. The asynchronous methods run in
    a thread.
    """

    def __init__(self, memory: Remembrancer, session: str) -> None:
        self._history = History(memory, session, NAME)

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride]  a property there too
        return messages_from_dict([self._kept(event) for event in self._history.events()])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        cleared = self._history.times_cleared() if any(message.id for message in messages) else 0
        self._history.add(_drafted(message, cleared) for message in messages)

    def clear(self) -> None:
        self._history.clear()

    def _kept(self, event: Event) -> dict[str, Any]:
        kept = cast("Mapping[str, Any]", self._history.kept(event))
        return {"type": kept["type"], "data": {"content": event.text, **kept["data"]}}


def _document(hit: Hit) -> Document:
    memory = hit.memory
    metadata: dict[str, object] = {
        "id": str(memory.id),
        "score": hit.score,
        "time": memory.occurred_from.isoformat(),
        "time_to": memory.occurred_to.isoformat(),
        "speaker": memory.speaker,
        "kind": memory.kind,
        "title": memory.title,
        "tags": list(memory.tags),
        "session": memory.scope.session,
    }
    if hit.cue.text != memory.text:
        metadata["passage"] = hit.cue.text
    return Document(id=str(memory.id), page_content=memory.text, metadata=metadata)


def _drafted(message: BaseMessage, times_cleared: int) -> dict[str, Any]:
    """The message as `History.add` takes it. The text is stored once: the message beside it has none, unless it has
    other parts than text.
    """
    whole = message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message
    text = str(whole.text)
    data = cast("dict[str, JsonValue]", whole.model_dump(mode="json"))
    if text.strip() and whole.content == text:
        del data["content"]
    calls = ", ".join(str(call["name"]) for call in getattr(whole, "tool_calls", ()))
    return {
        "text": text,
        "instead": f"calls {calls}" if calls else f"a message of type {whole.type} without text",
        "role": ROLES.get(whole.type) or _role(whole),
        "actor": whole.name or None,
        "kept": {"type": whole.type, "data": data},
        "key": _key(whole.id, times_cleared) if whole.id else None,
    }


def _role(message: BaseMessage) -> str:
    """The role of a ChatMessage, which may be any word."""
    role = str(getattr(message, "role", ""))
    return ROLES.get(role, role if role in ROLES.values() else "user")


def _key(message_id: str, times_cleared: int) -> str:
    """The key under which a message is recorded once. A cleared history may have it again."""
    return f"langchain:{times_cleared}:{hashlib.sha256(message_id.encode('utf-8', 'surrogatepass')).hexdigest()}"
