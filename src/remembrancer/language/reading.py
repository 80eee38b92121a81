"""A question to what is searched."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from remembrancer.domain.event import Role
from remembrancer.domain.memory import Mark
from remembrancer.domain.query import LexicalQuery
from remembrancer.language.english.answer_types import asked_for
from remembrancer.language.english.people import people
from remembrancer.language.english.speakers import role_of, roles_left_out
from remembrancer.language.lexical import analyse, lexical_query
from remembrancer.language.times.anchors import Anchored, anchored
from remembrancer.language.times.spans import TimeSpan, spans

LONG_QUESTION_WORDS: Final = 80
"""Longer than people ask: a pasted prompt with the question at its end."""

_SENTENCE: Final = re.compile(r"(?<=[.!?؟])\s+|(?<=[。！？])\s*|\n+")
_QUESTION_MARKS: Final = ("?", "？", "؟")

_HAPPENING: Final = frozenset(
    analyse(
        "happen occur go went do work say said tell told talk speak spoke chat discuss mention cover conversation"
        " thing everything anything something everyone anyone someone new please remind give summary summarize"
        " summarise recap overview"
    ).terms
)
"""Words of "What happened yesterday?", "What did we talk about in May?": they ask for whatever there was."""

# In scripts that put no space between words (kana, Han, Thai, Lao) two characters count as one.
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\s{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Plan:
    """`searched` is the part of the question that is looked for; `embedded` what of it is compared by meaning.

    `speakers`, `roles`: who is to have said it, where the question tells. `spans`: the times it names, and `anchored`
    one that counts from something it does not date. `kind`: what it asks for. `only_when`: it tells nothing else to
    look for than a time, and maybe a person.
    """

    searched: str
    embedded: str
    lexical: LexicalQuery
    speakers: frozenset[str] = frozenset()
    roles: frozenset[Role] = frozenset()
    spans: tuple[TimeSpan, ...] = ()
    anchored: Anchored | None = None
    kind: Mark = Mark.NOTHING
    only_when: bool = False


def plan(question: str, participants: Collection[str] = ()) -> Plan:
    """What to search for. `participants`: the names of those who speak in what is searched."""
    searched = salient_part(question)
    return Plan(searched, people(frozenset(participants)).left_out(searched), lexical_query(searched))


def plan_in_context(question: str, participants: Collection[str], at: datetime) -> Plan:
    """What to search for where it also counts who speaks, when, and what is asked for. `at`: the moment of asking.

    People seldom say their own names, so a name in the question pulls its vector towards turns that *mention* the
    person; the same goes for its words here, where who speaks is compared by itself.
    """
    searched = salient_part(question)
    everyone = frozenset(participants)
    speaking = people(everyone)
    speakers = speaking.named_in(searched)
    times = spans(searched, at)
    told_by = frozenset[Role]() if speakers else role_of(searched, several=len(everyone) > 2)
    embedded = speaking.left_out(searched)
    return Plan(
        searched=searched,
        embedded=roles_left_out(embedded) if told_by else embedded,
        lexical=lexical_query(speaking.left_out(searched, proper=True)),
        # Where all are named, or nobody is, speaking tells no turn from another.
        speakers=speakers if speakers != everyone else frozenset(),
        roles=told_by,
        spans=times,
        anchored=anchored(searched),
        kind=asked_for(searched),
        only_when=bool(times) and not _topic(searched, times, speakers),
    )


def _topic(question: str, times: Sequence[TimeSpan], speakers: Collection[str]) -> set[str]:
    """The terms of a question that are neither a time, nor a person or role, nor such as stand in any question of what
    was.
    """
    untimed = "".join(
        " " if any(span.start_offset <= place < span.end_offset for span in times) else letter
        for place, letter in enumerate(question)
    )
    people_terms = {term for name in speakers for term in analyse(name).terms}
    return set(analyse(roles_left_out(untimed)).terms) - people_terms - _HAPPENING


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
