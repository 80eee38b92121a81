"""Which events become memories at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import cast

from remembrancer.domain import validation
from remembrancer.domain.event import EventDraft, Severity
from remembrancer.domain.validation import JsonValue

_SEVERITIES = tuple(Severity)
"""Mildest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """`never`: patterns of types (`*` stands for anything) that nothing admits. Of the others:

    `always` is admitted, None: whatever is not named below; `from_severity` from that severity on; `in_states` when
    payload.state is one of those. `forced_by` names a flag: true in refs, or in payload.refs, it admits any other type.
    """

    never: tuple[str, ...] = ()
    always: tuple[str, ...] | None = None
    from_severity: Mapping[str, Severity] = field(default_factory=lambda: MappingProxyType({}))
    in_states: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    forced_by: str | None = None

    def __post_init__(self) -> None:
        for kind in (*self.from_severity, *self.in_states):
            validation.slug("admission", kind)
        validation.optional_name("admission.forced_by", self.forced_by)

    def admits(self, draft: EventDraft) -> bool:
        if _matches(draft.type, self.never):
            return False
        if self.forced_by is not None and _is_forced(draft, self.forced_by):
            return True
        if draft.type in self.from_severity:
            return _SEVERITIES.index(draft.severity) >= _SEVERITIES.index(self.from_severity[draft.type])
        if draft.type in self.in_states:
            return draft.payload.get("state") in self.in_states[draft.type]
        return self.always is None or _matches(draft.type, self.always)


def _matches(kind: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(kind, pattern) for pattern in patterns)


def _is_forced(draft: EventDraft, flag: str) -> bool:
    inner = draft.payload.get("refs")
    nested = cast("dict[str, JsonValue]", inner) if isinstance(inner, dict) else {}
    return draft.refs.get(flag) is True or nested.get(flag) is True
