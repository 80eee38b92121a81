"""Which candidates of an answer pass, in exact fractions: those whose evidence reaches the mark.

Evidence is similarity / its mark + coverage / its mark; an absent similarity counts as half its mark, an absent
coverage as 0. The mark is 1, or `then` where one of the candidates reaches 1.
"""

from __future__ import annotations

from fractions import Fraction

from plain import table

CASES = (
    ("0.5", "0.25", "1", "0.5", "0"),
    ("0.5", "0.25", "1", "0.4375", "0"),
    ("0.5", "0.25", "1", "0", "0.25"),
    ("0.5", "0.25", "1", "0", "0.1875"),
    ("0.5", "0.25", "1", "0.25", "0.125"),
    ("0.5", "0.25", "1", "0.25", "0.0625"),
    ("0.5", "0.25", "1", "0.375", "0.0625"),
    ("0.5", "0.25", "1", "1", "1"),
    ("0.5", "0.25", "1", "0", "0"),
    ("0.5", "0.25", "1", "0.5", "-"),
    ("0.5", "0.25", "1", "0.4375", "-"),
    ("0.5", "0.25", "1", "-", "0.125"),
    ("0.5", "0.25", "1", "-", "0.0625"),
    ("0.5", "0.25", "1", "-", "0"),
    ("0.5", "0.25", "1", "-", "-"),
    ("1", "1", "1", "0.5", "0.5"),
    ("1", "1", "1", "0.5", "0.25"),
    # A lower mark is for what stands beside an answer: alone it lets nothing pass.
    ("0.5", "0.25", "0.5", "0.25", "0"),
    ("0.5", "0.25", "0.5", "0.4375", "0"),
    ("0.5", "0.25", "0.5", "-", "-"),
    ("0.5", "0.25", "0.5", "0.25 0.4375 0.125", "0 0 0.125"),
    # Beside one that reaches 1, wherever it stands.
    ("0.5", "0.25", "0.5", "0.5 0.25 0.1875 0", "0 0 0 0"),
    ("0.5", "0.25", "0.5", "0.1875 0 0.25 0.125", "0 0.25 0 0.0625"),
    ("0.5", "0.25", "0.5", "0.5 - - -", "0 - 0 0.125"),
    ("0.5", "0.25", "0.75", "0.25 0.375 0.3125 0.25", "0.125 0 0.03125 0.03125"),
    # At 1 each candidate passes for itself.
    ("0.5", "0.25", "1", "0.5 0.4375 -", "0 0 0.125"),
)


def passes(similarity_mark: str, coverage_mark: str, then: str, similarity: str, coverage: str) -> list[bool]:
    evidence = [
        (Fraction(near) / Fraction(similarity_mark) if near != "-" else Fraction(1, 2))
        + (Fraction(held) / Fraction(coverage_mark) if held != "-" else 0)
        for near, held in zip(similarity.split(), coverage.split(), strict=True)
    ]
    mark = Fraction(then) if max(evidence) >= 1 else 1
    return [each >= mark for each in evidence]


if __name__ == "__main__":
    names = ("similarity_mark", "coverage_mark", "then", "similarity", "coverage")
    table(
        (*names, "passes"),
        (
            dict(zip(names, case, strict=True)) | {"passes": " ".join("yes" if one else "no" for one in passes(*case))}
            for case in CASES
        ),
    )
