"""Recall time and disk space compared with the documented recall of Crewship and Mnemosyne.

The same memories, with the same times, importances and vectors, are written once into a file per method. All methods
answer the same questions in one process: warm, one at a time, ten hits, alternating between methods every few
questions, so that disturbances of the machine affect all of them. OurMethod is the complete recall, including thread
switches. The others are implemented for speed (see benchmarks/others.py) and receive the question's vector, so ratios
are relative to ours without the embedding. Our index is in memory; the others read files that are in the system's page
cache.

Crewship's code, unlike its documentation, searches the newest 5,000 memories only; that is a row of its own. "Right
first" and recall@10 compare each method's vector search with exact arithmetic, before other signals. Disk space: our
file as written, with all indexes; the others' after vacuuming.
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
from benchmarks.others import Crewship, EmbeddedQuestion, Mnemosyne, Row, StoredMemory
from remembrancer import AsyncRemembrancer
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.compose import choose_embedder
from remembrancer.config import Settings
from remembrancer.domain.instants import moment
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.evaluation.machine import machine_line
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.index import SearchRequest
from remembrancer.ports.quantised import vector_of

QUESTIONS: Final = 300
SCANNED: Final = 10_000_000
"""Rows read in total by a method that reads all rows per question: with 100,000 memories, 100 questions are asked."""
TURNS: Final = 5
LIMIT: Final = 10
NEWEST: Final = 5_000
RIGHT_FIRST: Final = 0.7
"""A method that searches all memories must return the exact nearest one first at least this often; otherwise the
benchmark fails, because the method is implemented wrongly.
"""
CLAIMED: Final = "Mnemosyne's documentation says of itself: 85 ms median retrieval, about 2 kB an entry."


@dataclass(frozen=True, slots=True)
class Answer:
    """`embedding`: milliseconds to embed the question, for methods that do so."""

    hits: int
    embedding: float = 0.0


class RecallMethod(Protocol):
    """A recall method."""

    @property
    def name(self) -> str: ...
    @property
    def searches_all(self) -> bool:
        """Whether it searches every memory."""
        ...

    async def ask(self, asked: EmbeddedQuestion) -> Answer: ...
    async def nearest(self, questions: Sequence[EmbeddedQuestion]) -> list[Sequence[int]]:
        """For each question, numbers of memories by vector similarity alone, nearest first; empty for a method that
        shares its vector search with another one.
        """
        ...


@dataclass(frozen=True, slots=True)
class OurMethod:
    rem: AsyncRemembrancer
    path: Path
    model: str
    number_of: Mapping[UUID, int]
    name: str = "ours"
    searches_all: bool = True

    async def ask(self, asked: EmbeddedQuestion) -> Answer:
        recall = await self.rem.recall(asked.text, limit=LIMIT)
        assert not recall.degraded, recall.degraded
        return Answer(len(recall), recall.timings["embed"].total_seconds() * 1000)

    async def nearest(self, questions: Sequence[EmbeddedQuestion]) -> list[Sequence[int]]:
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
class OtherMethod:
    name: str
    recall: Callable[[EmbeddedQuestion], Sequence[Row]]
    by_vector: Callable[[NDArray[np.float32]], Sequence[int]] | None = None
    searches_all: bool = True

    async def ask(self, asked: EmbeddedQuestion) -> Answer:
        return Answer(len(self.recall(asked)))

    async def nearest(self, questions: Sequence[EmbeddedQuestion]) -> list[Sequence[int]]:
        return [] if self.by_vector is None else [self.by_vector(asked.vector) for asked in questions]


@dataclass(frozen=True, slots=True)
class Timings:
    """For each question: total time and embedding time in milliseconds, and number of hits."""

    took: list[float] = field(default_factory=list[float])
    embedding: list[float] = field(default_factory=list[float])
    hits: list[int] = field(default_factory=list[int])


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement with exact vector search: share of questions with the same first memory, and share of its first ten
    found.
    """

    right_first: float
    recall: float


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row of the table. Times in milliseconds; `bytes`: on disk per memory."""

    name: str
    times: Sequence[float]
    hits: float
    bytes: float
    found: Agreement | None

    @property
    def p50(self) -> float:
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.times, n=20)[-1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`lines`: the first is ours without the embedding, the reference of the ratios."""

    memories: int
    questions: int
    lines: tuple[ResultRow, ...]


