"""Text to search terms, the same for what is kept and what is asked.

Words are folded (case, width, accents) and stemmed by the stemmer of their script; runs of scripts without spaces
become overlapping pairs; compound tokens (paths, e-mail addresses, versions, `C++`) are kept whole beside their parts.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol, cast

import Stemmer

from remembrancer.domain.query import LexicalQuery
from remembrancer.policies.stop_words import STOP_WORDS

MAX_QUERY_TERMS: Final = 64
"""A longer question is cut to its first distinct terms: more would only slow the search."""

MAX_TERM_CHARS: Final = 64

MIN_PHRASE_WORDS: Final = 3

# Scripts written without spaces between words: Han, kana, Hangul (agglutinative), Thai, Lao, Khmer, Myanmar.
_UNSPACED: Final = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
    "\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\U00020000-\U0003134f"
)
_RUN: Final = re.compile(f"[{_UNSPACED}]+")
# A letter of a word: letters, digits, and the marks that Hebrew, Arabic and the Indic scripts write inside words,
# which `\w` leaves out.
_LETTER: Final = r"(?:[^\W_]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff])"
# Joined: words held together by marks that mean something inside a token: user@host.example, src/app/main.py,
# v1.2.3, foo_bar, payment-worker, it's. A trailing ++ or # belongs to C++ and C#.
_PICTURE: Final = "[\u2190-\u2bff\U0001f000-\U0001faff]"
_JOINED: Final = re.compile(
    rf"{_LETTER}+(?:[._@/\\:'’\-]+{_LETTER}+)+|{_LETTER}+(?:\+\+|#)(?![\w+#])|{_LETTER}+|{_PICTURE}"
)
_WORD: Final = re.compile(rf"{_LETTER}+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ORDINAL: Final = re.compile(r"^(\d+)(?:st|nd|rd|th)$")
_POSSESSIVE: Final = re.compile(r"['’]s?$")

# By the script a word is written in; a language's own stemmer where one script is mostly one language.
_STEMMER_OF_SCRIPT: Final = (
    (re.compile(r"[a-z]+"), "porter"),
    (re.compile(r"[\u0400-\u04ff]+"), "russian"),
    (re.compile(r"[\u0600-\u06ff]+"), "arabic"),
    (re.compile(r"[\u0370-\u03ff]+"), "greek"),
    (re.compile(r"[\u0900-\u097f]+"), "hindi"),
)


@dataclass(frozen=True, slots=True)
class Analysis:
    """`tokens`: every word in order, for phrases. `terms`: those that carry meaning, repeats kept, for ranking."""

    tokens: tuple[str, ...]
    terms: tuple[str, ...]


def analyse(text: str) -> Analysis:
    """The search terms of a text.

    >>> analyse("The payment-worker crashed").terms
    ('payment-worker', 'payment', 'worker', 'crash')
    """
    tokens: list[str] = []
    terms: list[str] = []
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    position = 0
    for run in _RUN.finditer(normal):
        _add_spaced(normal[position : run.start()], tokens, terms)
        grams = _grams(run.group())
        tokens += grams
        terms += grams
        position = run.end()
    _add_spaced(normal[position:], tokens, terms)
    return Analysis(tuple(tokens), tuple(terms))


def tokens_and_terms(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The analysis as stores take it, who do not know this module."""
    analysis = analyse(text)
    return analysis.tokens, analysis.terms


def lexical_query(question: str) -> LexicalQuery:
    """A question as a safe query: its distinct terms, any of which may match.

    A question of three or more stop words and nothing else ("to be or not to be") asks for them as a phrase; of one or
    two, which stand in almost every text, it is an empty query, as is one without any word ("???").
    """
    analysis = analyse(question)
    if analysis.terms:
        distinct = tuple(dict.fromkeys(analysis.terms))
        # Single characters of unspaced scripts are kept in texts for one-character questions; beside pairs they
        # would only bring noise.
        telling = tuple(term for term in distinct if not (len(term) == 1 and _RUN.fullmatch(term)))
        return LexicalQuery(terms=(telling or distinct)[:MAX_QUERY_TERMS])
    return LexicalQuery(phrase=analysis.tokens[:MAX_QUERY_TERMS] if len(analysis.tokens) >= MIN_PHRASE_WORDS else ())


@lru_cache(maxsize=65_536)
def stem(folded: str) -> str:
    """The stem of a folded word, by the stemmer of its script; a word of mixed scripts or digits is left as it is."""
    for script, language in _STEMMER_OF_SCRIPT:
        if script.fullmatch(folded):
            # Porter leaves nothing of a lone "s", and an empty term would match everywhere or nowhere.
            return _stemmer(language).stemWord(folded)[:MAX_TERM_CHARS] or folded
    return folded[:MAX_TERM_CHARS]


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """Lower case, without accents or vowel points, without a possessive 's; an ordinal as its number (18th as 18)."""
    plain = _ORDINAL.sub(r"\1", _POSSESSIVE.sub("", word.casefold()))
    if plain.isascii():
        return plain
    decomposed = unicodedata.normalize("NFKD", plain)
    return "".join(character for character in decomposed if not unicodedata.combining(character) and character != "ـ")


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802  the library's own name


@lru_cache(maxsize=8)
def _stemmer(language: str) -> _Stemmer:
    # The cache of stem() above holds what was seen; the stemmer's own would hold it twice.
    return cast("Any", Stemmer).Stemmer(language, 0)


def _grams(run: str) -> list[str]:
    """Overlapping pairs, and single characters too, so that a one-character question finds its text."""
    grams = [gram for index in range(len(run)) for gram in (run[index], run[index : index + 2])]
    return grams[:-1]  # the last pair is half empty


def _add_spaced(text: str, tokens: list[str], terms: list[str]) -> None:
    for joined in _JOINED.findall(text):
        # A long one (a data URL, minified code) is not seen twice: it must not fill the cache.
        analysed = _analysed(joined) if len(joined) <= 2 * MAX_TERM_CHARS else _analysed.__wrapped__(joined)
        tokens += analysed.tokens
        terms += analysed.terms


@lru_cache(maxsize=65_536)
def _analysed(joined: str) -> Analysis:
    """One run of letters and the marks that hold words together."""
    words = _WORD.findall(joined)
    if not words:  # a picture
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
    folded = [word for word in (fold(word[:MAX_TERM_CHARS]) for word in words) if word]
    return Analysis(
        tuple(stem(word) for word in folded), tuple(stem(word) for word in folded if word not in STOP_WORDS)
    )


def _camel(word: str) -> list[str]:
    """A word, and the parts of a camelCase name beside it."""
    parts = _CAMEL.split(word)
    return [word, *(part for part in parts if len(part) > 1)] if len(parts) > 1 and len(word) >= 6 else [word]
