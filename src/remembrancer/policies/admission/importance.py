"""The importance of a memory formed from an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.event import Event, Priority, Severity
from remembrancer.domain.strength import Strength
from remembrancer.values import dataclass

MARKED: Final = MappingProxyType({Priority.PIN: 0.80, Priority.HIGH: 0.85, Priority.PERMANENT: 0.95})
"""The importance floor of each priority, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """The initial importance of a memory: `base` plus the additions for type and severity, clamped to [0, 1], and at
    least the floor of the priority.
    """

    base: float = 0.5
    by_type: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    by_severity: Mapping[Severity, float] = field(default_factory=lambda: MappingProxyType({}))
    floors: Mapping[Priority, float] = field(default_factory=lambda: MARKED)

    def __post_init__(self) -> None:
        validation.fraction("importance.base", self.base)
        for kind, added in self.by_type.items():
            validation.slug("importance.by_type", kind)
            validation.number(f"importance.by_type.{kind}", added, -1, 1)
        for severity, added in self.by_severity.items():
            validation.number(f"importance.by_severity.{severity}", added, -1, 1)
        for priority, floor in self.floors.items():
            validation.fraction(f"importance.floors.{priority}", floor)

    def floor(self, priority: Priority) -> float:
        """The importance below which a memory of an event with this priority never decays."""
        return self.floors.get(priority, 0.0)

    def of(self, kind: str, severity: Severity, priority: Priority) -> float:
        """The importance, in [0, 1], rounded to 12 decimals, so that 0.5 + 0.3 + 0.15 is 0.95."""
        formed = round(self.base + self.by_type.get(kind, 0.0) + self.by_severity.get(severity, 0.0), 12)
        return min(1.0, max(formed, self.floor(priority), 0.0))

    def marked_anew(self, strength: Strength, before: Sequence[Event], after: Sequence[Event]) -> Strength:
        """A memory's strength after the priority of one of its events changed.

        `before`, `after`: all its events (at least one) before and after the change. The importance floor becomes the
        highest floor of `after`. If the memory was formed from one event and its importance never changed, its
        importance is computed again; otherwise it is raised to the floor if it is lower.
        """
        floor = max(self.floor(event.priority) for event in after)
        untouched = len(before) == 1 and strength.importance == self._born(before[0])
        importance = self._born(after[0]) if untouched else max(strength.importance, floor)
        return replace(strength, importance=importance, importance_floor=floor)

    def _born(self, event: Event) -> float:
        return self.of(event.type, event.severity, event.priority)
