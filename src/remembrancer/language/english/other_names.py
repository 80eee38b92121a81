"""Recognising statements of names of people: "Call me Kat", "Katharina, whom everybody calls Kat". English.

Only plain statements count. What is asked, reported, supposed, shown as code, or said of a story does not, and neither
does a word that is no name ("call me tomorrow"). "Don't call me Kat" ends a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from remembrancer.language.english import naming_forms as forms
from remembrancer.language.english.given_names import WORDS, given_name
from remembrancer.language.english.people import in_small_letters
from remembrancer.language.english.sentences import (
    LONG_CHARS,
    SENTENCE_CHARS,
    ends_of,
    sentences,
    without_code,
    without_quotations,
)
from remembrancer.language.lexical import fold
from remembrancer.patterns import pattern


class Naming(NamedTuple):
    """A statement that `names` are names of one person. `of_speaker`: that person states it. `ends`: the person no
    longer has these names. `needs_likeness`: it only counts if a name is a common given name, or the beginning of the
    speaker's name.
    """

    names: tuple[str, ...]
    of_speaker: bool = False
    ends: bool = False
    needs_likeness: bool = False


_LEADING_CHARS: Final = 12
_MAX_WORDS: Final = 3
"""The most words of a name."""
_WITHIN: Final = "\x01"
"""Marks a nickname that was quoted within a full name: Robert "Bobby" Tables."""

_WORD: Final = r"[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*"
_A_WORD: Final = pattern(rf"(?<![\w@]){_WORD}(?!\w)")
_QUOTED_NAME: Final = pattern(
    rf"[\"“„«'‘](?:(?<=[\"“„«])({_WORD}(?: {_WORD}){{0,2}})[.,]?[\"”“»]|(?<=['‘])(?<!\w['‘])({_WORD})['’](?!\w))"
)
_TITLE: Final = pattern(r"[DMPS](?<!\w[DMPS])((?<=D)r|(?<=M)rs?|(?<=M)s|(?<=P)rof|(?<=S)t)\.(?= )")
_QUESTION: Final = pattern(r"\?[\"”')]*$")
_TAG_QUESTION: Final = pattern(
    r"[,.] (?:ok|okay|alright|all right|please|yeah|right|will you|would you)\?$", re.IGNORECASE
)


def namings(text: str) -> tuple[Naming, ...]:
    """The statements of a text about names of people, in order.

    >>> namings("Hi! Everyone calls me Kat.")
    (Naming(names=('Kat',), of_speaker=True, ends=False, needs_likeness=False),)
    >>> namings("Katharina, whom everybody calls Kat, moved.")[0].names, namings("Call me tomorrow.")
    (('Katharina', 'Kat'), ())
    """
    text = ends_of(text)
    return _namings(text) if _has_hint(text) else ()


def _has_hint(text: str) -> bool:
    return any(map(text.lower().__contains__, forms.HINTS))  # a generator takes three times as long


@lru_cache(maxsize=512)  # a recall reads up to a hundred texts, mostly the same ones as the last
def _namings(text: str) -> tuple[Naming, ...]:
    text = _QUOTED_NAME.sub(_unquoted, _TITLE.sub(r"\1", without_code(text, "\n")))
    return tuple(
        dict.fromkeys(
            naming
            for sentence in sentences(without_quotations(text, " … "))
            if len(sentence) in SENTENCE_CHARS
            and _has_hint(sentence)
            and (_TAG_QUESTION.search(sentence) or not _QUESTION.search(sentence))
            for naming in _of_sentence(sentence)
        )
    )


def _unquoted(quoted: re.Match[str]) -> str:
    """A quoted name without its marks; other short quotations stay. One within a name becomes a name in brackets."""
    name = quoted[1] or quoted[2]
    if not all(word[0].isupper() for word in name.split()):
        return quoted[0]
    before = quoted.string[: quoted.start()].rsplit(" ", 2)
    after = _A_WORD.match(quoted.string, quoted.end() + 1)
    within = len(before) > 1 and before[-1] == "" and before[-2][:1].isupper() and after and after[0][0].isupper()
    return f"({_WITHIN}{name})" if within else name


class _Name(NamedTuple):
    start: int
    end: int
    text: str


def _of_sentence(sentence: str) -> tuple[Naming, ...]:
    names = list(_names_in(sentence, common_only=in_small_letters(sentence) or sentence.isupper()))
    found = tuple(_of_names(sentence, names))
    if found and (supposed := forms.SUPPOSED.search(sentence)):
        return tuple(_of_names(sentence, [name for name in names if name.start < supposed.end()]))
    return found


def _of_names(sentence: str, names: Sequence[_Name]) -> Iterator[Naming]:
    """The statements of a sentence about these of its names."""
    for place, name in enumerate(names):
        yield from _of_speaker(sentence, name, names[place + 1 :])
    for one, other in pairwise(names):
        if _are_of_one(one.text, other.text, sentence[one.end : other.start], sentence[other.end :]):
            yield Naming((one.text, other.text))
    for name in names:  # "Everybody calls Katharina Kat" is one run of capitals
        first, _, last = name.text.rpartition(" ")
        calls = forms.CALLS_TWO.search(sentence[: name.start])
        if first and calls and forms.AFTER.match(sentence[name.end :]) and (not calls["we"] or are_alike(first, last)):
            yield Naming((first, last))


def _of_speaker(sentence: str, name: _Name, later: Sequence[_Name]) -> Iterator[Naming]:
    """The statements that the name, and one after "or", is a name of the sentence's speaker."""
    before, after = sentence[: name.start], sentence[name.end :]
    if not forms.LEADS_TO_NAME.search(before[-_LEADING_CHARS:]):
        return
    if forms.ENDING.search(before):
        if not forms.IS_NOT.search(before) or forms.ANY_MORE.match(after):
            yield Naming((name.text,), of_speaker=True, ends=True)
    elif forms.OF_SPEAKER.search(before):
        if forms.AFTER.match(after) and not forms.STAGED.search(after):
            yield Naming((name.text,), of_speaker=True)
            if later and forms.OR.match(sentence[name.end : later[0].start]):
                yield Naming((later[0].text,), of_speaker=True)
    elif forms.INTRODUCES.search(before) and (
        forms.AFTER_INTRODUCTION.match(after) or (forms.GREETS.match(sentence) and forms.ENDS.match(after))
    ):
        yield Naming((name.text,), of_speaker=True, needs_likeness=True)


