"""Learning the weights of a ranking, and judging them: the parts of benchmarks/weights.py, on made-up signals."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from benchmarks.weights_embedder import KeptEmbedder
from benchmarks.weights_learn import METRICS, Lesson, column, found, learn
from benchmarks.weights_record import NAMES, Recorded, load

from remembrancer.evaluation.metrics import measure
from remembrancer.ports.embedder import EmbeddedPassages, Passage
from remembrancer.testing.doubles import WordHashEmbedder

PRESENT = {"similarity": 0.5, "coverage": 0.5}


def made(seed: int, *, telling: str, questions: int = 200, golds: int = 1) -> Recorded:
    """Questions whose evidence has a greater value of one signal than the 30 other candidates; all else is chance."""
    rng = np.random.default_rng(seed)
    signals = np.full((questions * 31, len(NAMES)), np.nan, dtype=np.float32)
    for name in PRESENT:
        signals[:, NAMES.index(name)] = rng.random(len(signals))
    gold = np.zeros(len(signals), dtype=np.bool_)
    gold[::31] = True
    signals[gold, NAMES.index(telling)] = rng.uniform(0.8, 1.2, gold.sum())
    return Recorded(
        name="made",
        signals=signals,
        gold=gold,
        starts=np.arange(0, len(signals) + 1, 31),
        golds=np.full(questions, golds),
        categories=np.full(questions, "any"),
        kinds=np.full(questions, "fact"),
    )


def test_the_signal_that_tells_evidence_apart_gets_the_weight() -> None:
    weights = learn([Lesson.of(made(1, telling="coverage"), PRESENT)], PRESENT, ("similarity", "coverage"), {})
    assert weights["coverage"] > 0.9
    assert weights["similarity"] >= 0
    assert sum(weights.values()) == pytest.approx(1)


def test_fixed_weights_stay_as_they_are() -> None:
    present = {**PRESENT, "importance": 0.02}
    lessons = [Lesson.of(made(1, telling="coverage"), present)]
    weights = learn(lessons, present, ("similarity", "coverage"), {"importance": 0.02})
    assert weights["importance"] == 0.02
    assert sum(weights.values()) == pytest.approx(1.02)


def test_a_ranking_is_judged_by_the_metrics_of_the_evaluation() -> None:
    data = made(2, telling="similarity", questions=40, golds=2)
    weights = {"similarity": 0.3, "coverage": 0.7}
    values = found(data, weights)
    scores = np.nan_to_num(data.signals.astype(np.float64)) @ column(weights)
    for place, (start, end) in enumerate(zip(data.starts[:-1], data.starts[1:], strict=True)):
        order = np.argsort(-scores[start:end], kind="stable")
        ranked = [str(one) for one in order]
        gold = [*(str(one) for one in np.flatnonzero(data.gold[start:end])), "not found"]
        told = measure(ranked[:20], gold)
        assert values[place] == pytest.approx([told[name] for name in METRICS])


def test_some_questions_keep_their_candidates_and_survive_a_file(tmp_path: Path) -> None:
    data = made(3, telling="coverage", questions=3)
    data.of(np.array([True, False, True])).save(tmp_path / "made.npz")
    kept = load(tmp_path / "made.npz")
    assert kept.starts.tolist() == [0, 31, 62]
    np.testing.assert_array_equal(kept.signals[31:], data.signals[62:])


def test_passages_are_embedded_once_and_keep_the_signs_of_their_tokens(tmp_path: Path) -> None:
    class Counting(WordHashEmbedder):
        asked = 0

        async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
            self.asked += len(passages)
            return await super().embed_passages(passages)

    inner = Counting()
    passages = [Passage("a heron on the roof"), Passage("a heron", before=(("Ana", "what was it?"),))]
    first = KeptEmbedder(inner, tmp_path / "kept.pickle")
    asyncio.run(first.embed_passages(passages))
    first.save()
    again = asyncio.run(KeptEmbedder(inner, tmp_path / "kept.pickle").embed_passages(passages))
    once = asyncio.run(WordHashEmbedder().embed_passages(passages))
    assert inner.asked == 2
    np.testing.assert_array_equal(again.vectors, once.vectors)
    assert again.spelled == once.spelled
    for kept, made_now in zip(again.token_embeddings, once.token_embeddings, strict=True):
        np.testing.assert_array_equal(kept > 0, made_now > 0)
