"""Whether a score tells when to say nothing: how scores and right answers go together, and what a least score does."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.misses import FIRST
from remembrancer.evaluation.outcome import Asked
from remembrancer.evaluation.statistics import Z_95, Interval, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS: Final = 10
FLOORS: Final = tuple(step / 100 for step in range(101))

_EDGES: Final = tuple(number / BINS for number in range(1, BINS + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers whose best score lies in (`low`, `high`], the first bin with its lower end.

    `right`: how many of them begin with a turn that answers; `interval`: the 95 % interval of that share, by Wilson.
    """

    low: float
    high: float
    answers: int
    right: int
    mean_score: float
    interval: Interval

    @property
    def share(self) -> float:
        return self.right / self.answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """`bins` that hold an answer, lowest first. `error`: the expected calibration error, in [0, 1]."""

    answers: int
    bins: tuple[Bin, ...]
    error: float


def reliability(answers: Sequence[tuple[float, bool]]) -> Reliability:
    """How often an answer is right whose best score is so high. `answers`: best score in [0, 1], and whether right.

    ECE is the sum over ten bins of their share of the answers times |share right - mean score|.
    Source: Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural Networks, ICML 2017, §2. Raises
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


def first_answers(asked: Sequence[Asked]) -> list[tuple[float, bool]]:
    """The best score of each question that something came back for, and whether its first turn answers."""
    return [(one.scores[0], one.answerable and one.ranked[0] in one.question.evidence) for one in asked if one.scores]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """What saying nothing does: it is the positive.

    `silent_on_unanswerable` of `unanswerable` questions get no answer, which is right; of `answerable` ones
    `silent_on_answerable`, which is wrong.
    """

    unanswerable: int
    silent_on_unanswerable: int
    answerable: int
    silent_on_answerable: int

    @property
    def precision(self) -> float | None:
        """Of the silences, the share that is right. None where every question gets an answer."""
        silent = self.silent_on_unanswerable + self.silent_on_answerable
        return self.silent_on_unanswerable / silent if silent else None

    @property
    def sensitivity(self) -> float | None:
        """Of the unanswerable questions, the share that gets no answer: the recall of abstaining. None without one."""
        return self.silent_on_unanswerable / self.unanswerable if self.unanswerable else None

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and sensitivity: 2 tp / (2 tp + fp + fn), 0 where tp is 0.

        Source: van Rijsbergen, Information Retrieval, 1979, ch. 7.
        """
        missed = self.unanswerable - self.silent_on_unanswerable
        doubled = 2 * self.silent_on_unanswerable
        return doubled / (doubled + self.silent_on_answerable + missed) if doubled else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstaining(Silence):
    """What saying nothing below a least score, `floor`, does.

    `recall`: recall@10 of the answerable questions over what is still returned.
    """

    floor: float
    recall: float


def sweep(asked: Sequence[Asked], floors: Sequence[float] = FLOORS) -> tuple[Abstaining, ...]:
    """What each least score would do, from one run: an answer keeps the turns whose score is at least that.

    Scores fall with rank, so what is kept is the answer's beginning. At 0 stands what the system does by itself. Raises
    InvalidInput unless there are answerable and unanswerable questions.
    """
    bests = {kind: _bests([one for one in asked if one.answerable is kind]) for kind in (True, False)}
    if not len(bests[True]) or not len(bests[False]):
        raise InvalidInput("questions", len(asked), "answerable and unanswerable ones")
    found, shares = _found_scores([one for one in asked if one.answerable])
    return tuple(
        Abstaining(
            floor=floor,
            unanswerable=len(bests[False]),
            silent_on_unanswerable=int(np.count_nonzero(bests[False] < floor)),
            answerable=len(bests[True]),
            silent_on_answerable=int(np.count_nonzero(bests[True] < floor)),
            recall=float(shares[found >= floor].sum() / len(bests[True])),
        )
        for floor in floors
    )


def _bests(asked: Sequence[Asked]) -> NDArray[np.float64]:
    """The best score of each question, below every score where nothing came back."""
    return np.array([-math.inf if one.top_score is None else one.top_score for one in asked])


def _found_scores(asked: Sequence[Asked]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The score of each turn that answers and stands among the first, and the share of its question's that it is."""
    found = [
        (one.scores[rank - 1], 1 / len(one.gold_ranks))
        for one in asked
        for rank in one.gold_ranks
        if rank is not None and rank <= FIRST
    ]
    return np.array([score for score, _ in found]), np.array([share for _, share in found])


@dataclass(frozen=True, slots=True)
class Separation:
    """`auc` in [0, 1] with its 95 % interval: 0.5 says nothing, 1 tells every answerable question by its score."""

    auc: float
    interval: Interval


def separation(answerable: Sequence[float], unanswerable: Sequence[float]) -> Separation:
    """How well best scores tell answerable questions from unanswerable ones, whatever the least score.

    AUC, the area under the ROC curve, is the chance that an answerable question has the higher score of a pair, an
    equal one counting half. Sources: Hanley and McNeil, Radiology 143, 1982; for the interval DeLong, DeLong and
    Clarke-Pearson, Biometrics 44, 1988, cut to [0, 1]. Raises InvalidInput with fewer than two of either.
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
    """The share of the sorted `others` that each value is above, an equal one counting half."""
    less, not_more = (np.searchsorted(others, values, side=side) for side in ("left", "right"))
    return (less + not_more) / (2 * len(others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Questions of one kind that nothing answers, beside the answerable ones, under one system.

    `by_floor` is empty where scores are no fractions, or there are no such questions. `separation`: None where the
    system gives no scores, or there are fewer than two questions of either kind.
    """

    silence: Silence
    by_floor: tuple[Abstaining, ...]
    separation: Separation | None

    @property
    def questions(self) -> int:
        return self.silence.unanswerable


def unanswered(answerable: Sequence[Asked], apart: Sequence[Asked], *, fractions: bool) -> Unanswered:
    """What is said to the questions `apart`. `fractions`: whether scores lie in [0, 1] whatever is asked."""
    return Unanswered(
        silence=Silence(
            unanswerable=len(apart),
            silent_on_unanswerable=sum(one.abstained for one in apart),
            answerable=len(answerable),
            silent_on_answerable=sum(one.abstained for one in answerable),
        ),
        by_floor=sweep([*answerable, *apart]) if fractions and answerable and apart else (),
        separation=_separation(answerable, apart),
    )


def _separation(answerable: Sequence[Asked], apart: Sequence[Asked]) -> Separation | None:
    """An answer with nothing in it stands below every score."""
    if len(answerable) < 2 or len(apart) < 2 or not any(one.scores for one in answerable):
        return None
    return separation(_bests(answerable).tolist(), _bests(apart).tolist())
