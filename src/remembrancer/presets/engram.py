"""Engram: explicit memories with priority and confidence, Ebbinghaus's forgetting curve, and retirement after three bad
ratings.
"""

from __future__ import annotations

from typing import Final

from remembrancer.domain.scope import Level
from remembrancer.domain.strength import Exposure
from remembrancer.policies.admission.formation import Formation
from remembrancer.policies.consolidation.clusters import Clusters
from remembrancer.policies.forgetting.decay import Ebbinghaus
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.reinforcement import FeedbackSteps, Strikes
from remembrancer.policies.ranking.ranking import Depth, Ranking
from remembrancer.policies.ranking.scoring import Signal, Weighted
from remembrancer.policies.rendering.block import Block
from remembrancer.presets.spec import Fading, Preset

ENGRAM: Final = Preset(
    name="engram",
    description="0.6 similarity + 0.2 priority + 0.1 confidence + 0.1 activation; recall keeps a memory alive.",
    formation=Formation(
        kinds=("fact", "decision", "preference", "todo", "error", "context", "workflow", "meeting_ledger"),
        topics=Level.WORKSPACE,
        repeats=Exposure.RETRIEVED,
    ),
    ranking=Ranking(
        score=Weighted(
            (
                (Signal("similarity"), 0.6),
                (Signal("priority"), 0.2),
                (Signal("confidence"), 0.1),
                (Signal("retention"), 0.1),
            )
        ),
        # Without vectors, lexical scores replace similarity.
        lexical_only=Weighted(
            (
                (Signal("lexical"), 0.6),
                (Signal("priority"), 0.2),
                (Signal("confidence"), 0.1),
                (Signal("retention"), 0.1),
            )
        ),
        depth=Depth(least=100, per_hit=3),
    ),
    dynamics=Dynamics(curve=Ebbinghaus(rate=0.03, spacing=0.1), since=Since.EXPOSED, counted=Exposure.RETRIEVED),
    fading=Fading(strength=Signal("retention"), below=0.3),
    feedback=FeedbackSteps(helpful=0.15, unhelpful=-0.2, harmful=-0.2, strikes=Strikes(negatives=3, below=0.15)),
    clusters=Clusters(),
    marks_recalled=True,
    renderer=Block(),
)
