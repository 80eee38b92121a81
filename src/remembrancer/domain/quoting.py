"""Whether a line of a log quotes a text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from remembrancer.domain.erasure import ERASED

LEAST_QUOTED_CHARS: Final = 12
"""What is shorter is not taken for a quotation where it stands inside something else."""


def plain(text: str) -> str:
    """The text with its words one blank apart: a quotation may be broken elsewhere."""
    return " ".join(text.split())


def quoter(
    texts: Iterable[str], words: Collection[str], tokens_of: Callable[[str], Iterable[str]]
) -> Callable[[str], bool]:
    """Whether a line of a log tells of texts that are gone: it is one of them, holds one or is a part of one (either of
    at least `LEAST_QUOTED_CHARS`), or has one of the `words` that nothing else has, as `tokens_of` makes them.
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
