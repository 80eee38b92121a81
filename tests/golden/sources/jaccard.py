"""Shared distinct words over all distinct words, case apart, as an exact fraction; 0 where neither text has a word."""

from __future__ import annotations

from fractions import Fraction

from plain import shown, table

CASES = (
    ("the deploy failed", "the deploy failed"),
    ("The DEPLOY failed", "the deploy FAILED!"),
    ("the deploy failed", "the deploy succeeded"),
    ("Sprint 42 ends", "Sprint 43 ends"),
    ("a a a b", "a b b"),
    ("one", "two"),
    ("", ""),
    ("", "one"),
    ("???", "one"),
    ("???", "..."),
    ("straße café", "STRASSE CAFÉ"),
    ("端口 八零八零", "端口 九零九零"),
    ("a b c d", "c d e f"),
)


def words(text: str) -> set[str]:
    """Runs of letters and digits."""
    return set("".join(each if each.isalnum() or each == "_" else " " for each in text.casefold()).split())


def jaccard(one: str, other: str) -> Fraction:
    everything = words(one) | words(other)
    return Fraction(len(words(one) & words(other)), len(everything)) if everything else Fraction(0)


if __name__ == "__main__":
    table(
        ("one", "other", "expected"),
        ({"one": one, "other": other, "expected": shown(jaccard(one, other))} for one, other in CASES),
    )
