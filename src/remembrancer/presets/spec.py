"""What a preset decides, checked when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from remembrancer.domain import validation
from remembrancer.domain.recall import Renderer
from remembrancer.domain.scope import Reach
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.admission import Admission
from remembrancer.policies.admission.encoding import Encoding
from remembrancer.policies.admission.formation import Formation
from remembrancer.policies.admission.linking import SimilarLinks
from remembrancer.policies.consolidation.clusters import Clusters
from remembrancer.policies.consolidation.compacting import Compaction
from remembrancer.policies.consolidation.facts import Facts
from remembrancer.policies.consolidation.rules import Rules
from remembrancer.policies.consolidation.sleeping import Sleep
from remembrancer.policies.forgetting import forecast
from remembrancer.policies.forgetting.dynamics import Dynamics
from remembrancer.policies.forgetting.reinforcement import FeedbackSteps
from remembrancer.policies.forgetting.retaining import Retention
from remembrancer.policies.forgetting.reviewing import Reviewing
from remembrancer.policies.learning.extraction import Extraction
from remembrancer.policies.learning.promoting import Promotion
from remembrancer.policies.learning.stages import Stages
from remembrancer.policies.ranking import signals
from remembrancer.policies.ranking.key_terms import KeyTerms
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.scoring import Expression
from remembrancer.policies.schedule import Schedule
from remembrancer.policies.segmentation.segmentation import EPISODE, Segmentation

MAX_LIMIT = 200
"""Hits of one answer, whatever the preset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hits of one answer: how many when nothing is said, and how many at most (1 to 200)."""

    usual: int = 5
    most: int = MAX_LIMIT

    def __post_init__(self) -> None:
        validation.whole("limits.most", self.most, 1, MAX_LIMIT)
        validation.whole("limits.usual", self.usual, 1, self.most)

    def of(self, asked: int | None) -> int:
        """Raises InvalidInput for more than there may be."""
        return self.usual if asked is None else validation.whole("limit", asked, 1, self.most)

    def capped(self, asked: int | None) -> int:
        """As `of`, but the most there may be instead of more."""
        return self.of(None if asked is None else min(asked, self.most))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """`by_role`: how far each role looks. `shared_from`: from which importance on a crew's rows are shared with it.

    `strict`: a role whose reach speaks of a scope part that the caller does not have is an error; otherwise it looks
    over the workspace. `operators`: the roles that may change the priority of what is recorded.
    """

    by_role: Mapping[str, Reach] = field(
        default_factory=lambda: MappingProxyType({"AGENT": Reach.OWN, "LEAD": Reach.CREW_SHARED})
    )
    shared_from: float = 0.0
    strict: bool = False
    operators: tuple[str, ...] = ("LEAD",)

    def __post_init__(self) -> None:
        for role in self.by_role:
            validation.name("sight.by_role", role)
        for role in self.operators:
            validation.name("sight.operators", role)
        validation.fraction("sight.shared_from", self.shared_from)

    def reach_of(self, role: str) -> Reach:
        """Raises InvalidInput for a role that is not known: a slip must not widen sight."""
        if role not in self.by_role:
            raise InvalidInput("role", role, "one of " + ", ".join(sorted(self.by_role)))
        return self.by_role[role]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """`strength`: an expression over the signals of a memory's state, in [0, 1], which compares it with no other.
    `below`: from there on a memory counts as faded (nothing is deleted for it).
    """

    strength: Expression
    below: float

    def __post_init__(self) -> None:
        known = {name: signal.scale for name, signal in signals.STATE_SIGNALS.items()}
        signals.check("fading.strength", self.strength, known=known)
        forecast.check("fading.strength", self.strength)
        validation.fraction("fading.below", self.below)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One way to remember.

    `ranking` is the usual one, `rankings` others by name. `encoding`: what of a cue is embedded. `links`: None joins
    nothing by itself. `segmentation`: None forms no episodes. `review`: None rates no use. `facts`: None draws none.
    `extraction`, `rules`, `stages`: None learns nothing of that kind. `key_terms`: None searches by the question.
    `sleep`: None lets working memory be. `clusters`, `compaction`: None puts no memory in the place of several.
    `promotion`: None tells no learning to more than those it was told to. `retention`: None archives no event.
    `schedule`: how often each of these is looked to.
    `standing_tag`: memories with it are in every answer, apart from its hits; None: there are none.
    `nudge_after`: how many events of an agent without a `memory.updated` are worth a reminder.
    """

    name: str
    description: str
    admission: Admission = field(default_factory=Admission)
    formation: Formation = field(default_factory=Formation)
    ranking: Ranking
    rankings: Mapping[str, Ranking] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    sight: Sight = field(default_factory=Sight)
    dynamics: Dynamics
    fading: Fading
    feedback: FeedbackSteps = field(default_factory=FeedbackSteps)
    links: SimilarLinks | None = None
    encoding: Encoding = field(default_factory=Encoding)
    segmentation: Segmentation | None = None
    review: Reviewing | None = None
    facts: Facts | None = None
    extraction: Extraction | None = None
    rules: Rules | None = None
    stages: Stages | None = None
    key_terms: KeyTerms | None = None
    sleep: Sleep | None = None
    clusters: Clusters | None = None
    compaction: Compaction | None = None
    promotion: Promotion | None = None
    retention: Retention | None = None
    schedule: Schedule = field(default_factory=Schedule)
    standing_tag: str | None = None
    nudge_after: int = 60
    renderer: Renderer

    def __post_init__(self) -> None:
        validation.slug("name", self.name)
        validation.name("description", self.description, max_chars=500)
        for name in self.rankings:
            validation.slug("rankings", name)
        if self.standing_tag is not None:
            validation.tags("standing_tag", (self.standing_tag,))
        validation.whole("nudge_after", self.nudge_after, 1, 1_000_000)

    def ranking_named(self, name: str | None) -> Ranking:
        """None: the usual one. Raises InvalidInput for a name this preset does not have."""
        if name is None:
            return self.ranking
        if name not in self.rankings:
            allowed = ", ".join(sorted(self.rankings)) or f"none: preset {self.name} has but one"
            raise InvalidInput("ranking", name, allowed)
        return self.rankings[name]

    @property
    def hidden_kinds(self) -> frozenset[str]:
        """Kinds of memories that a question finds only where it asks for them: an episode beside its own turns."""
        beside = self.segmentation is not None and not self.segmentation.replaces
        return frozenset({EPISODE}) if beside else frozenset()

    def expressions(self) -> tuple[Expression, ...]:
        """Everything that is worked out of signals: its scores, and the strength that fades."""
        rankings = (self.ranking, *self.rankings.values())
        scores = [ranking.expression(with_vector=each) for ranking in rankings for each in (True, False)]
        judged = [ranking.reranked(ranking.score) for ranking in rankings if ranking.rerank]
        return (*scores, *judged, self.fading.strength)
