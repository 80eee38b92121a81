"""Reading a question: search terms, times, speakers and the expected type of answer.

The word rules for questions are used only through this module, so another language or a language model can replace it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from remembrancer.domain.event import Role
from remembrancer.domain.memory import CueFlag
from remembrancer.domain.names import LearnedName, NamedSpeaker
from remembrancer.domain.query import LexicalQuery, QuestionKind
from remembrancer.domain.recalled import without_recalled
from remembrancer.errors import InvalidInput
from remembrancer.language.detection import ENGLISH, languages_of, without_function_words
from remembrancer.language.english.answer_types import asked_for
from remembrancer.language.english.frames import core
from remembrancer.language.english.people import people
from remembrancer.language.english.prompts import question_in
from remembrancer.language.english.question_kinds import kind_of
from remembrancer.language.english.small_talk import is_small_talk
from remembrancer.language.english.speakers import role_of, roles_in_first_person, roles_left_out
from remembrancer.language.lexical import analyse, lexical_query
from remembrancer.language.times.anchors import Anchored, anchored, resolve
from remembrancer.language.times.spans import TimeSpan, spans
from remembrancer.patterns import pattern
from remembrancer.values import dataclass, replace

LONG_QUESTION_WORDS: Final = 80
"""A longer text counts as a pasted prompt with the question at its end."""
MESSAGE_TERMS: Final = 64
"""The most search terms of a long message, if its first and last sentences have fewer."""
MESSAGE_CHARS: Final = 20_000
"""The last characters of a message that are read for search terms."""

_SENTENCE: Final = pattern(r"(?<=[.!?؟])\s+|(?<=[。！？])\s*|\n+")
_CODE: Final = pattern(r"(?m)^ *(```|~~~)[\s\S]*?(?:^ *\1|\Z)")
_QUESTION_MARKS: Final = ("?", "？", "؟")

_HAPPENING: Final = (
    "happen occur go went do work say said tell told talk speak spoke chat discuss mention cover conversation"
    " thing everything anything something everyone anyone someone new please remind give summary summarize"
    " summarise recap overview"
)
"""Words of questions without a topic: "What happened yesterday?", "What did we talk about in May?"."""

# In scripts that put no space between words (kana, Han, Thai, Lao) two characters count as one.
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff"
_WORD: Final = pattern(rf"[{_UNSPACED}]{{1,2}}|[^\s{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Reading:
    """A parsed question: what it asks for, as far as its words show.

    `searched`: the part of the text that is used for search. `embedded`: the same with pronouns for names and roles, to
    be embedded. `lexical`: its search terms. `speakers`, `roles`: who the answer should come from; empty if not
    known. `spans`: the times it names. `anchored`: a time counted from an event without a date ("two weeks before the
    trip"). `answer_type`: the type of answer expected (a time, a number, a name). `only_when`: it names a time, perhaps
    a person, and no other topic ("What happened yesterday?"). `small_talk`: it is a message that names no subject ("ok,
    thanks!"). `kind`: what it asks for; None if only its terms were read, or if it is not English. `languages`: those
    that it may be written in (`languages_of`); empty if unknown. `names`: the names of speakers in it, and how each
    was matched.
    """

    searched: str
    embedded: str
    lexical: LexicalQuery
    speakers: frozenset[str] = frozenset()
    roles: frozenset[Role] = frozenset()
    spans: tuple[TimeSpan, ...] = ()
    anchored: Anchored | None = None
    answer_type: CueFlag = CueFlag.NOTHING
    only_when: bool = False
    small_talk: bool = False
    kind: QuestionKind | None = None
    languages: tuple[str, ...] = ()
    names: tuple[NamedSpeaker, ...] = ()

    def anchored_at(self, moment: datetime) -> Reading:
        """The reading with the span of `anchored`, whose event happened at `moment` (aware).

        Unchanged without `anchored`, or if the span lies outside the supported years.
        """
        if self.anchored is None:
            return self
        try:
            return replace(self, spans=(*self.spans, resolve(self.anchored, moment)))
        except InvalidInput:
            return self


def read_terms(text: str, participants: Collection[str] = ()) -> Reading:
    """The search terms of a text only: no speakers, times, answer type or kind.

    `participants`: names of the speakers in the searched memories; they are left out of `embedded`.
    """
    left = people(frozenset(participants)).left_out(text)
    return Reading(text, left, lexical_query(text), languages=languages_of(text))


def read_message(text: str, participants: Collection[str]) -> Reading:
    """Read a turn of a conversation, to find memories that matter to it: search terms, and who they may come from.

    What people tell of themselves matters to what they say later, so with at most one named speaker among the
    `participants`, as in a chat with an assistant, memories are expected from the user. Names stay in the search: a
    message that mentions a person is about that person.

    Of the kinds only a request is read, because it brings preferences back. Of a long message, the first and last
    sentences are embedded, without the lines of code between them; its search terms are those of these sentences, and
    then the longest of the others.
    """
    embedded = opening_and_end(text)
    languages = languages_of(embedded)
    terms = lexical_query(_content(embedded, languages))
    if len(embedded) < len(text.strip()):
        others = sorted(
            set(analyse(text[-MESSAGE_CHARS:]).terms) - set(terms.terms), key=lambda term: (-len(term), term)
        )
        terms = replace(terms, terms=(*terms.terms, *others)[: max(len(terms.terms), MESSAGE_TERMS)])
    requests = kind_of(embedded, asked_for(embedded)) is QuestionKind.REQUEST
    return Reading(
        searched=embedded,
        embedded=embedded,
        lexical=terms,
        roles=frozenset({Role.USER}) if len(frozenset(participants)) <= 1 else frozenset(),
        kind=QuestionKind.REQUEST if requests and not (languages and ENGLISH not in languages) else None,
        small_talk=is_small_talk(text),
        languages=languages,
    )


def unknown_names(text: str, participants: Collection[str]) -> frozenset[str]:
    """The words of a question, as `lexical.fold` returns them, that `read_question` may find among learned names."""
    return people(frozenset(participants)).unknown_in(salient_part(text))


def read_question(
    text: str, participants: Collection[str], at: datetime, learned: Sequence[LearnedName] = ()
) -> Reading:
    """Read a question: search terms, speakers, times, the expected type of answer, and its kind.

    `participants`: names of the speakers in the searched memories. `at`: the time of asking, aware; relative times
    ("last week") are resolved against it. Rules are English; of a question in another language only the speakers' names
    and dates in digits are read, and the language's function words are no search terms. `learned`: further names of the
    speakers.

    Names of speakers are left out of `embedded` and `lexical`: people seldom say their own names, so a name would
    favour turns that mention the person. The speaker is compared separately.
    """
    asked = salient_part(text)
    everyone = frozenset(participants)
    known = people(everyone).knowing(learned)
    languages = languages_of(asked)
    if languages and ENGLISH not in languages:
        named = known.named_in(asked)
        return Reading(
            searched=asked,
            embedded=known.left_out(asked),
            lexical=lexical_query(_content(known.left_out(asked, proper=True), languages)),
            speakers=_telling(named, everyone),
            roles=known.roles_in(asked),
            names=known.read_in(asked),
            spans=tuple(span for span in spans(asked, at) if _is_in_digits(asked[span.start_offset : span.end_offset])),
            languages=languages,
        )
    answer_type = asked_for(asked)
    kind = kind_of(asked, answer_type)
    ordering = kind is QuestionKind.ORDER
    searched = core(asked, kind)
    if searched != asked:
        answer_type = asked_for(searched)
    named, names = known.named_in(searched), known.read_in(searched)
    times = spans(searched, at)
    named_roles = known.roles_in(searched)
    roles = named_roles
    if not named and not roles:
        roles = role_of(asked if ordering else searched, several=len(everyone) > 2)
    if ordering and not named and not named_roles and len(everyone) <= 1:
        roles = frozenset({Role.USER})  # in a chat with an assistant, the user brings up the topics
    embedded = known.as_speaker(searched)
    return Reading(
        searched=searched,
        embedded=roles_in_first_person(embedded) if roles and not named_roles else embedded,
        lexical=lexical_query(known.left_out(searched, proper=True)),
        speakers=_telling(named, everyone),
        roles=roles,
        spans=times,
        anchored=anchored(searched),
        answer_type=answer_type,
        only_when=bool(times) and not _topic(searched, times, {one.name for one in names if one.said_in} | named),
        kind=kind,
        languages=languages,
        names=names,
    )


def _telling(named: frozenset[str], everyone: frozenset[str]) -> frozenset[str]:
    """The named speakers, except where everyone is named: then the speaker does not tell one turn from another."""
    return named if named != everyone else frozenset()


def _content(text: str, languages: Sequence[str]) -> str:
    """The text without the function words of another language than English, whose own are no search terms anyway."""
    return text if not languages or ENGLISH in languages else without_function_words(text, languages[0])


def _is_in_digits(time: str) -> bool:
    return not any(letter.isalpha() for letter in time)


def _topic(question: str, times: Sequence[TimeSpan], speakers: Collection[str]) -> set[str]:
    """The question's terms that name a topic: not a time, a person, a role, or a word such as "happened"."""
    untimed = "".join(
        " " if any(span.start_offset <= place < span.end_offset for span in times) else letter
        for place, letter in enumerate(question)
    )
    people_terms = {term for name in speakers for term in analyse(name).terms}
    return set(analyse(roles_left_out(untimed)).terms) - people_terms - set(analyse(_HAPPENING).terms)


def part_that_asks(text: str) -> str:
    """The text without what a recall inserted; of a long one, only the part that asks, if anything shows it."""
    own = without_recalled(text) or text
    if len(own) <= LONG_QUESTION_WORDS or _length(own) <= LONG_QUESTION_WORDS:
        return own
    return question_in(own, _length) or own


def salient_part(question: str) -> str:
    """The question itself, without what a recall inserted; of a long prompt, the part that asks (`question_in`), or
    else its last questions, or its last sentences.

    Otherwise an agent that puts its instructions before the question would search for these instructions.
    """
    question = part_that_asks(question)
    if len(question) <= LONG_QUESTION_WORDS or _length(question) <= LONG_QUESTION_WORDS:
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


def opening_and_end(message: str) -> str:
    """The message itself; of a long one, its first sentences (up to a third of `LONG_QUESTION_WORDS` words) and its
    last ones, without fenced code. What is pasted between them would otherwise be most of what is embedded.
    """
    if len(message) <= LONG_QUESTION_WORDS or _length(message) <= LONG_QUESTION_WORDS:
        return message.strip()
    prose = _CODE.sub("\n", message)
    told = prose if prose.strip() else message
    sentences = [sentence.strip() for sentence in _SENTENCE.split(told) if sentence.strip()]
    opening = _fitting(sentences, LONG_QUESTION_WORDS // 3)
    left = LONG_QUESTION_WORDS - sum(map(_length, opening))
    rest = sentences[len(opening) :]
    ending = _fitting(rest[::-1], left)[::-1]
    return " ".join((*opening, *(ending if ending or not rest else [_end(rest[-1], left)])))


def _fitting(sentences: Sequence[str], words: int) -> list[str]:
    """The first of the sentences with at most so many words together."""
    kept: list[str] = []
    for sentence in sentences:
        words -= _length(sentence)
        if words < 0:
            break
        kept.append(sentence)
    return kept


def _length(text: str) -> int:
    """The number of words."""
    return len(_WORD.findall(text))


def _end(text: str, words: int = LONG_QUESTION_WORDS) -> str:
    """The last words."""
    starts = [word.start() for word in _WORD.finditer(text)]
    return text[starts[max(0, len(starts) - words)] :]
