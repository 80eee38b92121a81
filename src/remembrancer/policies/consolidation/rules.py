"""Learning rules from events: which memories are read together, and when a rule counts as known."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from math import ceil

from remembrancer.domain import validation
from remembrancer.domain.event import Origin, Priority
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.policies.admission.importance import Importance
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Settings for learning rules of the form "when X, do Y" from entries (memories of events).

    `lookback_hours`: how far back entries are read by default. `entries`: the least number of entries of one owner,
    unless one is marked permanent. `evidence`: how many entries must support a rule. `again_after_days`: a pattern
    learned more recently is not learned again. `at_once`: entries in one question, each cut to `entry_chars`;
    `at_most`: the most rules from one question.
    """

    lookback_hours: float = 24.0
    entries: int = 10
    evidence: int = 2
    again_after_days: float = 7.0
    at_once: int = 100
    entry_chars: int = 500
    at_most: int = 10

    def __post_init__(self) -> None:
        validation.number("rules.lookback_hours", self.lookback_hours, 0.01, 24 * 3660)
        validation.whole("rules.entries", self.entries, 1, 10_000)
        validation.whole("rules.evidence", self.evidence, 2, 100)
        validation.number("rules.again_after_days", self.again_after_days, 0, 3660)
        validation.whole("rules.at_once", self.at_once, self.evidence, 1_000)
        validation.whole("rules.entry_chars", self.entry_chars, 50, 10_000)
        validation.whole("rules.at_most", self.at_most, 1, 50)

    def suffice(self, entries: Sequence[Memory], importance: Importance) -> bool:
        """Whether there are enough entries: at least `entries`, or a permanent one among them."""
        return len(entries) >= self.entries or any(is_permanent(entry, importance) for entry in entries)

    def batches(self, entries: Sequence[Memory]) -> list[Sequence[Memory]]:
        """The entries in as few batches as possible, of similar size, in order."""
        size = ceil(len(entries) / max(1, ceil(len(entries) / self.at_once)))
        return [entries[start : start + size] for start in range(0, len(entries), size)] if entries else []


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of entries that may be read together: all their readers may also see a rule learned from them."""

    scope: Scope
    visibility: Visibility


def owner_of(entry: Memory) -> Owner:
    """The owner of an entry. Includes the session only if the entry is visible only there."""
    within = entry.visibility is Visibility.SESSION
    return Owner(entry.scope if within else entry.scope.narrowed(session=None), entry.visibility)


def by_owner(entries: Iterable[Memory]) -> dict[Owner, list[Memory]]:
    """The entries by owner, in the order of each owner's first entry."""
    owners: dict[Owner, list[Memory]] = {}
    for entry in entries:
        owners.setdefault(owner_of(entry), []).append(entry)
    return owners


def is_permanent(entry: Memory, importance: Importance) -> bool:
    """Whether the entry was formed from an event with the priority permanent, judging by its importance floor."""
    floor = importance.floor(Priority.PERMANENT)
    return 0 < floor <= entry.strength.importance_floor


def pattern_key(pattern: str) -> str:
    r"""The pattern normalised for comparison: case, blanks, width and a final full stop do not matter.

    >>> pattern_key("  The Deploy\n FAILS. ")
    'the deploy fails'
    """
    return " ".join(unicodedata.normalize("NFKC", pattern).casefold().split()).rstrip(".,;:!… ")


def rule_text(when: str, then: str) -> str:
    """A rule as text.

    >>> rule_text("the deploy fails.", "read the log first")
    'When the deploy fails: read the log first'
    """
    return f"When {when.strip().rstrip('.,;:')}: {then.strip()}"


def formed_by_us(entry: Memory, source: str) -> bool:
    """Whether the entry is this job's own report; rules are not learned from those."""
    return entry.source == source and entry.origin is Origin.SYSTEM
