"""The JSON shapes of the MCP tools: short, because a model reads them and its context is limited."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from textwrap import shorten
from typing import TYPE_CHECKING, Final, Self
from uuid import UUID

from pydantic import AwareDatetime, Field

from remembrancer.domain.event import Origin, Role
from remembrancer.domain.memory import Status, Tier
from remembrancer.engine.search_state import SearchMode
from remembrancer.interfaces.wire.recall import HeldBackOut
from remembrancer.interfaces.wire.shape import AgeOut, Derived, Of, Wire
from remembrancer.interfaces.wire.state import MemoryHealthOut, StatsOut
from remembrancer.policies.rendering.frame import UNTRUSTED

if TYPE_CHECKING:
    from remembrancer.domain.event import Event
    from remembrancer.domain.memory import Memory
    from remembrancer.domain.recall import Hit, Recall, Rendered


MAX_BRIEF_CHARS: Final = 1000
"""The longest text in these shapes; `memory://ID` has the whole text."""


MAX_HEADING_CHARS: Final = 80


class BriefOut(Derived):
    """A memory in short. `text`: its first 1,000 characters; `cut`: memory://ID has more."""

    id: UUID
    kind: str
    tier: Tier
    title: str | None
    text: str
    cut: bool
    origin: Origin
    actor: str | None
    role: Role | None
    source: str | None
    tags: list[str]
    occurred_from: AwareDatetime
    occurred_to: AwareDatetime

    @classmethod
    def of(cls, memory: Memory) -> Self:
        return cls.copied(memory, text=memory.text[:MAX_BRIEF_CHARS], cut=len(memory.text) > MAX_BRIEF_CHARS)


class RecalledHitOut(Wire):
    """A hit; a field that was not requested is left out. `passage`: the turn that matched, if it is not the memory's
    own text. `start`, `end`: which characters of a long turn that is; else null. `in_block`: it is part of the block.
    `probability`: the fraction of such hits that answered; null if not calibrated. `reason`: why it was found; null if
    not requested.
    """

    rank: int
    score: float | None = None
    probability: float | None = None
    age: AgeOut | None = None
    in_block: bool | None = None
    reason: str | None = None
    passage: str | None = None
    start: int | None = None
    end: int | None = None
    memory: BriefOut | None = None

    @classmethod
    def of(cls, hit: Hit, fields: Collection[str], *, in_block: bool) -> Self:
        found: dict[str, object] = {
            "score": hit.score,
            "probability": hit.probability,
            "age": hit.age,
            "in_block": in_block,
            "reason": hit.explanation.reason or None,
            "passage": None if hit.cue.text == hit.memory.text else hit.cue.text[:MAX_BRIEF_CHARS],
            "start": hit.cue.start,
            "end": hit.cue.end,
            "memory": hit.memory,
        }
        wanted = {name: value for name, value in found.items() if name in fields}
        return cls.model_validate({"rank": hit.rank, **wanted})


class RecalledOut(Wire):
    """Hits, best first. `pinned`: memories pinned to every answer. `below_threshold`: memories that recall would also
    return with floor="off", best first. `degraded`: what could not be used, and why.
    """

    caution: str = Field(description="How to treat the texts below.")
    query: str
    asked_at: AwareDatetime
    hits: list[RecalledHitOut]
    pinned: list[BriefOut]
    below_threshold: list[HeldBackOut]
    degraded: dict[str, str]

    @classmethod
    def of(cls, recall: Recall, block: Rendered, fields: Collection[str]) -> Self:
        """`fields`: those of RecalledHitOut that each hit has besides its rank."""
        placed = {hit.id for hit in block.hits}
        return cls.copied(
            recall,
            caution=UNTRUSTED,
            hits=[RecalledHitOut.of(hit, fields, in_block=hit.id in placed) for hit in recall.hits],
        )


class ListedOut(Wire):
    """Memories in the order of the tool that lists them."""

    caution: str = Field(description="How to treat the texts below.")
    memories: list[BriefOut]

    @classmethod
    def of(cls, memories: Iterable[Memory]) -> Self:
        return cls(caution=UNTRUSTED, memories=[BriefOut.of(memory) for memory in memories])


class ResultOut(Wire):
    """A memory that was found. `title`: its title, or how its text begins; `url`: of its resource."""

    id: str
    title: str
    url: str


class FoundOut(Wire):
    """The memories that `search` found, best first, in the shape that ChatGPT's connectors read."""

    results: list[ResultOut] = Field(description="The memories, best first.")

    @classmethod
    def of(cls, recall: Recall) -> Self:
        return cls(results=[ResultOut(**_headed(hit.memory)) for hit in recall])


class DocumentOut(Wire):
    """A memory with its whole text, in the shape that ChatGPT's connectors read."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]

    @classmethod
    def of(cls, memory: Memory) -> Self:
        told = {
            "caution": UNTRUSTED,
            "kind": memory.kind,
            "speaker": memory.speaker,
            "origin": memory.origin.value,
            "status": memory.status.value,
            "session": memory.scope.session,
            "occurred_from": memory.occurred_from.isoformat(),
            "occurred_to": memory.occurred_to.isoformat(),
        }
        return cls(**_headed(memory), text=memory.text, metadata={name: value for name, value in told.items() if value})


def _headed(memory: Memory) -> dict[str, str]:
    beginning = shorten(memory.title or memory.text, MAX_HEADING_CHARS, placeholder=" …")
    return {"id": str(memory.id), "title": beginning or str(memory.id), "url": f"memory://{memory.id}"}


class ChangedOut(Wire, Of["Memory"]):
    """The memory that was kept or retired, without its text. `revision` counts from 1."""

    id: UUID
    kind: str
    tier: Tier
    status: Status
    revision: int
    recorded_at: AwareDatetime


class EntryOut(Wire):
    """The recorded entry, without its text. `seq`: its number within its session, from 1."""

    id: UUID
    session: str | None
    seq: int
    role: Role
    type: str
    occurred_at: AwareDatetime
    recorded_at: AwareDatetime

    @classmethod
    def of(cls, event: Event) -> Self:
        return cls.copied(event, session=event.scope.session)


class MemoryStateOut(MemoryHealthOut):
    """The state of the memory. `stats`: counts of what is kept. `search`: how recall searches now."""

    as_of: AwareDatetime
    stats: StatsOut
    search: SearchMode
