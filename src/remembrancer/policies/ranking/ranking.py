"""Ranking of candidates: the depth of the searches, the score, the relevance threshold, and diversity."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking import signals
from remembrancer.policies.ranking.diversity import Mmr
from remembrancer.policies.ranking.probability import HitProbability
from remembrancer.policies.ranking.relevance import RelevanceThreshold, evidence_terms
from remembrancer.policies.ranking.scoring import Expression, Signal, Weighted, signal_names
from remembrancer.values import dataclass

MAX_DEPTH = 10_000
MAX_RERANKED = 1_000
MAX_RERANK = 200
MAX_PINNED: Final = 100
"""The most pinned memories in one answer, the newest."""
LATE_INTERACTION: Final = "late_interaction"
PASSAGE_WORDS: Final = "passage_words"
SESSION_WORDS: Final = "session_words"
COMPARED: Final = frozenset({LATE_INTERACTION, PASSAGE_WORDS, SESSION_WORDS})
"""The signals of late interaction."""
RERANK: Final = "rerank"
PREFERENCE: Final = "preference"
CONTEXT_SIGNALS: Final = frozenset(name for name, signal in signals.MATCH_SIGNALS.items() if signal.context)
"""The signals made from context features."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """The number of memories that each search returns: `per_hit` for each hit asked for, at least `least`, at most
    10,000.
    """

    least: int = 100
    per_hit: int = 1

    def __post_init__(self) -> None:
        validation.whole("depth.least", self.least, 1, MAX_DEPTH)
        validation.whole("depth.per_hit", self.per_hit, 1, 100)

    def of(self, limit: int) -> int:
        return min(MAX_DEPTH, max(self.least, self.per_hit * limit))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """One ranking of a preset.

    `score`: an expression over signals, in [0, 1]. `lexical_only`: the score for a question without a vector; None:
    `score`. `threshold`: the relevance threshold; None: everything is relevant. `probability`: the calibration of
    `score`, for hits of a question with vectors; None: hits have no probability. `diversity`: None keeps the order by
    score.

    `near_equals`: a reply is put before the turn that only asks for it, the newest of several values of one thing
    before older ones, and a text of a trusted origin before one of an untrusted origin that says nearly the same. Of
    texts of untrusted origins that say nearly the same, an answer has the best one, and others only if there is room.
    Not with `diversity`.

    `journal`: the lexical search also searches the text and the payload of all events of the journal, whether or not a
    memory was formed from them.

    `preference_weight`: the weight, in the score of a request, of stated preferences and instructions that apply to it.
    0: they count as any other memory.

    `outcome_weight`: the greatest share by which the outcomes of tasks raise or lower a memory's score
    (`scoring.with_outcomes`). 0: they do not count.

    `late_interaction`: how many of the best candidates are scored by late interaction, at least as many as hits are
    asked for. `first_stage`: the score that chooses them, which is the final score if the embedder gives no token
    embeddings; None: `score`.
    """

    score: Expression
    lexical_only: Expression | None = None
    first_stage: Expression | None = None
    late_interaction: int = 0
    rerank: int = 0
    rerank_weight: float = 0.5
    preference_weight: float = 0.0
    outcome_weight: float = 0.0
    depth: Depth = field(default_factory=Depth)
    journal: bool = False
    threshold: RelevanceThreshold | None = None
    probability: HitProbability | None = None
    diversity: Mmr | None = None
    near_equals: bool = False

    def __post_init__(self) -> None:
        for name, expression in (
            ("score", self.score),
            ("lexical_only", self.lexical_only),
            ("first_stage", self.first_stage),
        ):
            if expression is None:
                continue
            signals.check(name, expression)
            if RERANK in signal_names(expression):
                raise InvalidInput(
                    name, RERANK, "signals known before reranking: rerank_weight sets the reranker's weight"
                )
            for early in COMPARED & signal_names(expression) if name != "score" else ():
                raise InvalidInput(name, early, "signals known before late interaction")
        validation.whole("late_interaction", self.late_interaction, 0, MAX_RERANKED)
        reads = sorted(COMPARED & signal_names(self.score))
        if self.late_interaction and not reads:
            raise InvalidInput(
                "late_interaction", self.late_interaction, f"0, where score does not read {LATE_INTERACTION}"
            )
        if not self.late_interaction and reads:
            raise InvalidInput("late_interaction", self.late_interaction, f"1 or more, where score reads {reads[0]}")
        self._check_threshold()
        if self.near_equals and self.diversity is not None:
            raise InvalidInput("near_equals", self.near_equals, "false, where diversity orders the hits")
        validation.whole("rerank", self.rerank, 0, MAX_RERANK)
        validation.fraction("rerank_weight", self.rerank_weight)
        validation.fraction("preference_weight", self.preference_weight)
        validation.fraction("outcome_weight", self.outcome_weight)

    def _check_threshold(self) -> None:
        if self.threshold is None:
            return
        for name, share, expression in (
            ("evidence", self.threshold.evidence, self.score),
            ("evidence_first_stage", self.threshold.evidence_first_stage, self.first_stage),
            *(("then", self.threshold.then, one) for one in (self.score, self.lexical_only, self.first_stage) if one),
        ):
            if share and (expression is None or not evidence_terms(expression)):
                raise InvalidInput(f"threshold.{name}", share, "0, where no weighted sum of signals scores")

    def expression(self, *, with_vector: bool, compared: bool = True, request: bool = False) -> Expression:
        """The score expression. `compared`: whether late interaction has scored the best candidates. `request`: whether
        preferences count.
        """
        if not with_vector and self.lexical_only is not None:
            chosen = self.lexical_only
        else:
            chosen = self.score if compared or self.first_stage is None else self.first_stage
        counts = request and self.preference_weight > 0
        return _with(chosen, Signal(PREFERENCE), self.preference_weight) if counts else chosen

    def calibrated(self, model: str | None, *, with_vector: bool, compared: bool = True) -> HitProbability | None:
        """The calibration of `expression`, if it is that of `score` and of this embedder's model."""
        if self.probability is None or model not in self.probability.models or not with_vector:
            return None
        return self.probability if compared or self.first_stage is None else None

    def least_evidence(self, *, with_vector: bool, compared: bool = True) -> float:
        """The least share of evidence that the relevance threshold requires with `expression`; 0: none."""
        if self.threshold is None or (not with_vector and self.lexical_only is not None):
            return 0.0
        return self.threshold.evidence if compared or self.first_stage is None else self.threshold.evidence_first_stage

    def reranked(self, expression: Expression) -> Expression:
        """The score expression after the reranker: that of the first ranking, and the reranker's score."""
        return _with(expression, Signal(RERANK), self.rerank_weight)

    @property
    def reads_context(self) -> bool:
        """Whether a context feature is needed: an expression reads one, or late interaction is used, whose token
        weights are returned with them.
        """
        return self.late_interaction > 0 or self._reads(CONTEXT_SIGNALS)

    @property
    def reads_preferences(self) -> bool:
        """Whether stated preferences and instructions count in a request."""
        return self.preference_weight > 0 or self._reads(frozenset({PREFERENCE}))

    def _reads(self, names: frozenset[str]) -> bool:
        given = (self.score, self.lexical_only, self.first_stage)
        return any(names & signal_names(expression) for expression in given if expression is not None)


def _with(expression: Expression, signal: Signal, weight: float) -> Weighted:
    """The weighted sum of an expression and a further signal, which has this share.

    The terms of a weighted sum stay separate terms, so that an explanation lists them beside the signal.
    """
    terms = expression.terms if isinstance(expression, Weighted) else ((expression, 1.0),)
    return Weighted((*((term, share * (1 - weight)) for term, share in terms), (signal, weight)))
