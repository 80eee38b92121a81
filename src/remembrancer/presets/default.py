"""Our own best: verbatim turns, words and meaning together, gentle on age, reinforced by use."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from remembrancer.domain.scope import Reach
from remembrancer.policies.admission import Admission
from remembrancer.policies.reinforcement import FeedbackSteps
from remembrancer.policies.relevance import Floor
from remembrancer.policies.rendering import Block
from remembrancer.policies.scoring import Signal, Weighted
from remembrancer.presets.spec import Preset

DEFAULT: Final = Preset(
    name="default",
    description="Verbatim turns, found by words and meaning; recent and proven ones win ties.",
    # Raw output and network chatter stay in the journal, where they can be read, and out of recall, which they drown.
    admission=Admission(never=("exec.output_chunk", "container.metrics", "network.*")),
    score=Weighted(
        (
            (Signal("similarity"), 0.4),
            (Signal("lexical"), 0.5),
            (Signal("importance"), 0.04),
            (Signal("confidence"), 0.04),
            # Enough to put the newer of two equal answers first; more buries what is old and exactly right.
            (Signal("recency"), 0.01),
        )
    ),
    depth=100,
    floor=Floor(similarity=0.3, coverage=0.35),
    recency_half_life=timedelta(days=30),
    heading_in_vector=False,
    feedback=FeedbackSteps(),
    renderer=Block(),
    reach_by_role={"AGENT": Reach.OWN, "LEAD": Reach.CREW_SHARED},
)
