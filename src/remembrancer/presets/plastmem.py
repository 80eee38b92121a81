"""PlastMem: episodes of conversations; both searches fused by rank, weighted by retrievability."""

from __future__ import annotations

from typing import Final

from remembrancer.domain.memory import Tier
from remembrancer.domain.strength import Exposure
from remembrancer.policies.admission.formation import Formation
from remembrancer.policies.consolidation.facts import Facts
from remembrancer.policies.forgetting.decay import PowerLaw
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.reviewing import Reviewing
from remembrancer.policies.ranking.ranking import Depth, Ranking
from remembrancer.policies.ranking.scoring import Product, Rrf, Signal
from remembrancer.policies.rendering.markdown import Markdown
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.policies.segmentation.windows import Windows
from remembrancer.presets.spec import Fading, Preset

PLASTMEM: Final = Preset(
    name="plastmem",
    description="Both legs by rank, x FSRS-6 retrievability; surprise makes a memory last.",
    # A turn is searched on its own until its episode is formed.
    formation=Formation(event_tier=Tier.WORKING),
    ranking=Ranking(
        score=Product((Rrf((Signal("lexical_leg"), Signal("dense_leg"))), Signal("retention"))),
        depth=Depth(least=100),
    ),
    dynamics=Dynamics(curve=PowerLaw(), since=Since.REVIEWED, counted=Exposure.RETRIEVED),
    fading=Fading(strength=Signal("retention"), below=0.5),
    # Windows, as in its current code; without a model, the dual channel of its description.
    segmentation=Segmentation(segmenter=Windows(otherwise=DualChannel()), replaces=True, least=5, idle_minutes=120),
    review=Reviewing(counted=Exposure.RETRIEVED),
    facts=Facts(),
    marks_recalled=True,
    renderer=Markdown(),
)
