"""Paired comparison of two systems on the same questions: differences, their significance, and the
changed questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.budget import BUDGETS
from remembrancer.evaluation.outcome import JudgedQuestion
from remembrancer.evaluation.statistics import Interval, bootstrap_intervals, holm, sign_flip_p
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPARED: Final = (
    *("recall@5", "recall@10", "recall@20", "any@10", "all@10", "ndcg@10", "mrr"),
    *(f"block-recall@{budget}" for budget in BUDGETS),
)
"""The turn metrics that are compared; p-values are corrected for this many tests."""

CHANGED_BY: Final = "ndcg@10"
"""Changed questions are ordered by the change of this metric, which depends on all of a question's evidence ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredQuestion:
    """One answerable question's metrics, from a run or from its records."""

    conversation: str
    id: str
    question: str
    category: str
    gold: tuple[str, ...]
    metrics: Mapping[str, float]

    @classmethod
    def of(cls, asked: JudgedQuestion) -> ScoredQuestion:
        """The turn and block metrics of a judged question."""
        return cls(
            conversation=asked.conversation,
            id=asked.question.id,
            question=asked.question.text,
            category=asked.question.category,
            gold=asked.question.evidence,
            metrics={**asked.turn, **asked.block},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """One metric's means under both systems; `difference` is the first's minus the second's.

    `interval`: 95 % bootstrap interval over questions. `cluster_interval`: the same over conversations, None with one
    conversation. `p`: two-sided sign-flip test over questions; `p_holm`: `p` after Holm's correction over all compared
    metrics. `p_conversations`: sign-flip test over conversations, None with one conversation. `won`, `lost`, `tied`:
    number of questions on which the first system is better, worse, equal.
    """

    metric: str
    first: float
    second: float
    difference: float
    interval: Interval
    cluster_interval: Interval | None
    p: float
    p_holm: float
    p_conversations: float | None
    won: int
    lost: int
    tied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedQuestion:
    """One question on which the systems differ, with the difference of each metric.

    `first`, `second`: each system's value of CHANGED_BY.
    """

    conversation: str
    id: str
    question: str
    category: str
    first: float
    second: float
    differences: Mapping[str, float]

    @property
    def by(self) -> float:
        """The difference in the metric CHANGED_BY: the first system's value minus the second's."""
        return self.differences[CHANGED_BY]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """The comparison. `changed`: the questions on which any metric differs, largest change first."""

    first: str
    second: str
    questions: int
    conversations: int
    differences: tuple[PairedDifference, ...]
    changed: tuple[ChangedQuestion, ...]


def compare_systems(
    names: tuple[str, str], first: Sequence[ScoredQuestion], second: Sequence[ScoredQuestion], *, seed: int
) -> PairedComparison:
    """Compare two systems. Raises InvalidInput unless both have the same questions, with the same evidence."""
    by_key = {(one.conversation, one.id): one for one in second}
    _check(names, first, by_key)
    others = [by_key[one.conversation, one.id] for one in first]
    mine, theirs = _values(first), _values(others)
    moved = mine - theirs
    conversations = [one.conversation for one in first]
    several = len(set(conversations))
    changed = [
        ChangedQuestion(
            conversation=one.conversation,
            id=one.id,
            question=one.question,
            category=one.category,
            first=one.metrics[CHANGED_BY],
            second=other.metrics[CHANGED_BY],
            differences=dict(zip(COMPARED, row.tolist(), strict=True)),
        )
        for one, other, row in zip(first, others, moved, strict=True)
        if row.any()
    ]
    changed.sort(key=lambda one: (-abs(one.by), -sum(map(abs, one.differences.values()))))
    return PairedComparison(
        first=names[0],
        second=names[1],
        questions=len(first),
        conversations=several,
        differences=_differences(mine, theirs, conversations, seed),
        changed=tuple(changed),
    )


def _differences(
    mine: NDArray[np.float64], theirs: NDArray[np.float64], conversations: Sequence[str], seed: int
) -> tuple[PairedDifference, ...]:
    moved = mine - theirs
    intervals = bootstrap_intervals(moved, rng=np.random.default_rng(seed))
    p_values: list[float] = sign_flip_p(moved, rng=np.random.default_rng(seed)).tolist()
    corrected = holm(dict(zip(COMPARED, p_values, strict=True)))
    clustered: list[Interval] | None = None
    by_conversation: list[float] | None = None
    if len(set(conversations)) > 1:
        drawn = bootstrap_intervals(moved, rng=np.random.default_rng(seed), clusters=conversations)
        clustered = [Interval(low, high) for low, high in drawn.tolist()]
        of_each = [
            moved[[one == conversation for one in conversations]].sum(axis=0)
            for conversation in dict.fromkeys(conversations)
        ]
        by_conversation = sign_flip_p(np.array(of_each), rng=np.random.default_rng(seed)).tolist()
    return tuple(
        PairedDifference(
            metric=metric,
            first=float(mine[:, column].mean()),
            second=float(theirs[:, column].mean()),
            difference=float(moved[:, column].mean()),
            interval=Interval(*intervals[column].tolist()),
            cluster_interval=None if clustered is None else clustered[column],
            p=p_values[column],
            p_holm=corrected[metric],
            p_conversations=None if by_conversation is None else by_conversation[column],
            won=int(np.count_nonzero(moved[:, column] > 0)),
            lost=int(np.count_nonzero(moved[:, column] < 0)),
            tied=int(np.count_nonzero(moved[:, column] == 0)),
        )
        for column, metric in enumerate(COMPARED)
    )


def _check(
    names: tuple[str, str], first: Sequence[ScoredQuestion], second: Mapping[tuple[str, str], ScoredQuestion]
) -> None:
    """Raises InvalidInput unless both sides hold the same questions with the same text and evidence."""
    if not first:
        raise InvalidInput(names[0], "no question", "at least one answerable question")
    missing = {(one.conversation, one.id) for one in first} ^ set(second)
    if missing:
        conversation, identifier = min(missing)
        raise InvalidInput(
            f"{names[0]} and {names[1]}", f"{conversation}: {identifier}", "the same questions on both sides"
        )
    for one in first:
        other = second[one.conversation, one.id]
        if (one.question, one.gold) != (other.question, other.gold):
            raise InvalidInput(
                f"{names[0]} and {names[1]}: {one.conversation}: {one.id}",
                other.question,
                "the same question with the same evidence on both sides",
            )


def _values(scored: Sequence[ScoredQuestion]) -> NDArray[np.float64]:
    return np.array([[one.metrics[name] for name in COMPARED] for one in scored], dtype=np.float64)
