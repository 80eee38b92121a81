"""Extractive titles and summaries, without a model: representative sentences and frequent phrases.

Sentences are copied, never rephrased, so a summary states nothing that was not said.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from remembrancer.domain import validation
from remembrancer.language.lexical import analyse, stem, word_ends
from remembrancer.policies.rendering.safe import kept_line
from remembrancer.values import dataclass

MAX_SUMMARY_CHARS: Final = 600
MAX_SENTENCE_CHARS: Final = 300
MAX_READ_CHARS: Final = 4_000
"""The characters read of one text: a pasted file must not outweigh the conversation about it."""
MAX_SENTENCES: Final = 400
"""The limit of sentences from all texts; the longest texts are shortened first."""
TITLE_WORDS: Final = (5, 15)
"""The least and the greatest number of words in a title. Source: PlastMem, "episodic memory"."""
MAX_PHRASE_WORDS: Final = 4
MAX_PHRASE_CHARS: Final = 60

_BALANCE: Final = 0.7
"""The weight of a sentence's relevance against redundancy: lambda in MMR."""
_FULL_TERMS: Final = 6
"""A sentence with fewer terms gets less weight, because its similarity to others overstates its content."""

_ASKING: Final = 0.5
"""The weight of a question, relative to a statement."""
_TELLING: Final = 0.4
"""A sentence with less than this share of the best one's weight is left out, even if there is room."""
_SAME: Final = 0.9
"""The similarity from which a sentence counts as a repetition of a selected one."""
_LENGTH_COUNTS: Final = 0.3
_QUESTION_MARKS: Final = ("?", "？", "؟")

_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？।؟])\s*|\n+")
_CLAUSE: Final = re.compile(r"[,;:()\[\]\"“”«»!?…。，、！？।؟]|\.(?=\s|$)|\s[-–—]+\s")
_CUT: Final = "…"
_SENTENCE_END: Final = " ,;:.!?…。！？।؟"
_CHATTER: Final = frozenset(
    stem(word)
    for word in """
    absolutely actually ah aha also alright amazing anyway awesome bye cool definitely exactly fine get gets getting go
    goes going gonna good got great guess haha hear hello hey hi hmm just keep kind know let like lol look lot love make
    maybe much nice oh ok okay one perfect please pretty probably quite really right say see sorry sound sounds stuff
    sure take tell thank thanks thing things think totally true try trying um want well wow yeah yep yes
    """.split()
)
"""English conversational words that are never a topic."""


@dataclass(frozen=True, slots=True)
class AttributedText:
    """A text and its speaker; "" if unknown."""

    speaker: str
    text: str


def summary(texts: Sequence[AttributedText], *, max_chars: int = MAX_SUMMARY_CHARS) -> str:
    """A summary: the sentences closest to the centroid of all texts, in their original order, each with its speaker.

    A sentence's weight is the cosine of its terms with the sum of all sentences (the centroid of Radev et al., 2000;
    tf-idf over the sentences), minus its similarity to sentences already selected. At least one sentence is selected,
    cut if necessary, and as many as fit `max_chars` (at least 20). Returns "" if the texts have no visible characters.

    >>> texts = [AttributedText("Ana", "The vault code is 7319. Thanks!"), AttributedText("Ben", "Which vault?")]
    >>> summary(texts, max_chars=30)
    'Ana: The vault code is 7319.'
    """
    validation.whole("max_chars", max_chars, 20, validation.MAX_TEXT_BYTES)
    sentences = _sentences(texts)
    taken: list[int] = []
    room = max_chars
    for place in _by_worth(sentences):
        needed = len(sentences[place].line) + (1 if taken else 0)
        if not taken or needed <= room:
            taken.append(place)
            room -= needed
    spoken = groupby((sentences[place] for place in sorted(taken)), key=lambda one: (one.text_number, one.speaker))
    told = [_under(speaker, " ".join(one.text for one in group)) for (_, speaker), group in spoken]
    return _short(" ".join(told), max_chars)


