"""The memories that a reader may see and a filter keeps. Every store and index must give the same results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Scope, Visibility
from remembrancer.domain.validation import JsonScalar, JsonValue

OF_STATE: Final = frozenset({"superseded", "retired", "not yet valid", "expired"})
"""The reasons of `excluded_by` that depend on a memory's state."""


def can_see(reader: Reader, owner: Scope, visibility: Visibility, importance: float = 1.0) -> bool:
    """Whether the reader may see a row with this owner, visibility and importance.

    A reader bound to a project does not see rows of other projects. A row without a project belongs to all of them.
    """
    mine = reader.scope
    if owner.workspace != mine.workspace:
        return False
    if mine.project is not None and owner.project not in (None, mine.project):
        return False
    return _shown_to(mine, owner, visibility) and _within(reader, owner, importance)


def _shown_to(mine: Scope, owner: Scope, visibility: Visibility) -> bool:
    match visibility:
        case Visibility.WORKSPACE:
            return True
        case Visibility.CREW:
            return owner.crew == mine.crew
        case Visibility.OWN:
            return owner.agent == mine.agent
        case Visibility.SESSION:
            return owner.agent == mine.agent and owner.session == mine.session


def _within(reader: Reader, owner: Scope, importance: float) -> bool:
    mine = reader.scope
    own = mine.agent is not None and owner.agent == mine.agent
    unowned = owner.agent is None and owner.crew in (None, mine.crew)
    match reader.reach:
        case Reach.WORKSPACE:
            return True
        case Reach.CREW_SHARED:
            shared = owner.crew == mine.crew and importance >= reader.shared_from
            return shared or own or unowned
        case Reach.OWN:
            return own or unowned
        case Reach.SESSION:
            return owner.session == mine.session and (own or unowned)


def excluded_by(memory: Memory, where: Filter) -> tuple[str, ...]:
    """The names of the filter's conditions that the memory does not meet; empty if it is kept."""
    at = where.current_at
    reasons = {
        "recorded later": memory.recorded_at > at,
        "superseded": memory.superseded_by is not None and (memory.superseded_at is None or memory.superseded_at <= at),
        "retired": memory.status is not Status.ACTIVE and (memory.retired_at is None or memory.retired_at <= at),
        "not yet valid": memory.valid_from is not None and at < memory.valid_from,
        "expired": memory.valid_until is not None and at >= memory.valid_until,
        "kinds": where.kinds is not None and memory.kind not in where.kinds,
        "without_kinds": memory.kind in where.without_kinds,
        "tiers": where.tiers is not None and memory.tier not in where.tiers,
        "tags": not where.tags <= set(memory.tags),
        "without_tags": not where.without_tags.isdisjoint(memory.tags),
        "visibilities": where.visibilities is not None and memory.visibility not in where.visibilities,
        "metadata": not all(_holds(memory.metadata, key, value) for key, value in where.metadata),
        "source": where.source is not None and memory.source != where.source,
        "crew": where.crew is not None and memory.scope.crew != where.crew,
        "session": where.session is not None and memory.scope.session != where.session,
        "since": where.since is not None and memory.occurred_to < where.since,
        "until": where.until is not None and memory.occurred_from >= where.until,
    }
    return tuple(reason for reason, holds in reasons.items() if holds)


def _holds(metadata: Mapping[str, JsonValue], key: str, value: JsonScalar) -> bool:
    """Whether the key has exactly that value: true, 1 and "1" differ; 1 and 1.0 are equal."""
    if key not in metadata:
        return False
    held = metadata[key]
    return isinstance(held, bool) is isinstance(value, bool) and held == value


def value_key(key: str, value: JsonScalar) -> tuple[str, str, str]:
    """A tuple that is the same for two metadata values exactly if `Filter.metadata` takes them for equal. For hashes:
    Python's own of -1 and -2 are equal, and a number is the same whether it is whole by its type or by its value.
    """
    match value:
        case None | bool():
            return "constant", key, str(value)
        case float() if value.is_integer():
            return "number", key, str(int(value))
        case int() | float():
            return "number", key, str(value)
        case str():
            return "text", key, value
