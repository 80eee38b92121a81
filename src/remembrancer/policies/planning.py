"""A question to what is searched."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from remembrancer.domain.query import LexicalQuery
from remembrancer.policies.formation import MONTHS
from remembrancer.policies.lexical import analyse, lexical_query
from remembrancer.policies.stop_words import STOP_WORDS

LONG_QUESTION_WORDS: Final = 80
"""Longer than people ask: a pasted prompt with the question at its end."""

_SENTENCE: Final = re.compile(r"(?<=[.!?؟])\s+|(?<=[。！？])\s*|\n+")
_QUESTION_MARKS: Final = ("?", "？", "؟")

# In scripts that put no space between words (kana, Han, Thai, Lao) two characters count as one.
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\s{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Plan:
    """`searched` is the part of the question that is looked for; `embedded` what of it is compared by meaning."""

    searched: str
    embedded: str
    lexical: LexicalQuery


def plan(question: str, participants: Collection[str] = ()) -> Plan:
    """What to search for. `participants`: the names of those who speak in what is searched."""
    searched = salient_part(question)
    return Plan(searched, without_names(searched, participants), lexical_query(searched))


def without_names(question: str, participants: Collection[str]) -> str:
    """The question without the names of those who speak.

    People seldom say their own names, so a name in the question pulls its vector towards turns that *mention* the
    person. Who spoke is in the cues' headings, where the words of the question meet it. A name is left out as it is
    spelled, with its possessive; a question that is nothing but names and stop words stays as it is.
    """
    parts = {part for name in participants for part in (name, *name.split()) if len(part) > 1 and not _is_a_word(part)}
    if not parts:
        return question
    longest_first = "|".join(re.escape(part) for part in sorted(parts, key=lambda part: (-len(part), part)))
    left = " ".join(re.sub(rf"(?<!\w)(?:{longest_first})(?:['’]s)?(?!\w)", " ", question).split())
    return left if analyse(left).terms else question


def _is_a_word(name: str) -> bool:
    """Will, May, April: names that more often are not."""
    return name.casefold() in STOP_WORDS or name in MONTHS


def salient_part(question: str) -> str:
    """A question as it is; of a long prompt, its last sentences that ask, else its last ones.

    An agent that puts its instructions before the question would otherwise search for its instructions.
    """
    if _length(question) <= LONG_QUESTION_WORDS:
        return question.strip()
    sentences = [sentence.strip() for sentence in _SENTENCE.split(question) if sentence.strip()]
    asking = [sentence for sentence in sentences[-8:] if sentence.endswith(_QUESTION_MARKS)]
    kept: list[str] = []
    words = 0
    for sentence in reversed(asking or sentences):
        length = _length(sentence)
        if kept and words + length > LONG_QUESTION_WORDS:
            break
        kept.append(sentence)
        words += length
    return _end(" ".join(reversed(kept)))


def _length(text: str) -> int:
    """In words."""
    return len(_WORD.findall(text))


def _end(text: str) -> str:
    """Its last words, as many as people ask with."""
    starts = [word.start() for word in _WORD.finditer(text)]
    return text[starts[max(0, len(starts) - LONG_QUESTION_WORDS)] :]