def title(texts: Sequence[AttributedText]) -> str:
    """A title: the phrases whose words occur in most sentences, in their original order.

    A phrase is a run of words without stop words and punctuation. If the phrases together have fewer than 5 words, the
    title is taken from the most representative sentences, cut after 15 words. It has fewer than 5 words only if all
    texts together do; "" if the texts have no words.

    >>> ana = AttributedText("Ana", "The payment worker ran out of memory.")
    >>> title([ana, AttributedText("Ben", "The worker needs two gigabytes of memory")])
    'Memory, worker needs two gigabytes'
    >>> title([ana])
    'The payment worker ran out of memory'
    """
    sentences = _sentences(texts)
    told = ", ".join(phrase.text for phrase in _title_phrases(sentences))
    if len(word_ends(told)) < TITLE_WORDS[0]:
        told = ", ".join(_title_sentences(texts, sentences))
    ends = word_ends(told)
    told = told[: ends[: TITLE_WORDS[1]][-1]].rstrip(_SENTENCE_END) if ends else ""
    return _short(told[:1].upper() + told[1:], validation.MAX_TITLE_CHARS)


def _title_phrases(sentences: Sequence[_Sentence]) -> list[_Phrase]:
    in_sentences = Counter(term for one in sentences for term in one.terms)
    fewest, most = TITLE_WORDS
    taken: list[_Phrase] = []
    known: set[str] = set()
    words = 0
    phrases = {phrase.text.casefold(): phrase for one in reversed(sentences) for phrase in _phrases(one)}
    for phrase in sorted(phrases.values(), key=lambda each: (-each.worth(in_sentences), each.place)):
        if words >= fewest:
            break
        if known.isdisjoint(phrase.terms) and words + phrase.words <= most:
            taken.append(phrase)
            known |= phrase.terms
            words += phrase.words
    return sorted(taken, key=lambda phrase: phrase.place)


def _title_sentences(texts: Sequence[AttributedText], sentences: Sequence[_Sentence]) -> list[str]:
    """The best sentences with enough words for a title, in their original order. Small talk is used only if the others
    are too short.
    """
    said = list(dict.fromkeys(sentence for told in texts for sentence in _of_text(told.text)))
    taken: dict[str, int] = {}
    for text in (*(sentences[place].text for place in _by_worth(sentences)), *said):
        if sum(taken.values()) >= TITLE_WORDS[0]:
            break
        taken[text] = len(word_ends(text))
    return [text.rstrip(_SENTENCE_END) for text in said if taken.get(text)]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence. `weights`: its terms as a unit vector."""

    text_number: int
    place: int
    speaker: str
    text: str
    terms: frozenset[str]
    weights: Mapping[str, float]

    @property
    def line(self) -> str:
        return _under(self.speaker, self.text)


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A phrase. `place`: the index of its sentence, and its position in that sentence."""

    place: tuple[int, int]
    text: str
    words: int
    terms: frozenset[str]

    def worth(self, in_sentences: Mapping[str, int]) -> float:
        """The frequency of its terms, damped by length, so that the longest phrase does not always win."""
        return sum(in_sentences[term] for term in self.terms) / len(self.terms) ** _LENGTH_COUNTS


