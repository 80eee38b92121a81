"""Engram's score in 50 digits: 0.6 similarity + 0.2 priority / 10 + 0.1 confidence + 0.1 activation.

activation = exp(-0.03 x days since the last access / (1 + 0.1 x accesses)), from birth where there was none.
`original` is what its code computed: 0.5 similarity + 0.2 exp(-0.03 x days since birth / (1 + 0.1 x accesses))
+ 0.15 / (1 + 0.1 x days since birth) + 0.15 x min(1.3, 1 + 0.05 ln(1 + accesses)): a fresh stranger scores 0.5.
"""

from __future__ import annotations

from decimal import Decimal

from plain import exact, shown, table

CASES = (
    ("0", "1", "0", "0", "", "0"),
    ("1", "10", "1", "0", "", "0"),
    ("0.9", "5", "0.5", "365", "", "0"),
    ("0.5", "5", "0.5", "0", "", "0"),
    ("0.9", "5", "0.5", "365", "0", "1"),
    ("0.9", "5", "0.5", "365", "7", "10"),
    ("0.75", "8", "0.3", "30", "3.5", "4"),
    ("0.75", "8", "0.3", "30", "45", "4"),
    ("-0.5", "5", "0.5", "10", "", "0"),
    ("0.5", "5", "0.5", "-3", "", "0"),
    ("", "5", "0.5", "10", "", "0"),
    ("0.25", "1", "1", "36525", "36525", "1000000"),
    ("0.25", "1", "1", "36525", "", "0"),
    ("0.6", "7", "0.65", "100", "100", "1000000"),
)


def activation(born: str, accessed: str, accesses: str) -> Decimal:
    since = min(exact(born), exact(accessed)) if accessed else exact(born)
    return (exact("-0.03") * max(Decimal(0), since) / (1 + exact(accesses) / 10)).exp()


def score(similarity: str, priority: str, confidence: str, active: Decimal) -> Decimal:
    near = max(Decimal(0), exact(similarity)) if similarity else Decimal(0)
    return exact("0.6") * near + exact("0.02") * exact(priority) + exact("0.1") * exact(confidence) + active / 10


def original(similarity: str, born: str, accesses: str) -> Decimal:
    days, times = max(Decimal(0), exact(born)), exact(accesses)
    kept = (exact("-0.03") * days / (1 + times / 10)).exp()
    often = min(exact("1.3"), 1 + exact("0.05") * (1 + times).ln())
    near = exact(similarity) if similarity else Decimal(0)
    return near / 2 + kept / 5 + exact("0.15") / (1 + days / 10) + exact("0.15") * often


if __name__ == "__main__":
    table(
        ("similarity", "priority", "confidence", "born", "accessed", "accesses", "activation", "expected", "original"),
        (
            {
                "similarity": similarity,
                "priority": priority,
                "confidence": confidence,
                "born": born,
                "accessed": accessed,
                "accesses": accesses,
                "activation": shown(activation(born, accessed, accesses)),
                "expected": shown(score(similarity, priority, confidence, activation(born, accessed, accesses))),
                "original": shown(original(similarity, born, accesses)),
            }
            for similarity, priority, confidence, born, accessed, accesses in CASES
        ),
    )
