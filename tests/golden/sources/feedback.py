"""What one piece of feedback makes of confidence, and whether the memory is out, in exact fractions.

Confidence moves by the step and stays in [0, 1]. Out: called unhelpful or harmful as often as there are strikes or
more, this time included, and confidence below the mark. Engram's text: +0.15, -0.2, three strikes, 0.15. `before` and
`after` count how often it was called helpful, unhelpful and harmful.
"""

from __future__ import annotations

from fractions import Fraction

from plain import shown, table

QUARTERS = (("helpful", "0.25"), ("unhelpful", "-0.25"), ("harmful", "-0.5"))
ENGRAM = {"helpful": "0.15", "unhelpful": "-0.2", "harmful": "-0.2"}
SINGLE = (
    *((confidence, said, step) for confidence in ("0", "0.25", "0.5", "0.75", "1") for said, step in QUARTERS),
    *(("0.5", said, step) for said, step in ENGRAM.items()),
    ("0.5", "helpful", "0"),
)
RUNS = (
    ("0.5", "unhelpful unhelpful unhelpful unhelpful"),
    ("0.75", "unhelpful unhelpful unhelpful unhelpful"),
    ("0.5", "harmful unhelpful harmful"),
    ("0.5", "unhelpful unhelpful helpful unhelpful"),
    ("1", "unhelpful helpful unhelpful helpful unhelpful helpful"),
    ("0", "unhelpful unhelpful unhelpful"),
    ("0.5", "helpful helpful helpful helpful"),
    ("0.34", "unhelpful helpful unhelpful unhelpful"),
)


def held(confidence: Fraction) -> Fraction:
    return min(Fraction(1), max(Fraction(0), confidence))


def rows() -> list[dict[str, str]]:
    singles = [
        {
            "confidence": confidence,
            "before": "0 0 0",
            "said": said,
            "step": step,
            "strikes": "",
            "mark": "",
            "expected": shown(held(Fraction(confidence) + Fraction(step))),
            "after": " ".join("1" if said == one else "0" for one in ENGRAM),
            "retired": "no",
        }
        for confidence, said, step in SINGLE
    ]
    told: list[dict[str, str]] = []
    for start, run in RUNS:
        confidence, counts = Fraction(start), dict.fromkeys(ENGRAM, 0)
        for said in run.split():
            before, counts = counts, {**counts, said: counts[said] + 1}
            after = held(confidence + Fraction(ENGRAM[said]))
            negatives = counts["unhelpful"] + counts["harmful"]
            told.append(
                {
                    "confidence": shown(confidence),
                    "before": " ".join(map(str, before.values())),
                    "said": said,
                    "step": ENGRAM[said],
                    "strikes": "3",
                    "mark": "0.15",
                    "expected": shown(after),
                    "after": " ".join(map(str, counts.values())),
                    "retired": "yes" if negatives >= 3 and after < Fraction("0.15") else "no",
                }
            )
            confidence = after
    return singles + told


if __name__ == "__main__":
    table(("confidence", "before", "said", "step", "strikes", "mark", "expected", "after", "retired"), rows())
