"""The names that texts mention, of people, places and things, by their capitals; and identifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from remembrancer.language.english.dates import MONTHS, WEEKDAYS
from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.patterns import pattern

MAX_READ_CHARS: Final = 4_000
"""The characters that are read of one text, from its beginning."""

_IDENTIFIER: Final = (
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an address
    r"|(?<![\w/])(?:[\w.-]+/)+[\w-]+\.[A-Za-z]\w{0,4}\b"  # the path of a file
    r"|\b[A-Z]{2,}[-_]\d+\b"  # PX_3071, HH-4093
    r"|\b[^\W_]+(?:_[^\W_]+)+\b"  # slot_holds, USE_REDIS_THUMBS
    r"|\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b"  # SlotHoldMissing
    r"|(?<!\w)#\d{2,}\b"  # the number of an issue
)
_WORD: Final = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"
_TOKEN: Final = pattern(rf"(?P<identifier>{_IDENTIFIER})|(?P<word>{_WORD})|(?P<mark>[^\s\w]+|\w+)")
_CONTINUES: Final = frozenset(",@/&+-–(")
"""Marks after which a sentence goes on. After any other one, a capital may be that of a beginning."""
_NO_NAMES: Final = STOP_WORDS | {word.lower() for word in (*MONTHS, *WEEKDAYS)}


class _Word(NamedTuple):
    """A word or an identifier. `begins`: it may stand at the beginning of a sentence. `follows`: a single blank, and
    nothing else, stands between it and the word before.
    """

    text: str
    is_identifier: bool
    begins: bool
    follows: bool

    @property
    def has_capital(self) -> bool:
        return self.text[0].isupper() and not self.text.isupper()


def names_in(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The names that each text mentions, in order, each once.

    A name is an identifier (an address, a path, a word with an underscore or inner capitals, a number with a prefix),
    or a run of words with capitals within a sentence. Whether the capital at the beginning of a sentence belongs to a
    name is told by the other texts: some of them must have the word with a capital within a sentence, and they must
    have it more often with one than without. Words in capitals only are no names, because people also shout in them.
    Days and months are times, not names. Texts in scripts without capitals have identifiers only.
    """
    read = [list(_words(text[:MAX_READ_CHARS])) for text in texts]
    capital, small = Counter[str](), Counter[str]()
    for word in (word for words in read for word in words if not word.is_identifier):
        if not word.has_capital:
            small[word.text] += 1
        elif not word.begins:
            capital[word.text] += 1
    known = {
        word for word, count in capital.items() if 2 * count >= small[word.lower()] and word.lower() not in _NO_NAMES
    }
    return [tuple(dict.fromkeys(_names(words, known))) for words in read]


def _words(text: str) -> Iterator[_Word]:
    begins, end = True, -1
    for found in _TOKEN.finditer(text):
        piece = found[0]
        if found["mark"] is not None:
            begins = not (piece[-1].isalnum() or piece[-1] in _CONTINUES)
            continue
        begins = begins or "\n" in text[max(end, 0) : found.start()]
        text_of = piece.removesuffix("'s").removesuffix("’s") if found["word"] else piece
        yield _Word(text_of, found["identifier"] is not None, begins, text[end : found.start()] == " ")
        begins, end = False, found.end() if text_of == piece else -1


def _names(words: Sequence[_Word], known: set[str]) -> Iterator[str]:
    run: list[str] = []
    for word in words:
        is_name = not word.is_identifier and word.text in known
        if run and not (is_name and word.follows):
            yield " ".join(run)
            run = []
        if word.is_identifier:
            yield word.text
        elif is_name:
            run.append(word.text)
    if run:
        yield " ".join(run)
