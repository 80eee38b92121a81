"""Statements of a value: the words that say what has the value, and the value; questions that ask for an earlier one.

A number has the value's role after a function word, a mark or nothing ("is at 41 %", "rent: 985", "18 people"); after
another word it is part of a name ("order 4411", "room 4").
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.language.lexical import stem
from remembrancer.patterns import pattern
from remembrancer.values import dataclass

BRIEF_CHARS: Final = 200
"""A longer text says several things."""

_TOKEN: Final = pattern(r"\d+(?:[.,:]\d+)*|[^\W\d_]+\w*|[^\w\s]")
_NO_SUBJECT: Final = frozenset(
    "now new changed change longer anymore instead moved switched today yesterday morning evening currently current"
    " still already only just about around roughly update updated".split()
)
"""Words that say when or that something changed, but not what has the value."""
_OF_THE_PAST: Final = pattern(
    r"\b(?:first|initial(?:ly)?|original(?:ly)?|previous(?:ly)?|former(?:ly)?|earlier|earliest|old|older|oldest"
    r"|used to|back then|at the time|in the beginning)\b"
)
_SENTENCE_END: Final = pattern(r"(?<=[.!?…？؟])\s+|\n+")
_QUESTION_MARKS: Final = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A brief text by what it is about, `words` (stems, and words with their numbers), and its `values`."""

    words: frozenset[str]
    values: frozenset[str]


@lru_cache(maxsize=4096)
def stated_value(text: str) -> StatedValue | None:
    """The text as a statement of a value; None if it is long, a question, or has no value.

    >>> sorted(stated_value("The sensor's battery is at 98 %.").words)
    ['batteri', 'sensor']
    """
    if len(text) > BRIEF_CHARS or text.rstrip().endswith(_QUESTION_MARKS):
        return None
    lower = text.lower().replace("\u2019", "'").replace("'s ", " ")
    words: set[str] = set()
    values: set[str] = set()
    before = ""
    for token in _TOKEN.findall(lower):
        if token[0].isdigit():
            (words if before else values).add(f"{before} {token}".strip())
            before = ""
        elif token[0].isalpha() and token not in STOP_WORDS and len(token) > 1:
            before = "" if token in _NO_SUBJECT else stem(token)
            if before:
                words.add(before)
        else:
            before = ""
    return StatedValue(frozenset(words), frozenset(values)) if values else None


def asks_for_the_past(question: str) -> bool:
    """Whether a question asks for an earlier state: "the old address", "at first"."""
    return _OF_THE_PAST.search(question.lower()) is not None


def asks_only(text: str) -> bool:
    """Whether every sentence of a brief text is a question.

    >>> asks_only("What is the code? Do you know?"), asks_only("I lost the note. What is the code?")
    (True, False)
    """
    if len(text) > BRIEF_CHARS or not text.rstrip().endswith(_QUESTION_MARKS):
        return False
    return all(one.rstrip().endswith(_QUESTION_MARKS) for one in _SENTENCE_END.split(text.strip()) if one)
