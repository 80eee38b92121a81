"""Not saying the same thing twice in one answer."""

from __future__ import annotations


def same_words(heading: str, title: str | None, text: str) -> str:
    """Equal for memories that say the same word for word, case and blanks apart, said by the same person on one day.

    Only the same words count as the same: what differs in a number or a name, be it in the title or in who says it,
    are different memories.
    """
    return "\n".join(" ".join(part.casefold().split()) for part in (heading, title or "", text))
