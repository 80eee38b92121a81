"""The choice of events that become memories when they are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import cast

from remembrancer.domain import validation
from remembrancer.domain.event import Event, EventDraft, Severity
from remembrancer.domain.validation import JsonValue
from remembrancer.values import dataclass

_SEVERITIES = tuple(Severity)
"""All severities, the least severe first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Rules by event type, with patterns (`*` matches any text). A type in `never` is not admitted.

    Otherwise, an event with the flag `forced_by` true in refs or payload.refs is admitted. Types in `from_severity` are
    admitted at that severity or above; those in `in_states` if payload.state is one of the values; all others if they
    match `always`.
    """

    never: tuple[str, ...] = ()
    always: tuple[str, ...] = ("*",)
    from_severity: Mapping[str, Severity] = field(default_factory=lambda: MappingProxyType({}))
    in_states: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    forced_by: str | None = None

    def __post_init__(self) -> None:
        for pattern in self.never:
            validation.name("admission.never", pattern)
        for pattern in self.always:
            validation.name("admission.always", pattern)
        for kind in self.from_severity:
            validation.slug("admission.from_severity", kind)
        for kind, states in self.in_states.items():
            validation.slug("admission.in_states", kind)
            for state in states:
                validation.name(f"admission.in_states.{kind}", state)
        validation.optional_name("admission.forced_by", self.forced_by)

    def admits(self, draft: EventDraft | Event) -> bool:
        if _matches(draft.type, self.never):
            return False
        if self.forced_by is not None and _is_forced(draft, self.forced_by):
            return True
        if draft.type in self.from_severity:
            return _SEVERITIES.index(draft.severity) >= _SEVERITIES.index(self.from_severity[draft.type])
        if draft.type in self.in_states:
            return draft.payload.get("state") in self.in_states[draft.type]
        return _matches(draft.type, self.always)


@lru_cache(maxsize=1_024)  # `fnmatchcase` takes ten times as long
def _matches(kind: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(kind, pattern) for pattern in patterns)


def _is_forced(draft: EventDraft | Event, flag: str) -> bool:
    inner = draft.payload.get("refs")
    nested = cast("dict[str, JsonValue]", inner) if isinstance(inner, dict) else {}
    return draft.refs.get(flag) is True or nested.get(flag) is True
