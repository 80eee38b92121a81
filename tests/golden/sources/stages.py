"""The stage an INTENT.md tells: by a line of its own, else by whose words it has most of, at least two.

The texts are put together from words whose stage is known, so that the counts are known before anything is read.
"""

from __future__ import annotations

from itertools import permutations

from plain import table

WORDS = {
    "specification": ("requirements", "acceptance criteria", "user stories", "Non-Goals"),
    "planning": ("milestones", "roadmap", "ESTIMATES", "dependencies"),
    "design": ("architecture", "data model", "trade-offs", "wireframes"),
    "implementation": ("implement", "endpoints", "unit tests", "refactor"),
    "review": ("findings", "sign-off", "verify", "quality assurance"),
    "maintenance": ("hotfix", "on-call", "monitoring", "In production"),
}
NEUTRAL = ("tea", "customers", "the planet", "redesigned")
SAYINGS = (
    "Stage: {}",
    "stage = {}",
    "**Phase:** {}",
    "- Current stage: *{}*",
    "## Project phase: {}",
    "Phase 2: {}",
    "The text.\n\nThe current stage is {}.\nCurrent stage is {}",
)


def told(counts: dict[str, int]) -> str:
    """A text with that many words of each stage, and words of no stage."""
    words = [word for stage, count in counts.items() for word in WORDS[stage][:count]]
    return "We speak of " + ", ".join(word for pair in zip(words, NEUTRAL * 9, strict=False) for word in pair) + "."


def leader(counts: dict[str, int]) -> str:
    most = max(counts.values(), default=0)
    leading = [stage for stage, count in counts.items() if count == most]
    return leading[0] if most >= 2 and len(leading) == 1 else ""


def row(text: str, expected: str) -> dict[str, str]:
    return {"intent": text, "expected": expected}


if __name__ == "__main__":
    rows = [row(saying.replace("{}", stage.title()), stage) for stage in WORDS for saying in SAYINGS]
    rows += [row(f"Stage: somewhere\nPhase: {stage}", stage) for stage in WORDS]
    for one, other in permutations(WORDS, 2):
        for counts in ({one: 1}, {one: 2}, {one: 3, other: 2}, {one: 2, other: 2}, {one: 4, other: 1}):
            rows.append(row(told(counts), leader(counts)))
        rows.append(row(f"Stage: {one}\n{told({other: 4})}", one))
    rows += [row(f"{WORDS[stage][0]}, and again {WORDS[stage][0]}", "") for stage in WORDS]
    rows.append(row("We sell tea.", ""))
    seen = {one["intent"]: one for one in rows}
    table(("intent", "expected"), list(seen.values()))
