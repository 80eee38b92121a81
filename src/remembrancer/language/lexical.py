"""Text analysis: search terms, computed in the same way for stored texts and questions.

Words are folded (case, width, accents, digits) and stemmed by the stemmer of their script. Words of scripts without a
stemmer also yield their runs of three letters. Runs of scripts without spaces become overlapping pairs or triples.
Compound tokens (paths, e-mail addresses, versions, `C++`) are kept whole and also split into parts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Final, Protocol, cast

import Stemmer

from remembrancer.domain.query import LexicalQuery
from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.language.function_words import FUNCTION_WORDS, KOREAN_SYLLABLE, function_run
from remembrancer.patterns import pattern
from remembrancer.values import dataclass

MAX_QUERY_TERMS: Final = 64
"""The most distinct terms of a question, the first ones, to limit the cost of a search."""

MAX_TERM_CHARS: Final = 64

MIN_PHRASE_WORDS: Final = 3

# Scripts without spaces between words, or with many endings. A character of Han, kana or Hangul is a syllable or a
# word. A character of Thai, Lao, Khmer or Myanmar is a letter or a sign, so pairs of them are not distinctive.
_IDEOGRAPHS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_SYLLABLES: Final = f"{_IDEOGRAPHS}\uac00-\ud7af"
_SIGNS: Final = "\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f"
_RUN: Final = pattern(f"[{_SYLLABLES}]+|[{_SIGNS}]+")
_SIGN: Final = pattern(f"[{_SIGNS}]")
# A letter of a word: letters, digits, and the combining marks of Hebrew, Arabic and Indic scripts, which `\w` excludes.
_LETTER: Final = r"(?:[^\W_]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff])"
# Some characters are in both classes of a letter, so a run of letters must not be tried again in parts (`++`): it would
# take twice as long for each further letter.
# Joined: words held together by marks that mean something inside a token: user@host.example, src/app/main.py,
# v1.2.3, foo_bar, payment-worker, it's. A trailing ++ or # belongs to C++ and C#.
_PICTURE: Final = "[\u2190-\u2bff\U0001f000-\U0001faff]"
_JOINED: Final = pattern(
    rf"{_LETTER}++(?:[._@/\\:'’\-]+{_LETTER}++)+|{_LETTER}++(?:\+\+|#)(?![\w+#])|{_LETTER}++|{_PICTURE}"
)
_WORD: Final = pattern(rf"{_LETTER}++")
_COUNTED: Final = pattern(
    rf"[{_IDEOGRAPHS}]{{1,2}}|[{_SIGNS}]{{1,4}}|[^\s{_IDEOGRAPHS}{_SIGNS}]++(?:{_LETTER}[^\s{_IDEOGRAPHS}{_SIGNS}]*+)?"
)
_COUNTS: Final = pattern(rf"{_LETTER}|[{_IDEOGRAPHS}{_SIGNS}]")
_CAMEL: Final = pattern(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ORDINAL: Final = pattern(r"^(\d+)(?:st|nd|rd|th)$")
_POSSESSIVE: Final = pattern(r"['’]s?$")

# The stemmer of each script: that of the language that mostly uses the script.
_STEMMER_OF_SCRIPT: Final = (
    (pattern(r"[a-z]+"), "porter"),
    (pattern(r"[\u0400-\u04ff]+"), "russian"),
    (pattern(r"[\u0600-\u06ff]+"), "arabic"),
    (pattern(r"[\u0370-\u03ff]+"), "greek"),
    (pattern(r"[\u0900-\u097f]+"), "hindi"),
)

# Alphabets without a stemmer here: Armenian, Hebrew, Syriac and the like, Bengali to Sinhala, Georgian,
# Ethiopic. Prefixes and endings are written on the word, so its runs of letters are what its forms share.
_UNSTEMMED: Final = pattern("[\u0530-\u05ff\u0700-\u08ff\u0980-\u0dff\u10a0-\u10ff\u1200-\u139f]{4,}")
_LETTERS_A_RUN: Final = 3

# Arabic: the attached conjunctions and prepositions (and, so, with, as, for), and the article.
_ATTACHED: Final = frozenset("وفبكل")
_ARTICLE: Final = "ال"
_CONJOINED_LETTERS: Final = 6  # والد (father) keeps its first letter

_DROPPED: Final = STOP_WORDS | FUNCTION_WORDS

# Letters that Unicode does not decompose, as people type them without the key, and variant spellings of one letter: the
# dotless i, Persian kaf and yeh, Hebrew final letters, the Hindi sign of a nasal vowel.
_SPELLED: Final = str.maketrans(
    dict(zip("đðøłħı", "ddolhi", strict=True))
    | {"æ": "ae", "œ": "oe", "þ": "th"}
    | dict(zip("کی", "كي", strict=True))
    | dict(zip("ךםןףץ", "כמנפצ", strict=True))
    | {"ँ": "ं", "ـ": ""}
)


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of a text. `tokens`: every word in order, for phrases. `terms`: the tokens without stop words, with
    repeats, for ranking.
    """

    tokens: tuple[str, ...]
    terms: tuple[str, ...]


