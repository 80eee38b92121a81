"""What a long task is searched by: a few key terms, or its beginning."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.domain import validation
from remembrancer.language.lexical import lexical_query
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTerms:
    """A long question is searched by the `least` to `most` key terms that a model finds in its first `read_chars`
    characters; where no model answers, by its first `beginning` characters.

    A question of at most `most` terms is searched unchanged.
    """

    least: int = 5
    most: int = 8
    read_chars: int = 2_000
    beginning: int = 500

    def __post_init__(self) -> None:
        validation.whole("key_terms.most", self.most, 1, 32)
        validation.whole("key_terms.least", self.least, 1, self.most)
        validation.whole("key_terms.read_chars", self.read_chars, 50, 65_536)
        validation.whole("key_terms.beginning", self.beginning, 50, 65_536)

    def are_needed(self, task: str) -> bool:
        return len(lexical_query(task).terms) > self.most

    def searched(self, task: str, terms: Sequence[str]) -> str:
        """What to search for: the key terms that a model found, or the beginning of the task where there are none."""
        return " ".join(terms) if terms else task.strip()[: self.beginning].strip()
