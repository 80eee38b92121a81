"""The frame of a question: how to answer, where to look, and manners, but not what is asked about.

"Going by our chats so far, could you remind me which hotel we liked? Answer briefly." has the core "which hotel we
liked?". Only the core is searched, because the turns that answer the question do not have the words of its frame.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from remembrancer.domain.query import QuestionKind
from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.patterns import pattern
from remembrancer.values import dataclass


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PLACES: Final = _set(
    "chat chats conversation conversations discussion discussions dialogue dialogues message messages session"
    " sessions exchange exchanges talks thread threads history interactions"
)
"""Nouns for what was said before."""
_RAISING: Final = _set(
    "ask asked brought bring chatted cover covered discuss discussed mention mentioned raise raised recalled said"
    " say share shared spoke talk talked tell told"
)
"""Verbs of saying."""
_NUMBERS: Final = _set("one two three four five six seven eight nine ten dozen")
_FRAME: Final = (
    _PLACES
    | _RAISING
    | _NUMBERS
    | _set(
        # how to answer
        "answer answers answering reply respond response brief briefly short shortly concise concisely succinct"
        " succinctly detailed detail details long longer sentence sentences word words phrase phrases paragraph"
        " paragraphs line lines bullet bullets bulleted point points list lists listed listing numbered format"
        " formatted json xml yaml markdown csv plain text item items entry entries exactly maximum max minimum limit"
        " limited chronological chronologically order ordered sequence explanation explain explaining reasoning step"
        " steps think carefully guess guessing truthfully honest honestly accurate accurately precise precisely"
        " correct correctly possible possibly include including without extra additional unnecessary relevant"
        " irrelevant ignore invent keep simple straight facts give output return write number numbers date dates"
        " source sources cite yes summarize summarise summary sum single sweet snappy enough suffices fine earliest"
        " latest first last least oldest newest top instead stick gist version emoji emojis introduction"
        " apologies scale"
        # where to look
        " know known sure certain unsure uncertain saying says telling talking discussing memory memories remember"
        " remembered recall remind reminded based going considering given according far previous previously earlier"
        " past prior already everything anything nothing something information info available provided provide"
        " context using use search check look looking go notes back entire whole forgot forgotten ever"
        " judging drawing looked light things thing stored saved record records knowledge full"
        # manners, and why it is asked
        " please pls plz kindly thanks thank cheers advance sorry hello hi hey dear ok okay quick quickly question"
        " questions following user need want like asking wondering wonder curious curiosity help helpful assistant"
        " ai way much lot make let take deep breath try best happy glad appreciate appreciated also really actually"
        " bother kind refresher jog may might must continue stuff log before"
    )
)
"""The words of frames. A part of a question that has only such words and stop words is dropped."""
_FRAME_OR_STOP: Final = _FRAME | STOP_WORDS
_WH: Final = _set("what which who whom whose where when why how")
_ASKS: Final = _WH | _set("did does is are was were am has have had should shall may might must")
"""First words of questions that are never dropped whole."""

_LEAD: Final = _RAISING | _set(
    "so and also ok okay well hey hi hello now please pls just again can could would will you u kindly quickly"
    " maybe possibly tell remind inform show me us about let know help to remember recall do still happen by any"
    " chance i i'd i'm i've was am wondering wonder curious like love want need can't cannot don't not quite exactly"
    " really forgot forgotten idea list name enumerate recap summarize summarise summary overview give get a an the"
    " be kind as full complete short brief quick detailed all every each of everything on search check through your our"
    " memory if that we we've"
)
"""Words at the beginning of an indirect question, up to its question word or its topic."""
_LEADING: Final = _set(
    "tell remind inform know remember recall wondering wonder curious forgot forgotten idea list name enumerate"
    " recap summarize summarise summary overview"
)
"""A beginning without one of these words belongs to the question."""
_ORDER_LEAD: Final = _LEAD | _set(
    "in which what how order sequence timeline chronology chronological chronologically exact correct right did we"
    " i they he she up have had been come came coming happened first these those walk take guide run outline"
    " describe reconstruct put arrange sort rank different various several following main aspects aspect topics"
    " topic things thing themes points subjects parts stages steps items details related regarding concerning from"
    " with around"
)
_ORDER_LEADING: Final = (
    _LEADING
    | _RAISING
    | _set("topics aspects themes order sequence timeline chronology chronological chronologically first arrange sort")
)
_ORDER_TRAILING: Final = _RAISING | STOP_WORDS | _set("come came coming happened occurred first")
_DETERMINERS: Final = _set("everything anything a an the any all every each that these those")

_WHERE: Final = _set(
    "across throughout during over in from within through of among given considering using by on to out according based"
)
_SINGLE: Final = _set("the chat conversation message")
_WHOSE: Final = _set(
    "all any every each our these those previous past earlier prior entire whole full various of course"
)
_SINCE: Final = tuple(
    tuple(phrase.split())
    for phrase in (
        "so far",
        "to date",
        "up to now",
        "until now",
        "together",
        "over time",
        "with you",
        "with me",
        "with each other",
        "we had",
        "we've had",
        "we have had",
        "we've ever had",
        "we have ever had",
    )
)
"""Phrases after a place: "our conversations so far"."""
_TAIL: Final = _set(
    "sentence sentences word words line lines bullet bullets points paragraph paragraphs phrase order list briefly"
    " concisely please chronologically detail most max maximum"
)
_IN_TAIL: Final = (
    _TAIL
    | _NUMBERS
    | _set(
        "in a an as at the than no more not if you can short brief single complete numbered bulleted ordered right"
        " correct chronological that only few and or items entries"
    )
)
_BEGINS_TAIL: Final = _set("in as at briefly concisely please chronologically no if")
_ASSISTANTS: Final = _set("assistant ai bot chatbot agent model")
_FILLERS: Final = _set("so well now again and but then just oh")
_ACCORDING_TO_YOU: Final = ["according", "to", "you"]
_CONTINUES: Final = _set("and or")
_AFTER_IN: Final = _NUMBERS | _set("a an the no bullet chronological order detail short brief few that")
_OF_AN_ORDER: Final = _set("order right correct chronological")

_WORD: Final = pattern(r"[^\W_]+(?:['\u2019-]\w+)*")
_SENTENCE: Final = pattern(r"(?<=[.!?])[\s)\"']+|\n+")
_BREAKS: Final = frozenset(",:;()\u2013\u2014")
_LABEL: Final = pattern(
    r"(?:^|[\n.!?])\W*(?:(?:the|my|user|user's)\s+)?(?:question|query|q)\s*:\s*(?=\S)", re.IGNORECASE
)
_ANSWER: Final = pattern(r"(?:^|\s)(?:answer|a|response|reply)\s*:\s*$", re.IGNORECASE)


_INSTRUCTING: Final = _set("answer reply respond format output return cite limit imagine pretend")
"""First words of sentences about the answer, if another sentence ends with a question mark."""
_OWN_WORDS: Final = 4
_REFERRING: Final = _set(
    "it its this that these those they them their he she his her him both one ones another such same"
)
_BEFORE_INSTRUCTING: Final = _set("please pls also and then just kindly")
_ASKING: Final = ("i'm asking", "i am asking", "feel free")
_SECTIONS: Final = pattern(
    r"\W*(?:task|constraints?|instructions?|rules?|requirements?|guidelines|format|output|style|tone|length|role)\s*:",
    re.IGNORECASE,
)


def core(question: str, kind: QuestionKind = QuestionKind.FACT) -> str:
    """The question without its frame; the whole question if it has no other words.

    Of a question for an order, words such as "in which order did I mention" belong to the frame. A statement has none.

    >>> core("Going by what we said so far, which hotel did we like? Please answer briefly.")
    'which hotel did we like?'
    """
    if kind is QuestionKind.STATEMENT:
        return question
    text = question
    if ":" in text:
        *_, text = _LABEL.split(_ANSWER.sub("", text))
    reader = _ORDERING if kind is QuestionKind.ORDER else _PLAIN
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text)]
    asking = [sentence for sentence in sentences if sentence.endswith("?")]
    if asking:
        # What is said around a request may say what it is for.
        alone = len(asking) == 1 and kind is not QuestionKind.REQUEST and _stands_alone(asking[0])
        sentences = asking if alone else [one for one in sentences if one in asking or not _instructs(one)]
    left = " ".join(filter(None, map(reader.core, sentences)))
    return left if reader.has_topic(words_of(left)) else question


def is_frame(sentence: str) -> bool:
    """Whether a sentence says only how to answer, where to look, or please and thanks."""
    words = words_of(sentence)
    return bool(words) and words[0] not in _ASKS and (_is_a_role(words) or _PLAIN.is_frame(words))


def _stands_alone(question: str) -> bool:
    """Whether a question is understood without the sentences around it: it has enough words of its own, and none that
    refers to others.
    """
    words = words_of(question)
    return _REFERRING.isdisjoint(words) and len(set(words) - _FRAME_OR_STOP) >= _OWN_WORDS


def _instructs(sentence: str) -> bool:
    """Whether a sentence beside a question is about its answer, or a section of a prompt such as "Constraints:"."""
    words = words_of(sentence)
    while words and words[0] in _BEFORE_INSTRUCTING:
        del words[0]
    if words and (words[0] in _INSTRUCTING or " ".join(words).startswith(_ASKING)):
        return True
    return ":" in sentence and _SECTIONS.match(sentence) is not None


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, with straight apostrophes."""
    # Found first: a capital I with a dot becomes two characters in small letters, and a word would become two.
    return [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Finds the frame of a sentence. `frame`: the words of frames and stop words. `lead`: words at its beginning, with
    one of `leading`; `trailing`: words at its end. `asks`: the first words of what is never dropped whole.
    """

    frame: frozenset[str]
    lead: frozenset[str]
    leading: frozenset[str]
    trailing: frozenset[str]
    asks: frozenset[str]

    def is_frame(self, words: Sequence[str]) -> bool:
        """Whether all words are words of frames, stop words or numbers; and not only stop words or numbers."""
        return not _FRAME.isdisjoint(words) and not self.has_topic(words)

    def has_topic(self, words: Sequence[str]) -> bool:
        return any(word not in self.frame and not word.isdecimal() for word in words)

    def core(self, sentence: str) -> str:
        """The core of a sentence; empty if all of it is frame."""
        words = words_of(sentence)
        if _is_a_role(words):
            return ""
        if self.is_frame(words):
            # "Which one was it?" may ask about the sentence before.
            return sentence if words and words[0] in self.asks else ""
        spans = [word.span() for word in _WORD.finditer(sentence)]
        first, last = self._without_clauses(sentence, spans, words)
        first = self._after_lead(words, first, last)
        last = self._before_tail(words, first, last)
        places = _places(words, first, last)
        if places and places[-1][1] == last:
            last = places.pop()[0]
        while last > first + 1 and words[last - 1] in self.trailing:
            last -= 1
        if (first, last) == (0, len(words)) and not places:
            return sentence
        kept: list[str] = []
        for start, end in (*places, (last, last)):
            if first < start:
                kept.append(sentence[spans[first][0] : spans[start - 1][1]])
            first = end
        return " ".join(kept) + sentence[spans[-1][1] :].strip(" \"'()").rstrip(",;:")

    def _without_clauses(
        self, sentence: str, spans: Sequence[tuple[int, int]], words: Sequence[str]
    ) -> tuple[int, int]:
        """The words between the clauses at the beginning and the end that are frame."""
        first, last = 0, len(words)
        if _BREAKS.isdisjoint(sentence):
            return first, last
        between = [sentence[spans[place - 1][1] : spans[place][0]] for place in range(1, last)]
        breaks = [place for place, marks in enumerate(between, start=1) if not _BREAKS.isdisjoint(marks)]
        for place in breaks:
            # "Is there anything in your notes about this: …" asks nothing by itself.
            asks = words[first] in self.asks and ":" not in between[place - 1]
            if asks or not self._may_go(words[first:place]) or not self.has_topic(words[place:last]):
                break
            first = place
        for place in reversed(breaks):
            ends = place <= first or ":" in between[place - 1] or words[place] in _CONTINUES or words[place] in _ASKS
            if ends or not self._may_go(words[place:last]):
                break
            last = place
        return first, last

    def _may_go(self, clause: Sequence[str]) -> bool:
        """Whether a clause is frame, or a filler. "According to you" says who said the answer."""
        if len(clause) == 1 and clause[0] in _FILLERS:
            return True
        return self.is_frame(clause) and list(clause[:3]) != _ACCORDING_TO_YOU

    def _after_lead(self, words: Sequence[str], first: int, last: int) -> int:
        """The first word after "could you remind me" and the like."""
        after, leads = first, False
        while after < last and words[after] in self.lead and words[after : after + 2] != ["name", "of"]:
            leads = leads or (words[after] in self.leading and not _is_a_noun(words, after))
            after += 1
        if not leads or not self.has_topic(words[after:last]):
            return first
        while after > first and words[after - 1] in _DETERMINERS:
            after -= 1
        return after

    def _before_tail(self, words: Sequence[str], first: int, last: int) -> int:
        """The end of the words before "in one sentence" and the like."""
        begin = last
        while begin > first and (words[begin - 1] in _IN_TAIL or words[begin - 1].isdecimal()):
            begin -= 1
        for place in range(begin, last):
            tail = words[place:last]
            if words[place] not in _BEGINS_TAIL or _TAIL.isdisjoint(tail):
                continue
            if words[place] == "in" and words[place + 1] not in _AFTER_IN and not words[place + 1].isdecimal():
                continue
            if "the" not in tail or not _OF_AN_ORDER.isdisjoint(tail):
                return place if self.has_topic(words[first:place]) else last
        return last


_PLAIN: Final = _Reader(_FRAME_OR_STOP, _LEAD, _LEADING, frozenset(), _ASKS)
_ORDERING: Final = _Reader(_FRAME_OR_STOP | _ORDER_LEAD, _ORDER_LEAD, _ORDER_LEADING, _ORDER_TRAILING, frozenset())


def _is_a_role(words: Sequence[str]) -> bool:
    """Whether the sentence gives the reader a role: "You are a careful assistant"."""
    return words[:2] == ["you", "are"] and not _ASSISTANTS.isdisjoint(words[2:])


def _is_a_noun(words: Sequence[str], place: int) -> bool:
    """Whether "idea" is not that of "any idea"."""
    return words[place] == "idea" and words[place - 1 : place] != ["any"]


def _places(words: Sequence[str], first: int, last: int) -> list[tuple[int, int]]:
    """The spans of "in all our conversations so far" and the like."""
    if _PLACES.isdisjoint(words):
        return []
    found: list[tuple[int, int]] = []
    for place in range(first, last):
        if words[place] not in _PLACES:
            continue
        start = place
        while start > first and (words[start - 1] in _WHOSE or words[start - 1] in _SINGLE):
            start -= 1
        if words[start:place] in ([], ["of"]) or start == first or words[start - 1] not in _WHERE:
            continue
        while start > first and words[start - 1] in _WHERE:
            start -= 1
        end = place + 1
        while after := next((phrase for phrase in _SINCE if tuple(words[end : end + len(phrase)]) == phrase), None):
            end += len(after)
        if end >= last or words[end] in STOP_WORDS:  # not "the message header"
            found.append((start, min(end, last)))
    return found
