"""The type of answer a question asks for, and the types a text contains: a time, a number, a name.

Judged by word form alone, in English. In another language only `Mark.QUESTION` can be set.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.domain.memory import Mark
from remembrancer.language.times.asking import asks_for_time, tells_time
from remembrancer.patterns import pattern

_NUMBER: Final = pattern(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|dozens?|hundreds?"
    r"|thousands?|once|twice|couple|several|first|second|third)\b",
    re.IGNORECASE,
)
_NAME: Final = pattern(r"(?<=[a-z0-9,;:'\"(] )[\"'(]?(?!I\b)[A-Z]\w")
"""A capital letter that does not begin a sentence and is not the word I."""
_MANY: Final = pattern(r"\bhow\s+(?:many|much|often|old|long|far|tall|big|large|fast|high)\b", re.IGNORECASE)
_WHO: Final = pattern(r"\b(?:who|whose|whom|where|names?|named|called)\b", re.IGNORECASE)
_QUESTION_ENDS: Final = ("?", "？", "؟", "\u037e")  # Latin, Chinese and Japanese, Arabic, Greek
BRIEF_CHARS: Final = 300
"""A text longer than this is a statement even if it ends with a question mark."""
_CLOSING: Final = " \t\r\n\"'”’)]*_"


def marks_of(text: str) -> Mark:
    """The flags of a text.

    >>> marks_of("We met Ana in Lisbon two years ago")
    <Mark.TIME|NUMBER|NAME: 7>
    """
    marks = Mark.NOTHING
    if tells_time(text):
        marks |= Mark.TIME
    if _NUMBER.search(text):
        marks |= Mark.NUMBER
    if _NAME.search(text):
        marks |= Mark.NAME
    if len(text) <= BRIEF_CHARS and text.rstrip(_CLOSING).endswith(_QUESTION_ENDS):
        marks |= Mark.QUESTION
    return marks


def asked_for(question: str) -> Mark:
    """The one answer type that a question asks for; `Mark.NOTHING` where its form does not tell.

    >>> asked_for("When did we meet?"), asked_for("Who was there?"), asked_for("What is it like?")
    (<Mark.TIME: 1>, <Mark.NAME: 4>, <Mark.NOTHING: 0>)
    """
    if asks_for_time(question):
        return Mark.TIME
    if _MANY.search(question):
        return Mark.NUMBER
    return Mark.NAME if _WHO.search(question) else Mark.NOTHING
