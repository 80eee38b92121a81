"""Why evidence is missed: for each evidence turn, the step at which it was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from remembrancer.evaluation.budget import BUDGETS
from remembrancer.evaluation.system import TurnOutcome
from remembrancer.values import dataclass

FIRST: Final = 10
"""The number of turns that are read of an answer without a block."""
READERS: Final = (f"first {FIRST}", *BUDGETS)
"""The parts of an answer that are read: its first FIRST turns, or a block of one of BUDGETS."""


class Cause(StrEnum):
    """Why a reader does not see an evidence turn; FOUND: the reader sees it."""

    FOUND = "found"
    RANKED_LOW = "ranked low"
    """It was found, but ranks below the turns that are read."""
    CUT = "cut"
    """It is in the answer, but did not fit into the block."""
    DUPLICATE = "duplicate"
    ALIKE = "too alike"
    THRESHOLD = "below the threshold"
    GONE = "gone since"
    NO_CANDIDATE = "not a candidate"
    NOT_INGESTED = "not ingested"


_OF_OUTCOME: Final = {
    TurnOutcome.LIMIT: Cause.RANKED_LOW,
    TurnOutcome.DUPLICATE: Cause.DUPLICATE,
    TurnOutcome.ALIKE: Cause.ALIKE,
    TurnOutcome.THRESHOLD: Cause.THRESHOLD,
    TurnOutcome.GONE: Cause.GONE,
    TurnOutcome.NO_CANDIDATE: Cause.NO_CANDIDATE,
    TurnOutcome.NOT_INGESTED: Cause.NOT_INGESTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceTurn:
    """One evidence turn in one answer. `rank`: from 1, None if the turn was not returned; `blocks`: the names of the
    BUDGETS whose block contains it.
    """

    turn: str
    outcome: TurnOutcome
    rank: int | None
    blocks: frozenset[str]

    def cause(self, reader: str) -> Cause:
        """Why `reader`, one of READERS, does not see the turn; FOUND if it does."""
        if reader in BUDGETS:
            return Cause.FOUND if reader in self.blocks else _OF_OUTCOME.get(self.outcome, Cause.CUT)
        if self.rank is not None and self.rank <= FIRST:
            return Cause.FOUND
        return _OF_OUTCOME.get(self.outcome, Cause.RANKED_LOW)

    def missed(self) -> dict[str, str]:
        """The cause for each reader that does not see the turn."""
        causes = {reader: self.cause(reader) for reader in READERS}
        return {reader: cause.value for reader, cause in causes.items() if cause is not Cause.FOUND}


def count_causes(evidence: Iterable[EvidenceTurn]) -> dict[str, Mapping[Cause, int]]:
    """The number of turns per cause, for each of READERS; each reader's counts add up to the number of turns."""
    turns = tuple(evidence)
    return {reader: Counter(one.cause(reader) for one in turns) for reader in READERS}
