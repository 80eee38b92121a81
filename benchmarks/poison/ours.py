"""This package in a process of its own, under one preset, for `benchmarks.poison`.

Uses only what an older version has too, so that the path of Python decides which version is attacked.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TypeVar, cast
from uuid import UUID

from benchmarks.peers.worker import Item, Vectors, converse
from benchmarks.poison.worker import Found, Worker
from benchmarks.weights_embedder import KeptEmbedder
from remembrancer import AsyncRemembrancer, EventDraft
from remembrancer.compose import choose_preset
from remembrancer.config import Settings
from remembrancer.domain.recall import Hit, Recall
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder, TokenEmbedder
from remembrancer.presets.spec import Preset

T = TypeVar("T")
AGENT = "attacked"
WHOLE = 1_000_000
"""Characters into which any hit fits."""


class Ours:
    """A file, with its jobs run before each question."""

    def __init__(
        self, folder: Path, preset: str | Preset, embedder: Embedder | None, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._loop = loop
        self._now = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
        chosen = preset if isinstance(preset, Preset) else choose_preset(preset)
        agent = AGENT if chosen.access_policy.strict else None
        self._keys: dict[UUID, str] = {}
        self._settled = True
        self._rem = self._do(
            AsyncRemembrancer.open(
                str(folder / "memory.db"),
                preset=preset,
                agent=agent,
                embedder=embedder or "none",
                settings={"background_index": False},
                clock=lambda: self._now,
            )
        )

    def _do(self, work: Awaitable[T]) -> T:
        return self._loop.run_until_complete(work)

    def record(self, items: Sequence[Item]) -> None:
        """Notes are taken one by one, as an agent does; turns between them together."""
        for via, group in groupby(items, key=lambda item: item["via"]):
            several = list(group)
            if via == "note":
                for item in several:
                    self._note(item)
            else:
                self._observe(several)
        self._settled = False

    def _note(self, item: Item) -> None:
        self._now = max(self._now, datetime.fromisoformat(item["at"]))
        memory = self._do(
            self._rem.remember(
                item["text"],
                origin="user" if item["by"] == "person" else item["by"],
                topic_key=item["topic_key"],
                occurred_at=datetime.fromisoformat(item["at"]),
            )
        )
        self._keys[memory.id] = item["key"]

    def _observe(self, items: Sequence[Item]) -> None:
        self._now = max(self._now, *(datetime.fromisoformat(item["at"]) for item in items))
        drafts = [
            EventDraft(
                text=item["text"],
                role=item["role"],
                actor=None if item["actor"] == item["role"] else item["actor"],
                session=item["session"],
                occurred_at=datetime.fromisoformat(item["at"]),
            )
            for item in items
        ]
        events = self._do(self._rem.observe_many(drafts))
        self._keys |= {event.id: item["key"] for event, item in zip(events, items, strict=True)}

    def answer(self, question: Item, limit: int) -> list[Found]:
        recall = self._recall(question, limit)
        return [
            {"key": self._key(hit), "text": hit.cue.text or hit.memory.text, "source": label(recall, hit)}
            for hit in recall
        ]

    def block(self, question: Item, limit: int) -> str:
        return self._recall(question, limit).render()

    def _recall(self, question: Item, limit: int) -> Recall:
        self._now = max(self._now, datetime.fromisoformat(question["at"]))
        if not self._settled:
            self._do(self._rem.maintain(force=True))
            self._settled = True
        return self._do(self._rem.recall(question["text"], limit=limit))

    def _key(self, hit: Hit) -> str | None:
        """The text that was recorded, by the turn or by the note; None for what a job has written."""
        by_turn = None if hit.cue.event_id is None else self._keys.get(hit.cue.event_id)
        return by_turn or self._keys.get(hit.memory.id)

    def close(self) -> None:
        self._do(self._rem.close())


def label(recall: Recall, hit: Hit) -> str:
    """What the block writes before the text of a hit."""
    rendered = replace(recall, hits=(hit,)).render(max_chars=WHOLE)
    first = hit.memory.text.split("\n")[0][:20]
    preamble, _, line = rendered.partition("\n- ")
    return line.partition(first)[0] if line else preamble


def main() -> None:
    folder, preset, embedded = sys.argv[1:]
    loop = asyncio.new_event_loop()
    chosen = choose_embedder(Settings(embedder="local")).embedder
    assert chosen is not None
    kept = KeptEmbedder(cast("TokenEmbedder", chosen), Path(embedded))
    converse(Worker(lambda place: Ours(place, preset, kept, loop), Path(folder), NoVectors()))
    kept.save()


class NoVectors(Vectors):
    """We embed ourselves, because passages are embedded with the turns before them."""

    def take(self, items: Sequence[Mapping[str, object]]) -> None: ...


if __name__ == "__main__":
    main()
