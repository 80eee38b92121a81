"""Signs in a turn of the state of a conversation: a question, the end of a topic, or a reference back.

Questions are recognised by question marks of any script, closings and references in English only.
"""

from __future__ import annotations

import re
from typing import Final

from remembrancer.patterns import pattern

_QUESTION_ENDS: Final = ("?", "？", "؟", "\u037e")  # Latin, Chinese and Japanese, Arabic, Greek
_AFTER_A_MARK: Final = " \t\r\n\"'”’)]*_.!"

_CLOSING: Final = pattern(
    r"\b(?:thanks?|thank you|you['’]re welcome|you are welcome|most welcome|my pleasure|no problem"
    r"|glad (?:to|i could)|bye|goodbye|good night|have a (?:good|great|nice|wonderful|lovely)"
    r"|(?:anything|something|nothing) else)\b",
    re.IGNORECASE,
)
"""Phrases that close a topic: Schegloff and Sacks, "Opening up closings", Semiotica 8, 1973."""

_REFERRING: Final = pattern(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|she|his|her|him|which|both)(?:['’]\w+)?\b", re.IGNORECASE
)
"""Words that refer to something said before: Halliday and Hasan, Cohesion in English, 1976, ch. 2."""


def asks(text: str) -> bool:
    """Whether the turn ends with a question that expects an answer; an offer to close ("Anything else?") does not
    count.

    >>> asks("Which day?"), asks("Done. Anything else?"), asks("On Monday.")
    (True, False, False)
    """
    return text.rstrip(_AFTER_A_MARK).endswith(_QUESTION_ENDS) and not closes(text)


def closes(text: str) -> bool:
    """Whether the turn thanks, says goodbye, or asks whether there is anything else.

    >>> closes("Great, thank you!"), closes("Is there anything else?"), closes("The belt came.")
    (True, True, False)
    """
    return _CLOSING.search(text) is not None


def refers_back(text: str) -> bool:
    """Whether a word of the turn refers to something said before.

    >>> refers_back("When did it come?"), refers_back("When did the belt come?")
    (True, False)
    """
    return _REFERRING.search(text) is not None
