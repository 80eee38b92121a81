"""The default preset: verbatim turns, lexical and dense searches, slow decay, reinforcement by use."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from remembrancer.domain.event import Severity
from remembrancer.domain.memory import PINNED
from remembrancer.domain.recall import FlaggedRecall
from remembrancer.domain.strength import Exposure
from remembrancer.policies.admission.admission import Admission
from remembrancer.policies.admission.encoding import Encoding
from remembrancer.policies.admission.formation import Formation
from remembrancer.policies.admission.importance import Importance
from remembrancer.policies.consolidation.compaction import Compaction
from remembrancer.policies.forgetting.decay import HalfLife
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.reinforcement import LogarithmicGain
from remembrancer.policies.ranking.probability import HitProbability
from remembrancer.policies.ranking.ranking import Depth, Ranking
from remembrancer.policies.ranking.relevance import RelevanceThreshold
from remembrancer.policies.ranking.scoring import Clamp, Greatest, Product, Signal, Weighted
from remembrancer.policies.rendering.block import Block
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.policies.segmentation.topic_shift import TopicShift
from remembrancer.presets.spec import Fading, Limits, MessageRecall, Preset

STATE: Final = (
    (Signal("importance"), 0.02),
    (Signal("confidence"), 0.02),
    # Enough to put the newer of two equal answers first; with five times as much, old correct answers were ranked too
    # low.
    (Signal("retention"), 0.002),
)
"""The terms that do not depend on the question. Their weights are small: they only decide between nearly equal
candidates.
"""

OUTCOME_WEIGHT: Final = 0.2
"""Enough to exchange memories that fit a question about equally well: one failed task lowers a score by a fifteenth,
any number of them by less than a fifth (docs/decisions/0067-outcomes.md).
"""

DEFAULT: Final = Preset(
    name="default",
    description="Verbatim turns, found by words and meaning; recent and proven ones win ties.",
    # Tool output and network traffic stay in the journal only; as memories they would dominate recall.
    admission=Admission(never=("exec.output_chunk", "container.metrics", "network.*")),
    formation=Formation(
        importance=Importance(
            by_severity=MappingProxyType({Severity.NOTICE: 0.05, Severity.WARN: 0.1, Severity.ERROR: 0.2})
        )
    ),
    ranking=Ranking(
        # Rounded from weights learned over nine data sets, each left out in turn (docs/decisions/0061-weights.md);
        # nearby values measure the same.
        score=Weighted(
            (
                (Signal("late_interaction"), 0.115),
                # A long turn has a similar token for any question, so tokens are compared within one passage.
                (Signal("passage_words"), 0.125),
                (Signal("session_words"), 0.075),
                (Signal("similarity"), 0.14),
                # The only evidence for names and numbers that no text repeats.
                (Signal("coverage"), 0.02),
                (Signal("nearby"), 0.085),
                (Signal("session"), 0.07),
                # Names and numbers that match exactly; for long turns and notes, which have no informative neighbours.
                (Signal("self_contained"), 0.085),
                (Signal("speaker"), 0.07),
                (Signal("time"), 0.095),
                (Signal("answer_kind"), 0.04),
                (Signal("statement"), 0.025),
                *STATE,
            )
        ),
        first_stage=Weighted(
            (
                (Signal("similarity"), 0.25),
                (Signal("coverage"), 0.17),
                (Signal("nearby"), 0.125),
                (Signal("session"), 0.1),
                (Signal("self_contained"), 0.06),
                (Signal("speaker"), 0.075),
                (Signal("time"), 0.08),
                (Signal("answer_kind"), 0.06),
                (Signal("statement"), 0.025),
                *STATE,
            )
        ),
        lexical_only=Weighted(
            (
                (Signal("coverage"), 0.27),
                (Signal("nearby"), 0.18),
                (Signal("session"), 0.17),
                (Signal("self_contained"), 0.06),
                (Signal("speaker"), 0.085),
                (Signal("time"), 0.08),
                (Signal("answer_kind"), 0.07),
                (Signal("statement"), 0.03),
                *STATE,
            )
        ),
        near_equals=True,
        depth=Depth(least=200),
        late_interaction=100,
        # The weight of a configured reranker. It is not measured, because no model is shipped.
        rerank=32,
        rerank_weight=0.5,
        preference_weight=0.15,
        outcome_weight=OUTCOME_WEIGHT,
        threshold=RelevanceThreshold(similarity=0.3, coverage=0.35, evidence=0.2, evidence_first_stage=0.14, then=0.5),
        # Printed by `make bench-calibration` (docs/decisions/0073-probability.md).
        probability=HitProbability(
            models=("all-MiniLM-L6-v2", "all-MiniLM-L6-v2/int8"),
            intercept=-2.39,
            score=3.72,
            lead=11.37,
            log_rank=-0.99,
        ),
    ),
    # A message resembles what matters to it in meaning more than in words, and the signals of neighbouring turns were
    # made for questions (docs/decisions/0052-messages.md).
    messages=MessageRecall(
        ranking=Ranking(
            score=Weighted(
                (
                    (Signal("similarity"), 0.54),
                    (Signal("passage_words"), 0.26),
                    (Signal("coverage"), 0.05),
                    (Signal("speaker"), 0.1),
                    *STATE,
                )
            ),
            first_stage=Weighted(
                ((Signal("similarity"), 0.7), (Signal("coverage"), 0.15), (Signal("speaker"), 0.1), *STATE)
            ),
            lexical_only=Weighted(((Signal("coverage"), 0.85), (Signal("speaker"), 0.1), *STATE)),
            depth=Depth(least=200),
            late_interaction=100,
            # Less than for questions: an answer has four hits.
            preference_weight=0.1,
            outcome_weight=OUTCOME_WEIGHT,
            threshold=RelevanceThreshold(
                similarity=0.25, coverage=0.5, evidence=0.25, evidence_first_stage=0.25, then=0.7
            ),
        )
    ),
    # Only use restarts forgetting, because being shown does not prove that a memory was useful.
    dynamics=Dynamics(
        curve=HalfLife(days=30), since=Since.EXPOSED, counted=Exposure.USED, gain=LogarithmicGain(divisor=8)
    ),
    encoding=Encoding(turns=3, chars=220, token_embeddings=True),
    # Recall finds turns; episodes give their context.
    segmentation=Segmentation(segmenter=TopicShift(), least=8, idle_minutes=60),
    fading=Fading(
        strength=Greatest(
            (
                Signal("importance_floor"),
                Clamp(Product((Signal("importance"), Signal("retention"), Signal("reinforcement")))),
            )
        ),
        below=0.05,
    ),
    # Merges notes that agents write repeatedly, if the kept note contains all words of the others.
    compaction=Compaction(above=0.9, reworded=False, across_sessions=True),
    # Half of the evidence of a list has a rank after the fifth.
    limits=Limits(listed=20),
    pinned_tag=PINNED,
    # 1 in 1,000 benign texts of tools is flagged (docs/decisions/0066-poisoned-memory.md).
    flagged=FlaggedRecall.HOLD_BACK,
    renderer=Block(),
)
