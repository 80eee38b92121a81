"""Scopes: the owner of a row, and what a reader may see."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.values import copied, dataclass

SCOPE_PARTS: Final = ("project", "crew", "agent", "session")
"""The optional parts of a scope, the widest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The owner of a row: workspace > project > crew > agent > session. Only the workspace, the tenant boundary, is
    required.
    """

    workspace: str
    project: str | None = None
    crew: str | None = None
    agent: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        validation.name("workspace", self.workspace)
        for part in SCOPE_PARTS:
            validation.optional_name(part, getattr(self, part))

    def narrowed(self, **parts: str | None) -> Scope:
        """The same scope with some parts replaced. The workspace cannot be replaced."""
        for part, value in parts.items():
            if part not in SCOPE_PARTS:
                raise InvalidInput(part, value, f"one of {', '.join(SCOPE_PARTS)}")
        return copied(self, Scope, **parts)

    def shared_with(self, other: Scope) -> Scope:
        """The parts that both scopes have in common.

        >>> ana = Scope(workspace="acme", crew="web", agent="ana")
        >>> ana.shared_with(ana.narrowed(agent="ben")) == ana.narrowed(agent=None)
        True
        """
        return self.narrowed(**{part: None for part in SCOPE_PARTS if getattr(self, part) != getattr(other, part)})


def is_read_with(other: Scope, owner: Scope) -> bool:
    """Whether whoever reads rows of `owner`, in a role that reads its agent's or its crew's rows, may also read those
    of `other`: they belong to the same agent and crew, or to nobody within the crew or the workspace.

    >>> ana = Scope(workspace="acme", crew="web", agent="ana")
    >>> is_read_with(ana.narrowed(agent=None), ana), is_read_with(ana, ana.narrowed(agent=None))
    (True, False)
    """
    same = (other.agent, other.crew) == (owner.agent, owner.crew)
    shared = other.agent is None and other.crew in (None, owner.crew)
    return other.workspace == owner.workspace and other.project in (None, owner.project) and (same or shared)


class Level(IntEnum):
    """The levels of scopes. A scope's level is the narrowest part that is set."""

    WORKSPACE = 0
    PROJECT = 1
    CREW = 2
    AGENT = 3
    SESSION = 4


def level_of(scope: Scope) -> Level:
    """The level of a scope.

    >>> level_of(Scope(workspace="acme", project="checkout")).name
    'PROJECT'
    """
    parts = (scope.project, scope.crew, scope.agent, scope.session)
    return Level(max((level for level, part in enumerate(parts, start=1) if part is not None), default=0))


class Visibility(StrEnum):
    """The widest scope in which a memory may be seen."""

    SESSION = "session"
    OWN = "own"
    CREW = "crew"
    WORKSPACE = "workspace"


NARROWEST_FIRST: Final = (Visibility.SESSION, Visibility.OWN, Visibility.CREW, Visibility.WORKSPACE)


def narrowest(visibilities: Iterable[Visibility]) -> Visibility:
    """The visibility of a memory formed from memories of these visibilities (at least one): the narrowest."""
    return min(visibilities, key=NARROWEST_FIRST.index)


class Reach(StrEnum):
    """The part of its workspace that a reader sees.

    - `session`: its own rows of its session.
    - `own`: rows of its agent, and rows of no agent that belong to its crew or to no crew.
    - `crew_shared`: its own rows and all rows of its crew.
    - `workspace`: all rows visible to it.
    """

    SESSION = "session"
    OWN = "own"
    CREW_SHARED = "crew_shared"
    WORKSPACE = "workspace"

    def is_wider_than(self, other: Reach) -> bool:
        """Whether this reach includes rows that `other` does not.

        >>> Reach.WORKSPACE.is_wider_than(Reach.OWN), Reach.OWN.is_wider_than(Reach.OWN)
        (True, False)
        """
        narrowest_first = list(Reach)
        return narrowest_first.index(self) > narrowest_first.index(other)


PART_OF_REACH: Final = {Reach.SESSION: "session", Reach.OWN: "agent", Reach.CREW_SHARED: "crew"}
"""The part of the scope that a reach needs."""


def missing_part(scope: Scope, reach: Reach) -> str | None:
    """The part that the reach needs and the scope lacks; None: the scope lacks none."""
    part = PART_OF_REACH.get(reach)
    return part if part is not None and getattr(scope, part) is None else None


@dataclass(frozen=True, slots=True)
class Reader:
    """A scope that reads, and its reach. The scope must set the part that the reach refers to.

    `shared_from`, in [0, 1]: with reach `crew_shared`, the least importance of other agents' rows.
    """

    scope: Scope
    reach: Reach = Reach.WORKSPACE
    shared_from: float = 0.0

    def __post_init__(self) -> None:
        validation.fraction("shared_from", self.shared_from)
        if (missing := missing_part(self.scope, self.reach)) is not None:
            raise InvalidInput("reach", self.reach.value, f"a scope with {missing} set, or a wider reach")
