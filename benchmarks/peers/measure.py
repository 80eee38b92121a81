"""Writes, recalls and what they find, of every system in one run.

Each size is written in blocks and asked in blocks, the systems in turn, so that other work on the machine affects all
alike. CPU time is that of the system's process with all its threads, while a call runs. Texts and vectors are the same
for all.
"""

from __future__ import annotations

import base64
import statistics
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import EMBEDDED, Words
from benchmarks.peers.ours import RealTexts
from benchmarks.peers.process import Measurable, PeerFailed, Running
from remembrancer.config import Settings
from remembrancer.evaluation.budget import pack_block
from remembrancer.evaluation.dataset import Dataset, Transcript
from remembrancer.evaluation.memory_system import MemorySystem
from remembrancer.evaluation.metrics import DEPTHS
from remembrancer.evaluation.run import judge
from remembrancer.evaluation.summary import summarise
from remembrancer.evaluation.system import MeasuredBlock, System, TurnOutcome
from remembrancer.ports.embedder import Embedder, Passage, token_embedder

LIMIT: Final = 10
BLOCK: Final = 250
"""Memories written at once."""
SINGLY: Final = 50
"""Memories written in a call each, after the others."""
QUESTIONS: Final = 100
TURN: Final = 5
"""Questions that a system answers before it is the next one's turn."""
FIRSTS: Final = 3
"""Processes that open the store; the median counts."""

Told = Callable[[str], None]
Item = dict[str, Any]


