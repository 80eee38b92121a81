"""PostgreSQL answers as a file does, to the last digit: `benchmarks.same_answers` over the demonstration's history."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files

import pytest
from benchmarks.same_answers import answered, as_bytes
from postgres_server import Schemas

from remembrancer import Remembrancer
from remembrancer.evaluation.dataset import Conversation, DatasetQuestion, DatasetTurn, Transcript
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import NOW, FixedClock, WordHashEmbedder

ASKED = datetime(2026, 4, 15, 9, tzinfo=UTC)
STEP = timedelta(seconds=1)


def demonstration(*, turns: int) -> Conversation:
    """Its first turns, and all its questions, a second apart."""
    folder = files("remembrancer") / "demo"
    rows = [json.loads(line) for line in (folder / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    said = tuple(
        DatasetTurn(
            id=row["key"],
            text=row["text"],
            occurred_at=datetime.fromisoformat(row["occurred_at"]),
            session=row["session"],
            actor=row["actor"],
            role=row["role"],
        )
        for row in rows
    )
    blocks = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    texts = [one["question"] for block in blocks.values() for one in block]
    questions = tuple(
        DatasetQuestion(
            id=str(place), text=text, category="demo", asked_at=ASKED + place * STEP, evidence=(), sessions=()
        )
        for place, text in enumerate(texts)
    )
    return Conversation(transcript=Transcript(id="demo", turns=said[:turns]), questions=questions)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_answer_under_each_preset_has_the_bytes_of_a_file_s(postgres: Schemas, preset: str) -> None:
    demo = demonstration(turns=200 if preset == "default" else 60)
    most = 30 if preset == "default" else 4
    asked = list(answered([demo], postgres.take(), WordHashEmbedder(), preset=preset, most=most))
    assert [one.question.text for one in asked if not one.same] == []
    assert len(asked) == most
    assert any(one.hits for one in asked)


def test_an_answer_that_differed_in_the_last_digit_would_be_found() -> None:
    with Remembrancer.open(":memory:", embedder=WordHashEmbedder(), clock=FixedClock(NOW)) as memory:
        memory.remember("The pump of line 3 leaks.")
        recall = memory.recall("which pump leaks?", explain=True)
    hit = recall.hits[0]
    nearly = replace(hit, score=hit.score * (1 + 2**-52))
    assert as_bytes(recall) != as_bytes(replace(recall, hits=(nearly,)))
