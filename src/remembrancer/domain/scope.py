"""Who a row belongs to, and how far a reader sees."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """workspace > project > crew > agent > session; only the workspace, the tenant wall, is required."""

    workspace: str
    project: str | None = None
    crew: str | None = None
    agent: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        validation.name("workspace", self.workspace)
        for part in ("project", "crew", "agent", "session"):
            validation.optional_name(part, getattr(self, part))

    def narrowed(self, **parts: str | None) -> Scope:
        """The same scope with some parts replaced. The workspace cannot be: it is the tenant wall."""
        known = {field.name for field in fields(self)} - {"workspace"}
        for part, value in parts.items():
            if part not in known:
                raise InvalidInput(part, value, "one of project, crew, agent, session")
        return replace(self, **parts)


class Visibility(StrEnum):
    """How far out of its own scope a memory may be seen."""

    SESSION = "session"
    OWN = "own"
    CREW = "crew"
    WORKSPACE = "workspace"


class Reach(StrEnum):
    """How far a reader looks inside its workspace.

    `session`: rows of its session that are its own. `own`: rows of its agent, and rows that belong to no agent
    (of its crew, or of no crew). `crew_shared`: its own, and all of its crew. `workspace`: all that is visible to it.
    """

    SESSION = "session"
    OWN = "own"
    CREW_SHARED = "crew_shared"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class Reader:
    """A scope that reads, and how far it looks. The reach needs the scope part it speaks of."""

    scope: Scope
    reach: Reach = Reach.WORKSPACE

    def __post_init__(self) -> None:
        needed = {Reach.SESSION: "session", Reach.OWN: "agent", Reach.CREW_SHARED: "crew"}.get(self.reach)
        if needed is not None and getattr(self.scope, needed) is None:
            raise InvalidInput("reach", self.reach.value, f"a scope with {needed} set, or a wider reach")
