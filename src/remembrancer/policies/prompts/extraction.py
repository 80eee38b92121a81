"""Prompt: learnings from a session."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.learning import Domain, LearningType
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.policies.learning.extraction import FILES, ExtractionScope, StreamPassage
from remembrancer.policies.prompts.fence import fenced
from remembrancer.policies.prompts.fields import FRACTION, INTEGER, TEXT, Object, entries, list_of, object_of, one_of
from remembrancer.policies.rendering.safe import indented, one_line
from remembrancer.values import dataclass

MAX_LEARNING_BYTES: Final = 4_000
"""The UTF-8 bytes of one learning; a longer text should be several learnings."""
MAX_TOKENS: Final = 4_096
"""The limit of an answer."""
TURNS: Final = "turns"
"""The label of the block that holds the session."""

_ASKED: Final[Mapping[ExtractionScope, str]] = MappingProxyType(
    {
        ExtractionScope.OBSERVATIONS: (
            "what the person showed of how they like to work: preferences, habits, standards, what they look at first,"
            " what they always ask for. Say what was seen and what follows from it."
        ),
        ExtractionScope.ESCALATION: (
            "when to ask the person and when to decide alone. Say in which matters, which way, what showed it, and from"
            " which point on."
        ),
        ExtractionScope.INTENT_ALIGNMENT: (
            "where what was done agreed with what was intended, and where it departed from it. Say what was wanted,"
            " what came of it, and what would have shown the difference earlier."
        ),
        ExtractionScope.TEAM: (
            "what those who worked here should keep doing, or do otherwise, as a team: how they divide work, hand it"
            " over and check it."
        ),
        ExtractionScope.SESSION: (
            "what this session found out that whoever goes on with the same work must know: what was settled, what"
            " turned out to be so, what is still open."
        ),
        ExtractionScope.PROJECT: (
            "what holds for this project whoever works on it: facts, conventions, decisions with their reasons."
        ),
        ExtractionScope.GLOBAL: (
            "what holds beyond this project: practices that would serve in any other. Leave out what needs this"
            " project's names to be understood."
        ),
        ExtractionScope.PROSPECTIVE: (
            "the risks that were foreseen before the work, held against what came: which were real, which were not,"
            " which nobody saw. Say the risk, what became of it, and what to do about it next time."
        ),
        ExtractionScope.IN_FLIGHT: (
            "the assumptions that were made along the way, about how hard it would be, whether the approach would"
            " carry, what the person wants, and what belongs to the work: which held, which did not, and by what that"
            " could have been seen."
        ),
        ExtractionScope.CORRECTIVE: (
            "mistakes and how they were put right: the pattern of the mistake, what recovered from it, its cause, and"
            " what prevents it."
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A learning in a model's answer. `importance` in [0, 1]; `turns`: the numbers of the turns it comes from, at least
    one, distinct and ascending.
    """

    text: str
    type: LearningType
    domain: Domain
    importance: float
    turns: tuple[int, ...]


def instructions(scope: ExtractionScope, at_most: int) -> str:
    return (
        "A session of work has ended. You read its record and keep what is worth knowing in later sessions, in one"
        f" respect only: {_ASKED[scope]}\n"
        f"Answer with at most {at_most} learnings, each of them one thing, in a few plain sentences that can be"
        " understood without the record. Keep names, numbers and conditions. type: declarative for what is so,"
        " procedural for how something is done, directive for what must or must not be done, corrective for what went"
        " wrong and what to do instead. domain: task for the work at hand, team for how those who do it work together."
        " importance: 0 to 1, where 0.5 is useful and 0.9 is something nobody may forget. turns: the numbers of the"
        " turns it follows from.\n"
        "Learn only what the turns show. Most sessions teach little: where there is nothing to learn in this respect,"
        " answer with an empty list."
    )


def material(window: Sequence[StreamPassage]) -> str:
    """The turns, fenced, each after its number, time and speaker.

    Further lines of a turn are indented by four blanks, so that no text can imitate another turn, which may be trusted
    more.
    """
    return fenced("\n".join(f"{_heading(passage)} {indented(passage.text)}" for passage in window), TURNS)


def with_file(
    scope: ExtractionScope, window: Sequence[StreamPassage], passages: Sequence[StreamPassage], chars: int
) -> tuple[StreamPassage, ...]:
    """The window after the latest version of the file that belongs to the scope, cut to `chars` characters."""
    written = [passage for passage in passages if scope in FILES and passage.file == FILES[scope]]
    if not written or written[-1].number in {passage.number for passage in window}:
        return tuple(window)
    last = written[-1]
    return (
        StreamPassage(number=last.number, at=last.at, speaker=last.speaker, text=last.text[:chars], file=last.file),
        *window,
    )


def schema(at_most: int) -> Object:
    learning = object_of(
        text=TEXT,
        type=one_of(LearningType),
        domain=one_of(Domain),
        importance=FRACTION,
        turns=list_of(INTEGER, minItems=1),
    )
    return object_of(learnings=list_of(learning, maxItems=at_most))


def read(answer: Object, turns: Collection[int], at_most: int) -> tuple[Lesson, ...] | str:
    """The learnings of an answer, or what is wrong with it. `turns`: the valid turn numbers."""
    given = answer.get("learnings")
    if not isinstance(given, list):
        return "learnings: a list is expected, empty where there is nothing to learn"
    return entries("learnings", given, lambda path, one: _lesson(path, one, turns), at_most=at_most)


def _lesson(path: str, given: JsonValue | Object, turns: Collection[int]) -> Lesson:
    if not isinstance(given, dict):
        raise InvalidInput(path, given, "an object with text, type, domain, importance and turns")
    text = validation.text(f"{path}.text", given.get("text"), max_bytes=MAX_LEARNING_BYTES).strip()
    return Lesson(
        text=text,
        type=validation.choice(f"{path}.type", given.get("type"), LearningType),
        domain=validation.choice(f"{path}.domain", given.get("domain"), Domain),
        importance=validation.fraction(f"{path}.importance", given.get("importance")),
        turns=numbers(f"{path}.turns", given.get("turns"), turns),
    )


def numbers(path: str, given: JsonValue, known: Collection[int]) -> tuple[int, ...]:
    """The turn numbers in an answer, distinct and ascending. Raises InvalidInput if there are none, or for one not in
    `known`.
    """
    if not isinstance(given, list) or not given:
        raise InvalidInput(path, given, "the number of at least one")
    named: set[int] = set()
    for number in given:
        if isinstance(number, bool) or not isinstance(number, int) or number not in known:
            raise InvalidInput(path, number, "the numbers that stand before what was told")
        named.add(number)
    return tuple(sorted(named))


def _heading(passage: StreamPassage) -> str:
    file = f", file {one_line(passage.file)}" if passage.file else ""
    return f"[{passage.number}] {passage.at:%Y-%m-%d %H:%M}, {one_line(passage.speaker)}{file}:"
