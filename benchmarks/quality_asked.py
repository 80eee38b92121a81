"""Ask every question under every variant; returns metrics per question, paired across variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality_variants import FULL, Variant
from remembrancer.config import Settings
from remembrancer.evaluation.dataset import Conversation, Dataset
from remembrancer.evaluation.memory_system import MemorySystem
from remembrancer.evaluation.metrics import fold, measure
from remembrancer.evaluation.statistics import Interval, bootstrap_intervals
from remembrancer.evaluation.summary import GOLD_TURNS
from remembrancer.ports.embedder import Embedder
from remembrancer.presets.text import text_of

TURNS: Final = ("recall@5", "recall@10", "any@10", "all@10", "ndcg@10")
SESSIONS: Final = ("recall@5",)
COLUMNS: Final = (*TURNS, *(f"session {metric}" for metric in SESSIONS))
COUNTED: Final = ("recall@10", "recall@20", "all@10")
"""The metrics by the number of gold turns."""
DIFFERENCES: Final = ("recall@10", "ndcg@10")
DEPTH: Final = 50
"""Turns read of each answer: enough for five sessions, each ranked by its first turn."""
SEED: Final = 0


@dataclass(frozen=True, slots=True)
class MeanChange:
    """A variant's mean minus the full preset's, with its 95 % bootstrap interval over questions."""

    by: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Row:
    """One variant over some questions: means of COLUMNS, and for DIFFERENCES the change against the full preset."""

    variant: Variant
    means: Mapping[str, float]
    moved: Mapping[str, MeanChange]


@dataclass(frozen=True, slots=True)
class QuestionMetrics:
    """`conversations`, `gold_turns`: of each question. `values`: by variant, shape (questions, COLUMNS). `counted`: of
    the full preset, shape (questions, COUNTED).
    """

    conversations: tuple[str, ...]
    gold_turns: tuple[int, ...]
    values: Mapping[str, NDArray[np.float64]]
    counted: NDArray[np.float64]
    variants: tuple[Variant, ...]

    def of(self, conversations: frozenset[str]) -> QuestionMetrics:
        """The questions of some conversations only."""
        kept = [place for place, name in enumerate(self.conversations) if name in conversations]
        return replace(
            self,
            conversations=tuple(self.conversations[place] for place in kept),
            gold_turns=tuple(self.gold_turns[place] for place in kept),
            counted=self.counted[kept],
            values={name: values[kept] for name, values in self.values.items()},
        )

    def rows(self) -> tuple[Row, ...]:
        return tuple(self._row(variant) for variant in self.variants)

    def by_gold_turns(self) -> dict[str, dict[str, float]]:
        """By the label of the number of gold turns that some question has: `questions`, and the means of COUNTED of the
        full preset.
        """
        several = np.array(self.gold_turns)
        found: dict[str, dict[str, float]] = {}
        for label, (least, most) in GOLD_TURNS.items():
            kept = (several >= least) & (several <= most)
            if kept.any():
                means = zip(COUNTED, self.counted[kept].mean(axis=0).tolist(), strict=True)
                found[label] = {"questions": int(kept.sum()), **dict(means)}
        return found

    def _row(self, variant: Variant) -> Row:
        values = self.values[variant.name]
        columns = [COLUMNS.index(name) for name in DIFFERENCES]
        differences = (values - self.values[FULL.name])[:, columns]
        # The same seed gives every variant the same bootstrap draws.
        intervals = bootstrap_intervals(differences, rng=np.random.default_rng(SEED)).tolist()
        moved = zip(DIFFERENCES, differences.mean(axis=0).tolist(), intervals, strict=True)
        return Row(
            variant,
            dict(zip(COLUMNS, values.mean(axis=0).tolist(), strict=True)),
            {name: MeanChange(by, Interval(*interval)) for name, by, interval in moved},
        )


@dataclass(frozen=True, slots=True)
class Files:
    """The database files: one for each way of encoding cues, shared by all variants with that encoding."""

    folder: Path
    embedder: Embedder

    def settings(self, variant: Variant) -> Settings:
        preset = self.folder / f"{variant.name}.toml"
        preset.write_text(text_of(variant.preset), encoding="utf-8")
        return Settings(
            db=str(self.file(variant)),
            preset=str(preset),
            embedder="none",  # passed to MemorySystem instead, if the variant uses one
            background_index=False,
        )

    def file(self, variant: Variant) -> Path:
        encoding = variant.preset.encoding
        return self.folder / f"turns-{encoding.turns}-chars-{encoding.chars}.db"

    def embedder_of(self, variant: Variant) -> Embedder | None:
        return self.embedder if variant.embedder else None


async def ask(
    dataset: Dataset, variants: Sequence[Variant], files: Files, *, report: Callable[[str], None]
) -> QuestionMetrics:
    """Ask all answerable questions under all variants.

    `report` is called with each conversation's id when it starts.
    """
    systems = [(one, MemorySystem(files.settings(one), files.embedder_of(one))) for one in variants]
    values: dict[str, list[NDArray[np.float64]]] = {one.name: [] for one in variants}
    counted: list[NDArray[np.float64]] = []
    conversations: list[str] = []
    gold_turns: list[int] = []
    for conversation in dataset.conversations:
        report(conversation.id)
        answerable = [len(question.evidence) for question in conversation.questions if question.answerable]
        conversations += [conversation.id] * len(answerable)
        gold_turns += answerable
        for variant, system in systems:
            whole = await _asked(system, conversation)
            values[variant.name].append(whole[:, : len(COLUMNS)])
            if variant.name == FULL.name:
                counted.append(whole[:, len(COLUMNS) :])
    for variant, system in systems:
        # A recall that fell back to lexical-only must not be counted as a complete one.
        assert not (variant.embedder and system.degraded), f"{variant.label}: {system.degraded}"
    joined = {name: np.concatenate(several) for name, several in values.items()}
    return QuestionMetrics(tuple(conversations), tuple(gold_turns), joined, np.concatenate(counted), tuple(variants))


async def _asked(system: MemorySystem, conversation: Conversation) -> NDArray[np.float64]:
    session_of = conversation.transcript.session_of()
    rows: list[list[float]] = []
    async with system.prepared(conversation.transcript) as ranker:
        for question in conversation.questions:
            if not question.answerable:
                continue
            answer = await ranker.answer(question.text, asked_at=question.asked_at, limit=DEPTH)
            turns = measure(answer.ranked, question.evidence)
            sessions = measure(fold(answer.ranked, session_of), question.sessions)
            rows.append([turns[name] for name in TURNS])
            rows[-1] += [*(sessions[name] for name in SESSIONS), *(turns[name] for name in COUNTED)]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(COLUMNS) + len(COUNTED))
