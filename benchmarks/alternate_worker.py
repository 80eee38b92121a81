"""One version of the package in a process of its own: does what `benchmarks.alternate` sends, and returns the cost.

Uses only what both versions have: the asynchronous facade, embedders as their port describes them, and the app of the
server.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from remembrancer import AsyncRemembrancer, EventDraft
from remembrancer.interfaces.http.app import Serving, build_app
from remembrancer.jobs.worker import Stop
from remembrancer.ports.embedder import Embedded, EmbeddedPassages, EmbeddedQuestion, Passage

DIM: Final = 384
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The clock shows this time in every call, because scores depend on it."""


class KnownVectors:
    """A random vector for each word; the vector of a text is their sum. Vectors are cached, so embedding a question
    costs nothing.
    """

    model_id = "known-vectors"
    dim = DIM
    computes = True

    def reads(self, text: str) -> bool:
        return True

    def query_now(self, text: str) -> NDArray[np.float32]:
        return self.question_now(text).vector

    @cache  # noqa: B019  there is one embedder in this process
    def question_now(self, text: str) -> EmbeddedQuestion:
        return EmbeddedQuestion(_unit(_words(text).sum(axis=0)), _words(text), tuple(text.split()))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.query_now(text)

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        return self.question_now(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        vectors = np.stack([_unit(_words(text).sum(axis=0)) for text in texts])
        return Embedded(vectors, np.zeros(len(texts), dtype=np.bool_))

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        plain = await self.embed_documents([passage.text for passage in passages])
        return EmbeddedPassages(plain.vectors, plain.truncated, tuple(_words(passage.text) for passage in passages))

    async def close(self) -> None: ...


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def _words(text: str) -> NDArray[np.float32]:
    return np.stack([_direction(word) for word in text.split()])


@cache
def _direction(word: str) -> NDArray[np.float32]:
    return _unit(np.random.default_rng(zlib.crc32(word.encode())).normal(size=DIM).astype(np.float32))


async def _timed(work: Callable[[], Awaitable[Any]]) -> tuple[Any, list[float]]:
    """The result, and the seconds of wall-clock time and of CPU time that it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = await work()
    return result, [time.perf_counter() - wall, time.process_time() - cpu]


class Worker:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rem: AsyncRemembrancer | None = None

    @property
    def rem(self) -> AsyncRemembrancer:
        assert self._rem is not None
        return self._rem

    async def open(self, *, vectors: bool) -> list[float]:
        """Open the file anew. Returns the cost of the first recall, which loads the index."""
        if self._rem is not None:
            await self._rem.close()
        self._rem = await AsyncRemembrancer.open(
            str(self._folder / "memory.db"),
            embedder=KnownVectors() if vectors else "none",
            settings={"background_index": False},
            clock=lambda: NOW,
        )
        return (await _timed(lambda: self.rem.recall("what was decided?")))[1]

    async def observe_many(self, events: Sequence[dict[str, Any]]) -> list[float]:
        drafts = [_draft(event) for event in events]
        return (await _timed(lambda: self.rem.observe_many(drafts)))[1]

    async def observe(self, events: Sequence[dict[str, Any]]) -> list[list[float]]:
        return [(await _timed(lambda event=event: self.rem.observe_many([_draft(event)])))[1] for event in events]

    async def observe_together(self, events: Sequence[dict[str, Any]]) -> list[float]:
        """Record events at the same time, each in a call of its own. Returns the cost of one."""
        calls = [self.rem.observe_many([_draft(event)]) for event in events]
        _, cost = await _timed(lambda: asyncio.gather(*calls))
        return [part / len(events) for part in cost]

    async def index(self) -> list[float]:
        """Index all pending cues. `index_now` is in another place in the oldest versions that may be compared."""
        index_now = getattr(self.rem, "index_now", None) or self.rem.jobs.index_now
        return (await _timed(index_now))[1]

    async def recall(self, questions: Sequence[str]) -> list[tuple[list[float], list[tuple[str, float]]]]:
        answers: list[tuple[list[float], list[tuple[str, float]]]] = []
        for question in questions:
            recalled, cost = await _timed(lambda question=question: self.rem.recall(question, limit=10))
            answers.append((cost, [(hit.memory.text, hit.score) for hit in recalled]))
        return answers

    async def over_http(self, questions: Sequence[str]) -> list[list[list[float]]]:
        """Ask each question in this process, and of the app of the server without a socket, which of the two first in
        turns. Returns what both cost.
        """
        key = (await self.rem.keys.create("benchmark", "read")).token
        app = build_app(self.rem, Serving(rate_limit=0), Stop())
        costs: list[list[list[float]]] = []
        async with app.router.lifespan_context(app):
            for question in [questions[0], *questions]:  # the first one twice: a new app has to load some modules
                ways = [partial(self.rem.recall, question, limit=10), partial(_posted, app, key, question)]
                order = (0, 1) if len(costs) % 2 else (1, 0)
                spent = {way: (await _timed(ways[way]))[1] for way in order}
                costs.append([spent[0], spent[1]])
        return costs[1:]

    async def export(self) -> list[float]:
        path = self._folder / "export.jsonl"
        path.unlink(missing_ok=True)
        return (await _timed(lambda: self.rem.export(path)))[1]


async def _posted(app: Any, key: str, question: str) -> None:
    """Send `/v1/recall` to an ASGI app. Raises ValueError for an answer without status 200."""
    body = json.dumps({"query": question, "limit": 10}).encode()
    headers = {"host": "localhost", "authorization": f"Bearer {key}", "content-type": "application/json"}
    headers["content-length"] = str(len(body))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/v1/recall",
        "raw_path": b"/v1/recall",
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 80),
    }
    bodies = [body]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": bodies.pop(), "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message.get("status", 200) != 200:
            raise ValueError(f"/v1/recall answers with status {message['status']}")

    await app(scope, receive, send)


def _draft(event: dict[str, Any]) -> EventDraft:
    fields: dict[str, Any] = {**event, "occurred_at": datetime.fromisoformat(event["occurred_at"])}
    return EventDraft(**fields)


async def main() -> None:
    logging.disable()  # the warning about the missing embedder is expected
    worker = Worker(Path(sys.argv[1]))
    for line in sys.stdin:
        name, arguments = json.loads(line)
        print(json.dumps(await getattr(worker, name)(**arguments)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
