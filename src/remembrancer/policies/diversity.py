"""Not saying the same thing twice in one answer."""

from __future__ import annotations


def same_words(text: str) -> str:
    """Equal for texts that say the same word for word, case and blanks apart.

    Only the same words count as the same: texts that differ in a number or a name are different memories.
    """
    return " ".join(text.casefold().split())
