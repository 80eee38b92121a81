"""The type of answer a question expects, and the types a text contains: a time, a number, a name.

Based on English word forms only. In another language only `CueFlag.QUESTION` can be set.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.domain.memory import CueFlag
from remembrancer.language.times.asking import asks_for_time, tells_time, unresolved
from remembrancer.language.times.line import Line
from remembrancer.patterns import pattern

_DIGIT: Final = pattern(r"\d")
_NUMBERS: Final = frozenset(
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty dozen dozens hundred hundreds"
    " thousand thousands once twice couple several first second third".split()
)
_NUMBER: Final = pattern(rf"\b(?:{'|'.join(sorted(_NUMBERS))})\b", re.IGNORECASE)
_NAME: Final = pattern(r"(?<=[a-z0-9,;:'\"(] )[\"'(]?(?!I\b)[A-Z]\w")
"""A capital letter other than at the beginning of a sentence or in the word I."""
_MANY: Final = pattern(r"\bhow\s+(?:many|much|often|old|long|far|tall|big|large|fast|high)\b", re.IGNORECASE)
_WHO: Final = pattern(r"\b(?:who|whose|whom|where|names?|named|called)\b", re.IGNORECASE)
_QUESTION_ENDS: Final = ("?", "？", "؟", "\u037e")  # Latin, Chinese and Japanese, Arabic, Greek
_TIME, _A_NUMBER, _A_NAME, _QUESTION = map(int, (CueFlag.TIME, CueFlag.NUMBER, CueFlag.NAME, CueFlag.QUESTION))
BRIEF_CHARS: Final = 300
"""A longer text counts as a statement even if it ends with a question mark."""
_CLOSING: Final = " \t\r\n\"'”’)]*_"


def flags_of(text: str) -> CueFlag:
    """The answer types that a text contains, and whether it is a question.

    >>> flags_of("We met Ana in Lisbon two years ago")
    <CueFlag.TIME|NUMBER|NAME: 7>
    """
    flags = 0  # numbers: joining members of the enumeration takes as long as the searches
    line = unresolved(text)
    if tells_time(line):
        flags |= _TIME
    if _DIGIT.search(text) or _has_number(line):
        flags |= _A_NUMBER
    if _NAME.search(text):
        flags |= _A_NAME
    if len(text) <= BRIEF_CHARS and text.rstrip(_CLOSING).endswith(_QUESTION_ENDS):
        flags |= _QUESTION
    return CueFlag(flags)


def _has_number(line: Line) -> bool:
    """Whether the text has a number in words. A part of an identifier ("first_name") does not count."""
    return not _NUMBERS.isdisjoint(line.words) and ("_" not in line.text or _NUMBER.search(line.text) is not None)


def asked_for(question: str) -> CueFlag:
    """The one answer type that a question expects; `CueFlag.NOTHING` if its form does not show it.

    >>> asked_for("When did we meet?"), asked_for("Who was there?"), asked_for("What is it like?")
    (<CueFlag.TIME: 1>, <CueFlag.NAME: 4>, <CueFlag.NOTHING: 0>)
    """
    if asks_for_time(question):
        return CueFlag.TIME
    if _MANY.search(question):
        return CueFlag.NUMBER
    return CueFlag.NAME if _WHO.search(question) else CueFlag.NOTHING
