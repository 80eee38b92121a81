"""Not saying the same thing twice in one answer."""

from __future__ import annotations

from collections.abc import Sequence


def repeats(texts: Sequence[str]) -> dict[int, int]:
    """Texts that say word for word what an earlier one says (case and blanks apart): index → index of the first.

    Only the same words count as the same: texts that differ in a number or a name are different memories.
    """
    first: dict[str, int] = {}
    repeated: dict[int, int] = {}
    for index, text in enumerate(texts):
        words = " ".join(text.casefold().split())
        if words in first:
            repeated[index] = first[words]
        else:
            first[words] = index
    return repeated
