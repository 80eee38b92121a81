"""Mnemosyne: everything enters working memory first; scores combine similarity, lexical score and recency with fixed
weights.
"""

from __future__ import annotations

from typing import Final

from remembrancer.domain.memory import Tier
from remembrancer.domain.strength import Exposure
from remembrancer.policies.admission.formation import Formation
from remembrancer.policies.consolidation.sleeping import Sleep
from remembrancer.policies.forgetting.decay import Exponential
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.ranking.ranking import Depth, Ranking
from remembrancer.policies.ranking.scoring import Signal, Weighted
from remembrancer.policies.rendering.block import Block
from remembrancer.presets.spec import Fading, Preset

MNEMOSYNE: Final = Preset(
    name="mnemosyne",
    description="0.5 vector + 0.3 text + 0.2 temporal proximity, over a working memory.",
    formation=Formation(event_tier=Tier.WORKING, note_tier=Tier.WORKING),
    ranking=Ranking(
        score=Weighted(((Signal("similarity"), 0.5), (Signal("lexical"), 0.3), (Signal("retention"), 0.2))),
        depth=Depth(least=50, per_hit=3),
    ),
    # The time constant (1/e) is 168 hours; it is not a half-life.
    dynamics=Dynamics(curve=Exponential(days=7), since=Since.OCCURRED, counted=Exposure.RETRIEVED),
    fading=Fading(strength=Signal("retention"), below=0.1),
    sleep=Sleep(),
    marks_recalled=True,
    renderer=Block(),
)
