"""The choices of a preset, validated on construction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from remembrancer.domain import validation
from remembrancer.domain.memory import FLAGGED
from remembrancer.domain.query import QuestionKind
from remembrancer.domain.recall import FlaggedRecall, RecallMode, Renderer
from remembrancer.domain.scope import Reach
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.admission import Admission
from remembrancer.policies.admission.encoding import Encoding
from remembrancer.policies.admission.formation import Formation
from remembrancer.policies.forgetting import forecast
from remembrancer.policies.forgetting.dynamics import Dynamics
from remembrancer.policies.forgetting.reinforcement import FeedbackSteps
from remembrancer.policies.ranking import signals
from remembrancer.policies.ranking.ranking import Ranking
from remembrancer.policies.ranking.scoring import Expression
from remembrancer.policies.schedule import Schedule
from remembrancer.policies.segmentation.segmentation import EPISODE, Segmentation
from remembrancer.values import dataclass

if TYPE_CHECKING:  # loaded only by presets that use them
    from remembrancer.policies.admission.linking import SimilarLinks
    from remembrancer.policies.consolidation.clusters import Clusters
    from remembrancer.policies.consolidation.compaction import Compaction
    from remembrancer.policies.consolidation.facts import Facts
    from remembrancer.policies.consolidation.rules import Rules
    from remembrancer.policies.consolidation.sleeping import Sleep
    from remembrancer.policies.forgetting.retaining import Retention
    from remembrancer.policies.forgetting.reviewing import Reviewing
    from remembrancer.policies.learning.extraction import Extraction
    from remembrancer.policies.learning.promoting import Promotion
    from remembrancer.policies.learning.stages import Stages
    from remembrancer.policies.ranking.key_terms import KeyTerms

MAX_LIMIT = 200
"""The most hits of one answer under any preset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The number of hits of one answer: by default, and at most (1 to 200). `listed`: the default for a question that
    asks for a list or an order; None: the same as for others.
    """

    usual: int = 5
    most: int = MAX_LIMIT
    listed: int | None = None

    def __post_init__(self) -> None:
        validation.whole("limits.most", self.most, 1, MAX_LIMIT)
        validation.whole("limits.usual", self.usual, 1, self.most)
        if self.listed is not None:
            validation.whole("limits.listed", self.listed, self.usual, self.most)

    def of(self, asked: int | None, kind: QuestionKind | None = None) -> int:
        """The requested number of hits; None: the default for a question of this kind. Raises InvalidInput above the
        maximum.
        """
        if asked is not None:
            return validation.whole("limit", asked, 1, self.most)
        several = kind is QuestionKind.LIST or kind is QuestionKind.ORDER
        return self.usual if self.listed is None or not several else self.listed

    def capped(self, asked: int | None) -> int:
        """As `of`, but returns the maximum instead of raising an error."""
        return self.of(None if asked is None else min(asked, self.most))


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecall:
    """The search for memories that matter to a message, in the mode `message`. `ranking`: its ranking and relevance
    threshold. `usual`: the number of hits by default.
    """

    ranking: Ranking
    usual: int = 4

    def __post_init__(self) -> None:
        validation.whole("messages.usual", self.usual, 1, MAX_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """The rows that a caller may see, by role. `by_role`: the reach of each role. `shared_from`: the least importance
    of rows that a crew shares with its members.

    `strict`: whether a role whose reach needs a scope part that the caller lacks is an error; otherwise the caller sees
    the workspace. `operators`: the roles that may change the priority of events.
    """

    by_role: Mapping[str, Reach] = field(
        default_factory=lambda: MappingProxyType({"AGENT": Reach.OWN, "LEAD": Reach.CREW_SHARED})
    )
    shared_from: float = 0.0
    strict: bool = False
    operators: tuple[str, ...] = ("LEAD",)

    def __post_init__(self) -> None:
        for role in self.by_role:
            validation.name("access_policy.by_role", role)
        for role in self.operators:
            validation.name("access_policy.operators", role)
        validation.fraction("access_policy.shared_from", self.shared_from)

    def reach_of(self, role: str) -> Reach:
        """The reach of a role. Raises InvalidInput for an unknown role: a typo must not widen access."""
        if not isinstance(cast("object", role), str) or role not in self.by_role:
            raise InvalidInput("role", role, "one of " + ", ".join(sorted(self.by_role)))
        return self.by_role[role]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """The condition for a memory to count as faded. `strength`: an expression in [0, 1] over state signals only.
    `below`: a memory with less strength is faded; it is not deleted.
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
    """A memory configuration: a choice for each stage. None switches a stage off.

    - `ranking`: the default ranking; `rankings`: others, by name. `messages`: the ranking for messages; None: the
      preset only answers questions. `encoding`: how cues are embedded.
    - `links`: automatic relations. `segmentation`: episodes. `review`: ratings of use. `facts`: facts from episodes.
    - `extraction`, `rules`, `stages`: learnings from sessions, from events, and by project stage.
    - `key_terms`: how a long question is searched; None: by its own text.
    - `sleep`: consolidation of working memory. `clusters`, `compaction`: memories merged into one. `promotion`:
      learnings shared more widely. `retention`: events archived. `schedule`: the interval of each of these.
    - `pinned_tag`: memories with this tag are pinned: they are in every answer, separate from the hits, and do not
      fade. None: the preset has no pinned memories.
    - `flagged`: what recall does with memories of tools, the web and imports that tell a language model what to do:
      keep, lower or hold_back.
    - `marks_recalled`: whether a recall counts its hits as retrieved, unless its caller says otherwise.
    - `nudge_after`: after how many events of an agent without a `memory.updated` it gets a reminder.
    """

    name: str
    description: str
    admission: Admission = field(default_factory=Admission)
    formation: Formation = field(default_factory=Formation)
    ranking: Ranking
    rankings: Mapping[str, Ranking] = field(default_factory=lambda: MappingProxyType({}))
    messages: MessageRecall | None = None
    limits: Limits = field(default_factory=Limits)
    access_policy: AccessPolicy = field(default_factory=AccessPolicy)
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
    pinned_tag: str | None = None
    flagged: FlaggedRecall = FlaggedRecall.KEEP
    marks_recalled: bool = False
    nudge_after: int = 60
    renderer: Renderer

    def __post_init__(self) -> None:
        validation.slug("name", self.name)
        validation.name("description", self.description, max_chars=500)
        for name in self.rankings:
            validation.slug("rankings", name)
        if self.pinned_tag is not None:
            validation.tags("pinned_tag", (self.pinned_tag,))
        validation.whole("nudge_after", self.nudge_after, 1, 1_000_000)

    def ranking_named(self, name: str | None) -> Ranking:
        """The ranking of that name; None: the default one. Raises InvalidInput for an unknown name."""
        if name is None:
            return self.ranking
        if not isinstance(cast("object", name), str) or name not in self.rankings:
            allowed = ", ".join(sorted(self.rankings)) or f"none: preset {self.name} has but one"
            raise InvalidInput("ranking", name, allowed)
        return self.rankings[name]

    def ranking_of(self, mode: RecallMode, name: str | None = None) -> Ranking:
        """The ranking for questions of that name, None: the default one; or that for messages, which has no name.

        Raises InvalidInput for an unknown name, and for messages if the preset has no ranking for them.
        """
        if mode is RecallMode.QUESTION:
            return self.ranking_named(name)
        if name is not None:
            raise InvalidInput("ranking", name, f"None in the mode {mode}, which has a ranking of its own")
        return self._messages.ranking

    def limit_of(self, mode: RecallMode, asked: int | None, kind: QuestionKind | None = None) -> int:
        """The requested number of hits; None: the default for a question of this kind or for messages. Raises
        InvalidInput.
        """
        if mode is RecallMode.QUESTION or asked is not None:
            return self.limits.of(asked, kind)
        return min(self._messages.usual, self.limits.most)

    @property
    def _messages(self) -> MessageRecall:
        if self.messages is None:
            allowed = f"{RecallMode.QUESTION}: preset {self.name} has no ranking for messages"
            raise InvalidInput("mode", RecallMode.MESSAGE, allowed)
        return self.messages

    @property
    def hidden_tags(self) -> frozenset[str]:
        """Tags of memories that search returns only if the filter names them."""
        return frozenset({FLAGGED}) if self.flagged is FlaggedRecall.HOLD_BACK else frozenset()

    @property
    def hidden_kinds(self) -> frozenset[str]:
        """Kinds of memories that search returns only if the filter names them, such as episodes whose turns are
        memories too.
        """
        beside = self.segmentation is not None and not self.segmentation.replaces
        return frozenset({EPISODE}) if beside else frozenset()

    def expressions(self) -> tuple[Expression, ...]:
        """All expressions of the preset: its scores, and the strength of `fading`."""
        rankings = (self.ranking, *self.rankings.values(), *(() if self.messages is None else (self.messages.ranking,)))
        scores = [ranking.expression(with_vector=each) for ranking in rankings for each in (True, False)]
        judged = [ranking.reranked(ranking.score) for ranking in rankings if ranking.rerank]
        return (*scores, *judged, self.fading.strength)
