"""How candidates become an order: how deep the legs go, what scores, what is too little, what is too much alike."""

from __future__ import annotations

from dataclasses import dataclass, field

from remembrancer.domain import validation
from remembrancer.policies import signals
from remembrancer.policies.diversity import Mmr
from remembrancer.policies.relevance import Floor
from remembrancer.policies.scoring import Expression

MAX_DEPTH = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """How many memories each leg brings: `per_hit` for each hit asked for, `least` at the least, 10,000 at the most."""

    least: int = 100
    per_hit: int = 1

    def __post_init__(self) -> None:
        validation.whole("depth.least", self.least, 1, MAX_DEPTH)
        validation.whole("depth.per_hit", self.per_hit, 1, 100)

    def of(self, limit: int) -> int:
        return min(MAX_DEPTH, max(self.least, self.per_hit * limit))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """`score`: an expression over signals, in [0, 1]. `words_alone`: what scores when the question has no vector; None:
    the same. `floor`: below it nothing is returned; None: everything may be. `diversity`: None leaves the order as it
    is.
    """

    score: Expression
    words_alone: Expression | None = None
    depth: Depth = field(default_factory=Depth)
    floor: Floor | None = None
    diversity: Mmr | None = None

    def __post_init__(self) -> None:
        signals.check("score", self.score)
        if self.words_alone is not None:
            signals.check("words_alone", self.words_alone)

    def expression(self, *, with_vector: bool) -> Expression:
        return self.score if with_vector or self.words_alone is None else self.words_alone
