"""One memory system in a process of its own: does what `benchmarks.peers.process` sends, and returns the cost.

Runs in the system's own environment, without this package. Lines of JSON come in and go out. Every text comes with its
vector, which the system gets through its embedding interface; a text without a vector is an error.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import sqlite3
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final, Protocol

Item = dict[str, Any]
"""A memory or a question: its `text` and its `at`; of a memory also `key`, `session`, `actor` and `role`."""
FULL_TEXT_WORD: Final = re.compile(r"\w+")


class System(Protocol):
    """A memory system, opened by its constructor. Keys are returned best first."""

    def write(self, items: Sequence[Item], *, together: bool) -> None:
        """Write in as few calls as the system allows, or one call each."""
        ...

    def recall(self, question: Item, limit: int) -> list[str]: ...
    def embedded(self, question: str) -> str:
        """The text that the system embeds for a question."""
        ...

    def close(self) -> None: ...


class Vectors:
    """The vectors of the texts of one request."""

    def __init__(self) -> None:
        self._of: dict[str, array[float]] = {}

    def take(self, items: Sequence[Item]) -> None:
        self._of = {item["text"]: _floats(item["vector"]) for item in items}

    def one(self, text: str) -> list[float]:
        return self._of[text].tolist()

    def all(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.one(text) for text in texts]


def _floats(packed: str) -> array[float]:
    vector = array("f")
    vector.frombytes(base64.b64decode(packed))
    return vector


class Peer:
    """What most systems share."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self.folder = folder
        self.vectors = vectors

    def embedded(self, question: str) -> str:
        return question

    def close(self) -> None: ...


# ── lower limits ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Numpy(Peer):
    """Exact cosine similarity over one array, saved as a file: the arithmetic that a search by meaning needs."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        super().__init__(folder, vectors)
        self.np = import_module("numpy")
        self.file, self.named = folder / "vectors.f32", folder / "keys.txt"
        self.keys: list[str] = []
        self.rows: Any = None

    def write(self, items: Sequence[Item], *, together: bool) -> None:
        """Append to both files, which the next recall reads."""
        for several in [items] if together else [[item] for item in items]:
            with self.file.open("ab") as file, self.named.open("a", encoding="utf-8") as named:
                file.write(self.np.array(self.vectors.all([item["text"] for item in several]), "f4").tobytes())
                named.write("".join(f"{item['key']}\n" for item in several))
        self.rows = None

    def recall(self, question: Item, limit: int) -> list[str]:
        asked = self.np.array(self.vectors.one(question["text"]), "f4")
        if self.rows is None:
            self.keys = self.named.read_text(encoding="utf-8").splitlines()
            self.rows = self.np.fromfile(self.file, dtype="f4").reshape(-1, len(asked))
        scores = self.rows @ asked
        limit = min(limit, len(scores))
        best = self.np.argpartition(-scores, limit - 1)[:limit]
        return [self.keys[place] for place in best[self.np.argsort(-scores[best])]]


class Sqlite(Peer):
    """Python's own SQLite driver: a row with the text and the vector, and a full-text row; BM25 over any word."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        super().__init__(folder, vectors)
        self.file = sqlite3.connect(folder / "rows.db", isolation_level=None)
        self.file.executescript(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = normal;"
            "CREATE TABLE IF NOT EXISTS memories (n INTEGER PRIMARY KEY, key TEXT, text TEXT, at TEXT, vector BLOB);"
            "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text, content = 'memories', content_rowid = 'n')"
        )

    def write(self, items: Sequence[Item], *, together: bool) -> None:
        for several in [items] if together else [[item] for item in items]:
            self.file.execute("BEGIN")
            (last,) = self.file.execute("SELECT coalesce(max(n), 0) FROM memories").fetchone()
            self.file.executemany(
                "INSERT INTO memories VALUES (?, ?, ?, ?, ?)",
                (
                    (n, item["key"], item["text"], item["at"], array("f", self.vectors.one(item["text"])).tobytes())
                    for n, item in enumerate(several, start=last + 1)
                ),
            )
            self.file.executemany(
                "INSERT INTO words (rowid, text) VALUES (?, ?)",
                ((n, item["text"]) for n, item in enumerate(several, start=last + 1)),
            )
            self.file.execute("COMMIT")

    def recall(self, question: Item, limit: int) -> list[str]:
        words = dict.fromkeys(FULL_TEXT_WORD.findall(question["text"].lower()))
        rows = self.file.execute(
            "SELECT key FROM words JOIN memories ON n = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), limit),
        )
        return [key for (key,) in rows]

    def close(self) -> None:
        self.file.close()


# ── other systems ────────────────────────────────────────────────────────────────────────────────────────────────────