def _are_of_one(one: str, other: str, between: str, after: str) -> bool:
    """Whether the words between two names, and after them, say that both are of one person."""
    if between == f" ({_WITHIN}":
        return True
    if not forms.AFTER.match(after):
        return False
    are = (
        forms.BETWEEN.match(between)
        or (forms.BETWEEN_FOR_SHORT.match(between) and forms.FOR_SHORT.match(after))
        or (forms.BETWEEN_LIKE.match(between) and are_alike(one, other))
    )
    return bool(are) and not forms.STAGED.search(after)


def _names_in(sentence: str, *, common_only: bool) -> Iterator[_Name]:
    """The possible names in a sentence, each up to `_MAX_WORDS` adjacent words. `common_only`: count only common given
    names that are not ordinary words, because capitals do not mark names in this sentence.
    """
    run: list[re.Match[str]] = []
    for word in _A_WORD.finditer(sentence):
        is_name = _may_be_common(word[0]) if common_only else _may_be_name(word[0])
        goes_on = bool(run) and sentence[run[-1].end() : word.start()] == " " and len(run) < _MAX_WORDS
        if run and not (is_name and goes_on):
            yield _joined(run)
            run = []
        if is_name:
            run.append(word)
    if run:
        yield _joined(run)


def _joined(run: Sequence[re.Match[str]]) -> _Name:
    return _Name(run[0].start(), run[-1].end(), " ".join(word[0] for word in run))


def _may_be_name(word: str) -> bool:
    return len(word) > 1 and word[0] != word[0].lower() and fold(word) not in forms.NO_NAMES


def _may_be_common(word: str) -> bool:
    folded = fold(word)
    return folded not in forms.NO_NAMES and folded not in WORDS and given_name(folded) is not None


def are_alike(one: str, other: str) -> bool:
    """Whether two names may be of one person by their looks: forms of one given name, or one begins another's word."""
    for first in map(fold, one.split()):
        for second in map(fold, other.split()):
            known, known_too = given_name(first), given_name(second)
            if known is not None and known_too is not None and known.may_be(known_too):
                return True
            if begins(first, second) or begins(second, first):
                return True
    return False


def begins(short: str, name: str) -> bool:
    """Whether a folded name of two letters or more is the beginning of a longer one.

    >>> begins("ragga", "ragnheidur"), begins("thandi", "thandiwe")
    (False, True)
    """
    return 2 <= len(short) < len(name) and name.startswith(short)


_LISTED: Final = pattern(rf"^({_WORD}(?: {_WORD}){{0,2}})(?: ?[:=]| is called| is also| is) (.+)$")
_SEPARATOR: Final = pattern(r", | and | or |/| / ")


def listed(text: str) -> tuple[Naming, ...]:
    """The names that a note written for this purpose lists: "Katharina Weber: Kat, Kathi" or "Kat is Katharina Weber".

    >>> listed("Katharina Weber: Kat, Kathi")[1].names, listed("Kat is Katharina Weber.")[0].names
    (('Katharina Weber', 'Kathi'), ('Kat', 'Katharina Weber'))
    """
    found: list[Naming] = []
    for sentence in sentences(text[:LONG_CHARS]):
        for one, others in _LISTED.findall(sentence):
            for other in _SEPARATOR.split(others.rstrip(". ")):
                words = other.strip("\"'“”() ").split()
                if 1 <= len(words) <= _MAX_WORDS and fold(words[0]) not in forms.NO_NAMES:
                    found.append(Naming((one, " ".join(words))))
    return tuple(found)
