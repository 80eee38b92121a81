"""A lexical score for entries of the journal, whose index knows which words an entry has, and nothing else of it.

An entry scores the sum of the weights of its words: BM25 with k1 = 0. A word counts once however often an entry has it,
and long entries count as short ones.
"""

from __future__ import annotations

import math
from typing import Final

UNIT: Final = 1_000_000
"""Weights are whole millionths, so that the same words always have exactly the same sum."""


def weight(texts: int, holding: int) -> int:
    """The idf of a word that `holding` of `texts` texts have, in millionths: Lucene's, which is never negative,
    ln(1 + (texts - holding + 0.5) / (holding + 0.5)).

    >>> weight(10, 1), weight(10, 10)
    (1992430, 46520)
    """
    return round(UNIT * math.log1p((texts - holding + 0.5) / (holding + 0.5)))