class Chromadb(Peer):
    """A collection of a persistent client, with cosine distance; the embedding function gives the vectors."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        super().__init__(folder, vectors)
        chromadb = import_module("chromadb")

        class Given(chromadb.EmbeddingFunction):
            def __init__(self) -> None: ...

            def __call__(self, input: Any) -> Any:  # noqa: A002 - chromadb's name
                return vectors.all(input)

            @staticmethod
            def name() -> str:
                return "given"

            def get_config(self) -> dict[str, Any]:
                return {}

            @staticmethod
            def build_from_config(config: dict[str, Any]) -> Any:
                return Given()

        settings = chromadb.config.Settings(anonymized_telemetry=False)
        self.client = chromadb.PersistentClient(str(folder), settings=settings)
        self.collection = self.client.get_or_create_collection(
            "memories", embedding_function=Given(), configuration={"hnsw": {"space": "cosine"}}
        )

    def write(self, items: Sequence[Item], *, together: bool) -> None:
        for several in [items] if together else [[item] for item in items]:
            self.collection.add(
                ids=[item["key"] for item in several],
                documents=[item["text"] for item in several],
                metadatas=[{"at": item["at"], "session": item["session"], "actor": item["actor"]} for item in several],
            )

    def recall(self, question: Item, limit: int) -> list[str]:
        return self.collection.query(query_texts=[question["text"]], n_results=limit)["ids"][0]


class Langgraph(Peer):
    """The store of langgraph-checkpoint-sqlite, with an index over the text."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        super().__init__(folder, vectors)
        module = import_module("langgraph.store.sqlite")
        self.put = import_module("langgraph.store.base").PutOp
        index = {"dims": int(os.environ["PEER_DIM"]), "embed": vectors.all, "text_fields": ["text"]}
        self.opened = module.SqliteStore.from_conn_string(str(folder / "store.db"), index=index)
        self.store = self.opened.__enter__()
        self.store.setup()

    def write(self, items: Sequence[Item], *, together: bool) -> None:
        puts = [
            self.put(("memories",), item["key"], {"text": item["text"], "at": item["at"], "actor": item["actor"]})
            for item in items
        ]
        if together:
            self.store.batch(puts)
        else:
            for put in puts:
                self.store.put(put.namespace, put.key, put.value)

    def recall(self, question: Item, limit: int) -> list[str]:
        return [item.key for item in self.store.search(("memories",), query=question["text"], limit=limit)]

    def close(self) -> None:
        self.opened.__exit__(None, None, None)


class Mcp(Peer):
    """The storage of mcp-memory-service, searched by vector. Its model is replaced by one that gives the vectors."""

    HYBRID = False

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        super().__init__(folder, vectors)
        storage = import_module("mcp_memory_service.storage.sqlite_vec").SqliteVecMemoryStorage
        self.memory = import_module("mcp_memory_service.models.memory").Memory

        class Model:
            embedding_dimension = int(os.environ["PEER_DIM"])

            def encode(self, texts: Sequence[str], **_: Any) -> Any:
                return vectors.all(texts)

        class Storage(storage):
            async def _initialize_embedding_model(self) -> None:
                self.embedding_model, self.embedding_dimension = Model(), Model.embedding_dimension

        self.loop = asyncio.new_event_loop()
        self.storage = Storage(str(folder / "memory.db"))
        self.do(self.storage.initialize())
        self.search = self.storage.retrieve_hybrid if self.HYBRID else self.storage.retrieve

    def do(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def write(self, items: Sequence[Item], *, together: bool) -> None:
        memories = [
            self.memory(
                content=item["text"],
                content_hash=hashlib.sha256(f"{item['key']}\n{item['text']}".encode()).hexdigest(),
                tags=[item["actor"]],
                metadata={"key": item["key"]},
                created_at=datetime.fromisoformat(item["at"]).timestamp(),
            )
            for item in items
        ]
        if together:
            stored = self.do(self.storage.store_batch(memories))
        else:
            stored = [self.do(self.storage.store(memory, skip_semantic_dedup=True)) for memory in memories]
        for done, told in stored:
            assert done, told

    def recall(self, question: Item, limit: int) -> list[str]:
        found = self.do(self.search(question["text"], n_results=limit))
        return [each.memory.metadata["key"] for each in found]

    def close(self) -> None:
        self.do(self.storage.close())
        self.loop.close()


class McpHybrid(Mcp):
    """The same, searched by vector and by BM25."""

    HYBRID = True


class Mnemosyne(Peer):
    """Mnemosyne, with the function replaced that asks its embedding service over HTTP."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        super().__init__(folder, vectors)
        np, embeddings = import_module("numpy"), import_module("mnemosyne.core.embeddings")

        def embed(texts: Sequence[str]) -> Any:
            return np.array(vectors.all(texts), "f4")

        vars(embeddings)["_embed_api"] = embed
        module = import_module("mnemosyne.core.memory")
        self.memory = module.Mnemosyne(session_id="bench", db_path=folder / "mnemosyne.db")
        self.keys: dict[str, str] = {}

    def write(self, items: Sequence[Item], *, together: bool) -> None:
        if together:
            ids = self.memory.beam.remember_batch([{"content": item["text"]} for item in items])
        else:
            ids = [self.memory.remember(item["text"]) for item in items]  # None for a text that it filters out
        self.keys.update(zip(ids, (item["key"] for item in items), strict=True))

    def recall(self, question: Item, limit: int) -> list[str]:
        """Keys of what this process has written, else the system's own ids."""
        found = self.memory.recall(question["text"], top_k=limit)
        return [self.keys.get(each["id"]) or str(each["id"]) for each in found]


class Mem0(Peer):
    """mem0 over Qdrant in a folder, without its language model (`infer=False`).

    Its BM25 and its entities need models from a hub, so that it searches by vector alone here.
    """

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        super().__init__(folder, vectors)
        base = import_module("langchain.embeddings.base").Embeddings

        class Given(base):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return vectors.all(texts)

            def embed_query(self, text: str) -> list[float]:
                return vectors.one(text)

        dim = int(os.environ["PEER_DIM"])
        qdrant = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": dim}
        config = {
            "embedder": {"provider": "langchain", "config": {"model": Given(), "embedding_dims": dim}},
            "vector_store": {"provider": "qdrant", "config": qdrant},
            "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": "http://127.0.0.1:9/v1"}},
            "history_db_path": str(folder / "history.db"),
        }
        self.memory = import_module("mem0").Memory.from_config(config)

    def write(self, items: Sequence[Item], *, together: bool) -> None:
        """Each message is a call, because metadata belong to a call."""
        for item in items:
            message = {"role": item["role"], "content": item["text"], "name": item["actor"]}
            self.memory.add([message], user_id="bench", metadata={"key": item["key"]}, infer=False)

    def recall(self, question: Item, limit: int) -> list[str]:
        found = self.memory.search(question["text"], top_k=limit, filters={"user_id": "bench"})
        return [each["metadata"]["key"] for each in found["results"]]

    def close(self) -> None:
        self.memory.close()
        self.memory.vector_store.client.close()  # which mem0 leaves open


