"""Episodes of conversation, both legs fused by rank, weighed by how likely they are still retrievable."""

from __future__ import annotations

from typing import Final

from remembrancer.domain.strength import Exposure
from remembrancer.policies.decay import PowerLaw
from remembrancer.policies.dynamics import Dynamics, Since
from remembrancer.policies.ranking import Depth, Ranking
from remembrancer.policies.rendering.markdown import Markdown
from remembrancer.policies.scoring import Product, Rrf, Signal
from remembrancer.presets.spec import Fading, Preset

PLASTMEM: Final = Preset(
    name="plastmem",
    description="Both legs by rank, x FSRS-6 retrievability; surprise makes a memory last.",
    ranking=Ranking(
        score=Product((Rrf((Signal("lexical_leg"), Signal("dense_leg"))), Signal("retention"))),
        depth=Depth(least=100),
    ),
    dynamics=Dynamics(curve=PowerLaw(), since=Since.REVIEWED, counted=Exposure.RETRIEVED),
    fading=Fading(strength=Signal("retention"), below=0.5),
    renderer=Markdown(),
)
