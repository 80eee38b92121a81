"""Runs LoCoMo: every system takes in each conversation, is asked its questions, and is judged by their evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final, TextIO

from remembrancer.domain import validation
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.locomo import Conversation, Dataset, Question
from remembrancer.evaluation.metrics import DEPTHS, fold, gold_ranks
from remembrancer.evaluation.report import Asked, SystemResult, summarise
from remembrancer.evaluation.system import Ranker, System

MAX_DEPTH: Final = 200
"""The most a recall returns."""

_KEPT: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: `done` of `total` questions over all systems, and which conversation it is at."""

    system: str
    conversation: str
    done: int
    total: int


OnProgress = Callable[[Progress], None]


async def judge(
    dataset: Dataset,
    systems: Sequence[System],
    *,
    depth: int,
    seed: int,
    records: Path | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[SystemResult, ...]:
    """What each system reaches, in the order of `systems`, each asked for its best `depth` turns.

    `records`: a folder for one file per system, `<system>.jsonl`, one line a question. `seed` draws the bootstrap's
    samples. `on_progress` is called when a system begins a conversation, and after each question.
    Raises InvalidInput when two systems share a name, or no question of the data set counts.
    """
    validation.whole("depth", depth, DEPTHS[-1], MAX_DEPTH)
    names = [system.name for system in systems]
    if not names or len(set(names)) != len(names):
        raise InvalidInput("systems", names, "at least one, each with a name of its own")
    asked_of_each = sum(len(conversation.questions) for conversation in dataset.conversations)
    if asked_of_each == 0:
        raise InvalidInput("dataset", dataset.name, "questions with evidence")
    meter = _Meter(asked_of_each * len(names), on_progress)
    results: list[SystemResult] = []
    for system in systems:
        with ExitStack() as stack:
            kept = None if records is None else stack.enter_context(_opened(records, system.name))
            asked: list[Asked] = []
            for conversation in dataset.conversations:
                meter.at(system.name, conversation.transcript.id)
                async with system.prepared(conversation.transcript) as ranker:
                    for question in conversation.questions:
                        outcome = await _ask(ranker, conversation, question, depth)
                        asked.append(outcome.asked)
                        if kept is not None:
                            kept.write(json.dumps(outcome.record, ensure_ascii=False) + "\n")
                        meter.step(system.name, conversation.transcript.id)
        results.append(summarise(system.name, asked, seed=seed))
    return tuple(results)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    asked: Asked
    record: dict[str, JsonValue]


async def _ask(ranker: Ranker, conversation: Conversation, question: Question, depth: int) -> _Outcome:
    begun = perf_counter()
    ranked = await ranker.rank(question.text, limit=depth)
    latency_ms = (perf_counter() - begun) * 1_000
    sessions = fold(ranked, {turn.id: turn.session for turn in conversation.transcript.turns})
    asked = Asked.judged(
        category=question.category,
        ranked=ranked,
        gold=question.evidence,
        ranked_sessions=sessions,
        gold_sessions=question.sessions,
        latency_ms=latency_ms,
    )
    record: dict[str, JsonValue] = {
        "conversation": conversation.transcript.id,
        "question": question.text,
        "category": question.category.label,
        "gold": list(question.evidence),
        "gold_ranks": list(gold_ranks(ranked, question.evidence)),
        "ranked": list(ranked[:_KEPT]),
        "gold_sessions": list(question.sessions),
        "gold_session_ranks": list(gold_ranks(sessions, question.sessions)),
        "turn": dict(asked.turn),
        "session": dict(asked.session),
        "latency_ms": round(latency_ms, 3),
    }
    return _Outcome(asked=asked, record=record)


class _Meter:
    def __init__(self, total: int, on_progress: OnProgress | None) -> None:
        self._total = total
        self._done = 0
        self._on_progress = on_progress

    def at(self, system: str, conversation: str) -> None:
        if self._on_progress is not None:
            self._on_progress(Progress(system=system, conversation=conversation, done=self._done, total=self._total))

    def step(self, system: str, conversation: str) -> None:
        self._done += 1
        self.at(system, conversation)


def _opened(folder: Path, system: str) -> TextIO:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / f"{system}.jsonl").open("w", encoding="utf-8")
    except OSError as error:
        raise InvalidInput("records", str(folder), f"a folder that can be written to ({error})") from error