SYSTEMS: Final[dict[str, Callable[[Path, Vectors], System]]] = {
    "numpy": Numpy,
    "sqlite": Sqlite,
    "chromadb": Chromadb,
    "langgraph": Langgraph,
    "mcp": Mcp,
    "mcp-hybrid": McpHybrid,
    "mnemosyne": Mnemosyne,
    "mem0": Mem0,
}


# ── the process ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Worker:
    """The calls that may be sent. A cost is [seconds of wall-clock time, seconds of CPU time of the process]."""

    def __init__(self, make: Callable[[Path, Any], System], folder: Path, vectors: Vectors) -> None:
        self._make = make
        self._folder = folder
        self._vectors = vectors
        self._system: System | None = None

    @property
    def system(self) -> System:
        if self._system is None:
            self._system = self._make(self._folder, self._vectors)
        return self._system

    def warm(self, item: Item, limit: int) -> None:
        """Write and ask another store, so that all modules are loaded."""
        self._vectors.take([item])
        with tempfile.TemporaryDirectory() as folder:
            system = self._make(Path(folder), self._vectors)
            system.write([item], together=True)
            system.close()
            system = self._make(Path(folder), self._vectors)
            system.recall(item, limit)
            system.close()

    def first(self, question: Item, limit: int) -> list[float]:
        """Open the store and ask it a question."""
        self._vectors.take([question])
        return _timed(lambda: self.system.recall(question, limit))[1]

    def write(self, items: Sequence[Item], together: bool) -> list[float]:
        self._vectors.take(items)
        return _timed(lambda: self.system.write(items, together=together))[1]

    def recall(self, questions: Sequence[Item], limit: int) -> list[tuple[list[str], list[float]]]:
        self._vectors.take(questions)
        return [_timed(lambda question=question: self.system.recall(question, limit)) for question in questions]

    def embedded(self, questions: Sequence[str]) -> list[str]:
        return [self.system.embedded(question) for question in questions]

    def state(self) -> dict[str, Any]:
        """Resident memory in bytes, and the versions of all installed packages."""
        resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return {"resident": resident, "versions": {one.name: one.version for one in distributions()}}

    def close(self) -> None:
        self.system.close()


def _timed(work: Callable[[], Any]) -> tuple[Any, list[float]]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, [time.perf_counter() - wall, time.process_time() - cpu]


def serve(make: Callable[[Path, Any], System], folder: Path, vectors: Vectors) -> None:
    converse(Worker(make, folder, vectors))


def converse(worker: object) -> None:
    """Answer calls of a worker's methods until the input ends. What a package prints goes to the error stream, not
    between the answers.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        name, arguments = json.loads(line)
        print(json.dumps(getattr(worker, name)(**arguments)), file=answers, flush=True)


if __name__ == "__main__":
    serve(SYSTEMS[sys.argv[1]], Path(sys.argv[2]), Vectors())
