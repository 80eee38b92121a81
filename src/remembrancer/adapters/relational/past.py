"""The memories and cues of one time: now, or as they were.

As of a time, a memory has the text of the first revision that ended later, and the first past state that ended later;
without one, its present text or state. `domain.past.as_it_was` is the same in Python; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.adapters import relational
from remembrancer.domain.instants import micros
from remembrancer.domain.scope import NARROWEST_FIRST, Visibility
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.domain.scope import Scope

STAMPED: Final = "changed_at = CASE WHEN changed_at > ? THEN changed_at ELSE ? END"
"""The assignment of the time of a write, bound twice. It never decreases, even if the clock is set back."""


@dataclass(frozen=True, slots=True)
class Then:
    """The time as of which rows are read. `at`: in microseconds since 1970 UTC; None: now."""

    at: int | None = None

    @classmethod
    def of(cls, at: datetime | None) -> Then:
        return cls(micros(at))

    def memories(self, alias: str = "m") -> str:
        """The table of memories, with the columns of `memories` that statements read."""
        return f"memories {alias}" if self.at is None else f"({_as_they_were(self.at)}) {alias}"

    @property
    def cues(self) -> str:
        """The condition for the cues `c` of the memories `m`."""
        return "c.last IS NULL" if self.at is None else HELD


HELD: Final = "c.revision <= m.revision AND (c.last IS NULL OR c.last >= m.revision)"
NOW: Final = Then()


def _as_they_were(at: int) -> str:
    values = ", ".join(f"{value} AS {column}" for column, value in _columns().items())
    return (
        f"SELECT p.n, {values}, CASE WHEN p.consolidated_at <= {at} THEN p.consolidated_at END AS consolidated_at,"
        " p.change FROM memories p LEFT JOIN revisions r ON r.memory = p.n AND r.number ="
        f" (SELECT min(x.number) FROM revisions x WHERE x.memory = p.n AND x.replaced_at > {at})"
        " LEFT JOIN past_states s ON s.memory = p.n AND s.until ="
        f" (SELECT min(x.until) FROM past_states x WHERE x.memory = p.n AND x.until > {at})"
        f" WHERE p.recorded_at <= {at}"
    )


@cache
def _of_state() -> tuple[str, ...]:
    """The columns that a memory and a past state have in common."""
    return tuple(name for name in relational.rows.PAST_STATES.names if name != "until")


@cache
def _columns() -> Mapping[str, str]:
    """Each column's value as of a time, by name."""
    said = {
        name: f"CASE WHEN r.kind IS NULL THEN p.{name} ELSE r.{name} END" for name in relational.rows.REVISIONS.names
    }
    both = "".join(
        f" WHEN '{visibility}' IN (p.visibility, r.visibility) THEN '{visibility}'" for visibility in NARROWEST_FIRST
    )
    within = f"p.visibility = '{Visibility.SESSION}' AND r.visibility <> '{Visibility.SESSION}'"
    values = {name: f"p.{name}" for name in relational.rows.MEMORIES.names if name != "consolidated_at"}
    values |= {name: value for name, value in said.items() if name in values}
    values |= {name: f"CASE WHEN r.number IS NULL THEN p.{name} ELSE r.{name} END" for name in ("title", "text")}
    values |= {name: f"CASE WHEN s.until IS NULL THEN p.{name} ELSE s.{name} END" for name in _of_state()}
    return values | {
        "revision": "coalesce(r.number, p.revision)",
        "visibility": f"CASE WHEN r.kind IS NULL THEN p.visibility{both} END",
        "session": f"CASE WHEN r.kind IS NULL OR ({within}) THEN p.session ELSE r.session END",
    }


def keep_state(connection: Connection, scope: Scope, memory_id: UUID, at: datetime) -> None:
    """Keep the memory's state, which a write at that time is about to end. Of several writes at one time, the state
    before the first is kept.
    """
    names = ", ".join(_of_state())
    connection.execute(
        f"INSERT INTO past_states (memory, until, {names})"
        f" SELECT n, CASE WHEN changed_at > ? THEN changed_at ELSE ? END, {names} FROM memories"
        " WHERE workspace = ? AND id = ? ON CONFLICT DO NOTHING",
        (micros(at), micros(at), scope.workspace, memory_id.bytes),
    )
