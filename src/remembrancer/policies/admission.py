"""Which events become memories at once."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from remembrancer.domain.event import EventDraft


@dataclass(frozen=True, slots=True)
class Admission:
    """Every event is admitted but those whose type matches one of the `never` patterns (`*` stands for anything)."""

    never: tuple[str, ...] = ()

    def admits(self, draft: EventDraft) -> bool:
        return not any(fnmatchcase(draft.type, pattern) for pattern in self.never)
