"""The stage of a project, detected from its INTENT.md, and what ends with each stage."""

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
    SPECIFICATION = "specification"
    PLANNING = "planning"
    DESIGN = "design"
    IMPLEMENTATION = "implementation"
    REVIEW = "review"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """When a stage ends, its learnings of this `domain` retire. `read_chars`: so much of INTENT.md is read."""

    domain: Domain = Domain.TASK
    read_chars: int = 3_000

    def __post_init__(self) -> None:
        validation.whole("stages.read_chars", self.read_chars, 100, 1_000_000)

    def detect(self, intent: str) -> LearningStage | None:
        """The stage that the project's INTENT.md describes; None where that is unclear."""
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
"""Characteristic words of each stage, matched whole and in any case. No word belongs to two stages or
contains another.
"""

LEAST_WORDS: Final = 2
"""One word is not enough: "we want to design better forms" may be said at any stage."""

_BLANKS: Final = re.compile(r"[\s_-]+")
_MARKUP: Final = re.compile(r"[*`\"'#>|_\[\]()]+")
_SAID: Final = re.compile(
    r"^\s*(?:[-+]\s+)?(?:current\s+|project\s+)?(?:stage|phase)(?:\s+\d+)?\s*(?::|=|\u2014|\u2013|-|\bis\b)\s*(?:in\s+|the\s+)?(\w+)",
    re.IGNORECASE | re.MULTILINE,
)


def detect(intent: str) -> LearningStage | None:
    r"""The stage of a line such as "Stage: design" (the first one); else the stage with most of its words in the text,
    each counted once, at least two; None where two stages tie or nothing matches.

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
    """The text in lower case, with single blanks for blanks and hyphens: "sign-off" matches "sign off"."""
    return _BLANKS.sub(" ", text.casefold())