def analyse(text: str) -> Analysis:
    """The search terms of a text.

    >>> analyse("The payment-worker crashed").terms
    ('payment-worker', 'payment', 'worker', 'crash')
    """
    if text.isascii():
        return _of(text.split())
    tokens: list[str] = []
    terms: list[str] = []
    for spaced, run in _parts(text):
        analysed = _of(spaced.split())
        tokens += analysed.tokens
        terms += analysed.terms
        if run:
            _add_unspaced(run, tokens, terms)
    return Analysis(tuple(tokens), tuple(terms))


def lexical_query(question: str) -> LexicalQuery:
    """A question as a query: its distinct terms, any of which may match.

    A question of only stop words becomes a phrase query if it has three or more ("to be or not to be"), otherwise an
    empty query, because one or two occur in almost every text. A question without a word ("???") is an empty query too.
    """
    analysis = analyse(question)
    if analysis.terms:
        distinct = tuple(dict.fromkeys(analysis.terms))
        # For very short questions, texts also have the shorter grams of scripts without spaces. Beside longer grams
        # they would only add noise.
        nouns = () if question.isascii() else KOREAN_SYLLABLE.findall(unicodedata.normalize("NFKC", question))
        telling = tuple(term for term in distinct if term in nouns or not _is_short_gram(term))
        return LexicalQuery(terms=(telling or distinct)[:MAX_QUERY_TERMS])
    return LexicalQuery(phrase=analysis.tokens[:MAX_QUERY_TERMS] if len(analysis.tokens) >= MIN_PHRASE_WORDS else ())


def every_word(question: str) -> tuple[frozenset[str], ...]:
    """A query for texts that contain every word of a question, in any order: one token of each of these sets.

    A compound is required by its parts, a run of a script without spaces by its longest grams. Stop words are required
    only if there are no other words. At most 64 sets; none for a question without any word ("???").

    >>> every_word("the payment-worker crashed")
    (frozenset({'payment'}), frozenset({'worker'}), frozenset({'crash'}))
    """
    asked: list[frozenset[str]] = []
    plain: list[frozenset[str]] = []
    for spaced, run in _parts(question):
        _ask_spaced(spaced, asked, plain)
        if run:
            _ask_unspaced(run, asked, plain)
    return tuple(dict.fromkeys(asked or plain))[:MAX_QUERY_TERMS]


def written(text: str, terms: Collection[str]) -> tuple[str, ...]:
    """The words of a text, as they are written in it, that have one of these tokens; each once, ignoring case, in the
    order of the terms.

    Of a compound only the parts that have one; of a run of a script without spaces the longest stretches.

    >>> written("The payment-worker crashed. Crashed!", ("crash", "worker", "coffe"))
    ('crashed', 'worker')
    """
    places = {term: place for place, term in reversed(list(enumerate(terms)))}
    found: dict[str, tuple[int, str]] = {}
    for word in _words_with(text, places.keys()):
        first = min((places[token] for token in analyse(word).tokens if token in places), default=len(places))
        found.setdefault(word.casefold(), (first, word))
    return tuple(word for _, word in sorted(found.values(), key=lambda pair: pair[0]))


