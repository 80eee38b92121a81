"""Recognising stated preferences and lasting instructions. English.

Only what somebody says of themselves ("I prefer tea", "I'm vegetarian"), or tells the listener to do from then on
("Always use metric units"), counts. What is asked, quoted, shown as code, said of others, or wanted only once ("Don't
include it today") does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from remembrancer.domain.preference import ALWAYS, INSTRUCTION, PREFERENCE
from remembrancer.language.english import preference_forms as forms
from remembrancer.patterns import pattern
from remembrancer.values import dataclass

LONG_CHARS: Final = 1_600
"""In a longer text only the beginning and the end are read, because the rest is mostly pasted."""
_END_CHARS: Final = 400
_SENTENCE_CHARS: Final = range(6, 400)
"""The length of a sentence that may state something."""

_CODE: Final = pattern(r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*(?:>|//|#|\$ ).*$", re.DOTALL | re.MULTILINE)
_QUOTED: Final = pattern(r"[\"“„«][^\"“”„«»\n]{2,}[\"”“»]|(?<!\w)['‘][^'‘\n]{2,}'(?!\w)")
_SENTENCE: Final = pattern(r"(?<=[.!?;])\s+|\n+|\s+[–—-]+\s+")
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
    is_long = len(text) > LONG_CHARS
    if is_long:
        text = f"{text[:_END_CHARS]}\n{text[-_END_CHARS:]}"
    text = text.lower().replace("’", "'")
    words = frozenset(_whole_words(text))
    told, preferred = _TOLD.of_text(text, words), _PREFERRED.of_text(text, words)
    if not told and not preferred:
        return _NONE
    made: list[Statement] = []
    has_more = is_long
    for sentence in _SENTENCE.split(_QUOTED.sub('""', _CODE.sub('""', text))):
        whole = sentence.strip()
        said = _LEADS.sub("", whole, count=1)
        tells = prefers = False
        if len(said) in _SENTENCE_CHARS:
            tells = _tells(said, told) or (said != whole and _tells(whole, told))
            prefers = tells or _prefers(said, preferred)
        if prefers:
            made.append(Statement(said, tells))
        elif _WORDS.search(said):
            has_more = True
    return Statements(tuple(made), has_more)


_NONE: Final = Statements((), has_more=True)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Finds the forms that a text may have. `by_word`: for each whole word, the words of forms that contain it, each
    with the places of these forms.
    """

    forms: tuple[forms.SentenceForm, ...]
    by_word: Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]]

    @classmethod
    def of(cls, every: tuple[forms.SentenceForm, ...]) -> _Lookup:
        by_word: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
        for words in dict.fromkeys(words for form in every for words in form.words):
            places = tuple(place for place, form in enumerate(every) if words in form.words)
            by_word.setdefault(max(_whole_words(words), key=len), []).append((words, places))
        return cls(every, {word: tuple(several) for word, several in by_word.items()})

    def of_text(self, text: str, words: AbstractSet[str]) -> list[re.Pattern[str]]:
        """The forms that the text, which has these words, may have."""
        found = {
            place
            for word in words & self.by_word.keys()
            for several, places in self.by_word[word]
            if several in text
            for place in places
        }
        return [self.forms[place].sentence for place in sorted(found)]


_NO_LETTERS: Final = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "'")}


def _whole_words(text: str) -> list[str]:
    return text.translate(_NO_LETTERS).split()


_TOLD: Final = _Lookup.of(forms.INSTRUCTIONS)
_PREFERRED: Final = _Lookup.of(forms.PREFERENCES)


def _tells(said: str, told: list[re.Pattern[str]]) -> bool:
    """Whether the sentence is a lasting instruction."""
    if said.endswith("?"):
        return bool(told) and forms.ASKED.match(said) is not None
    if not any(form.match(said) for form in told):
        return False
    return _PERSISTS.search(said) is not None or not _ONE_THING.search(said)


def _prefers(said: str, preferred: list[re.Pattern[str]]) -> bool:
    """Whether the sentence states a preference of its speaker."""
    if not preferred or said.endswith("?"):
        return False
    begins = [clause.end() for clause in forms.CLAUSE.finditer(said)]
    if not any(form.match(said, begin) for form in preferred for begin in begins):
        return False
    return not (_NOT_NOW.search(said) or _ONE_OCCASION.search(said))
