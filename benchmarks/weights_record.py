"""Record every signal of every candidate of each question, once for each data set."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from remembrancer.config import Settings
from remembrancer.domain.recall import RecallMode
from remembrancer.evaluation.dataset import Dataset, DatasetQuestion
from remembrancer.evaluation.memory_system import MemorySystem
from remembrancer.language.reading import read_question
from remembrancer.policies.ranking.signals import SIGNALS, Scale
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.text import text_of

if TYPE_CHECKING:
    from remembrancer.engine.choose import Ranked
    from remembrancer.ports.embedder import Embedder
    from remembrancer.presets.spec import Preset

NAMES: Final = tuple(name for name, signal in SIGNALS.items() if signal.scale is Scale.UNIT and name != "rerank")
"""The recorded signals, those in [0, 1], in the order of the columns."""

MESSAGE: Final = "message"
"""The category of turns that are no questions: they are asked with the mode `message`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The answerable questions of a data set.

    `signals`: float32 (candidates of all questions, NAMES), NaN where absent; the candidates of a question are those
    from its start to the next one's, in the memory's own order, which decides between equal scores. `gold`: whether a
    candidate is evidence. `golds` (questions,): turns of evidence, found or not. `kinds`: as `read_question` tells
    them; `categories`: as the data set does.
    """

    name: str
    signals: NDArray[np.float32]
    gold: NDArray[np.bool_]
    starts: NDArray[np.int64]
    golds: NDArray[np.int64]
    categories: NDArray[np.str_]
    kinds: NDArray[np.str_]

    def of(self, kept: NDArray[np.bool_]) -> Recorded:
        """Some of the questions."""
        of_row = np.repeat(kept, np.diff(self.starts))
        sizes = np.diff(self.starts)[kept]
        return Recorded(
            name=self.name,
            signals=self.signals[of_row],
            gold=self.gold[of_row],
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            golds=self.golds[kept],
            categories=self.categories[kept],
            kinds=self.kinds[kept],
        )

    def save(self, path: Path) -> None:
        np.savez(
            path,
            names=np.array(NAMES),
            name=np.array(self.name),
            signals=self.signals,
            gold=self.gold,
            starts=self.starts,
            golds=self.golds,
            categories=self.categories,
            kinds=self.kinds,
        )


def load(path: Path) -> Recorded:
    with np.load(path) as file:
        assert tuple(file["names"]) == NAMES, f"{path}: recorded with other signals; record again"
        return Recorded(
            name=str(file["name"]),
            signals=file["signals"],
            gold=file["gold"],
            starts=file["starts"],
            golds=file["golds"],
            categories=file["categories"],
            kinds=file["kinds"],
        )


@contextmanager
def recording(preset: Preset, embedder: Embedder | None) -> Generator[MemorySystem]:
    """A system under `preset`, for one data set."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "recorded.toml"
        written.write_text(text_of(replace(preset, name="recorded")), encoding="utf-8")
        settings = Settings(
            db=str(Path(folder) / "all.db"), preset=str(written), embedder="none", background_index=False
        )
        system = MemorySystem(settings, embedder)
        yield system
        assert embedder is None or not system.degraded, system.degraded


async def asked_with_signals(
    ranker: Any, question: DatasetQuestion, limit: int, mode: RecallMode = RecallMode.QUESTION
) -> tuple[Ranked, NDArray[np.bool_]]:
    """All candidates of a question with their signals, and whether each is evidence."""
    answer = await ranker.answer(question.text, asked_at=question.asked_at, limit=limit, mode=mode)
    ranked = cast("Ranked", vars(answer.recall.trace.scores)["_ranking"])
    wanted = {await answer.remembered.of(turn) for turn in question.evidence}
    return ranked, np.array([one in wanted for one in ranked.found.ids], dtype=np.bool_)


async def record(dataset: Dataset, embedder: Embedder | None, report: Callable[[str], None]) -> dict[str, Recorded]:
    """By conversation, its answerable questions under `default` without a threshold."""
    assert DEFAULT.messages is not None
    preset = replace(
        DEFAULT,
        ranking=replace(DEFAULT.ranking, threshold=None),
        messages=replace(DEFAULT.messages, ranking=replace(DEFAULT.messages.ranking, threshold=None)),
    )
    made: dict[str, Recorded] = {}
    with recording(preset, embedder) as system:
        for conversation in dataset.conversations:
            report(conversation.id)
            rows: list[NDArray[np.float32]] = []
            gold: list[NDArray[np.bool_]] = []
            asked = [question for question in conversation.questions if question.answerable]
            async with system.prepared(conversation.transcript) as ranker:
                for question in asked:
                    mode = RecallMode.MESSAGE if question.category == MESSAGE else RecallMode.QUESTION
                    ranked, right = await asked_with_signals(ranker, question, 10, mode)
                    rows.append(np.array([ranked.table[name] for name in NAMES], dtype=np.float32).T)
                    gold.append(right)
            made[conversation.id] = Recorded(
                name=conversation.id,
                signals=np.concatenate(rows),
                gold=np.concatenate(gold),
                starts=np.concatenate([[0], np.cumsum([len(one) for one in rows])]),
                golds=np.array([len(set(question.evidence)) for question in asked]),
                categories=np.array([question.category for question in asked]),
                kinds=np.array([str(read_question(question.text, (), question.asked_at).kind) for question in asked]),
            )
    return made


def joined(name: str, several: Sequence[Recorded]) -> Recorded:
    """Several conversations as one data set."""
    sizes = np.concatenate([np.diff(one.starts) for one in several])
    return Recorded(
        name=name,
        signals=np.concatenate([one.signals for one in several]),
        gold=np.concatenate([one.gold for one in several]),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        golds=np.concatenate([one.golds for one in several]),
        categories=np.concatenate([one.categories for one in several]),
        kinds=np.concatenate([one.kinds for one in several]),
    )
