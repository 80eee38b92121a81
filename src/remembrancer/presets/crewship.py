"""Crewship: a journal with selective vector recall. Few events become memories; importance fades in half a year."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from remembrancer.domain.event import Severity
from remembrancer.domain.strength import Exposure
from remembrancer.policies.admission.admission import Admission
from remembrancer.policies.admission.formation import Formation
from remembrancer.policies.admission.importance import Importance
from remembrancer.policies.admission.linking import SimilarLinks
from remembrancer.policies.consolidation.rules import Rules
from remembrancer.policies.forgetting.decay import LinearRamp
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.reinforcement import LogarithmicGain
from remembrancer.policies.forgetting.retaining import Retention
from remembrancer.policies.ranking.ranking import MAX_DEPTH, Depth, Ranking
from remembrancer.policies.ranking.scoring import Clamp, Greatest, Product, Rrf, Signal
from remembrancer.policies.rendering.block import Block
from remembrancer.presets.spec import AccessPolicy, Fading, Limits, Preset

IMPORTANCE_NOW: Final = Greatest(
    (
        Signal("importance_floor"),
        Clamp(Product((Signal("importance"), Signal("retention"), Signal("reinforcement")))),
    )
)
"""The importance at a time: base x max(0.1, 1 - days / 180) x (1 + log2(references + 1) / 8), at least the importance
floor.
"""

CREWSHIP: Final = Preset(
    name="crewship",
    description="Escalations, summaries and failures only; cosine x fading importance, or both legs by rank.",
    admission=Admission(
        never=("exec.output_chunk", "container.metrics", "network.*"),
        always=(
            "peer.escalation",
            "summary.generated",
            "memory.consolidated",
            "approval.denied",
            "eval.regression_detected",
        ),
        from_severity=MappingProxyType({"keeper.decision": Severity.WARN, "mission.status_change": Severity.WARN}),
        in_states=MappingProxyType({"peer.conversation": ("escalated",)}),
        forced_by="episodic",
    ),
    formation=Formation(
        importance=Importance(
            by_type=MappingProxyType(
                {
                    "peer.escalation": 0.20,
                    "summary.generated": 0.15,
                    "memory.consolidated": 0.20,
                    "approval.denied": 0.15,
                    "eval.regression_detected": 0.30,
                    "keeper.decision": 0.10,
                    "mission.status_change": 0.05,
                }
            ),
            by_severity=MappingProxyType({Severity.NOTICE: 0.05, Severity.WARN: 0.15, Severity.ERROR: 0.25}),
        )
    ),
    ranking=Ranking(
        score=Product((Signal("similarity"), IMPORTANCE_NOW)),
        lexical_only=Rrf((Signal("lexical_leg"),)),
        # Any candidate can rank first by importance, whatever its similarity, so all rows are candidates.
        depth=Depth(least=MAX_DEPTH),
    ),
    rankings=MappingProxyType(
        {
            "hybrid": Ranking(
                score=Rrf((Signal("dense_leg"), Signal("lexical_leg"))),
                lexical_only=Rrf((Signal("lexical_leg"),)),
                depth=Depth(least=20, per_hit=3),
                journal=True,
            )
        }
    ),
    limits=Limits(usual=5, most=50),
    access_policy=AccessPolicy(shared_from=0.65, strict=True),
    dynamics=Dynamics(
        curve=LinearRamp(days=180, floor=0.1),
        since=Since.OCCURRED,
        counted=Exposure.SHOWN,
        gain=LogarithmicGain(divisor=8),
    ),
    fading=Fading(strength=IMPORTANCE_NOW, below=0.15),
    links=SimilarLinks(at_most=3, above=0.80),
    rules=Rules(),
    # Telemetry forms no memories.
    retention=Retention(
        types=("exec.output_chunk", "container.metrics", "network.port_opened", "network.port_closed", "llm.call")
    ),
    nudge_after=60,
    # Crewship's description weighs fresher hits higher without a formula; the linear decay of importance is used.
    renderer=Block(label="kind", freshness=LinearRamp(days=180, floor=0.1)),
)
