"""How much an event matters when it is first remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.event import Priority, Severity

MARKED: Final = MappingProxyType({Priority.PIN: 0.80, Priority.HIGH: 0.85, Priority.PERMANENT: 0.95})
"""What an operator's mark guarantees, by rising worth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """`base` + what its type adds + what its severity adds, at least the floor of its priority, held in [0, 1]."""

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
        """What importance never fades below, for an event so marked."""
        return self.floors.get(priority, 0.0)

    def of(self, kind: str, severity: Severity, priority: Priority) -> float:
        """In [0, 1], rounded to 12 places: the parts are decimal fractions, and 0.5 + 0.3 + 0.15 should be 0.95."""
        formed = round(self.base + self.by_type.get(kind, 0.0) + self.by_severity.get(severity, 0.0), 12)
        return min(1.0, max(formed, self.floor(priority), 0.0))
