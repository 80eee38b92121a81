"""Maximal marginal relevance in exact fractions: balance x score + (1 - balance) x best x (1 - likeness).

Written as Carbonell and Goldstein do, with minus the likeness and relevance as a share of the best score, it picks in
the same order: that is checked here. Scores come best first; words are letters, so likeness is easily counted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from plain import several, table

CASES = (
    ("0.7", "0.9 0.8 0.7", "ab ab cd", 3),
    ("0.7", "0.9 0.8 0.7", "ab cd ef", 3),
    ("0.7", "0.9 0.8 0.7", "ab cd ef", 2),
    ("0.7", "0.5 0.5 0.5", "ab ab cd", 3),
    ("0.7", "0.5 0.5 0.5 0.5", "a b c d", 4),
    ("0.7", "0 0 0", "ab ab cd", 3),
    ("0.7", "0.9", "ab", 5),
    ("0.7", "1 0.01 0.01", "abc abc def", 3),
    ("0.7", "1 0.99 0.98 0.97 0.5", "abcd abcd abce abcf wxyz", 5),
    ("0.7", "0.9 0.8 0.7", "0 0 0", 3),
    ("1", "0.9 0.8 0.7", "ab ab cd", 3),
    ("0", "0.9 0.8 0.7", "ab ab cd", 3),
    ("0.5", "0.75 0.5 0.25", "abcd abef aghi", 3),
    ("0.7", "0.9 0.8", "ab cd", 1),
)


def words(cell: str) -> set[str]:
    """A letter is a word; 0 stands for a text without any."""
    return set() if cell == "0" else set(cell)


def likeness(one: set[str], other: set[str]) -> Fraction:
    return Fraction(len(one & other), len(one | other)) if one | other else Fraction(0)


def picked(
    scores: list[Fraction], texts: list[set[str]], limit: int, worth: Callable[[Fraction, Fraction], Fraction]
) -> tuple[list[int], list[Fraction]]:
    """The picks in order, and the score of each when it was picked."""
    order: list[int] = []
    worths: list[Fraction] = []
    while len(order) < min(limit, len(scores)):
        rest = [row for row in range(len(scores)) if row not in order]
        alike = {row: max((likeness(texts[row], texts[one]) for one in order), default=Fraction(0)) for row in rest}
        best = min(rest, key=lambda row: (-worth(scores[row], alike[row]), row))
        worths.append(worth(scores[best], alike[best]))
        order.append(best)
    return order, worths


def row(balance: str, scores: str, cells: str, limit: int) -> dict[str, str]:
    share, values, texts = (
        Fraction(balance),
        [Fraction(one) for one in scores.split()],
        [words(one) for one in cells.split()],
    )
    best = values[0]
    order, worths = picked(values, texts, limit, lambda s, like: share * s + (1 - share) * best * (1 - like))
    as_published = (
        picked(values, texts, limit, lambda s, like: share * s / best - (1 - share) * like)[0] if best else order
    )
    assert order == as_published
    return {
        "balance": balance,
        "scores": scores,
        "words": cells,
        "limit": str(limit),
        "picked": " ".join(map(str, order)),
        "expected": several(worths),
    }


if __name__ == "__main__":
    table(("balance", "scores", "words", "limit", "picked", "expected"), (row(*case) for case in CASES))
