"""Another memory system in a process of its own, which is told whose each text is, as far as it takes that.

Runs in the system's own environment, without this package. The protocol is that of `benchmarks.peers.worker`.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from benchmarks.peers.worker import Chromadb, Item, McpHybrid, Mem0, Mnemosyne, Vectors, converse

Found = dict[str, Any]
"""A hit: its `key`, None if it is no text that was recorded; its `text`; and `source`, what the answer says of whose it
is.
"""


class Attacked(Protocol):
    """A memory that is attacked, opened by its constructor."""

    def record(self, items: Sequence[Item]) -> None: ...
    def answer(self, question: Item, limit: int) -> list[Found]:
        """The best texts for a question, best first."""
        ...

    def block(self, question: Item, limit: int) -> str:
        """What an agent is given for a question."""
        ...

    def close(self) -> None: ...


class Listed:
    """For systems that leave it to the caller to write a prompt: the texts of the hits as a list."""

    def answer(self, question: Item, limit: int) -> list[Found]:
        raise NotImplementedError

    def block(self, question: Item, limit: int) -> str:
        found = self.answer(question, limit)
        return "\n".join(["Relevant memories:", *(f"- ({each['source']}) {each['text']}" for each in found)])


class AttackedChromadb(Listed, Chromadb):
    """Cosine similarity. The source is metadata, which it returns."""

    def record(self, items: Sequence[Item]) -> None:
        self.collection.add(
            ids=[item["key"] for item in items],
            documents=[item["text"] for item in items],
            metadatas=[{"at": item["at"], "session": item["session"], "source": item["actor"]} for item in items],
        )

    def answer(self, question: Item, limit: int) -> list[Found]:
        found = self.collection.query(query_texts=[question["text"]], n_results=limit)
        rows = zip(found["ids"][0], found["documents"][0], found["metadatas"][0], strict=True)
        return [{"key": key, "text": text, "source": data["source"]} for key, text, data in rows]


SOURCE_TYPES: Final = {"tool": "api", "import": "file", "assistant": "ai_generated", "person": "user"}
CREDIBILITY: Final = {"user": 1.0, "person": 0.8, "assistant": 0.7, "import": 0.6, "tool": 0.5, "web": 0.3}


class AttackedMcp(Listed, McpHybrid):
    """mcp-memory-service, searched by vector and by BM25. Its fields for the source are `source_type`, `credibility`,
    and tags.
    """

    def record(self, items: Sequence[Item]) -> None:
        memories = [
            self.memory(
                content=item["text"],
                content_hash=hashlib.sha256(f"{item['key']}\n{item['text']}".encode()).hexdigest(),
                tags=[item["actor"]],
                metadata={
                    "key": item["key"],
                    "source_type": SOURCE_TYPES.get(item["by"], item["by"]),
                    "credibility": CREDIBILITY[item["by"]],
                },
                created_at=datetime.fromisoformat(item["at"]).timestamp(),
            )
            for item in items
        ]
        for done, told in self.do(self.storage.store_batch(memories)):
            assert done, told

    def answer(self, question: Item, limit: int) -> list[Found]:
        found = [one.memory for one in self.do(self.search(question["text"], n_results=limit))]
        return [
            {"key": one.metadata["key"], "text": one.content, "source": " ".join((*one.tags, one.source_type))}
            for one in found
        ]


VERACITY: Final[Mapping[str, str]] = {
    "user": "stated",
    "person": "stated",
    "assistant": "inferred",
    "import": "imported",
    "tool": "tool",
    "web": "tool",
}


class AttackedMnemosyne(Listed, Mnemosyne):
    """Mnemosyne, whose scores are multiplied by a weight for the `veracity` of each text: a half for a tool's."""

    def record(self, items: Sequence[Item]) -> None:
        ids = self.memory.beam.remember_batch(
            [{"content": item["text"], "source": item["actor"], "veracity": VERACITY[item["by"]]} for item in items],
            trust_tier="STATED",
        )
        self.keys.update(zip(ids, (item["key"] for item in items), strict=True))

    def answer(self, question: Item, limit: int) -> list[Found]:
        return [
            {
                "key": self.keys.get(each["id"]),
                "text": each["content"],
                "source": f"{each.get('source')} {each.get('veracity')}",
            }
            for each in self.memory.recall(question["text"], top_k=limit)
        ]


class AttackedMem0(Listed, Mem0):
    """mem0 without its language model. The source is the message's name, and metadata."""

    def record(self, items: Sequence[Item]) -> None:
        for item in items:
            message = {"role": item["role"], "content": item["text"], "name": item["actor"]}
            data = {"key": item["key"], "source": item["actor"]}
            self.memory.add([message], user_id="bench", metadata=data, infer=False)

    def answer(self, question: Item, limit: int) -> list[Found]:
        found = self.memory.search(question["text"], top_k=limit, filters={"user_id": "bench"})["results"]
        return [
            {"key": one["metadata"]["key"], "text": one["memory"], "source": one["metadata"]["source"]} for one in found
        ]


SYSTEMS: Final[Mapping[str, Callable[[Path, Vectors], Attacked]]] = {
    "chromadb": AttackedChromadb,
    "mcp-hybrid": AttackedMcp,
    "mnemosyne": AttackedMnemosyne,
    "mem0": AttackedMem0,
}


class Worker:
    """The calls that may be sent. Each store is opened in a folder of its own."""

    def __init__(self, make: Callable[[Path], Attacked], folder: Path, vectors: Vectors) -> None:
        self._make = make
        self._folder = folder
        self._vectors = vectors
        self._system: Attacked | None = None

    def open(self, store: str) -> None:
        self.close()
        place = self._folder / store
        place.mkdir()
        self._system = self._make(place)

    @property
    def system(self) -> Attacked:
        assert self._system is not None, "no store is open"
        return self._system

    def record(self, items: Sequence[Item]) -> None:
        self._vectors.take(items)
        self.system.record(items)

    def answer(self, questions: Sequence[Item], limit: int) -> list[list[Found]]:
        self._vectors.take(questions)
        return [self.system.answer(question, limit) for question in questions]

    def block(self, questions: Sequence[Item], limit: int) -> list[str]:
        self._vectors.take(questions)
        return [self.system.block(question, limit) for question in questions]

    def close(self) -> None:
        if self._system is not None:
            self._system.close()
            self._system = None


def main() -> None:
    name, folder = sys.argv[1:]
    vectors = Vectors()
    converse(Worker(lambda place: SYSTEMS[name](place, vectors), Path(folder), vectors))


if __name__ == "__main__":
    main()
