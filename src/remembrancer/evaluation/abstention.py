"""Abstention metrics: calibration of scores, threshold sweep and ROC AUC.

A system abstains when it returns nothing. That is right for a question that nothing in the conversation answers.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.misses import FIRST
from remembrancer.evaluation.outcome import JudgedQuestion
from remembrancer.evaluation.statistics import Z_95, Interval, wilson
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS: Final = 10
"""Number of equally wide score bins of the calibration error."""
THRESHOLDS: Final = tuple(step / 100 for step in range(101))
"""Relevance thresholds that `sweep` tries: 0, 0.01, …, 1."""

_EDGES: Final = tuple(number / BINS for number in range(1, BINS + 1))
"""Upper ends of the bins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """The answers whose best score lies in (`low`, `high`]; the first bin includes its lower end.

    `right`: the number of answers whose first turn is evidence. `interval`: the 95 % Wilson interval of `share`.
    """

    low: float
    high: float
    answers: int
    right: int
    mean_score: float
    interval: Interval

    @property
    def share(self) -> float:
        """The fraction of the answers that is right, in [0, 1]."""
        return self.right / self.answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """A calibration curve. `bins`: those that hold an answer, lowest first. `error`: the expected calibration error
    (ECE), in [0, 1].
    """

    answers: int
    bins: tuple[Bin, ...]
    error: float


def reliability(answers: Sequence[tuple[float, bool]]) -> Reliability:
    """Calibration of scores. `answers`: for each answer, its best score in [0, 1] and whether the answer is right.

    ECE is the sum over ten bins of (share of the answers in the bin) · |share of them that is right - their mean
    score|. Source: Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural Networks, ICML 2017, §2. Raises
    InvalidInput without an answer.
    """
    if not answers:
        raise InvalidInput("answers", [], "at least one answer with a score")
    held: dict[int, list[tuple[float, bool]]] = {}
    for score, right in answers:
        held.setdefault(bisect_left(_EDGES, score) + 1, []).append((score, right))
    bins = tuple(_bin(number, held[number]) for number in sorted(held))
    error = math.fsum(one.answers / len(answers) * abs(one.share - one.mean_score) for one in bins)
    return Reliability(answers=len(answers), bins=bins, error=error)


def _bin(number: int, answers: Sequence[tuple[float, bool]]) -> Bin:
    right = sum(right for _, right in answers)
    return Bin(
        low=(number - 1) / BINS,
        high=number / BINS,
        answers=len(answers),
        right=right,
        mean_score=math.fsum(score for score, _ in answers) / len(answers),
        interval=wilson(right, len(answers)),
    )


def first_answers(asked: Sequence[JudgedQuestion]) -> list[tuple[float, bool]]:
    """For each question with a non-empty answer: the best score, and whether the first turn is evidence."""
    return [(one.scores[0], one.answerable and one.ranked[0] in one.question.evidence) for one in asked if one.scores]


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstentionCounts:
    """Abstention counts, where abstaining is the positive class.

    The system abstains on `silent_on_unanswerable` of `unanswerable` questions (true positives) and on
    `silent_on_answerable` of `answerable` questions (false positives).
    """

    unanswerable: int
    silent_on_unanswerable: int
    answerable: int
    silent_on_answerable: int

    @property
    def precision(self) -> float | None:
        """The share of the abstentions that are right, in [0, 1]. None when the system never abstains."""
        silent = self.silent_on_unanswerable + self.silent_on_answerable
        return self.silent_on_unanswerable / silent if silent else None

    @property
    def sensitivity(self) -> float | None:
        """The share of the unanswerable questions that the system abstains on (the recall of abstaining), in [0, 1].
        None without an unanswerable question.
        """
        return self.silent_on_unanswerable / self.unanswerable if self.unanswerable else None

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and sensitivity: 2 tp / (2 tp + fp + fn), 0 when tp is 0.

        Source: van Rijsbergen, Information Retrieval, 1979, ch. 7.
        """
        missed = self.unanswerable - self.silent_on_unanswerable
        doubled = 2 * self.silent_on_unanswerable
        return doubled / (doubled + self.silent_on_answerable + missed) if doubled else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstentionAtThreshold(AbstentionCounts):
    """Abstention counts if every turn that scores below `threshold` were dropped from the answers.

    `recall`: mean recall@10 of the answerable questions over the turns that are kept.
    """

    threshold: float
    recall: float


def sweep(
    asked: Sequence[JudgedQuestion], thresholds: Sequence[float] = THRESHOLDS
) -> tuple[AbstentionAtThreshold, ...]:
    """Abstention and recall for each threshold in `thresholds`, computed from one run: an answer keeps the turns whose
    score is at least the threshold.

    Scores fall with rank, so the kept turns are the beginning of the answer. The threshold 0 is the system without a
    threshold. Raises InvalidInput unless there is at least one answerable and one unanswerable question.
    """
    bests = {kind: _bests([one for one in asked if one.answerable is kind]) for kind in (True, False)}
    if not len(bests[True]) or not len(bests[False]):
        raise InvalidInput("questions", len(asked), "answerable and unanswerable ones")
    found, shares = _found_scores([one for one in asked if one.answerable])
    return tuple(
        AbstentionAtThreshold(
            threshold=threshold,
            unanswerable=len(bests[False]),
            silent_on_unanswerable=int(np.count_nonzero(bests[False] < threshold)),
            answerable=len(bests[True]),
            silent_on_answerable=int(np.count_nonzero(bests[True] < threshold)),
            recall=float(shares[found >= threshold].sum() / len(bests[True])),
        )
        for threshold in thresholds
    )


def _bests(asked: Sequence[JudgedQuestion]) -> NDArray[np.float64]:
    """The best score of each question; -inf for an empty answer."""
    return np.array([-math.inf if one.top_score is None else one.top_score for one in asked])


def _found_scores(asked: Sequence[JudgedQuestion]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each evidence turn in the first FIRST ranks: its score, and 1 / (number of evidence turns of its
    question).
    """
    found = [
        (one.scores[rank - 1], 1 / len(one.gold_ranks))
        for one in asked
        for rank in one.gold_ranks
        if rank is not None and rank <= FIRST
    ]
    return np.array([score for score, _ in found]), np.array([share for _, share in found])