@dataclass(slots=True)
class Costs:
    """Wall-clock and CPU seconds, and what they were for."""

    wall: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])

    def add(self, cost: Sequence[float]) -> None:
        self.wall.append(cost[0])
        self.cpu.append(cost[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Figures of one system at one size. `cpu_*`: milliseconds of CPU; `wall_*`: milliseconds.

    `together`, `singly`: memories written a second of CPU. `first_*`: from opening the store to the first answer, with
    the modules loaded. `bytes`: on disk, a memory. `resident`: megabytes after the questions; for ours,
    with the embedding model. `error`: why there are no figures.
    """

    system: str
    size: int
    cpu_p50: float = 0.0
    wall_p50: float = 0.0
    wall_p95: float = 0.0
    together: float = 0.0
    singly: float = 0.0
    first_wall: float = 0.0
    first_cpu: float = 0.0
    bytes: float = 0.0
    resident: float = 0.0
    hits: float = 0.0
    version: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a system finds: means over the questions that have an answer."""

    system: str
    recall: float = 0.0
    any: float = 0.0
    ndcg: float = 0.0
    error: str = ""


async def real_texts(embedder: Embedder, count: int = EMBEDDED) -> RealTexts:
    words, reading = Words(seed=1), token_embedder(embedder)
    assert reading is not None, "the default preset keeps the vectors of words"
    embedded = await reading.embed_passages([Passage(words.text()) for _ in range(count)])
    return RealTexts(embedded.vectors, embedded.token_embeddings)


def packed(vector: NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


# ── writes and recalls ───────────────────────────────────────────────────────────────────────────────────────────────


class Run:
    """The processes of one size. A system that fails is dropped with its error; the others go on."""

    def __init__(self, size: int, places: Mapping[Measurable, Callable[[], Running]], tell: Told) -> None:
        self.size = size
        self.errors: dict[Measurable, str] = {}
        self.folders: dict[Measurable, Path] = {}
        self._places = places
        self._tell = tell
        self._running: dict[Measurable, Running] = {}

    @property
    def systems(self) -> list[Measurable]:
        """Those that run. A copy, because some may be dropped meanwhile."""
        return list(self._running)

    def start(self, warming: Item) -> None:
        """A new process for every system that has not failed, with its modules loaded."""
        self._running = {system: start() for system, start in self._places.items() if system not in self.errors}
        self.folders = {system: running.folder for system, running in self._running.items()}
        for _ in self.each("warm", item=warming, limit=LIMIT):
            pass

    def each(self, name: str, **arguments: Any) -> Iterator[tuple[Measurable, Any]]:
        """Send a call to every system, and yield its answer."""
        for system in self.systems:
            for answer in self.only(system, name, **arguments):
                yield system, answer

    def only(self, system: Measurable, name: str, **arguments: Any) -> Iterator[Any]:
        """Send a call to one system, and yield its answer; nothing if it fails."""
        try:
            answer = self._running[system].do(name, **arguments)
        except PeerFailed as error:
            self.drop(system, str(error))
        else:
            yield answer

    def drop(self, system: Measurable, reason: str) -> None:
        self._tell(f"{system.label} with {self.size:,} memories: {reason}")
        self.errors[system] = reason
        self._running.pop(system).kill()

    def close(self) -> None:
        for system in self.systems:
            try:
                self._running[system].close()
            except PeerFailed as error:
                self.drop(system, str(error))
        self._running = {}


@dataclass(slots=True)
class Figures:
    """What one system cost at one size."""

    together: Costs = field(default_factory=Costs)
    singly: Costs = field(default_factory=Costs)
    firsts: Costs = field(default_factory=Costs)
    recalls: Costs = field(default_factory=Costs)
    hits: list[int] = field(default_factory=list[int])
    bytes: float = 0.0

    def speed(self, system: Measurable, size: int, state: Mapping[str, Any]) -> Speed:
        return Speed(
            system=system.label,
            size=size,
            cpu_p50=statistics.median(self.recalls.cpu) * 1000,
            wall_p50=statistics.median(self.recalls.wall) * 1000,
            wall_p95=statistics.quantiles(self.recalls.wall, n=20)[-1] * 1000,
            together=size / sum(self.together.cpu),
            singly=SINGLY / sum(self.singly.cpu),
            first_wall=statistics.median(self.firsts.wall) * 1000,
            first_cpu=statistics.median(self.firsts.cpu) * 1000,
            bytes=self.bytes,
            resident=state["resident"] / 1e6,
            hits=statistics.mean(self.hits),
            version=state["versions"].get(system.versioned, ""),
        )


def speeds(
    size: int,
    places: Mapping[Measurable, Callable[[], Running]],
    real: RealTexts,
    embed: Callable[[str], NDArray[np.float32]],
    *,
    fill_seconds: float,
    tell: Told,
    questions: int = QUESTIONS,
) -> list[Speed]:
    """Every system at one size. `fill_seconds`: of CPU; a system that needs more to be filled is left out, which is
    told.
    """
    words, run, figures = Words(seed=size), Run(size, places, tell), {system: Figures() for system in places}
    items = partial(_items, words, real, np.random.default_rng(size))
    asked = [words.question() for _ in range(FIRSTS + questions)]
    warming = items(range(1))[0] | {"embedded": asked[0]}

    run.start(warming)
    _write(run, figures, items, fill_seconds)
    embedded = dict(run.each("embedded", questions=asked))
    run.close()
    tell(f"{size:,} memories: written")
    for system, folder in run.folders.items():
        figures[system].bytes = _bytes(folder) / (size + SINGLY)

    vectors = [packed(embed(question)) for question in asked]
    of_system = {
        system: [
            {"text": text, "vector": vector, **({"embedded": read} if system.ours else {})}
            for text, vector, read in zip(asked, vectors, texts, strict=True)
        ]
        for system, texts in embedded.items()
    }
    for opened in range(FIRSTS):
        run.close()
        run.start(warming)
        for system in run.systems:
            for cost in run.only(system, "first", question=of_system[system][opened], limit=LIMIT):
                figures[system].firsts.add(cost)
    for begin in range(FIRSTS, FIRSTS + questions, TURN):
        for system in run.systems:
            several = of_system[system][begin : begin + TURN]
            for keys, cost in chain.from_iterable(run.only(system, "recall", questions=several, limit=LIMIT)):
                figures[system].hits.append(len(keys))
                figures[system].recalls.add(cost)
    states = dict(run.each("state"))
    run.close()
    tell(f"{size:,} memories: asked")
    return [
        Speed(system=system.label, size=size, error=run.errors[system])
        if system in run.errors
        else figures[system].speed(system, size, states[system])
        for system in places
    ]


def _write(
    run: Run, figures: Mapping[Measurable, Figures], items: Callable[[range], list[Item]], fill_seconds: float
) -> None:
    for begin in range(0, run.size, BLOCK):
        several = items(range(begin, min(begin + BLOCK, run.size)))
        for system, cost in run.each("write", items=several, together=True):
            figures[system].together.add(cost)
            if sum(figures[system].together.cpu) > fill_seconds and begin + BLOCK < run.size:
                run.drop(system, f"stopped after {begin + BLOCK:,} with more than {fill_seconds:g} s of CPU")
    for begin in range(run.size, run.size + SINGLY, TURN):
        several = items(range(begin, begin + TURN))
        for system, cost in run.each("write", items=several, together=False):
            figures[system].singly.add(cost)


def _items(words: Words, real: RealTexts, chance: np.random.Generator, numbers: range) -> list[Item]:
    events = [words.event(number) for number in numbers]
    vectors = real.moved([event.text for event in events], chance)
    return [
        {
            "key": f"m{number}",
            "text": event.text,
            "at": str(event.occurred_at),
            "actor": event.actor,
            "role": ("user", "assistant")[number % 2],
            "session": event.session,
            "vector": packed(vector),
        }
        for number, event, vector in zip(numbers, events, vectors, strict=True)
    ]


def _bytes(folder: Path) -> int:
    """The size of all files; their write-ahead logs are emptied when a store is closed."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# ── what they find ───────────────────────────────────────────────────────────────────────────────────────────────────


async def found(
    dataset: Dataset,
    systems: Sequence[Measurable],
    start: Callable[[Measurable, str], Running],
    embedder: Embedder,
    *,
    tell: Told,
) -> list[Found]:
    """Ask every system the questions of every conversation, each conversation in a store of its own.

    Ours is asked by `remembrancer.evaluation`, as `remembrancer eval` does; the others get the turns' texts and their
    vectors by the same model.
    """
    results, vectors = list[Found](), KnownVectors(embedder)
    with tempfile.TemporaryDirectory() as folder:
        for system in systems:
            tell(f"{system.label}: labelled questions")
            embedded = "local" if system.vectors else "none"
            settings = Settings(db=f"{folder}/{system.name}.db", embedder=embedded, background_index=False)
            asked: System = (
                MemorySystem(settings, embedder if system.vectors else None)
                if system.ours
                else PeerSystem(system, start, vectors)
            )
            try:
                (outcomes,) = await judge(dataset, [asked], depth=DEPTHS[-1])
            except PeerFailed as error:
                tell(f"{system.label}, questions: {error}")
                results.append(Found(system=system.label, error=str(error)))
                continue
            values = summarise(outcomes, dataset.categories, seed=0).main.turn.values
            results.append(
                Found(
                    system=system.label,
                    recall=values[f"recall@{LIMIT}"],
                    any=values[f"any@{LIMIT}"],
                    ndcg=values[f"ndcg@{LIMIT}"],
                )
            )
    return results


class KnownVectors:
    """The vectors of the embedder, packed; each text is embedded once for all systems."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._documents: dict[tuple[str, ...], list[str]] = {}
        self._questions: dict[str, str] = {}

    async def of_documents(self, texts: Sequence[str]) -> list[str]:
        if (known := tuple(texts)) not in self._documents:
            self._documents[known] = [
                packed(vector) for vector in (await self._embedder.embed_documents(texts)).vectors
            ]
        return self._documents[known]

    async def of_question(self, text: str) -> str:
        if text not in self._questions:
            self._questions[text] = packed(await self._embedder.embed_query(text))
        return self._questions[text]


@dataclass(frozen=True, slots=True)
class PeerSystem:
    """A system as `remembrancer.evaluation` asks it."""

    system: Measurable
    start: Callable[[Measurable, str], Running]
    vectors: KnownVectors
    scores_are_fractions: bool = False

    @property
    def name(self) -> str:
        return self.system.label

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[PeerRanker]:
        running = self.start(self.system, transcript.id)
        try:
            vectors = await self.vectors.of_documents([turn.text for turn in transcript.turns])
            items = [
                {
                    "key": turn.id,
                    "text": turn.text,
                    "at": str(turn.occurred_at),
                    "actor": turn.actor or str(turn.role),
                    "role": str(turn.role),
                    "session": turn.session or "",
                    "vector": vector,
                }
                for turn, vector in zip(transcript.turns, vectors, strict=True)
            ]
            for begin in range(0, len(items), BLOCK):
                running.do("write", items=items[begin : begin + BLOCK], together=True)
            yield PeerRanker(running, self.vectors, {turn.id: turn.text for turn in transcript.turns})
        finally:
            running.kill()


@dataclass(frozen=True, slots=True)
class PeerRanker:
    running: Running
    vectors: KnownVectors
    texts: Mapping[str, str]

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> PeerAnswer:
        """At most LIMIT turns, as an application would ask for."""
        item = {"text": question, "vector": await self.vectors.of_question(question)}
        ((keys, _),) = self.running.do("recall", questions=[item], limit=min(limit, LIMIT))
        return PeerAnswer(tuple(key for key in keys if key in self.texts), self.texts)


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    ranked: tuple[str, ...]
    texts: Mapping[str, str]
    scores: tuple[float, ...] = ()

    def block(self, max_chars: int) -> MeasuredBlock:
        return pack_block(self.ranked, self.texts, max_chars)

    async def outcome(self, turn_id: str) -> TurnOutcome:
        return TurnOutcome.RETURNED if turn_id in self.ranked else TurnOutcome.LIMIT
