"""One question's result under one system: the answer, its metrics and its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.domain.validation import JsonValue
from remembrancer.evaluation.budget import BUDGETS, block_metrics, chars_of
from remembrancer.evaluation.dataset import DatasetQuestion
from remembrancer.evaluation.metrics import fold, gold_ranks, measure
from remembrancer.evaluation.misses import EvidenceTurn
from remembrancer.evaluation.system import SystemAnswer, TurnOutcome
from remembrancer.values import dataclass

KEPT: Final = 20
"""Turns of an answer kept in the records: as many as the deepest metric reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuestion:
    """One question with its judged answer.

    `turn`, `session` and `block` map metric names to values in [0, 1]. `turn` and `session` are empty for a question
    without evidence, `block` for an unanswerable question. `ranked` and `scores` hold the first KEPT turns; `returned`
    is the number of turns in the answer. `block_chars`: length of each block in characters. `evidence_turns`: empty for
    an unanswerable question. `latency_ms`: time to answer, including the embedding of the question.
    """

    conversation: str
    question: DatasetQuestion
    ranked: tuple[str, ...]
    scores: tuple[float, ...]
    returned: int
    gold_ranks: tuple[int | None, ...]
    gold_session_ranks: tuple[int | None, ...]
    turn: Mapping[str, float]
    session: Mapping[str, float]
    block: Mapping[str, float]
    block_chars: Mapping[str, int]
    evidence_turns: tuple[EvidenceTurn, ...]
    latency_ms: float

    @property
    def answerable(self) -> bool:
        return self.question.answerable

    @property
    def abstained(self) -> bool:
        """Whether the answer is empty, which is right for an unanswerable question only."""
        return self.returned == 0

    @property
    def top_score(self) -> float | None:
        """The best score; None without scores."""
        return self.scores[0] if self.scores else None

    def record(self) -> dict[str, JsonValue]:
        """The question's line in the records."""
        return {
            "conversation": self.conversation,
            "id": self.question.id,
            "question": self.question.text,
            "category": self.question.category,
            "answerable": self.answerable,
            "foreign": self.question.foreign,
            "gold": list(self.question.evidence),
            "gold_ranks": list(self.gold_ranks),
            "ranked": list(self.ranked),
            "scores": list(self.scores),
            "returned": self.returned,
            "gold_sessions": list(self.question.sessions),
            "gold_session_ranks": list(self.gold_session_ranks),
            "turn": dict(self.turn),
            "session": dict(self.session),
            "block": dict(self.block),
            "block_chars": dict(self.block_chars),
            "missed": {one.turn: dict(missed) for one in self.evidence_turns if (missed := one.missed())},
            "latency_ms": round(self.latency_ms, 3),
        }


async def judge_answer(
    conversation: str,
    question: DatasetQuestion,
    answer: SystemAnswer,
    session_of: Mapping[str, str],
    *,
    latency_ms: float,
) -> JudgedQuestion:
    """Compute the metrics of an answer. `session_of`: the session of each turn."""
    ranked, gold = answer.ranked, question.evidence
    sessions = fold(ranked, session_of)
    ranks = gold_ranks(ranked, gold)
    blocks = {budget: answer.block(chars_of(budget)) for budget in BUDGETS} if question.answerable else {}
    evidence_turns: list[EvidenceTurn] = []
    for turn_id, rank in zip(gold, ranks, strict=True):
        if question.answerable:
            outcome = TurnOutcome.RETURNED if rank is not None else await answer.outcome(turn_id)
            held = frozenset(budget for budget, block in blocks.items() if turn_id in block.turns)
            evidence_turns.append(EvidenceTurn(turn=turn_id, outcome=outcome, rank=rank, blocks=held))
    return JudgedQuestion(
        conversation=conversation,
        question=question,
        ranked=ranked[:KEPT],
        scores=answer.scores[:KEPT],
        returned=len(ranked),
        gold_ranks=ranks,
        gold_session_ranks=gold_ranks(sessions, question.sessions),
        turn=measure(ranked, gold) if gold else {},
        session=measure(sessions, question.sessions) if gold else {},
        block=block_metrics(blocks, gold) if blocks else {},
        block_chars={budget: block.chars for budget, block in blocks.items()},
        evidence_turns=tuple(evidence_turns),
        latency_ms=latency_ms,
    )
