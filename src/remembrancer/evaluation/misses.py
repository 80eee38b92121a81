"""Why evidence is missed: for each turn that answers, where its way to the reader ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from remembrancer.evaluation.budget import BUDGETS
from remembrancer.evaluation.system import Fate

FIRST: Final = 10
"""Turns that a reader of the answer itself is taken to read."""
READERS: Final = (f"first {FIRST}", *BUDGETS)
"""Who may read: of the answer its first turns, or its block of so many tokens."""


class Cause(StrEnum):
    FOUND = "found"
    RANKED_LOW = "ranked low"
    """It was found, and stands below what is read of the answer."""
    CUT = "cut"
    """It is in the answer, and did not find room in the block."""
    DUPLICATE = "duplicate"
    ALIKE = "too alike"
    FLOOR = "below the floor"
    GONE = "gone since"
    NO_CANDIDATE = "not a candidate"
    NOT_INGESTED = "not ingested"


_OF_FATE: Final = {
    Fate.LIMIT: Cause.RANKED_LOW,
    Fate.DUPLICATE: Cause.DUPLICATE,
    Fate.ALIKE: Cause.ALIKE,
    Fate.FLOOR: Cause.FLOOR,
    Fate.GONE: Cause.GONE,
    Fate.NO_CANDIDATE: Cause.NO_CANDIDATE,
    Fate.NOT_INGESTED: Cause.NOT_INGESTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """One turn that answers, in one answer: its `rank` from 1 where it was returned, and the `blocks` it stands in."""

    turn: str
    fate: Fate
    rank: int | None
    blocks: frozenset[str]

    def cause(self, reader: str) -> Cause:
        """Why one of READERS does not get to read it, or that it does."""
        if reader in BUDGETS:
            return Cause.FOUND if reader in self.blocks else _OF_FATE.get(self.fate, Cause.CUT)
        if self.rank is not None and self.rank <= FIRST:
            return Cause.FOUND
        return _OF_FATE.get(self.fate, Cause.RANKED_LOW)

    def missed(self) -> dict[str, str]:
        """The readers that do not get to read it, each with why."""
        causes = {reader: self.cause(reader) for reader in READERS}
        return {reader: cause.value for reader, cause in causes.items() if cause is not Cause.FOUND}


def counted(sought: Iterable[Sought]) -> dict[str, Mapping[Cause, int]]:
    """How many turns had which fate, for each of READERS; each reader's counts add up to the turns there are."""
    turns = tuple(sought)
    return {reader: Counter(one.cause(reader) for one in turns) for reader in READERS}
