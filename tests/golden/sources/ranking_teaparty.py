"""TeaParty's order: blend x prominence x scope factor, brought below 1 by x / (1 + x), then diversity.

The blend is 0.7 cosine + 0.3 BM25 over the best match's; BM25 alone without vectors. Prominence is importance x
max(0.1, 0.5^(age / 90)) x (1 + retrieved), the age from birth or the last retrieval. Diversity: each next is the best
of 0.7 x score + 0.3 x best score x (1 - Jaccard likeness to the nearest before it).
"""

from __future__ import annotations

from decimal import Decimal

from candidates import CANDIDATES, COLUMNS, Candidate, newest_first, placed
from plain import exact, table

SCOPE_FACTORS = ("1", "1.2", "1.5", "1.5", "1.5")


def prominence(one: Candidate) -> Decimal:
    recency = max(Decimal("0.1"), (-Decimal(2).ln() / 90 * one.since(one.retrieved_days)).exp())
    return exact(one.importance) * recency * (1 + exact(one.retrieved))


def score(one: Candidate, best: Decimal, *, words_alone: bool) -> Decimal:
    blend = exact(one.bm25) / best
    if not words_alone:
        near = max(Decimal(0), exact(one.similarity)) if one.similarity else Decimal(0)
        blend = Decimal("0.7") * near + Decimal("0.3") * blend
    whole = blend * prominence(one) * exact(SCOPE_FACTORS[int(one.level)])
    return whole / (1 + whole)


def words(one: Candidate) -> set[str]:
    """Of its title, which is its name, and its text."""
    return set(f"{one.name} {one.text}".replace(",", "").casefold().split())


def likeness(one: Candidate, other: Candidate) -> Decimal:
    return Decimal(len(words(one) & words(other))) / len(words(one) | words(other))


def picked(*, words_alone: bool) -> list[tuple[str, Decimal]]:
    found = [one for one in CANDIDATES if one.lexical or not words_alone]
    best_match = max(exact(one.bm25) for one in found)
    scores = {one.name: score(one, best_match, words_alone=words_alone) for one in found}
    waiting = sorted(found, key=lambda one: (-scores[one.name], *newest_first(one)))
    best = scores[waiting[0].name]
    before: list[Candidate] = []
    order: list[tuple[str, Decimal]] = []
    while waiting:
        worth = {
            one.name: Decimal("0.7") * scores[one.name]
            + Decimal("0.3") * best * (1 - max((likeness(one, other) for other in before), default=Decimal(0)))
            for one in waiting
        }
        chosen = max(waiting, key=lambda one: worth[one.name])
        order.append((chosen.name, worth[chosen.name]))
        before.append(chosen)
        waiting.remove(chosen)
    return order


if __name__ == "__main__":
    table(
        COLUMNS,
        [
            row
            for words_alone in (False, True)
            for row in placed("", picked(words_alone=words_alone), words_alone=words_alone)
        ],
    )
