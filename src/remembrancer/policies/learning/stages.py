"""The stage of a project, detected from its INTENT.md, and which learnings end with a stage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.learning import Domain
from remembrancer.values import dataclass


class LearningStage(StrEnum):
    """The stage of a project."""

    SPECIFICATION = "specification"
    PLANNING = "planning"
    DESIGN = "design"
    IMPLEMENTATION = "implementation"
    REVIEW = "review"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """When a stage ends, its learnings of this `domain` are retired. `read_chars`: the characters read of INTENT.md."""

    domain: Domain = Domain.TASK
    read_chars: int = 3_000

    def __post_init__(self) -> None:
        validation.whole("stages.read_chars", self.read_chars, 100, 1_000_000)

    def detect(self, intent: str) -> LearningStage | None:
        """The stage that the text of an INTENT.md describes; None if unclear."""
        return detect(intent[: self.read_chars])


WORDS: Final[Mapping[LearningStage, tuple[str, ...]]] = MappingProxyType(
    {
        stage: tuple(words.split(", "))
        for stage, words in {
            LearningStage.SPECIFICATION: (
                "acceptance criteria, clarify, non-goals, open questions, problem statement, requirements, "
                "scope, specification, specify, success criteria, user stories"
            ),
            LearningStage.PLANNING: (
                "backlog, deadline, dependencies, estimates, milestones, plan, planning, prioritise, prioritize, "
                "roadmap, schedule, sequencing"
            ),
            LearningStage.DESIGN: (
                "alternatives, architecture, component diagram, data model, design, interfaces, mockups, "
                "prototype, schema, trade-offs, wireframes"
            ),
            LearningStage.IMPLEMENTATION: (
                "build, code, coding, develop, endpoints, implement, implementation, implementing, migrate, "
                "refactor, unit tests, wire up"
            ),
            LearningStage.REVIEW: (
                "acceptance testing, approval, audit, feedback, findings, quality assurance, review, sign-off, "
                "validate, verify"
            ),
            LearningStage.MAINTENANCE: (
                "bug fixes, deprecate, hotfix, in production, incident, maintain, maintenance, monitoring, "
                "on-call, patch, regression, upgrade"
            ),
        }.items()
    }
)
"""Characteristic words of each stage, matched as whole words in any case. No word belongs to two stages or contains
another.
"""

LEAST_WORDS: Final = 2
"""The least number of a stage's words. One is not enough: "we want to design better forms" fits any stage."""

_BLANKS: Final = re.compile(r"[\s_-]+")
_MARKUP: Final = re.compile(r"[*`\"'#>|_\[\]()]+")
_SAID: Final = re.compile(
    r"^\s*(?:[-+]\s+)?(?:current\s+|project\s+)?(?:stage|phase)(?:\s+\d+)?\s*(?::|=|\u2014|\u2013|-|\bis\b)\s*(?:in\s+|the\s+)?(\w+)",
    re.IGNORECASE | re.MULTILINE,
)


def detect(intent: str) -> LearningStage | None:
    r"""The stage of the first line such as "Stage: design"; else the stage with most of its words in the text.

    Each word counts once, and at least two must occur. None for a tie or no match.

    >>> detect("# Checkout\n\nPhase: **Review**")
    <LearningStage.REVIEW: 'review'>
    """
    for named in _SAID.findall(_MARKUP.sub(" ", intent)):
        stage = _NAMES.get(named.casefold())
        if stage is not None:
            return stage
    text = f" {_spaced(intent)} "
    counts = {stage: sum(_holds(text, word) for word in words) for stage, words in WORDS.items()}
    most = max(counts.values())
    leading = [stage for stage, count in counts.items() if count == most]
    return leading[0] if most >= LEAST_WORDS and len(leading) == 1 else None


_NAMES: Final = {stage.value: stage for stage in LearningStage}


def _holds(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(_spaced(word))}(?!\w)", text) is not None


def _spaced(text: str) -> str:
    """The text in lower case, with hyphens and runs of blanks as single blanks: "sign-off" matches "sign off"."""
    return _BLANKS.sub(" ", text.casefold())
