"""TeaParty: learnings. Prominence reorders matches, narrower scopes count more, near-duplicates are dropped."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from remembrancer.domain.scope import Level
from remembrancer.domain.strength import Exposure
from remembrancer.policies.admission.formation import Formation
from remembrancer.policies.consolidation.compaction import Compaction
from remembrancer.policies.forgetting.decay import HalfLife
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.reinforcement import LinearGain
from remembrancer.policies.learning.extraction import Extraction
from remembrancer.policies.learning.promoting import Promotion
from remembrancer.policies.learning.stages import Stages
from remembrancer.policies.ranking.diversity import Mmr
from remembrancer.policies.ranking.key_terms import KeyTerms
from remembrancer.policies.ranking.ranking import Depth, Ranking
from remembrancer.policies.ranking.scoring import Clamp, MinMax, Product, Saturating, Signal, Weighted
from remembrancer.policies.rendering.sections import Sections
from remembrancer.presets.spec import Fading, Limits, Preset

PROMINENCE: Final = (Signal("importance"), Signal("retention"), Signal("reinforcement"))
"""The prominence of a learning: importance x max(0.1, 0.5^(days / 90)) x (1 + reinforcement count)."""

WORDS: Final = MinMax(Signal("bm25"), least=0)
"""The lexical score, scaled proportionally: the best match is 1, no match is 0."""

TEAPARTY: Final = Preset(
    name="teaparty",
    description="Learnings by 0.7 meaning + 0.3 words, x prominence x scope, without near-duplicates.",
    formation=Formation(kinds=("procedural", "declarative", "directive", "corrective")),
    ranking=Ranking(
        score=Saturating(
            Product((Weighted(((Signal("similarity"), 0.7), (WORDS, 0.3))), *PROMINENCE, Signal("level")))
        ),
        lexical_only=Saturating(Product((WORDS, *PROMINENCE, Signal("level")))),
        depth=Depth(least=20, per_hit=4),
        diversity=Mmr(balance=0.7),
    ),
    limits=Limits(usual=10),
    dynamics=Dynamics(
        curve=HalfLife(days=90, floor=0.1),
        since=Since.EXPOSED,
        counted=Exposure.RETRIEVED,
        gain=LinearGain(),
        per_session=True,
        # A crew is a team. Narrower scopes have the factor of the team.
        level_factors=MappingProxyType({Level.WORKSPACE: 1.0, Level.PROJECT: 1.2, Level.CREW: 1.5}),
    ),
    fading=Fading(strength=Clamp(Product(PROMINENCE)), below=0.1),
    extraction=Extraction(),
    stages=Stages(),
    key_terms=KeyTerms(),
    compaction=Compaction(after_learning=True),
    promotion=Promotion(),
    pinned_tag="institutional",
    # TeaParty's description limits the characters of each kind but gives no number, so `kind_chars` is empty.
    renderer=Sections(),
)