def _sentences(texts: Sequence[AttributedText]) -> list[_Sentence]:
    """The sentences with content words; all sentences if none has any."""
    each = max(1, MAX_SENTENCES // max(1, len(texts)))
    # Names of speakers are no topic: they are shown with the sentences.
    small_talk = _CHATTER.union(*(analyse(told.speaker).terms for told in texts))
    found: list[tuple[int, str, str, Counter[str]]] = []
    for number, told in enumerate(texts):
        for text in _of_text(told.text)[:each]:
            terms = Counter(term for term in analyse(text).terms if term not in small_talk)
            found.append((number, kept_line(told.speaker), text, terms))
    found = [one for one in found[:MAX_SENTENCES] if one[-1]] or found[:MAX_SENTENCES]
    frequency = Counter(term for *_, terms in found for term in terms)
    return [
        _Sentence(number, place, speaker, text, frozenset(terms), _weights(terms, frequency, len(found)))
        for place, (number, speaker, text, terms) in enumerate(found)
    ]


def _of_text(text: str) -> list[str]:
    parts = (kept_line(part) for part in _SENTENCE.split(text[:MAX_READ_CHARS]))
    return [_short(part, MAX_SENTENCE_CHARS) for part in parts if part]


def _weights(terms: Counter[str], frequency: Mapping[str, int], sentences: int) -> Mapping[str, float]:
    """The tf-idf weights as a unit vector. Every term has a positive weight, even if it occurs in all sentences."""
    raw = {term: count * math.log(1 + sentences / frequency[term]) for term, count in terms.items()}
    length = math.sqrt(sum(weight * weight for weight in raw.values()))
    return {term: weight / length for term, weight in raw.items()} if length else {}


def _by_worth(sentences: Sequence[_Sentence]) -> Iterator[int]:
    """Indexes of representative sentences, best first (MMR: each choice considers the previous ones); ties by index."""
    centre: Counter[str] = Counter()
    for one in sentences:
        centre.update(one.weights)
    length = math.sqrt(sum(weight * weight for weight in centre.values()))
    own = [_own_worth(one, centre, length) for one in sentences]
    likeness = [0.0] * len(sentences)
    telling = _TELLING * max(own, default=0.0)
    left = {place for place, worth in enumerate(own) if worth >= telling}
    while left:
        best = max(left, key=lambda place: (_BALANCE * own[place] - (1 - _BALANCE) * likeness[place], -place))
        left.remove(best)
        yield best
        for place in tuple(left):
            likeness[place] = max(likeness[place], _product(sentences[place].weights, sentences[best].weights))
            if likeness[place] >= _SAME:
                left.remove(place)


def _own_worth(sentence: _Sentence, centre: Mapping[str, float], length: float) -> float:
    if not sentence.weights or not length:
        return 0.0
    near = _product(sentence.weights, centre) / length
    asks = _ASKING if sentence.text.endswith(_QUESTION_MARKS) else 1.0
    return near * asks * min(1.0, len(sentence.terms) / _FULL_TERMS)


def _product(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(weight * other.get(term, 0.0) for term, weight in one.items())


def _phrases(sentence: _Sentence) -> Iterator[_Phrase]:
    """Runs of words that are not stop words, each of at most `MAX_PHRASE_WORDS`."""
    place = 0
    for clause in _CLAUSE.split(sentence.text):
        run: list[tuple[str, frozenset[str]]] = []
        for word in [*clause.split(), ""]:
            terms = frozenset(analyse(word).terms)
            if terms and terms <= sentence.terms:
                run.append((word.strip("'’-–_*`#"), terms))
                continue
            if run:
                place += 1
                yield _phrase((sentence.place, place), run[:MAX_PHRASE_WORDS])
                run = []


def _phrase(place: tuple[int, int], words: Sequence[tuple[str, frozenset[str]]]) -> _Phrase:
    text = _short(" ".join(word for word, _ in words), MAX_PHRASE_CHARS)
    return _Phrase(place, text, len(word_ends(text)), frozenset[str]().union(*(terms for _, terms in words)))


def _under(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if speaker else text


def _short(text: str, max_chars: int) -> str:
    """The text cut to `max_chars`, at a blank if there is one in the last third."""
    if len(text) <= max_chars:
        return text
    cut = text[: max_chars - len(_CUT)]
    blank = cut.rfind(" ")
    return (cut[:blank] if blank > len(cut) * 2 // 3 else cut).rstrip() + _CUT
