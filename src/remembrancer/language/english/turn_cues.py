"""What single turns say of where a conversation stands: it waits for an answer, it closes a matter, it refers back.

Questions are told by their marks, in any script that has one. Closings and words that refer back are English; a turn in
another language has none of them, and is judged without.
"""

from __future__ import annotations

import re
from typing import Final

_QUESTION_ENDS: Final = ("?", "？", "؟", "\u037e")  # Latin, Chinese and Japanese, Arabic, Greek
_AFTER_A_MARK: Final = " \t\r\n\"'”’)]*_.!"

_CLOSING: Final = re.compile(
    r"\b(?:thanks?|thank you|you['’]re welcome|you are welcome|most welcome|my pleasure|no problem"
    r"|glad (?:to|i could)|bye|goodbye|good night|have a (?:good|great|nice|wonderful|lovely)"
    r"|(?:anything|something|nothing) else)\b",
    re.IGNORECASE,
)
"""How matters are brought to their end: Schegloff and Sacks, "Opening up closings", Semiotica 8, 1973."""

_REFERRING: Final = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|he|she|his|her|him|which|both)(?:['’]\w+)?\b", re.IGNORECASE
)
"""Words that stand for what was said before: Halliday and Hasan, Cohesion in English, 1976, ch. 2."""


def asks(text: str) -> bool:
    """Whether it ends with a question that wants an answer; not where it only offers to close ("Anything else?").

    >>> asks("Which day?"), asks("Done. Anything else?"), asks("On Monday.")
    (True, False, False)
    """
    return text.rstrip(_AFTER_A_MARK).endswith(_QUESTION_ENDS) and not closes(text)


def closes(text: str) -> bool:
    """Whether it thanks, takes leave, or asks for something else.

    >>> closes("Great, thank you!"), closes("Is there anything else?"), closes("The belt came.")
    (True, True, False)
    """
    return _CLOSING.search(text) is not None


def refers_back(text: str) -> bool:
    """Whether a word in it stands for something that was said before.

    >>> refers_back("When did it come?"), refers_back("When did the belt come?")
    (True, False)
    """
    return _REFERRING.search(text) is not None
