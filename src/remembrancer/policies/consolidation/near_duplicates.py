"""Whether two similar texts make the same claim. A different number, date, name or negation makes another claim.

Text similarity counts all words, but a claim depends on few of them; these are compared by form. In doubt the claims
count as different: two redundant memories do less harm than one lost claim. Function words are English, negations also
those of other languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from remembrancer.language.english import claim_words
from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.language.lexical import fold, stem
from remembrancer.values import dataclass

_CHUNK: Final = re.compile(r"\S+")
_OUTER: Final = "\"'`“”‘’«»()[]{}.,;:!?…*_"
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBER: Final = re.compile(
    r"(?P<before>[<>=≤≥~≈$€£¥#+−-]*)(?P<digits>\d+(?:[.,]\d+)*)(?P<unit>[^\W\d_]+|%|‰|°[A-Za-z]?)?"
)
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_REACH: Final = 8
"""A negation applies to a word at most this many words after it."""

_COMPARISON: Final = re.compile(r"[<>=!]=|[=-]>|[<>=≠≤≥≈→←]")
_QUOTED: Final = re.compile('"([^"\n]{1,200})"|“([^”\n]{1,200})”|`([^`\n]{1,200})`')
_IDENTIFIER: Final = re.compile(r"\w[_/\\@.:=&]+\w|[a-z][A-Z]|#\w|\w(?:\+\+|#)$|(?:^|\s)[/~@-]\w|--\w")


@dataclass(frozen=True, slots=True)
class Claim:
    """The words of a text that decide its claim, distinct, in order of first mention: "from 3 to 5" differs from "from
    5 to 3".

    `names`: capitalised words, in lower case; `openers`: words capitalised perhaps only because they begin a sentence.
    `words`: all words, in order; `held`: the same as a set.
    """

    words: tuple[str, ...]
    held: frozenset[str]
    numbers: tuple[str, ...]
    dates: tuple[str, ...]
    negated: tuple[str, ...]
    identifiers: tuple[str, ...]
    quoted: tuple[str, ...]
    without_case: tuple[str, ...]
    names: tuple[str, ...]
    openers: tuple[str, ...]

    @property
    def fixed(self) -> tuple[tuple[str, ...], ...]:
        """The parts that must be equal, as a key: texts with different keys never make the same claim."""
        return (self.numbers, self.dates, self.negated, self.identifiers, self.quoted, self.without_case)

    def difference(self, other: Claim) -> str:
        """The difference of two claims in a word or two ("a number"); "" if they are the same."""
        for what, mine, theirs in zip(_FIXED, self.fixed, other.fixed, strict=True):
            if mine != theirs:
                return what
        if _names_differ(self, other):
            return "a name"
        return "opposites" if _opposed(self.held - other.held, other.held - self.held) else ""


_FIXED: Final = (
    "a number",
    "a date",
    "a negation",
    "an identifier",
    "a quoted word",
    "words of a script without capitals",
)
"""The names of the parts of `Claim.fixed`, for `difference`."""


def same_claim(a: str, b: str) -> bool:
    """Whether two similar texts make the same claim.

    Similarity itself is not tested: two unrelated texts without numbers, dates, negations and names also give True.
    Symmetric and reflexive.

    >>> same_claim("The staging port is 8080", "the staging port is 8080.")
    True
    >>> same_claim("The staging port is 8080", "The staging port is 8081")
    False
    """
    return not claim_of(a).difference(claim_of(b))


def claim_of(text: str) -> Claim:
    normal = unicodedata.normalize("NFKC", text).replace("’", "'")
    words = [(match.group(), match.start(), match.end()) for match in _WORD.finditer(normal)]
    folded = [_plain(word) for word, _, _ in words]
    names, openers = _capitals(normal, words)
    quoted = (" ".join(part.split()).casefold() for found in _QUOTED.findall(normal) for part in found if part)
    return Claim(
        words=_distinct(folded),
        held=frozenset(folded),
        numbers=_distinct(_numbers(normal)),
        dates=_distinct(_dates(normal, words)),
        negated=_distinct(_negated(folded)),
        identifiers=_distinct(_identifiers(normal)),
        quoted=_distinct(quoted),
        without_case=tuple(word.casefold() for word, _, _ in words if _is_caseless(word)),
        names=names,
        openers=openers,
    )


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))


def _plain(word: str) -> str:
    """The word in lower case; a contraction as its negated verb, or else its first part."""
    lower = word.casefold()
    if lower.endswith("n't"):
        return "not"
    return lower.partition("'")[0]


def _numbers(text: str) -> Iterator[str]:
    """Numbers with their sign and unit, number words, and comparisons."""
    chunks = _CHUNK.findall(text)
    for place, chunk in enumerate(chunks):
        bare = chunk.strip(_OUTER)
        following = chunks[place + 1].strip(_OUTER).casefold() if place + 1 < len(chunks) else ""
        if any(character.isdigit() for character in bare):
            yield _number(bare, following)
        elif bare.casefold() in claim_words.NUMBERS:
            yield _with_unit(claim_words.NUMBERS[bare.casefold()], following)
        else:
            yield from (
                claim_words.NUMBERS[part] for part in bare.casefold().split("-")[:-1] if part in claim_words.NUMBERS
            )
            yield from _COMPARISON.findall(chunk)


def _number(bare: str, following: str) -> str:
    """A number with its unit, normalised; any other token with a digit unchanged."""
    match = _NUMBER.fullmatch(bare)
    if match is None:
        return bare.casefold()
    digits = match["digits"]
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    before, unit = match["before"].replace("−", "-"), (match["unit"] or "").casefold()
    if not unit:
        return before + _with_unit(digits, following)
    if unit in {"st", "nd", "rd", "th"}:
        return f"{before}{digits}"
    return f"{before}{digits} {claim_words.UNITS.get(unit, unit)}"


def _with_unit(digits: str, following: str) -> str:
    return f"{digits} {claim_words.UNITS[following]}" if following in claim_words.UNITS else digits


def _dates(text: str, words: Sequence[tuple[str, int, int]]) -> Iterator[str]:
    for word, start, end in words:
        lower = _plain(word)
        if lower in claim_words.DATES:
            yield lower[:3] if _is_calendar(lower) else lower
        elif lower in claim_words.DATES_BY_CAPITAL and (
            (word[0].isupper() and not _begins_sentence(text, start)) or _beside_number(text, start, end)
        ):
            yield lower[:3]


def _is_calendar(word: str) -> bool:
    """Whether the word is the name of a day or month, or its first three letters."""
    return word[:3] in claim_words.CALENDAR and word != "monthly"


def _beside_number(text: str, start: int, end: int) -> bool:
    return (
        text[max(0, start - 4) : start].rstrip(" .,")[-1:].isdigit() or text[end : end + 4].lstrip(" .,")[:1].isdigit()
    )


def _negated(words: Sequence[str]) -> Iterator[str]:
    """Each negation with the word it applies to ("a, not b" differs from "b, not a"), and each restriction."""
    for place, word in enumerate(words):
        if word in claim_words.NEGATIONS:
            following = words[place + 1 : place + 1 + _REACH]
            after = next((one for one in following if one not in STOP_WORDS and one not in claim_words.NEGATIONS), "")
            yield f"not {stem(fold(after))}"
        elif word in claim_words.LIMITS:
            yield stem(fold(word))


def _identifiers(text: str) -> Iterator[str]:
    """Tokens with marks or capitals inside: paths, addresses, options, program names."""
    for chunk in _CHUNK.findall(text):
        bare = chunk.strip("\"'`“”‘’«»()[]{}.,;:!?…*")
        lower = bare.casefold()
        if (
            _IDENTIFIER.search(bare)
            and lower not in claim_words.UNITS
            and not any(character.isdigit() for character in bare)
        ):
            yield lower


def _is_caseless(word: str) -> bool:
    return any(unicodedata.category(character) == "Lo" for character in word)


def _capitals(text: str, words: Sequence[tuple[str, int, int]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The capitalised words in lower case: names, and words that begin a sentence, which may be any word."""
    names: list[str] = []
    openers: list[str] = []
    for word, start, _ in words:
        if not word[0].isupper() or word == "I" or word.startswith("I'"):
            continue
        lower = _plain(word)
        if lower in claim_words.DATES or lower in claim_words.UNITS:
            continue
        opening = _begins_sentence(text, start)
        if lower in STOP_WORDS or lower in claim_words.NEGATIONS or lower in claim_words.NUMBERS:
            if len(word) > 1 or opening:
                continue
            names.append(lower)  # "plan A"
        elif opening and not word[1:].isupper():
            openers.append(lower)
        else:
            names.append(lower)
    return _distinct(names), _distinct(openers)


