"""Recall beside Crewship's and Mnemosyne's own ways to recall: how long each takes, and what a memory takes on disk.

The same memories, with the same times, importance and vectors, are written once into a file of each way; all are asked
the same questions in the same run: warm, one at a time, ten hits wanted, in turns of some questions each, so that
whatever else the machine does meets them all. Ours is the whole recall, its hops between threads included. The others
stand at their best (benchmarks/others.py says how) and are given the question's vector, so the ratios are to ours
without its embedding. Ours has its index in memory; the others read their files, which the system has in memory too.

Crewship's code, unlike its documentation, looks at the newest 5,000 memories only: that stands as a row of its own.
"Right first" and recall@10 say how much of what exact arithmetic finds each way's vectors find, before anything else is
weighed. Bytes are those of our file as it was written, all its indexes included, and of the others' when vacuumed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Final, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.corpus import SIZES, Words, fill, open_memory
from benchmarks.others import Asked, Crewship, Kept, Mnemosyne, Row
from remembrancer import AsyncRemembrancer
from remembrancer.adapters.relational.sqlite.connection import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.compose import choose_embedder
from remembrancer.config import Settings
from remembrancer.domain.instants import moment
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.evaluation.machine import machine_line
from remembrancer.index.resident import ResidentIndex
from remembrancer.policies.admission.formation import analysed
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.index import SearchRequest

QUESTIONS: Final = 300
SCANNED: Final = 10_000_000
"""Rows that a way which reads all of them reads in a run: of 100,000 memories only 100 questions are asked."""
TURNS: Final = 5
LIMIT: Final = 10
NEWEST: Final = 5_000
RIGHT_FIRST: Final = 0.7
"""A way that looks at all memories and less often names the nearest first does not do what it says."""
CLAIMED: Final = "Mnemosyne's documentation says of itself: 85 ms median retrieval, about 2 kB an entry."


@dataclass(frozen=True, slots=True)
class Answer:
    """`embedding`: milliseconds of the question's embedding, where the way does that itself."""

    hits: int
    embedding: float = 0.0


