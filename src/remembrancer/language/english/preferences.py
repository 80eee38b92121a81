"""Recognising stated preferences and lasting instructions. English.

Only what somebody says of themselves ("I prefer tea", "I'm vegetarian"), or tells the listener to do from then on
("Always use metric units"), counts. What is asked, quoted, shown as code, said of others, or wanted only once ("Don't
include it today") does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from remembrancer.domain.preference import ALWAYS, INSTRUCTION, PREFERENCE
from remembrancer.language.english import preference_forms as forms
from remembrancer.language.english.sentences import (
    LONG_CHARS,
    SENTENCE_CHARS,
    ends_of,
    sentences,
    without_code,
    without_quotations,
)
from remembrancer.patterns import pattern

_LEADS: Final = pattern(
    r"^(?:(?:[-*•]|\d+[.)])\s+|(?:ok(?:ay)?|hi|hey|hello|well|oh|yes|yeah|yep|no(?=[,.!])|right|sure|great|perfect|nice"
    r"|good|thanks?|thank you(?: so much| very much)?|cool|also|and|but|so|then|again|actually|honestly|personally|btw"
    r"|by the way|fyi|for what it's worth|for the record|just so you know|just to be clear|to be (?:clear|honest|fair)"
    r"|one (?:more )?thing|(?:(?:please|also|just) )?(?:remember|note|know|keep in mind|bear in mind"
    r"|be aware)(?: that)?"
    r"(?= (?:i|my|i'm)\b)|as (?:i|you) (?:said|know|mentioned)|in general|generally|as a rule|(?:a )?(?:quick )?note"
    r"|reminder|(?:an? )?(?:standing )?(?:instruction|rule|preference)|on second thought|i(?:'ve"
    r"| have) changed my mind)"
    r"(?:[,:.!]+\s*|\s+))+"
)
"""The beginnings of a sentence before what it says."""
_WORDS: Final = pattern(r"\w{2,}\W+\w{2,}")
"""Two words: less, such as "Thanks!", says nothing."""
_OCCASION: Final = (
    "today|tonight|tomorrow|yesterday|right now|at the moment|for now|yet|this (?:time|once|one|morning|afternoon"
    "|evening"
    "|week|weekend|month|year)|next (?:week|time|month)|(?<!a )(?<!every )(?:mon|tues|wednes|thurs|fri|satur"
    "|sun)day(?!s)"
)
_ONE_OCCASION: Final = pattern(rf"\b(?:{_OCCASION})\b")
_ONE_THING: Final = pattern(rf"\b(?:{_OCCASION}|it|(?<!they/)them|these|those|this|that)\b")
"""Words of a sentence about one occasion, or one thing just mentioned."""
_PERSISTS: Final = pattern(rf"\b(?:always|never|ever|{forms.LASTING})\b")
_NOT_NOW: Final = pattern(
    r"\b(?:used to|would have|might have|when i was|as a (?:kid|child|teenager)|back then|if i|wish i|i guess you|do i"
    r"|asked (?:me )?(?:if|whether)|wondering (?:if|whether))\b"
)
"""Words about the past, or about what would be."""


class Statement(NamedTuple):
    """A sentence that states a preference or an instruction, in lower case, with plain apostrophes. `tells`: it is an
    instruction.
    """

    text: str
    tells: bool


class Statements(NamedTuple):
    """The statements of a text. `has_more`: it also has sentences that state nothing."""

    made: tuple[Statement, ...]
    has_more: bool


def tags_of(text: str) -> tuple[str, ...]:
    """The tags of a turn that states a preference or an instruction (`domain.preference`); empty for other texts.

    >>> tags_of("I prefer aisle seats."), tags_of("Always answer in French."), tags_of("Does she prefer tea?")
    (('preference',), ('preference', 'instruction', 'always'), ())
    """
    made = statements(text).made
    if not made:
        return ()
    tags = [PREFERENCE]
    if any(one.tells for one in made):
        tags.append(INSTRUCTION)
    if any(forms.FRAME.search(one.text) and not forms.ABOUT.search(one.text) for one in made):
        tags.append(ALWAYS)
    return tuple(tags)


def statements(text: str) -> Statements:
    """Find the preferences and instructions that a text states."""
    plain = ends_of(text).lower().replace("’", "'")
    words = [word for word in _whole_words(plain) if word in _BY_WORD]
    possible = [some for word in dict.fromkeys(words) for some in _BY_WORD[word] if some.words in plain]
    if not possible:
        return _NONE
    made: list[Statement] = []
    others: list[str] = []
    for sentence in sentences(without_quotations(without_code(plain, '""'), '""')):
        told, preferred = _forms_of(sentence, possible)
        if told or preferred:
            said = _without_lead(sentence)
            if len(said) in SENTENCE_CHARS:
                tells = _tells(said, told) or (said != sentence and _tells(sentence, told))
                if tells or _prefers(said, preferred):
                    made.append(Statement(said, tells))
                    continue
        others.append(sentence)
    if not made:
        return _NONE
    return Statements(tuple(made), len(text) > LONG_CHARS or any(_WORDS.search(_without_lead(one)) for one in others))


_NONE: Final = Statements((), has_more=True)


def _without_lead(sentence: str) -> str:
    return _LEADS.sub("", sentence, count=1)


class _Forms(NamedTuple):
    """The forms that contain `words`: those of instructions (`told`) and of preferences."""

    words: str
    told: frozenset[re.Pattern[str]]
    preferred: frozenset[re.Pattern[str]]


_NO_LETTERS: Final = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "'")}


def _whole_words(text: str) -> list[str]:
    return text.translate(_NO_LETTERS).split()


def _by_word() -> dict[str, list[_Forms]]:
    """For each whole word, the words of forms that contain it, each with these forms."""
    holding: dict[str, tuple[set[re.Pattern[str]], set[re.Pattern[str]]]] = {}
    for kind, several in enumerate((forms.INSTRUCTIONS, forms.PREFERENCES)):
        for form in several:
            for words in form.words:
                holding.setdefault(words, (set(), set()))[kind].add(form.sentence)
    found: dict[str, list[_Forms]] = {}
    for words, (told, preferred) in holding.items():
        word = max(_whole_words(words), key=len)
        found.setdefault(word, []).append(_Forms(words, frozenset(told), frozenset(preferred)))
    return found


_BY_WORD: Final = _by_word()
_NO_FORMS: Final = frozenset[re.Pattern[str]]()


def _forms_of(
    sentence: str, possible: Sequence[_Forms]
) -> tuple[frozenset[re.Pattern[str]], frozenset[re.Pattern[str]]]:
    """The forms of instructions, and those of preferences, that the sentence may have."""
    told = preferred = _NO_FORMS
    for words, telling, preferring in possible:
        if words in sentence:
            told |= telling
            preferred |= preferring
    return told, preferred


def _tells(said: str, told: frozenset[re.Pattern[str]]) -> bool:
    """Whether the sentence is a lasting instruction."""
    if said.endswith("?"):
        return bool(told) and forms.ASKED.match(said) is not None
    if not any(form.match(said) for form in told):
        return False
    return _PERSISTS.search(said) is not None or not _ONE_THING.search(said)


def _prefers(said: str, preferred: frozenset[re.Pattern[str]]) -> bool:
    """Whether the sentence states a preference of its speaker."""
    if not preferred or said.endswith("?"):
        return False
    begins = [clause.end() for clause in forms.CLAUSE.finditer(said)]
    if not any(form.match(said, begin) for form in preferred for begin in begins):
        return False
    return not (_NOT_NOW.search(said) or _ONE_OCCASION.search(said))
