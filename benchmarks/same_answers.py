"""Compares the answers of a memory on PostgreSQL with those of the same memory in an SQLite file, byte for byte.

Each conversation is recorded and embedded in the file, exported, and imported into PostgreSQL. Then both are asked its
questions. Compared are the ids, ranks, scores and explanations of the hits, their texts and cues, the outcome of every
other candidate, and what was degraded. Without --postgres, a server is started for the run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from postgres_server import serving

from remembrancer import Recall, Remembrancer
from remembrancer.config import Settings
from remembrancer.domain.event import EventDraft
from remembrancer.evaluation import locomo
from remembrancer.evaluation.dataset import Conversation, DatasetQuestion
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder

if TYPE_CHECKING:
    from remembrancer.ports.embedder import Embedder


@dataclass(slots=True)
class _Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's answers from both stores, as bytes."""

    question: DatasetQuestion
    sqlite: bytes
    postgres: bytes
    hits: int

    @property
    def same(self) -> bool:
        return self.sqlite == self.postgres


def as_bytes(recall: Recall) -> bytes:
    """All of an answer but its timings. Floats are written with every digit."""
    outcomes = sorted(recall.trace.outcomes.items())
    scores = sorted((key, repr(score)) for key, score in recall.trace.scores.items())
    return repr((recall.hits, sorted(recall.degraded.items()), recall.pinned, outcomes, scores)).encode()


def answered(
    conversations: Iterable[Conversation], postgres: str, embedder: Embedder, *, preset: str, most: int
) -> Iterator[Answered]:
    """The answers to the first `most` questions. `postgres`: the URL of an empty database."""
    each = (pair for conversation in conversations for pair in _of(conversation, postgres, embedder, preset))
    return islice(each, most)


def _of(conversation: Conversation, postgres: str, embedder: Embedder, preset: str) -> Iterator[Answered]:
    turns = conversation.transcript.turns
    clock = _Clock(conversation.transcript.ends)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:

        def memory(url: str) -> Remembrancer:
            settings = Settings(db=url, workspace=conversation.id, agent="asker", preset=preset, background_index=False)
            return opened.enter_context(Remembrancer.open(settings=settings, embedder=embedder, clock=clock))

        file, server = memory(f"{folder}/memory.db"), memory(postgres)
        file.observe_many(
            EventDraft(text=one.text, occurred_at=one.occurred_at, session=one.session, actor=one.actor, role=one.role)
            for one in turns
        )
        if not file.health.stats().cues:  # a preset that forms no memories from messages
            for one in turns:
                file.remember(one.text)
        file.jobs.index_now()
        file.export(f"{folder}/memory.jsonl")
        server.import_(f"{folder}/memory.jsonl", dry_run=False)
        for question in conversation.questions:
            clock.now = question.asked_at
            ours, theirs = (one.recall(question.text, limit=10, explain=True) for one in (file, server))
            yield Answered(question, as_bytes(ours), as_bytes(theirs), len(ours))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_answers", description=__doc__)
    parser.add_argument("locomo", type=Path, help="locomo10.json, plain or gzip")
    parser.add_argument("--questions", type=int, default=1_000, help="how many are asked (1000)")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--postgres", metavar="URL", help="an empty database; without it, a server is started")
    options = parser.parse_args(arguments)
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    with ExitStack() as stack:
        url = options.postgres
        if url is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            url = stack.enter_context(serving(Path(folder))).take()
        conversations = locomo.load(options.locomo).conversations
        asked = list(answered(conversations, url, embedder, preset=options.preset, most=options.questions))
    different = [one for one in asked if not one.same]
    compared = sum(len(one.sqlite) for one in asked)
    print(machine_line(embedder))
    print(
        f"{len(asked)} questions, preset {options.preset}: {len(different)} answers differ"
        f" ({sum(one.hits for one in asked)} hits, {compared:,} bytes compared)"
    )
    for one in different[:5]:
        print(f"  {one.question.id}: {one.question.text}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
