"""The lexical score of journal entries. Their index only tells which entries contain a word.

The score is the sum of the weights of the entry's words: BM25 with k1 = 0. Repeats and the length of the entry do not
count.
"""

from __future__ import annotations

import math
from typing import Final

UNIT: Final = 1_000_000
"""Weights are integers, in millionths, so that the sum does not depend on the order of the words."""


def weight(texts: int, holding: int) -> int:
    """The weight of a word that occurs in `holding` of `texts` texts: its idf in millionths.

    Source: Lucene's idf, ln(1 + (texts - holding + 0.5) / (holding + 0.5)), which is never negative.

    >>> weight(10, 1), weight(10, 10)
    (1992430, 46520)
    """
    return round(UNIT * math.log1p((texts - holding + 0.5) / (holding + 0.5)))