@dataclass(frozen=True, slots=True)
class Separation:
    """The degree to which scores separate answerable from unanswerable questions. `auc` in [0, 1] with its 95 %
    interval. 0.5: scores do not separate the two kinds of questions; 1: they separate them completely.
    """

    auc: float
    interval: Interval


def separation(answerable: Sequence[float], unanswerable: Sequence[float]) -> Separation:
    """ROC AUC of the best score as a classifier of answerable against unanswerable questions, over all thresholds.

    AUC is the probability that of one question of each kind the answerable one scores higher; equal scores count half.
    Sources: Hanley and McNeil, Radiology 143, 1982; for the interval DeLong, DeLong and Clarke-Pearson, Biometrics 44,
    1988, clipped to [0, 1]. Raises InvalidInput with fewer than two questions of either kind.
    """
    if len(answerable) < 2 or len(unanswerable) < 2:
        raise InvalidInput("questions", (len(answerable), len(unanswerable)), "at least two of either kind")
    high, low = np.array(answerable), np.array(unanswerable)
    above = _placements(high, np.sort(low))
    below = 1 - _placements(low, np.sort(high))
    auc = float(above.mean())
    reach = Z_95 * math.sqrt(above.var(ddof=1) / len(high) + below.var(ddof=1) / len(low))
    return Separation(auc, Interval(max(0.0, auc - reach), min(1.0, auc + reach)))


def _placements(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each value, the share of the sorted `others` that is lower; equal ones count half."""
    less, not_more = (np.searchsorted(others, values, side=side) for side in ("left", "right"))
    return (less + not_more) / (2 * len(others))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnanswerableResult:
    """The result of one system on one kind of unanswerable questions, compared with the answerable questions.

    `by_threshold` is empty when scores are not fractions or there is no such question. `separation` is None when the
    system gives no scores, or there are fewer than two questions of either kind.
    """

    counts: AbstentionCounts
    by_threshold: tuple[AbstentionAtThreshold, ...]
    separation: Separation | None

    @property
    def questions(self) -> int:
        return self.counts.unanswerable


def unanswerable_result(
    answerable: Sequence[JudgedQuestion], unanswerable: Sequence[JudgedQuestion], *, fractions: bool
) -> UnanswerableResult:
    """Abstention on the `unanswerable` questions, compared with the `answerable` ones. `fractions`: scores lie in [0,
    1] for every question.
    """
    return UnanswerableResult(
        counts=AbstentionCounts(
            unanswerable=len(unanswerable),
            silent_on_unanswerable=sum(one.abstained for one in unanswerable),
            answerable=len(answerable),
            silent_on_answerable=sum(one.abstained for one in answerable),
        ),
        by_threshold=sweep([*answerable, *unanswerable]) if fractions and answerable and unanswerable else (),
        separation=_separation(answerable, unanswerable),
    )


def _separation(answerable: Sequence[JudgedQuestion], unanswerable: Sequence[JudgedQuestion]) -> Separation | None:
    """The AUC; an empty answer ranks below every score. None when it cannot be computed."""
    if len(answerable) < 2 or len(unanswerable) < 2 or not any(one.scores for one in answerable):
        return None
    return separation(_bests(answerable).tolist(), _bests(unanswerable).tolist())
