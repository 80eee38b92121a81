"""Searching by a long task: by a few key terms, or by its beginning."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.domain import validation
from remembrancer.language.lexical import lexical_query
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTerms:
    """A question of more than `most` terms is searched by key terms: a model finds `least` to `most` of them in its
    first `read_chars` characters. Without a model's answer, its first `beginning` characters are searched.
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
        """The text to search for: the key terms; without any, the beginning of the task."""
        return " ".join(terms) if terms else task.strip()[: self.beginning].strip()
