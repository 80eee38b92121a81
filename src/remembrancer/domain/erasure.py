"""Erasure: the selection, the rows connected to it, the receipt, and finding log lines that quote erased text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final, TypedDict
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.event import Event, Origin
from remembrancer.domain.memory import Memory, MemoryWrite
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

MAX_IDS: Final = 1_000
"""The limit of memories or events in one call."""
ERASED: Final = "(erased)"
"""Replaces log lines that quote erased text."""
PARTS: Final = (*SCOPE_PARTS, "actor", "kind", "origin")
"""The parts of a selection: parts of a row's scope, its actor, its kind and its origin."""
REVISED_PARTS: Final = ("session", "actor", "kind", "origin")
"""The parts that may differ between the revisions of a memory."""


class RowParts(TypedDict, total=False):
    """The parts of a `RowSelection` as arguments. A missing one, or None, is not part of it."""

    kind: str | None
    session: str | None
    origin: Origin | str | None
    actor: str | None
    agent: str | None
    crew: str | None
    project: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSelection:
    """The rows of a `project`, `crew`, `agent` or `session`, of an `actor`, of a `kind` (for events: of this type), or
    of an `origin`. A row must match every part given; without any, every row matches.
    """

    project: str | None = None
    crew: str | None = None
    agent: str | None = None
    session: str | None = None
    actor: str | None = None
    kind: str | None = None
    origin: Origin | None = None

    def __post_init__(self) -> None:
        for part in (*SCOPE_PARTS, "actor", "kind"):
            validation.optional_name(part, getattr(self, part))
        if self.origin is not None:
            object.__setattr__(self, "origin", validation.choice("origin", self.origin, Origin))

    @property
    def parts(self) -> Mapping[str, str]:
        """The parts that are set, by name."""
        return {part: value for part in PARTS if (value := getattr(self, part)) is not None}

    def matches(self, row: Event | Memory) -> bool:
        """Whether a row has every part given."""
        kind = row.type if isinstance(row, Event) else row.kind
        held = {**{part: getattr(row.scope, part) for part in SCOPE_PARTS}, "actor": row.actor, "kind": kind}
        return all({**held, "origin": row.origin}[part] == value for part, value in self.parts.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureSelection(RowSelection):
    """A selection of rows to erase: memories by `ids`, events by `events`, or the rows that match every part given;
    exactly one of these three ways.

    `before`: of the matching rows, only those that happened before then. Raises InvalidInput if nothing is selected;
    that never means everything.
    """

    ids: frozenset[UUID] = frozenset()
    events: frozenset[UUID] = frozenset()
    before: datetime | None = None

    def __post_init__(self) -> None:
        RowSelection.__post_init__(self)
        object.__setattr__(self, "before", validation.optional_moment("before", self.before))
        ways = [bool(self.ids), bool(self.events), bool(self.parts)]
        if sum(ways) != 1:
            raise InvalidInput(
                "what to erase",
                "nothing" if not any(ways) else "several at once",
                f"one of ids, events, or any of {', '.join(PARTS)}",
            )
        if self.before is not None and not self.parts:
            raise InvalidInput("before", self.before.isoformat(), "nothing with ids or events: it limits the rest only")
        for argument, ids in (("ids", self.ids), ("events", self.events)):
            if len(ids) > MAX_IDS:
                raise InvalidInput(argument, f"{len(ids)} ids", f"at most {MAX_IDS}")


@dataclass(frozen=True, slots=True)
class ErasureTrace:
    """A memory and the rows connected to it, whatever their status and visibility.

    `events`: the events it was formed from, if still in the journal; `turns`: those of them that are its cues.
    `sources`: the memories it was derived from; `derived`: the memories derived from it.
    """

    memory: Memory
    events: tuple[UUID, ...] = ()
    turns: frozenset[UUID] = frozenset()
    sources: frozenset[UUID] = frozenset()
    derived: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class EventTrace:
    """An event, or its archived form, and the memories formed from it."""

    event: Event
    memories: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Traces:
    """The connections of the memories and events that were looked up."""

    memories: Mapping[UUID, ErasureTrace] = field(default_factory=lambda: MappingProxyType[UUID, ErasureTrace]({}))
    events: Mapping[UUID, EventTrace] = field(default_factory=lambda: MappingProxyType[UUID, EventTrace]({}))

    def with_(self, more: Traces) -> Traces:
        return Traces({**self.memories, **more.memories}, {**self.events, **more.events})


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """The rows that one erasure removes or changes.

    `memories` and `events` are removed with everything that belongs to them. `rebuilt`: memories formed again from
    their remaining events under the same id. Each has its next revision, `MemoryWrite.event_ids` are all its remaining
    events, and its previous text is not kept. `restored`: memories that return to recall because their successor is
    erased. `requeued`: memories whose facts are erased; they are no longer marked as consolidated, so that facts are
    drawn from them again.
    """

    memories: frozenset[UUID] = frozenset()
    events: frozenset[UUID] = frozenset()
    rebuilt: tuple[MemoryWrite, ...] = ()
    restored: frozenset[UUID] = frozenset()
    requeued: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Removed:
    """The number of removed rows by kind, and the memories and events that stay although they repeat an erased text
    verbatim.
    """

    counts: Mapping[str, int]
    repeated: tuple[UUID, ...] = ()
    """Memories and events, by id."""
    requests: int = 0
    """The number of requests whose idempotency keys stay, as hashes."""


@dataclass(frozen=True, slots=True)
class UnreachedPlace:
    """A place that the erasure could not reach: `what` it is, `why` traces may remain, and what to `do` about it."""

    what: str
    why: str
    do: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """The receipt of an erasure. It holds ids, counts and the requested scope parts, never erased text.

    `by`: a role and, if known, the agent's name. `counts`: removed rows by kind. `memories`: those requested;
    `derived`: those removed with them; `events`: from the journal and the archive; `rebuilt`, `restored`, `requeued`:
    as in `Removal`; `kept_sources`: sources of erased memories that stay, because their text differs; `repeated`:
    memories and events that stay although they repeat an erased text. Ids are sorted.

    `purged_at`: when the store's files were last found free of erased data; None: they may contain some. `dry_run`:
    nothing was erased.
    """

    id: UUID
    at: datetime
    by: str
    asked: ErasureSelection
    counts: Mapping[str, int]
    memories: tuple[UUID, ...] = ()
    derived: tuple[UUID, ...] = ()
    events: tuple[UUID, ...] = ()
    rebuilt: tuple[UUID, ...] = ()
    restored: tuple[UUID, ...] = ()
    requeued: tuple[UUID, ...] = ()
    kept_sources: tuple[UUID, ...] = ()
    repeated: tuple[UUID, ...] = ()
    left: tuple[UnreachedPlace, ...] = ()
    purged_at: datetime | None = None
    dry_run: bool = False


def completed(receipt: Erasure, removed: Removed) -> Erasure:
    """The receipt with the store's counts."""
    left = receipt.left
    if removed.requests:
        many = "1 request" if removed.requests == 1 else f"{removed.requests} requests"
        why = f"{many} to the server had a key; its SHA-256 is kept, so that a request sent again is known"
        left += (
            UnreachedPlace(
                "hashes of idempotency keys", why, "nothing: they go with the first such request after a day"
            ),
        )
    return replace(receipt, counts=removed.counts, repeated=removed.repeated, left=left)


LEAST_QUOTED_CHARS: Final = 12
"""Shorter texts inside a line do not count as quotations."""


def plain(text: str) -> str:
    """The text with runs of blanks as single blanks, because quotations may be wrapped differently."""
    return " ".join(text.split())


def quoter(
    texts: Iterable[str], is_gone: Callable[[str], bool], tokens_of: Callable[[str], Iterable[str]]
) -> Callable[[str], bool]:
    """A predicate: whether a log line quotes one of the erased `texts`.

    A line quotes a text if it equals it, contains it, or is contained in it (both of at least `LEAST_QUOTED_CHARS`
    characters), or if `tokens_of(line)` contains a token that occurs in erased texts only (`is_gone`).
    """
    gone = {plain(text) for text in texts}
    long = [text for text in gone if len(text) >= LEAST_QUOTED_CHARS]
    together = "\0".join(long)

    def quotes(line: str) -> bool:
        said = plain(line)
        if not said or said == ERASED:
            return False
        if said in gone or any(map(is_gone, tokens_of(said))):
            return True
        return len(said) >= LEAST_QUOTED_CHARS and (said in together or any(text in said for text in long))

    return quotes