def _words_with(text: str, tokens: AbstractSet[str]) -> Iterator[str]:
    """The words of a text with any of these tokens, in the order of the text."""
    for spaced, run in _split(text):
        for joined in _JOINED.findall(spaced):
            if not tokens.isdisjoint(analyse(joined).tokens):
                words = _WORD.findall(joined)
                parts = [word for word in words if not tokens.isdisjoint(analyse(word).tokens)]
                yield from parts if 0 < len(parts) < len(words) else [joined]
        kept = [
            any(
                run[start : start + size] in tokens
                for size in (1, 2, 3)
                for start in range(max(0, place - size + 1), place + 1)
            )
            for place in range(len(run))
        ]
        for has, stretch in groupby(zip(kept, run, strict=True), key=itemgetter(0)):
            if has:
                yield "".join(sign for _, sign in stretch)


def word_ends(text: str) -> list[int]:
    """The positions after each word. A word is a text between blanks with a letter or digit.

    In scripts without blanks, two characters of Han or kana, or four of Thai and similar scripts, count as one word.

    >>> word_ends("Deploy failed - again!")
    [6, 13, 22]
    """
    return [word.end() for word in _COUNTED.finditer(text) if _COUNTS.search(text, *word.span())]


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a text in scripts with spaces, each with the run of an unspaced script that follows."""
    return _split(text if text.isascii() else unicodedata.normalize("NFKC", text))


def _split(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    for run in () if text.isascii() else _RUN.finditer(text):
        yield text[position : run.start()], run.group()
        position = run.end()
    yield text[position:], ""


@lru_cache(maxsize=65_536)
def stem(folded: str) -> str:
    """The stem of a folded word, by the stemmer of its script; words of mixed scripts or with digits stay unchanged."""
    for script, language in _STEMMER_OF_SCRIPT:
        if script.fullmatch(folded):
            # Porter leaves nothing of a lone "s", and an empty term would match everywhere or nowhere.
            return _stemmer(language).stemWord(folded)[:MAX_TERM_CHARS] or folded
    return folded[:MAX_TERM_CHARS]


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """The word in lower case, without accents, vowel points or possessive 's; an ordinal as its number (18th as 18).

    Digits of every script become ASCII digits; letters with several spellings become one of them.
    """
    plain = _ORDINAL.sub(r"\1", _POSSESSIVE.sub("", word.casefold()))
    if plain.isascii():
        return plain
    # Cyrillic short i is a letter of its own; the stemmer recognises endings by it.
    decomposed = unicodedata.normalize("NFKD", plain).replace("и\u0306", "й")
    return "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in decomposed
        if not unicodedata.combining(character)
    ).translate(_SPELLED)


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802  the library's own name


@lru_cache(maxsize=8)
def _stemmer(language: str) -> _Stemmer:
    # stem() has its own cache; the stemmer's would hold everything twice.
    return cast("Any", Stemmer).Stemmer(language, 0)


def _add_unspaced(run: str, tokens: list[str], terms: list[str]) -> None:
    position = 0
    for function in function_run().finditer(run):
        grams = _grams(run[position : function.start()])
        tokens += (*grams, function.group())
        terms += grams
        position = function.end()
    grams = _grams(run[position:])
    tokens += grams
    terms += grams


def _ask_unspaced(run: str, asked: list[frozenset[str]], plain: list[frozenset[str]]) -> None:
    position = 0
    for function in (*function_run().finditer(run), None):
        part = run[position : len(run) if function is None else function.start()]
        grams = _grams(part)
        longest = max(map(len, grams), default=0)
        asked += (frozenset({gram}) for gram in grams if len(gram) == longest)
        if function is not None:
            plain.append(frozenset({function.group()}))
            position = function.end()


def _grams(run: str) -> list[str]:
    """Overlapping pairs of characters, and the single characters, so that a one-character question finds its text.

    If a script's characters are signs rather than syllables: overlapping runs of three, and pairs.
    """
    shorter = 2 if _SIGN.match(run) else 1
    if len(run) <= shorter:
        return [run] if run else []
    grams = [run[index : index + size] for index in range(len(run)) for size in (shorter, shorter + 1)]
    return grams[: -2 * shorter + 1]  # the last grams would extend beyond the end


def _is_short_gram(term: str) -> bool:
    if len(term) > 2 or term.isascii() or not _RUN.fullmatch(term):
        return False
    return len(term) == 1 or bool(_SIGN.match(term))


def _of(parts: Sequence[str]) -> Analysis:
    """The analysis of a text from its parts between blanks."""
    # A long part (a data URL, minified code) does not recur; it must not fill the cache.
    return _joined([_kept(part) if len(part) <= _RECURS else _kept.__wrapped__(part) for part in parts])


def _joined(parts: Sequence[Analysis]) -> Analysis:
    return Analysis(
        tuple(chain.from_iterable([part.tokens for part in parts])),
        tuple(chain.from_iterable([part.terms for part in parts])),
    )


_RECURS: Final = 2 * MAX_TERM_CHARS


@lru_cache(maxsize=65_536)
def _kept(text: str) -> Analysis:
    """The analysis of a text without blanks, such as `payment-worker.`"""
    return _joined([_analysed(joined) for joined in _JOINED.findall(text)])


def _ask_spaced(text: str, asked: list[frozenset[str]], plain: list[frozenset[str]]) -> None:
    for joined in _JOINED.findall(text):
        if "'" in joined or "’" in joined:  # its parts say little, and a text may spell it without the mark
            analysis = analyse(joined)
            (asked if analysis.terms else plain).append(frozenset(analysis.terms or analysis.tokens))
            continue
        words = _WORD.findall(joined)
        if not words:  # a symbol, kept as it is: ≠ is not =
            asked.append(frozenset((joined,)))
        if len(words) == 1 and words[0] != joined:  # C++ and C# are words of their own
            asked.append(frozenset((fold(joined)[:MAX_TERM_CHARS],)))
            continue
        for word in words:
            folded = fold(word[:MAX_TERM_CHARS])
            if folded:
                (plain if folded in _DROPPED else asked).extend(_any_form(folded))


def _any_form(folded: str) -> Iterable[frozenset[str]]:
    """For a word indexed with its runs of three letters, a set for each run: other forms of the word share the runs."""
    forms = _forms(folded)
    return map(frozenset, zip(forms[1:])) if _UNSTEMMED.fullmatch(folded) else (frozenset(forms),)


def _analysed(joined: str) -> Analysis:
    """The analysis of one run of letters and joining marks, such as `payment-worker`."""
    words = _WORD.findall(joined)
    if not words:  # a symbol
        return Analysis((joined,), (joined,))
    if len(words) == 1 and words[0] == joined:
        return _of_words(_camel(joined))
    if len(words) == 2 and fold(joined) == fold(words[0]):  # a possessive: Ana's
        return _of_words([words[0]])
    if "'" in joined or "’" in joined:  # a contraction: don't, l'homme, O'Brien
        contraction = joined.replace("’", "'")
        parts = [] if fold(contraction) in STOP_WORDS else [word for word in words if len(word) > 2]
        return _of_words([contraction, *parts])
    whole = fold(joined)[:MAX_TERM_CHARS]
    parts = _of_words([part for word in words for part in _camel(word)])
    return Analysis((whole, *parts.tokens), (whole, *parts.terms))


def _of_words(words: list[str]) -> Analysis:
    tokens: list[str] = []
    terms: list[str] = []
    for word in words:
        folded = fold(word[:MAX_TERM_CHARS])
        if folded:
            forms = _forms(folded)
            tokens += forms
            if folded not in _DROPPED:
                terms += forms
    return Analysis(tuple(tokens), tuple(terms))


def _forms(folded: str) -> tuple[str, ...]:
    """The stem of a word; without a stemmer for its script, the word and its overlapping runs of three letters."""
    if folded.isascii():
        return (stem(folded),)
    if _UNSTEMMED.fullmatch(folded):
        last = len(folded) - _LETTERS_A_RUN
        return (folded, *(folded[start : start + _LETTERS_A_RUN] for start in range(last + 1)))
    if folded[0] in _ATTACHED:
        return _attached(folded)
    return (stem(folded),)


def _attached(folded: str) -> tuple[str, ...]:
    """The stems of an Arabic word that may begin with an attached conjunction or preposition.

    The stemmer removes such a letter even if it belongs to the word, unless the article precedes it, so فريق would not
    match الفريق. It also leaves a conjunction before the article: والفريق.
    """
    conjoined = folded.startswith(_ARTICLE, 1) and len(folded) >= _CONJOINED_LETTERS
    return tuple(dict.fromkeys((stem(folded[1:] if conjoined else folded), stem(_ARTICLE + folded))))


def _camel(word: str) -> list[str]:
    """A word, and the parts of a camelCase name."""
    parts = _CAMEL.split(word)
    return [word, *(part for part in parts if len(part) > 1)] if len(parts) > 1 and len(word) >= 6 else [word]
