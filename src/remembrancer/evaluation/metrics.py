"""Retrieval metrics for one question.

`ranked` lists item ids, best first; `gold` holds the ids that answer. If an item is ranked twice, the repeat takes up a
rank and gains nothing. A list shorter than k is used as it is. Every metric lies in [0, 1], and raises InvalidInput for
an empty `gold` or a k below 1.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput

DEPTHS: Final = (5, 10, 20)
METRICS: Final = (*(f"{name}@{k}" for name in ("recall", "any", "all", "ndcg") for k in DEPTHS), "mrr")
"""The metric names that `measure` returns, in its order."""

MAX_K: Final = 1_000_000


def any_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Success at k: 1 if the first k hold at least one of `gold`, else 0. Source: "success@k", TREC; also called "hit
    rate".

    >>> any_at(["a", "b", "c"], {"c", "x"}, 3)
    1.0
    """
    return float(bool(_found(ranked, gold, k)))


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Complete recall at k: 1 if the first k hold all of `gold`, else 0; always 0 when `gold` has more than k items.

    Source: LongMemEval (Wu et al., ICLR 2025), "recall_all@k".

    >>> all_at(["a", "b", "c"], {"c", "x"}, 3)
    0.0
    """
    return float(len(_found(ranked, gold, k)) == len(set(gold)))


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Recall at k: |gold ∩ first k| / |gold|. Source: Manning, Raghavan, Schütze: Introduction to Information
    Retrieval, §8.4.

    >>> recall_at(["a", "b", "c"], {"c", "x"}, 3)
    0.5
    """
    return len(_found(ranked, gold, k)) / len(set(gold))


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain of the first k: gains 0 or 1, discount log2(rank + 1).

    The ideal list has min(k, |gold|) gains. Source: Järvelin and Kekäläinen, ACM TOIS 20(4), 2002.

    >>> round(ndcg_at(["a", "b", "c"], {"a", "c"}, 3), 4)
    0.9197
    """
    gained = math.fsum(1 / math.log2(rank + 1) for rank in _found(ranked, gold, k))
    return gained / math.fsum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """The reciprocal rank: 1 / rank of the first gold item in the whole list, 0 if there is none; its mean over
    questions is MRR.

    Source: Voorhees, TREC-8 question answering track, 1999.

    >>> reciprocal_rank(["a", "b", "c"], {"b", "c"})
    0.5
    """
    return 1 / min(_found(ranked, gold, MAX_K), default=math.inf)


def gold_ranks(ranked: Sequence[str], gold: Sequence[str]) -> tuple[int | None, ...]:
    """The rank, from 1, of each gold item; None for an item that is not in the list.

    >>> gold_ranks(["a", "b"], ["b", "x"])
    (2, None)
    """
    return tuple(ranked.index(item) + 1 if item in ranked else None for item in gold)


def fold(ranked: Sequence[str], group_of: Mapping[str, str]) -> list[str]:
    """Ranked items as ranked groups: each group has the rank of its best item.

    >>> fold(["t3", "t1", "t2"], {"t1": "s1", "t2": "s1", "t3": "s2"})
    ['s2', 's1']
    """
    return list(dict.fromkeys(group_of[item] for item in ranked))


def measure(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Every metric of METRICS for one question, in that order."""
    of_name = {"recall": recall_at, "any": any_at, "all": all_at, "ndcg": ndcg_at}
    values = {f"{name}@{k}": metric(ranked, gold, k) for name, metric in of_name.items() for k in DEPTHS}
    return {**values, "mrr": reciprocal_rank(ranked, gold)}


def _found(ranked: Sequence[str], gold: Collection[str], k: int) -> list[int]:
    """The ranks, from 1, of the distinct gold items in the first k."""
    if not gold:
        raise InvalidInput("gold", list(gold), "at least one item to be found")
    validation.whole("k", k, 1, MAX_K)
    missing = set(gold)
    ranks: list[int] = []
    for rank, item in enumerate(ranked[:k], start=1):
        if item in missing:
            missing.remove(item)
            ranks.append(rank)
    return ranks