def _begins_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 16) : start].rstrip(" \t\"'`“‘«([*_")
    return not before or before[-1] in ".!?:;…\n-•|"


def _names_differ(one: Claim, other: Claim) -> bool:
    """Whether one claim has a name that the other lacks, the order of names differs, or the sentences begin with
    different words that occur nowhere in the other text, as names of two people would.
    """
    if not other.held.issuperset(one.names) or not one.held.issuperset(other.names):
        return True
    if not other.held.issuperset(one.openers) and not one.held.issuperset(other.openers):
        return True
    shared = {*one.names, *other.names, *({*one.openers} & {*other.openers})}
    if len(shared) < 2:
        return False
    return [word for word in one.words if word in shared] != [word for word in other.words if word in shared]


def _opposed(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether two opposite words each occur in only one of the texts."""
    if not mine or not theirs:
        return False
    if any(word in claim_words.OPPOSITE_OF and not theirs.isdisjoint(claim_words.OPPOSITE_OF[word]) for word in mine):
        return True
    return _reversed(mine, theirs) or _reversed(theirs, mine)


def _reversed(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether a word of one set is a word of the other with a reversing prefix."""
    turned = [
        word[len(prefix) :]
        for word in some
        if word.startswith(claim_words.REVERSING)
        for prefix in claim_words.REVERSING
        if word.startswith(prefix) and len(word) > len(prefix) + 2
    ]
    return bool(turned) and not {stem(fold(word)) for word in turned}.isdisjoint(stem(fold(word)) for word in others)
