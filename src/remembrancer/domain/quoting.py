"""Finding lines of logs that quote erased text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from remembrancer.domain.erasure import ERASED

LEAST_QUOTED_CHARS: Final = 12
"""A shorter text inside a line is not taken for a quotation."""


def plain(text: str) -> str:
    """The text with single blanks between its words: a quotation may be wrapped differently."""
    return " ".join(text.split())


def quoter(
    texts: Iterable[str], words: Collection[str], tokens_of: Callable[[str], Iterable[str]]
) -> Callable[[str], bool]:
    """A function that tells whether a line of a log quotes one of the erased `texts`.

    A line quotes a text where it equals it, contains it, or is contained in it (both of at least `LEAST_QUOTED_CHARS`
    characters), or where `tokens_of(line)` holds one of `words`, the tokens that occur in erased texts alone.
    """
    gone = {plain(text) for text in texts}
    long = [text for text in gone if len(text) >= LEAST_QUOTED_CHARS]
    together = "\0".join(long)
    alone = frozenset(words)

    def quotes(line: str) -> bool:
        said = plain(line)
        if not said or said == ERASED:
            return False
        if said in gone or not alone.isdisjoint(tokens_of(said)):
            return True
        return len(said) >= LEAST_QUOTED_CHARS and (said in together or any(text in said for text in long))

    return quotes
