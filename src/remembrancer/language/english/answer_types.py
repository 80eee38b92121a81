"""What kind of thing a question asks for, and whether a text holds one: a time, a number, a name.

By the form of the words alone, in English; a question or a text in another language has no mark but `Mark.QUESTION`.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.domain.memory import Mark
from remembrancer.language.times.asking import asks_for_time, tells_time

_NUMBER: Final = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|dozens?|hundreds?"
    r"|thousands?|once|twice|couple|several|first|second|third)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[a-z0-9,;:'\"(] )[\"'(]?(?!I\b)[A-Z]\w")
"""A capital that begins no sentence, and is not I."""
_MANY: Final = re.compile(r"\bhow\s+(?:many|much|often|old|long|far|tall|big|large|fast|high)\b", re.IGNORECASE)
_WHO: Final = re.compile(r"\b(?:who|whose|whom|where|names?|named|called)\b", re.IGNORECASE)
_QUESTION_ENDS: Final = ("?", "？", "؟", "\u037e")  # Latin, Chinese and Japanese, Arabic, Greek
BRIEF_CHARS: Final = 300
"""A longer text tells something, whatever it ends with."""
_CLOSING: Final = " \t\r\n\"'”’)]*_"


def marks_of(text: str) -> Mark:
    """What a text holds.

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
    """The one kind of thing that a question asks for; `Mark.NOTHING` where its form does not say.

    >>> asked_for("When did we meet?"), asked_for("Who was there?"), asked_for("What is it like?")
    (<Mark.TIME: 1>, <Mark.NAME: 4>, <Mark.NOTHING: 0>)
    """
    if asks_for_time(question):
        return Mark.TIME
    if _MANY.search(question):
        return Mark.NUMBER
    return Mark.NAME if _WHO.search(question) else Mark.NOTHING
