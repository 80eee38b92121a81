"""The relevance threshold: when a question gets no answer, and which candidates are relevant."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.scoring import Expression, Signal, Weighted
from remembrancer.policies.ranking.signals import MATCH_SIGNALS
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.ranking.scoring import FloatColumn

ANCHOR_COVERAGE: Final = 0.5
"""The share of the words of "the trip to Rome" that a memory must contain to count as that trip."""


def evidence_terms(expression: Expression) -> tuple[tuple[str, float], ...]:
    """The signals of a weighted sum that are evidence, each with its weight; empty for any other expression.

    Evidence is a signal that shows that a memory is about the question, not what type of text it is or how important.
    """
    if not isinstance(expression, Weighted):
        return ()
    named = [(term.name, weight) for term, weight in expression.terms if isinstance(term, Signal)]
    return tuple((name, weight) for name, weight in named if name in MATCH_SIGNALS and MATCH_SIGNALS[name].evidence)


def evidence(
    expression: Expression, table: Mapping[str, FloatColumn], but: AbstractSet[str] = frozenset()
) -> FloatColumn | None:
    """The evidence of each candidate: its sum in the score, divided by the greatest possible sum; in [0, 1], shape
    (n,).

    A signal that is absent for every candidate (the question names no person, or no time) is not in the greatest sum.
    So a share means the same for a question of one word and for one with names and dates. Returns None if no signal
    could add anything. `but`: signals that are no evidence for this question.
    """
    terms = [(name, weight) for name, weight in evidence_terms(expression) if name not in but]
    if not terms:
        return None
    columns = np.array([table[name] for name, _ in terms])
    absent = np.isnan(columns)
    weights = np.where(absent.all(axis=1), 0.0, [weight for _, weight in terms])
    most = weights.sum()
    if not most:
        return None
    columns[absent] = 0.0
    return weights @ columns / most


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceThreshold:
    """The condition for answering a question, and for the candidates in the answer.

    It is answered if some candidate has similarity / `similarity` + coverage / `coverage` >= 1 (the threshold), and
    some candidate has at least the share `evidence` of the greatest possible evidence. `evidence_first_stage`: that
    share for a score by `first_stage`, whose shares are smaller. For a lexical-only score the threshold alone decides.

    `then`: if the question is answered, candidates with at least this share of the best one's evidence are relevant;
    for a lexical-only score, also those that meet the threshold. 0: those that meet the threshold are relevant.
    """

    similarity: float
    coverage: float
    evidence: float = 0.0
    evidence_first_stage: float = 0.0
    then: float = 0.0

    def __post_init__(self) -> None:
        for name in ("similarity", "coverage"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise InvalidInput(f"threshold.{name}", value, "a number greater than 0, at most 1")
        for name in ("evidence", "evidence_first_stage", "then"):
            validation.fraction(f"threshold.{name}", getattr(self, name))

    def passes(
        self, similarity: FloatColumn, coverage: FloatColumn, shares: FloatColumn | None, least: float = 0.0
    ) -> NDArray[np.bool_]:
        """The candidates that are relevant, shape (n,). `shares`: the evidence; None: only the threshold counts.
        `least`: the required share, `evidence` or `evidence_first_stage`.

        An absent similarity (no embedder, or no vector yet) counts as half of `similarity`, and such a candidate needs
        no share if it meets the threshold: a missing vector should not exclude a text with the question's words. An
        absent coverage counts as 0.
        """
        unlike = np.isnan(similarity)
        answers = self._met(similarity, coverage) >= 1.0
        if shares is None or not answers.any():
            return answers
        unproven = answers & unlike
        best = float(shares.max())
        if best < least:
            return unproven
        return unproven | (shares >= self.then * best) if self.then and best else answers

    def margin(
        self, similarity: FloatColumn, coverage: FloatColumn, shares: FloatColumn | None, least: float = 0.0
    ) -> tuple[FloatColumn, float]:
        """The value of each candidate, shape (n,), and the value that those which do not pass lack, on the scale of the
        condition that decided: the threshold, where 1 is needed, or the share of evidence.
        """
        met = self._met(similarity, coverage)
        if shares is None or not (met >= 1.0).any():
            return met, 1.0
        best = float(shares.max())
        if best < least:
            return shares, least
        return (shares, self.then * best) if self.then and best else (met, 1.0)

    def _met(self, similarity: FloatColumn, coverage: FloatColumn) -> FloatColumn:
        """The value of each candidate at the threshold; with 1 or more it answers the question."""
        alike = np.where(np.isnan(similarity), 0.5, similarity / self.similarity)
        return alike + np.where(np.isnan(coverage), 0.0, coverage) / self.coverage


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """The acceptance thresholds for the candidates of one question.

    `threshold`: the preset's; None: everything is relevant. `least_evidence`: the share of evidence that the best
    candidate needs at the current stage of ranking. `anyway`, shape (n,): candidates that are relevant whatever they
    say. `no_evidence`: signals that are no evidence for this question. `min_score`: the least score.
    `min_probability`: the least probability, if the ranking is calibrated. `silent`: no candidate is relevant, because
    the message says nothing.
    """

    threshold: RelevanceThreshold | None = None
    least_evidence: float = 0.0
    anyway: NDArray[np.bool_] | None = None
    no_evidence: frozenset[str] = frozenset()
    min_score: float = 0.0
    min_probability: float = 0.0
    silent: bool = False

    def relevant(self, expression: Expression, table: Mapping[str, FloatColumn]) -> NDArray[np.bool_]:
        """The candidates that are relevant, shape (n,)."""
        if self.silent:
            return np.zeros(len(table["similarity"]), dtype=np.bool_)
        if self.threshold is None:
            return np.ones(len(table["similarity"]), dtype=np.bool_)
        shares = evidence(expression, table, self.no_evidence)
        passes = self.threshold.passes(table["similarity"], table["coverage"], shares, self.least_evidence)
        return passes if self.anyway is None else passes | self.anyway

    def margin(self, expression: Expression, table: Mapping[str, FloatColumn]) -> tuple[FloatColumn, float] | None:
        """The value of each candidate, and the value that those which are not relevant lack
        (`RelevanceThreshold.margin`).
        """
        if self.threshold is None:
            return None
        shares = evidence(expression, table, self.no_evidence)
        return self.threshold.margin(table["similarity"], table["coverage"], shares, self.least_evidence)
