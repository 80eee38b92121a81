"""One system's results over many questions: means with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from remembrancer.evaluation.abstention import (
    Reliability,
    UnanswerableResult,
    first_answers,
    reliability,
    unanswerable_result,
)
from remembrancer.evaluation.budget import BLOCK_METRICS, BUDGETS
from remembrancer.evaluation.metrics import METRICS
from remembrancer.evaluation.misses import Cause, count_causes
from remembrancer.evaluation.outcome import JudgedQuestion
from remembrancer.evaluation.statistics import Interval, bootstrap_intervals
from remembrancer.values import dataclass

GOLD_TURNS: Final = {"1": (1, 1), "2-3": (2, 3), "4-6": (4, 6), "7+": (7, 10**9)}
"""The least and the greatest number of gold turns of a question, by label: the first turn of a list is found more
easily than the others.
"""
ENOUGH_CONVERSATIONS: Final = 5
"""With at least this many conversations, the report shows intervals over conversations; fewer are too
few to resample.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Means over `questions` questions of `conversations` conversations; all mappings are empty without a question.

    `intervals`: 95 % bootstrap over questions. `cluster_intervals`: 95 % bootstrap over conversations, empty with one
    conversation.
    """

    questions: int
    conversations: int
    values: Mapping[str, float]
    intervals: Mapping[str, Interval]
    cluster_intervals: Mapping[str, Interval]

    @property
    def shown_intervals(self) -> Mapping[str, Interval]:
        """The intervals to report: over conversations if there are at least ENOUGH_CONVERSATIONS, otherwise over
        questions.
        """
        return self.cluster_intervals if self.conversations >= ENOUGH_CONVERSATIONS else self.intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Means of the turn metrics, the session metrics and the block metrics."""

    turn: Means
    session: Means
    block: Means


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds from the question to the ranking."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemResult:
    """One system's results.

    `main`: all answerable questions; `by_category`: the same by category; `by_gold_turns`: the same by the number of
    gold turns, by the labels of GOLD_TURNS. `adversarial`: the unanswerable questions whose `evidence` names turns that
    look like an answer. `block_chars`: mean length of each block. `missed`: number of evidence turns per cause, for
    each reader. `reliability`: calibration over the answerable questions, and `reliability_of_all` over all; None when
    scores are not fractions or there is nothing to measure. `unanswerable`, `foreign`: abstention on such questions.
    """

    system: str
    main: Levels
    by_category: Mapping[str, Levels]
    by_gold_turns: Mapping[str, Levels]
    adversarial: Levels
    block_chars: Mapping[str, float]
    missed: Mapping[str, Mapping[Cause, int]]
    reliability: Reliability | None
    reliability_of_all: Reliability | None
    unanswerable: UnanswerableResult
    foreign: UnanswerableResult
    latency: Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Every question's outcome under one system. Foreign questions are separate: they count for abstention only.

    `fractions`: scores lie in [0, 1] for every question.
    """

    system: str
    fractions: bool
    asked: tuple[JudgedQuestion, ...]
    foreign: tuple[JudgedQuestion, ...] = ()

    def of(self, conversations: frozenset[str]) -> Outcomes:
        """The outcomes of some conversations only."""
        return replace(
            self,
            asked=tuple(one for one in self.asked if one.conversation in conversations),
            foreign=tuple(one for one in self.foreign if one.conversation in conversations),
        )


def summarise(outcomes: Outcomes, categories: Sequence[str], *, seed: int) -> SystemResult:
    """Means and intervals of one system's questions. The same seed gives the same bootstrap draws for every system."""
    asked = outcomes.asked
    main = [one for one in asked if one.answerable]
    unanswerable = [one for one in asked if not one.answerable]
    latencies = [one.latency_ms for one in asked]
    fractions = outcomes.fractions and any(one.scores for one in main)
    own, foreign = abstention_results(outcomes)
    return SystemResult(
        system=outcomes.system,
        main=levels(main, seed=seed),
        by_category={
            category: levels([one for one in main if one.question.category == category], seed=seed)
            for category in categories
        },
        by_gold_turns={
            label: levels([one for one in main if least <= len(one.question.evidence) <= most], seed=seed)
            for label, (least, most) in GOLD_TURNS.items()
        },
        adversarial=levels([one for one in unanswerable if one.turn], seed=seed),
        block_chars={
            budget: math.fsum(one.block_chars[budget] for one in main) / len(main) for budget in BUDGETS if main
        },
        missed=count_causes(turn for one in main for turn in one.evidence_turns),
        reliability=reliability(first_answers(main)) if fractions else None,
        reliability_of_all=reliability(first_answers(asked)) if fractions and unanswerable else None,
        unanswerable=own,
        foreign=foreign,
        latency=Latency(p50=float(np.percentile(latencies, 50)), p95=float(np.percentile(latencies, 95))),
    )


def abstention_results(outcomes: Outcomes) -> tuple[UnanswerableResult, UnanswerableResult]:
    """Abstention on the unanswerable questions and on the foreign ones, each compared with the answerable ones."""
    main = [one for one in outcomes.asked if one.answerable]
    others = ([one for one in outcomes.asked if not one.answerable], outcomes.foreign)
    own, foreign = (unanswerable_result(main, asked, fractions=outcomes.fractions) for asked in others)
    return own, foreign


def levels(asked: Sequence[JudgedQuestion], *, seed: int) -> Levels:
    """Means over questions that all have evidence. All levels share the bootstrap draws."""
    conversations = [one.conversation for one in asked]
    columns = {
        "turn": (METRICS, [one.turn for one in asked]),
        "session": (METRICS, [one.session for one in asked]),
        "block": (BLOCK_METRICS if all(one.block for one in asked) else (), [one.block for one in asked]),
    }
    return Levels(**_means(columns, conversations, seed))


def _means(
    columns: Mapping[str, tuple[Sequence[str], Sequence[Mapping[str, float]]]], conversations: Sequence[str], seed: int
) -> dict[str, Means]:
    several = len(set(conversations))
    if not conversations:
        nothing = Means(questions=0, conversations=0, values={}, intervals={}, cluster_intervals={})
        return dict.fromkeys(columns, nothing)
    rows = zip(*(rows for _, rows in columns.values()), strict=True)
    names = [names for names, _ in columns.values()]
    values = np.array(
        [[part[name] for part, of in zip(row, names, strict=True) for name in of] for row in rows], dtype=np.float64
    )
    plain = bootstrap_intervals(values, rng=np.random.default_rng(seed))
    clustered = (
        bootstrap_intervals(values, rng=np.random.default_rng(seed), clusters=conversations) if several > 1 else None
    )
    means: dict[str, Means] = {}
    start = 0
    for level, (of, _) in columns.items():
        part = slice(start, start + len(of))
        start += len(of)
        means[level] = Means(
            questions=len(conversations),
            conversations=several,
            values=dict(zip(of, values[:, part].mean(axis=0).tolist(), strict=True)),
            intervals=_named(of, plain[part].tolist()),
            cluster_intervals={} if clustered is None else _named(of, clustered[part].tolist()),
        )
    return means


def _named(names: Sequence[str], intervals: Sequence[Sequence[float]]) -> dict[str, Interval]:
    return {name: Interval(low, high) for name, (low, high) in zip(names, intervals, strict=True)}
