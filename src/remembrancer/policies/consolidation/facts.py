"""Facts from episodes: when to ask for them, how findings are merged with known facts, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect
from remembrancer.domain.event import is_less_trusted, least_trusted
from remembrancer.domain.identity import derived_id
from remembrancer.domain.instants import MICROSECOND
from remembrancer.domain.memory import Memory, MemoryWrite, Tier
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.policies.admission.flagging import flagged_by_text
from remembrancer.policies.admission.formation import own_cue
from remembrancer.policies.consolidation.condensing import SharedAttributes, shared_attributes, span
from remembrancer.policies.consolidation.near_duplicates import same_claim
from remembrancer.policies.ranking.diversity import same_words
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWN: Final = "facts"
"""The source of facts. Only memories with this source are changed when facts are written."""
DRAWN_BY: Final = "drawn_by"
"""The metadata field with the model that found a fact."""


class Category(StrEnum):
    """The category of a fact. Source: PlastMem, semantic memory."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    INTEREST = "interest"
    PERSONALITY = "personality"
    RELATIONSHIP = "relationship"
    EXPERIENCE = "experience"
    GOAL = "goal"
    GUIDELINE = "guideline"


class Action(StrEnum):
    NEW = "new"
    REINFORCE = "reinforce"
    UPDATE = "update"
    INVALIDATE = "invalidate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Options of asking a model for facts.

    The episodes with the same `SharedAttributes` are processed when at least `threshold` of them are unconsolidated, or
    one has a surprise of at least `flashbulb`. `duplicate`: a finding whose cosine to a known fact is higher, with the
    same claim, reinforces that fact. `confidence`: of a fact from one episode; each further episode adds the share
    `step` of the distance to 1.

    `sessions_apart`: process each session's episodes separately; otherwise all sessions of an owner together. Limits of
    one question: `at_once` episodes; `chars` characters of each episode's turns; `known` known facts for each episode,
    the most similar ones.
    """

    threshold: int = 3
    flashbulb: float = 0.85
    duplicate: float = 0.95
    confidence: float = 0.5
    step: float = 0.2
    sessions_apart: bool = True
    at_once: int = 10
    chars: int = 6_000
    known: int = 20

    def __post_init__(self) -> None:
        validation.whole("facts.threshold", self.threshold, 1, 10_000)
        validation.fraction("facts.flashbulb", self.flashbulb)
        validation.fraction("facts.duplicate", self.duplicate)
        validation.fraction("facts.confidence", self.confidence)
        validation.fraction("facts.step", self.step)
        validation.whole("facts.at_once", self.at_once, 1, 100)
        validation.whole("facts.chars", self.chars, 0, 1_000_000)
        validation.whole("facts.known", self.known, 0, 100)

    def is_due(self, episodes: Sequence[Memory]) -> bool:
        """Whether to ask for facts now. `episodes`: unconsolidated episodes with the same `SharedAttributes`."""
        if len(episodes) >= self.threshold:
            return True
        return any(episode.strength.surprise >= self.flashbulb for episode in episodes)

    def attributes(self, memory: Memory) -> SharedAttributes:
        return shared_attributes(memory, sessions_apart=self.sessions_apart)

    def reinforced(self, confidence: float, times: int) -> float:
        """The confidence after further episodes state the fact, 1 - (1 - confidence) (1 - step)^times: never less than
        before, and never 1 unless it was.
        """
        return 1.0 - (1.0 - confidence) * (1.0 - self.step) ** times


@dataclass(frozen=True, slots=True)
class FactFinding:
    """One finding of a model. `fact`: the known fact that it is about; None: a new fact. `sources`: ids of the episodes
    that state it, at least one.
    """

    action: Action
    category: Category
    text: str
    fact: UUID | None
    sources: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The effect to write, and the ids of facts that are new, reinforced, updated or invalidated."""

    effect: Effect
    new: tuple[UUID, ...] = ()
    reinforced: tuple[UUID, ...] = ()
    updated: tuple[UUID, ...] = ()
    invalidated: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The episodes and known facts with the same attributes that a model was asked about. `event_ids`, `known`: by id.
    `by`: the model.
    """

    attributes: SharedAttributes
    episodes: Mapping[UUID, Memory]
    event_ids: Mapping[UUID, Sequence[UUID]]
    known: Mapping[UUID, Memory]
    by: str


def findings_in(findings: Iterable[FactFinding], basis: Basis) -> tuple[FactFinding, ...]:
    """The valid findings, at most one for each known fact.

    A finding that reinforces or updates an unknown fact becomes a new fact; one that invalidates it is dropped. Of
    several findings about a fact one is kept: update before invalidate before reinforce; a second update becomes a new
    fact. A fact is not ended by episodes that are all older than it.
    """
    new: list[FactFinding] = []
    about: dict[UUID, FactFinding] = {}
    for finding in findings:
        if finding.fact is None or finding.fact not in basis.known:
            if finding.action is not Action.INVALIDATE and finding.text:
                new.append(_as_new(finding))
        elif finding.action is Action.REINFORCE or _ends(finding, basis.known[finding.fact], basis.episodes):
            weaker = _joined(about, finding.fact, finding)
            if weaker is not None:
                new.append(_as_new(weaker))
    return (*about.values(), *new)


def texts_in(findings: Iterable[FactFinding]) -> tuple[str, ...]:
    """The distinct texts that would be written if no fact were known, in order."""
    writing = {Action.NEW, Action.UPDATE}
    return tuple(dict.fromkeys(finding.text for finding in findings if finding.action in writing))


def drawn(
    findings: Sequence[FactFinding],
    basis: Basis,
    vectors: Mapping[str, NDArray[np.float32]],
    policy: Facts,
    *,
    now: datetime,
) -> Drawn:
    """The writes for findings, which are as `findings_in` returns them.

    All episodes are marked as consolidated, even without a finding. A fact is valid from the end of the first episode
    that states it. An updated or invalidated fact is kept; its validity ends then. A fact has the origin of its least
    trusted episode; one that contradicts a more trusted fact does not end it, but is stored beside it, with a
    `contradicts` relation. A finding that repeats a known fact, or another finding, adds a source to it instead of a
    new fact.

    `vectors`: unit vectors by text, of `texts_in` and of the known facts. Texts without one are compared by their
    words.
    """
    drawing = _Drawing(basis, vectors, policy, now)
    told = [_plain(finding, basis, drawing) for finding in findings]
    drawing.ending.update(finding.fact for finding in told if finding.fact and finding.action in _ENDING)
    for finding in told:
        drawing.add(finding)
    return drawing.drawn()


_ENDING: Final = frozenset({Action.UPDATE, Action.INVALIDATE})
_WEAKEST_FIRST: Final = (Action.REINFORCE, Action.INVALIDATE, Action.UPDATE)


def _as_new(finding: FactFinding) -> FactFinding:
    return replace(finding, action=Action.NEW, fact=None)


def _ends(finding: FactFinding, fact: Memory, episodes: Mapping[UUID, Memory]) -> bool:
    return any(_may_end(episodes[source], fact) for source in finding.sources)


def _may_end(episode: Memory, fact: Memory) -> bool:
    """Whether the episode can end the fact. One that happened before the fact was found cannot."""
    return fact.valid_from is None or episode.occurred_to >= fact.valid_from


def _joined(about: dict[UUID, FactFinding], fact: UUID, finding: FactFinding) -> FactFinding | None:
    """Merge the finding with the earlier one about the same fact. Returns an update that could not be merged."""
    before = about.setdefault(fact, finding)
    if before is finding:
        return None
    if before.action is finding.action is Action.UPDATE:
        return finding
    if before.action is finding.action:
        about[fact] = replace(before, sources=tuple(dict.fromkeys((*before.sources, *finding.sources))))
    elif _WEAKEST_FIRST.index(finding.action) > _WEAKEST_FIRST.index(before.action):
        about[fact] = finding
    return None


def _plain(finding: FactFinding, basis: Basis, drawing: _Drawing) -> FactFinding:
    """The finding; an update with the same claim as the fact becomes a reinforcement."""
    if finding.action is not Action.UPDATE or finding.fact is None:
        return finding
    same = drawing.says_the_same(finding.text, basis.known[finding.fact].text)
    return replace(finding, action=Action.REINFORCE) if same else finding


@dataclass(slots=True)
class _Fact:
    """A known or new fact: the episodes that state it, and the start of its validity."""

    text: str
    sources: dict[UUID, None] = field(default_factory=dict[UUID, None])
    since: datetime | None = None


@dataclass(slots=True)
class _Drawing:
    basis: Basis
    vectors: Mapping[str, NDArray[np.float32]]
    policy: Facts
    now: datetime
    ending: set[UUID] = field(default_factory=set[UUID])
    """Known facts that findings may end; no other finding is merged into them."""
    facts: dict[UUID, _Fact] = field(default_factory=dict[UUID, _Fact])
    new: dict[UUID, Category] = field(default_factory=dict[UUID, Category])
    """The new facts."""
    ended: dict[UUID, tuple[UUID | None, datetime]] = field(default_factory=dict[UUID, tuple[UUID | None, datetime]])
    """For each ended known fact: its successor, and the end of its validity."""
    against: list[Relation] = field(default_factory=list[Relation])

    def add(self, finding: FactFinding) -> None:
        if finding.fact is None:
            self._say(self._place(finding), finding, self._since(finding, None))
            return
        known = self.basis.known[finding.fact]
        if finding.action is Action.REINFORCE:
            self.facts.setdefault(known.id, _Fact(known.text))
            self._say(known.id, finding, None)
            return
        since = self._since(finding, known if self._may_end(finding, known) else None)
        if finding.action is Action.UPDATE:
            place = self._place(finding)
            self._say(place, finding, since)
            if self._may_end(finding, known):
                self.ended[known.id] = (place, since)
            else:
                self.against.append(Relation(place, known.id, RelationKind.CONTRADICTS, 1.0, self.now))
            return
        if self._may_end(finding, known):
            self.ended[known.id] = (None, since)
        self.against += [
            Relation(source, known.id, RelationKind.CONTRADICTS, 1.0, self.now) for source in finding.sources
        ]

    def drawn(self) -> Drawn:
        reinforced = tuple(identifier for identifier in self.facts if identifier not in self.new)
        known, episodes = self.basis.known, self.basis.episodes
        touched = [*episodes.values(), *(known[identifier] for identifier in (*reinforced, *self.ending))]
        edges = [
            Relation(identifier, source, RelationKind.DERIVED_FROM, 1.0, self.now)
            for identifier, fact in self.facts.items()
            for source in fact.sources
        ]
        effect = Effect(
            expected={memory.id: memory.revision for memory in touched},
            consolidated=frozenset(episodes),
            inserted=tuple(self._written(identifier) for identifier in self.new),
            revised=tuple(_until(known[identifier], end) for identifier, (_, end) in self.ended.items()),
            superseded=tuple((old, place) for old, (place, _) in self.ended.items() if place is not None),
            related=(*edges, *self.against),
            adjusted={identifier: self._reinforcing(len(self.facts[identifier].sources)) for identifier in reinforced},
        )
        return Drawn(
            effect=effect,
            new=tuple(self.new),
            reinforced=reinforced,
            updated=tuple(old for old, (place, _) in self.ended.items() if place is not None),
            invalidated=tuple(old for old, (place, _) in self.ended.items() if place is None),
        )

    def says_the_same(self, one: str, other: str) -> bool:
        return self._likeness(one, other) > self.policy.duplicate

    def _likeness(self, one: str, other: str) -> float:
        """The cosine of two texts with the same claim; 2 for equal words, -2 for different claims."""
        if same_words("", None, one) == same_words("", None, other):
            return 2.0
        if one not in self.vectors or other not in self.vectors or not same_claim(one, other):
            return -2.0
        return float(self.vectors[one] @ self.vectors[other])

    def _place(self, finding: FactFinding) -> UUID:
        """The id of the fact for a finding: the most similar known or earlier fact with the same claim,
        else a new one.
        """
        known = {identifier: memory.text for identifier, memory in self.basis.known.items()}
        there = known | {identifier: fact.text for identifier, fact in self.facts.items()}
        alike = {
            identifier: self._likeness(finding.text, text)
            for identifier, text in there.items()
            if identifier not in self.ending
        }
        nearest = max(alike, key=lambda identifier: alike[identifier], default=None)
        if nearest is not None and alike[nearest] > self.policy.duplicate:
            self.facts.setdefault(nearest, _Fact(there[nearest]))
            return nearest
        first = min(finding.sources, key=lambda source: (self.basis.episodes[source].occurred_to, source))
        identifier = derived_id(first, f"{DRAWN} {finding.category} {finding.text}")
        self.facts[identifier] = _Fact(finding.text)
        self.new[identifier] = finding.category
        return identifier

    def _may_end(self, finding: FactFinding, known: Memory) -> bool:
        """Whether the finding is trusted as much as the known fact, so that it may end it."""
        origin = least_trusted(self.basis.episodes[source].origin for source in finding.sources)
        return not is_less_trusted(origin, known.origin)

    def _say(self, identifier: UUID, finding: FactFinding, since: datetime | None) -> None:
        fact = self.facts[identifier]
        fact.sources.update(dict.fromkeys(finding.sources))
        if since is not None:
            fact.since = since if fact.since is None else min(fact.since, since)

    def _since(self, finding: FactFinding, fact: Memory | None) -> datetime:
        """The start of validity: the end of the first episode that states the fact. If the fact ends another one, only
        episodes that may end that one count. At most now.
        """
        episodes = [self.basis.episodes[source] for source in finding.sources]
        ends = [episode.occurred_to for episode in episodes if fact is None or _may_end(episode, fact)]
        return min(self.now, *ends)

    def _written(self, identifier: UUID) -> MemoryWrite:
        fact = self.facts[identifier]
        sources = sorted(
            (self.basis.episodes[source] for source in fact.sources), key=lambda one: (one.occurred_to, one.id)
        )
        occurred_from, occurred_to = span(sources)
        memory = Memory(
            id=identifier,
            scope=self.basis.attributes.scope,
            visibility=self.basis.attributes.visibility,
            tier=Tier.SEMANTIC,
            kind=self.new[identifier].value,
            title=None,
            text=fact.text,
            source=DRAWN,
            origin=least_trusted(source.origin for source in sources),
            occurred_from=occurred_from,
            occurred_to=occurred_to,
            recorded_at=self.now,
            valid_from=fact.since,
            valid_until=self.basis.attributes.valid_until,
            metadata={DRAWN_BY: self.basis.by},
            strength=Strength(
                importance=max(source.strength.importance for source in sources),
                confidence=self.policy.reinforced(self.policy.confidence, len(sources) - 1),
            ),
        )
        memory = flagged_by_text(memory, inherited=any(source.flagged for source in sources))
        event_ids = dict.fromkeys(event for source in sources for event in self.basis.event_ids[source.id])
        return MemoryWrite(memory, (own_cue(memory),), tuple(event_ids))

    def _reinforcing(self, times: int) -> Callable[[Strength], Adjustment]:
        def change(strength: Strength) -> Adjustment:
            confidence = self.policy.reinforced(strength.confidence, times)
            return Adjustment(replace(strength, confidence=confidence))

        return change


def _until(fact: Memory, end: datetime) -> MemoryWrite:
    """The fact with its validity ended; its text is unchanged."""
    # An interval cannot end before it begins. If the episode that a fact came from also ends it, its validity is empty.
    until = end if fact.valid_from is None else max(end, fact.valid_from + MICROSECOND)
    ended = replace(fact, revision=fact.revision + 1, valid_until=until)
    return MemoryWrite(ended, (own_cue(ended),))
