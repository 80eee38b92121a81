"""Ask every system the questions of each conversation, and judge the answers by the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.evaluation import records
from remembrancer.evaluation.dataset import Dataset, DatasetQuestion
from remembrancer.evaluation.metrics import DEPTHS
from remembrancer.evaluation.outcome import JudgedQuestion, judge_answer
from remembrancer.evaluation.summary import Outcomes
from remembrancer.evaluation.system import Ranker, System, SystemAnswer
from remembrancer.values import dataclass

MAX_DEPTH: Final = 200
"""The maximum number of turns that a recall returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a run: `done` of `total` questions over all systems, with the current system and conversation."""

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
    folder: Path | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[Outcomes, ...]:
    """Every question's outcome under each system, in the order of `systems`; each answer has at most `depth` turns.

    A conversation's foreign questions are asked after its own and reported separately. `folder`: where the records go,
    one `<system>.jsonl` per system, one question a line. `on_progress` is called when a system begins a conversation,
    and after each question. Raises InvalidInput when two systems share a name, or no question of the data set has an
    answer.
    """
    validation.whole("depth", depth, DEPTHS[-1], MAX_DEPTH)
    names = [system.name for system in systems]
    if not names or len(set(names)) != len(names):
        raise InvalidInput("systems", names, "at least one, each with a name of its own")
    asked_of_each = sum(len(one.questions) + len(one.foreign) for one in dataset.conversations)
    if not any(question.answerable for one in dataset.conversations for question in one.questions):
        raise InvalidInput("dataset", dataset.name, "at least one question with evidence")
    meter = ProgressMeter(asked_of_each * len(names), on_progress)
    outcomes: list[Outcomes] = []
    for system in systems:
        asked: list[JudgedQuestion] = []
        with ExitStack() as stack:
            keep = None if folder is None else stack.enter_context(records.open_lines(folder, system.name))
            for conversation in dataset.conversations:
                meter.at(system.name, conversation.id)
                session_of = conversation.transcript.session_of()
                async with system.prepared(conversation.transcript) as ranker:
                    for question in (*conversation.questions, *conversation.foreign):
                        answer, latency_ms = await _timed(ranker, question, depth)
                        asked.append(
                            await judge_answer(conversation.id, question, answer, session_of, latency_ms=latency_ms)
                        )
                        if keep is not None:
                            keep(asked[-1].record())
                        meter.step(system.name, conversation.id)
        outcomes.append(
            Outcomes(
                system=system.name,
                fractions=system.scores_are_fractions,
                asked=tuple(one for one in asked if one.question.foreign is None),
                foreign=tuple(one for one in asked if one.question.foreign is not None),
            )
        )
    return tuple(outcomes)


async def _timed(ranker: Ranker, question: DatasetQuestion, depth: int) -> tuple[SystemAnswer, float]:
    """The answer, and the milliseconds it took."""
    begun = perf_counter()
    answer = await ranker.answer(question.text, asked_at=question.asked_at, limit=depth)
    return answer, (perf_counter() - begun) * 1_000


class ProgressMeter:
    """Counts finished questions and reports progress to `on_progress`, if given."""

    def __init__(self, total: int, on_progress: OnProgress | None) -> None:
        self._total = total
        self._done = 0
        self._on_progress = on_progress

    def at(self, system: str, conversation: str) -> None:
        """Report the current position, without counting."""
        if self._on_progress is not None:
            self._on_progress(Progress(system=system, conversation=conversation, done=self._done, total=self._total))

    def step(self, system: str, conversation: str) -> None:
        """Count one question and report."""
        self._done += 1
        self.at(system, conversation)