class Way(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def searches_all(self) -> bool:
        """Whether it looks at every memory."""
        ...

    async def ask(self, asked: Asked) -> Answer: ...
    async def nearest(self, questions: Sequence[Asked]) -> list[Sequence[int]]:
        """For each question, numbers of memories, nearest first, by vectors alone; none where another way's are its."""
        ...


@dataclass(frozen=True, slots=True)
class Ours:
    rem: AsyncRemembrancer
    path: Path
    model: str
    number_of: Mapping[UUID, int]
    name: str = "ours"
    searches_all: bool = True

    async def ask(self, asked: Asked) -> Answer:
        recall = await self.rem.recall(asked.text, limit=LIMIT)
        assert not recall.degraded, recall.degraded
        return Answer(len(recall), recall.timings["embed"].total_seconds() * 1000)

    async def nearest(self, questions: Sequence[Asked]) -> list[Sequence[int]]:
        reader, index = Reader(self.rem.scope), ResidentIndex()
        request = SearchRequest(where=Filter(current_at=datetime.now(UTC)), depth=LIMIT, model=self.model)
        store = RelationalStore(SqliteFile(str(self.path)), analyse=analysed)
        try:
            found = [
                await store.read(
                    lambda view, vector=asked.vector: index.search(view, reader, request).candidates(vector)
                )
                for asked in questions
            ]
        finally:
            await store.close()
        return [
            [self.number_of[candidates.ids[place]] for place in np.argsort(candidates.dense_rank)]
            for candidates in found
        ]


@dataclass(frozen=True, slots=True)
class Other:
    name: str
    recall: Callable[[Asked], Sequence[Row]]
    by_vector: Callable[[NDArray[np.float32]], Sequence[int]] | None = None
    searches_all: bool = True

    async def ask(self, asked: Asked) -> Answer:
        return Answer(len(self.recall(asked)))

    async def nearest(self, questions: Sequence[Asked]) -> list[Sequence[int]]:
        return [] if self.by_vector is None else [self.by_vector(asked.vector) for asked in questions]


@dataclass(frozen=True, slots=True)
class Timed:
    """Of every question: how long in all and for its embedding, in milliseconds, and how many hits."""

    took: list[float] = field(default_factory=list[float])
    embedding: list[float] = field(default_factory=list[float])
    hits: list[int] = field(default_factory=list[int])


@dataclass(frozen=True, slots=True)
class Found:
    """How much of what exact arithmetic finds: how often the same memory first, what share of its first ten."""

    right_first: float
    recall: float


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table. Times in milliseconds; `bytes` on disk for each memory."""

    name: str
    times: Sequence[float]
    hits: float
    bytes: float
    found: Found | None

    @property
    def p50(self) -> float:
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.times, n=20)[-1]


@dataclass(frozen=True, slots=True)
class Compared:
    """`lines`: the first is ours without its embedding, to which the ratios are."""

    memories: int
    questions: int
    lines: tuple[Line, ...]


async def compare(size: int, embedder: Embedder, folder: Path) -> Compared:
    words = Words(seed=size)
    path = folder / "ours.db"
    await fill(path, words, size, embedder)
    bytes_each = {"ours": path.stat().st_size / size}
    ids, memories, vectors = _kept(path)
    async with AsyncExitStack() as stack:
        rem = await stack.enter_async_context(await open_memory(path, embedder))
        ways: list[Way] = [Ours(rem, path, embedder.model_id, {id_: n for n, id_ in enumerate(ids, start=1)})]
        for name, others in (("Crewship", _crewship), ("Mnemosyne", _mnemosyne)):
            file = folder / f"{name}.db"
            ways.extend(others(file, memories, vectors, stack))
            bytes_each[name] = file.stat().st_size / size
        warming, *questions = await _questions(rem, embedder, words, 1 + min(QUESTIONS, SCANNED // size))
        timed = await _time(ways, warming, questions)
        found = [_found(await way.nearest(questions), questions, vectors) for way in ways]
    for way, its in zip(ways, found, strict=True):
        assert its is None or not way.searches_all or its.right_first >= RIGHT_FIRST, f"{way.name}: {its}"
    return Compared(size, len(questions), tuple(_lines(ways, timed, found, bytes_each)))


def _crewship(path: Path, memories: Sequence[Kept], vectors: NDArray[np.float32], stack: AsyncExitStack) -> list[Way]:
    file = Crewship(path, memories, vectors)
    stack.callback(file.close)
    ways: list[Way] = [
        Other(
            "Crewship: reads all vectors",
            lambda asked: file.dense(asked, LIMIT),
            lambda vector: file.nearest(vector, LIMIT),
        ),
        Other("Crewship: the same + BM25", lambda asked: file.hybrid(asked, LIMIT)),
    ]
    if len(memories) > NEWEST:
        newest = Other(
            f"Crewship: reads the newest {NEWEST:,}",
            lambda asked: file.dense(asked, LIMIT, NEWEST),
            lambda vector: file.nearest(vector, LIMIT, NEWEST),
            searches_all=False,
        )
        ways.append(newest)
    return ways


def _mnemosyne(path: Path, memories: Sequence[Kept], vectors: NDArray[np.float32], stack: AsyncExitStack) -> list[Way]:
    file = Mnemosyne(path, memories, vectors)
    stack.callback(file.close)
    return [
        Other(
            "Mnemosyne: sqlite-vec + BM25",
            lambda asked: file.recall(asked, LIMIT),
            lambda vector: file.nearest(vector, LIMIT),
        )
    ]


def _kept(path: Path) -> tuple[list[UUID], list[Kept], NDArray[np.float32]]:
    """What our file holds, for the others to hold too."""
    connection = connect(str(path))
    rows = list(
        connection.execute(
            "SELECT m.id, m.text, m.session, m.occurred_to, m.importance, v.vector FROM memories m"
            " JOIN cues c ON c.memory = m.n JOIN embeddings v ON v.cue = c.n ORDER BY m.n"
        )
    )
    connection.close()
    memories = [
        Kept(number, text, session, moment(at), importance)
        for number, (_, text, session, at, importance, _) in enumerate(rows, start=1)
    ]
    vectors = np.frombuffer(b"".join(row[5] for row in rows), dtype="<f4").reshape(len(rows), -1)
    return [UUID(bytes=row[0]) for row in rows], memories, vectors.astype(np.float32)


async def _questions(rem: AsyncRemembrancer, embedder: Embedder, words: Words, count: int) -> list[Asked]:
    """So many questions, each with the vector that ours gives it."""
    asked: list[Asked] = []
    while len(asked) < count:
        question = words.question()
        recall = await rem.recall(question, limit=LIMIT)
        if not recall.degraded:  # where its script is not the embedder's, ours would compare words only
            asked.append(Asked(question, await embedder.embed_query(recall.trace.embedded)))
    return asked


async def _time(ways: Sequence[Way], warming: Asked, questions: Sequence[Asked]) -> list[Timed]:
    timed = [Timed() for _ in ways]
    # What another way has in memory must not cost this one: Python's collector would walk through it.
    gc.collect()
    gc.freeze()
    for turn in range(TURNS):
        for way, its in zip(ways, timed, strict=True):
            await way.ask(warming)  # the way before has filled the processor's caches with its own
            for asked in questions[turn::TURNS]:
                began = perf_counter()
                answer = await way.ask(asked)
                its.took.append((perf_counter() - began) * 1000)
                its.embedding.append(answer.embedding)
                its.hits.append(answer.hits)
    gc.unfreeze()
    return timed


def _found(nearest: Sequence[Sequence[int]], questions: Sequence[Asked], vectors: NDArray[np.float32]) -> Found | None:
    if not nearest:
        return None
    first, among = 0, 0
    for numbers, asked in zip(nearest, questions, strict=True):
        exact = (np.argsort(-(vectors @ asked.vector), kind="stable")[:LIMIT] + 1).tolist()
        first += numbers[0] == exact[0]
        among += len(set(numbers) & set(exact))
    return Found(first / len(questions), among / len(questions) / LIMIT)


def _lines(
    ways: Sequence[Way], timed: Sequence[Timed], found: Sequence[Found | None], bytes_each: Mapping[str, float]
) -> Iterator[Line]:
    for way, its, figures in zip(ways, timed, found, strict=True):
        hits, each = statistics.mean(its.hits), bytes_each[way.name.partition(":")[0]]
        if isinstance(way, Ours):
            searching = [took - embedding for took, embedding in zip(its.took, its.embedding, strict=True)]
            yield Line("ours", searching, hits, each, figures)
            yield Line("ours, embedding the question too", its.took, hits, each, None)
        else:
            yield Line(way.name, its.took, hits, each, figures)


def table(compared: Compared) -> Table:
    title = f"{compared.memories:,} memories, {compared.questions} questions (ms)"
    drawn = Table(title=title, title_justify="left")
    for heading in ("way", "p50", "p95", "p50 : ours", "bytes each", "hits", "right first", "recall@10"):
        drawn.add_column(heading, justify="left" if heading == "way" else "right")
    ours = compared.lines[0]
    for line in compared.lines:
        found = ("", "") if line.found is None else (f"{line.found.right_first:.3f}", f"{line.found.recall:.3f}")
        drawn.add_row(
            line.name,
            f"{line.p50:.2f}",
            f"{line.p95:.2f}",
            f"{line.p50 / ours.p50:.1f}",
            f"{line.bytes:,.0f}",
            f"{line.hits:.1f}",
            *found,
        )
    return drawn


async def run(sizes: Sequence[int]) -> list[Compared]:
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        return [await _in_a_folder(size, embedder) for size in sizes]
    finally:
        await embedder.close()


async def _in_a_folder(size: int, embedder: Embedder) -> Compared:
    with tempfile.TemporaryDirectory() as folder:
        return await compare(size, embedder, Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    sizes = parser.parse_args().sizes
    console = Console(width=120)
    console.print(machine_line())
    for compared in asyncio.run(run(sizes)):
        console.print(table(compared))
    console.print(CLAIMED)


if __name__ == "__main__":
    main()