async def compare(size: int, embedder: Embedder, folder: Path) -> Comparison:
    words = Words(seed=size)
    path = folder / "ours.db"
    await fill(path, words, size, embedder)
    bytes_each = {"ours": path.stat().st_size / size}
    ids, memories, vectors = _stored(path)
    async with AsyncExitStack() as stack:
        rem = await stack.enter_async_context(await open_memory(path, embedder))
        methods: list[RecallMethod] = [
            OurMethod(rem, path, embedder.model_id, {id_: n for n, id_ in enumerate(ids, start=1)})
        ]
        for name, others in (("Crewship", _crewship), ("Mnemosyne", _mnemosyne)):
            file = folder / f"{name}.db"
            methods.extend(others(file, memories, vectors, stack))
            bytes_each[name] = file.stat().st_size / size
        warming, *questions = await _questions(rem, embedder, words, 1 + min(QUESTIONS, SCANNED // size))
        timed = await _time(methods, warming, questions)
        found = [_agreement(await method.nearest(questions), questions, vectors) for method in methods]
    for method, its in zip(methods, found, strict=True):
        assert its is None or not method.searches_all or its.right_first >= RIGHT_FIRST, f"{method.name}: {its}"
    return Comparison(size, len(questions), tuple(_lines(methods, timed, found, bytes_each)))


def _crewship(
    path: Path, memories: Sequence[StoredMemory], vectors: NDArray[np.float32], stack: AsyncExitStack
) -> list[RecallMethod]:
    file = Crewship(path, memories, vectors)
    stack.callback(file.close)
    methods: list[RecallMethod] = [
        OtherMethod(
            "Crewship: reads all vectors",
            lambda asked: file.dense(asked, LIMIT),
            lambda vector: file.nearest(vector, LIMIT),
        ),
        OtherMethod("Crewship: the same + BM25", lambda asked: file.hybrid(asked, LIMIT)),
    ]
    if len(memories) > NEWEST:
        newest = OtherMethod(
            f"Crewship: reads the newest {NEWEST:,}",
            lambda asked: file.dense(asked, LIMIT, NEWEST),
            lambda vector: file.nearest(vector, LIMIT, NEWEST),
            searches_all=False,
        )
        methods.append(newest)
    return methods


def _mnemosyne(
    path: Path, memories: Sequence[StoredMemory], vectors: NDArray[np.float32], stack: AsyncExitStack
) -> list[RecallMethod]:
    file = Mnemosyne(path, memories, vectors)
    stack.callback(file.close)
    return [
        OtherMethod(
            "Mnemosyne: sqlite-vec + BM25",
            lambda asked: file.recall(asked, LIMIT),
            lambda vector: file.nearest(vector, LIMIT),
        )
    ]


def _stored(path: Path) -> tuple[list[UUID], list[StoredMemory], NDArray[np.float32]]:
    """The memories and vectors in our file, to be written into the others' files."""
    connection = connect(str(path))
    rows = list(
        connection.execute(
            "SELECT m.id, m.text, m.session, m.occurred_to, m.importance, v.vector, v.dim FROM memories m"
            " JOIN cues c ON c.memory = m.n JOIN embeddings v ON v.cue = c.n ORDER BY m.n"
        )
    )
    connection.close()
    memories = [
        StoredMemory(number, text, session, moment(at), importance)
        for number, (_, text, session, at, importance, *_) in enumerate(rows, start=1)
    ]
    return [UUID(bytes=row[0]) for row in rows], memories, np.array([vector_of(row[5], row[6]) for row in rows])


async def _questions(rem: AsyncRemembrancer, embedder: Embedder, words: Words, count: int) -> list[EmbeddedQuestion]:
    """`count` questions with the vectors that our recall uses."""
    asked: list[EmbeddedQuestion] = []
    while len(asked) < count:
        question = words.question()
        recall = await rem.recall(question, limit=LIMIT)
        if not recall.degraded:  # without an embedding, ours would be lexical-only
            asked.append(EmbeddedQuestion(question, await embedder.embed_query(recall.trace.embedded)))
    return asked


async def _time(
    methods: Sequence[RecallMethod], warming: EmbeddedQuestion, questions: Sequence[EmbeddedQuestion]
) -> list[Timings]:
    timed = [Timings() for _ in methods]
    # Exclude existing objects from garbage collection, so that one method's memory does not slow down another.
    gc.collect()
    gc.freeze()
    for turn in range(TURNS):
        for method, its in zip(methods, timed, strict=True):
            await method.ask(warming)  # the method before has filled the CPU caches with its data
            for asked in questions[turn::TURNS]:
                began = perf_counter()
                answer = await method.ask(asked)
                its.took.append((perf_counter() - began) * 1000)
                its.embedding.append(answer.embedding)
                its.hits.append(answer.hits)
    gc.unfreeze()
    return timed


def _agreement(
    nearest: Sequence[Sequence[int]], questions: Sequence[EmbeddedQuestion], vectors: NDArray[np.float32]
) -> Agreement | None:
    if not nearest:
        return None
    first, among = 0, 0
    for numbers, asked in zip(nearest, questions, strict=True):
        exact = (np.argsort(-(vectors @ asked.vector), kind="stable")[:LIMIT] + 1).tolist()
        first += numbers[0] == exact[0]
        among += len(set(numbers) & set(exact))
    return Agreement(first / len(questions), among / len(questions) / LIMIT)


def _lines(
    methods: Sequence[RecallMethod],
    timed: Sequence[Timings],
    found: Sequence[Agreement | None],
    bytes_each: Mapping[str, float],
) -> Iterator[ResultRow]:
    for method, its, figures in zip(methods, timed, found, strict=True):
        hits, each = statistics.mean(its.hits), bytes_each[method.name.partition(":")[0]]
        if isinstance(method, OurMethod):
            searching = [took - embedding for took, embedding in zip(its.took, its.embedding, strict=True)]
            yield ResultRow("ours", searching, hits, each, figures)
            yield ResultRow("ours, embedding the question too", its.took, hits, each, None)
        else:
            yield ResultRow(method.name, its.took, hits, each, figures)


def table(compared: Comparison) -> Table:
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


async def run(sizes: Sequence[int]) -> list[Comparison]:
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        return [await _in_a_folder(size, embedder) for size in sizes]
    finally:
        await embedder.close()


async def _in_a_folder(size: int, embedder: Embedder) -> Comparison:
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
