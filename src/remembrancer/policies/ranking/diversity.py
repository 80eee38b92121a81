"""Near-duplicates in one answer: equal texts, and diversification by maximal marginal relevance."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.recall import Part
from remembrancer.values import dataclass

_WORD: Final = re.compile(r"\w+")


def same_words(heading: str, title: str | None, text: str) -> str:
    """A key that is equal for memories with the same words (ignoring case and blanks), said by the same person on one
    day.

    Memories that differ in a number or name, in title or speaker, have different keys.
    """
    return "\n".join(" ".join(part.casefold().split()) for part in (heading, title or "", text))


def words_of(text: str) -> frozenset[str]:
    """The distinct words of a text, ignoring case."""
    return frozenset(_WORD.findall(text.casefold()))


def jaccard(one: AbstractSet[Hashable], other: AbstractSet[Hashable]) -> float:
    """The size of the intersection over that of the union, in [0, 1]; 0 for two empty sets."""
    return len(one & other) / len(one | other) if one or other else 0.0


@dataclass(frozen=True, slots=True)
class Mmr:
    """Maximal marginal relevance: each next pick has the greatest `balance` x relevance + (1 - `balance`) x novelty.

    Relevance is the score; novelty is the best score times (1 - the greatest Jaccard similarity to an earlier pick).
    The first pick keeps its score; scores never increase from one pick to the next. Source: Carbonell and Goldstein,
    SIGIR 1998, where novelty is minus the similarity, which gives the same order.
    """

    balance: float = 0.7

    def __post_init__(self) -> None:
        validation.fraction("balance", self.balance)

    def explain(self, relevance: Part, score: float) -> Part:
        """A pick's score as the sum of its relevance and its novelty."""
        relevant = self.balance * relevance.contribution
        return Part(
            "relevance and novelty",
            score,
            score,
            (
                Part(relevance.label, relevance.value, relevant, relevance.parts),
                Part(
                    "novelty", None if self.balance == 1 else (score - relevant) / (1 - self.balance), score - relevant
                ),
            ),
        )

    def picks(self, scores: Sequence[float], words: Sequence[frozenset[str]], limit: int) -> list[tuple[int, float]]:
        """The first `limit` candidates in the order of picking, each with its score as picked.

        `scores` come best first; ties keep that order.
        """
        best = scores[0] if scores else 0.0
        likeness = [0.0] * len(scores)
        waiting = list(range(len(scores)))
        picks: list[tuple[int, float]] = []
        while waiting and len(picks) < limit:
            worth = {
                one: self.balance * scores[one] + (1 - self.balance) * best * (1 - likeness[one]) for one in waiting
            }
            chosen = max(waiting, key=lambda one: (worth[one], -one))
            picks.append((chosen, worth[chosen]))
            waiting.remove(chosen)
            for one in waiting:
                likeness[one] = max(likeness[one], jaccard(words[one], words[chosen]))
        return picks
