"""What a preset decides, checked when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from remembrancer.domain import validation
from remembrancer.domain.recall import Renderer
from remembrancer.domain.scope import Reach
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission import Admission
from remembrancer.policies.reinforcement import FeedbackSteps
from remembrancer.policies.relevance import Floor
from remembrancer.policies.scoring import Expression, MinMax, Rrf, Signal, inner_expressions
from remembrancer.policies.signals import SIGNALS


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One way to remember.

    `depth`: how many memories each leg brings (1 to 10,000). `score`: the ranking; it may read an uncalibrated signal
    only inside `Rrf` or `MinMax`. `floor`: below it nothing is returned; None: everything may be.
    `heading_in_vector`: whether who and when are embedded with a cue's text.
    `reach_by_role`: how far each role looks; a scope that lacks what a reach speaks of looks as far as the workspace.
    """

    name: str
    description: str
    admission: Admission
    score: Expression
    depth: int
    floor: Floor | None
    recency_half_life: timedelta
    heading_in_vector: bool
    feedback: FeedbackSteps
    renderer: Renderer
    reach_by_role: Mapping[str, Reach]

    def __post_init__(self) -> None:
        validation.slug("preset.name", self.name)
        validation.whole("preset.depth", self.depth, 1, 10_000)
        if self.recency_half_life <= timedelta():
            raise InvalidInput("preset.recency_half_life", self.recency_half_life, "a positive duration")
        _check(self.score, calibrated=True)

    def reach_of(self, role: str) -> Reach:
        """How far a role looks. Raises InvalidInput for one this preset does not know: a slip must not widen sight."""
        if role not in self.reach_by_role:
            raise InvalidInput("role", role, "one of " + ", ".join(sorted(self.reach_by_role)))
        return self.reach_by_role[role]


def _check(expression: Expression, *, calibrated: bool) -> None:
    """Every signal is known, and an uncalibrated one stands only where its scale does not count."""
    if isinstance(expression, Signal):
        definition = SIGNALS.get(expression.name)
        if definition is None:
            raise InvalidInput("preset.score", expression.name, "one of " + ", ".join(sorted(SIGNALS)))
        if calibrated and not definition.calibrated:
            raise InvalidInput(
                "preset.score", expression.name, "a calibrated signal; this one may stand only inside Rrf or MinMax"
            )
    inner_calibrated = calibrated and not isinstance(expression, MinMax | Rrf)
    for inner in inner_expressions(expression):
        _check(inner, calibrated=inner_calibrated)
