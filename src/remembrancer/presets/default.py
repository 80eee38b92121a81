"""Our own best: verbatim turns, words and meaning together, gentle on age, reinforced by use."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from remembrancer.domain.event import Severity
from remembrancer.domain.strength import Exposure
from remembrancer.policies.admission import Admission
from remembrancer.policies.decay import HalfLife
from remembrancer.policies.dynamics import Dynamics, Since
from remembrancer.policies.encoding import Encoding
from remembrancer.policies.formation import Formation
from remembrancer.policies.importance import Importance
from remembrancer.policies.ranking import Depth, Ranking
from remembrancer.policies.reinforcement import LogarithmicGain
from remembrancer.policies.relevance import Floor
from remembrancer.policies.rendering.block import Block
from remembrancer.policies.scoring import Clamp, Greatest, Product, Signal, Weighted
from remembrancer.presets.spec import Fading, Preset

TOGETHER: Final = (
    (Signal("coverage"), 0.07),
    (Signal("nearby"), 0.11),
    (Signal("session"), 0.12),
    (Signal("time"), 0.08),
    (Signal("speaker"), 0.07),
    (Signal("answer_kind"), 0.05),
    (Signal("statement"), 0.025),
    (Signal("importance"), 0.04),
    (Signal("confidence"), 0.04),
    # Enough to put the newer of two equal answers first; more buries what is old and exactly right.
    (Signal("retention"), 0.01),
)
"""What counts besides meaning, however that is compared."""

DEFAULT: Final = Preset(
    name="default",
    description="Verbatim turns, found by words and meaning; recent and proven ones win ties.",
    # Raw output and network chatter stay in the journal, where they can be read, and out of recall, which they drown.
    admission=Admission(never=("exec.output_chunk", "container.metrics", "network.*")),
    formation=Formation(
        importance=Importance(
            by_severity=MappingProxyType({Severity.NOTICE: 0.05, Severity.WARN: 0.1, Severity.ERROR: 0.2})
        )
    ),
    ranking=Ranking(
        score=Weighted(((Signal("late_interaction"), 0.2), (Signal("similarity"), 0.15), *TOGETHER)),
        # Where words are not compared one by one, the whole text's vector has their weight too.
        unread=Weighted(((Signal("similarity"), 0.35), *TOGETHER)),
        depth=Depth(least=100),
        reread=128,
        floor=Floor(similarity=0.3, coverage=0.35),
    ),
    # Being shown proves nothing: only what was used starts its forgetting anew.
    dynamics=Dynamics(
        curve=HalfLife(days=30), since=Since.EXPOSED, counted=Exposure.USED, gain=LogarithmicGain(divisor=8)
    ),
    encoding=Encoding(turns=3, chars=400, words=True),
    fading=Fading(
        strength=Greatest(
            (
                Signal("importance_floor"),
                Clamp(Product((Signal("importance"), Signal("retention"), Signal("reinforcement")))),
            )
        ),
        below=0.05,
    ),
    renderer=Block(),
)
