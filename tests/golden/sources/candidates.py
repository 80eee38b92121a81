"""The candidates that every preset ranks, with all that a score may read of them.

Times are days before the question, empty where it never happened; `level` is how narrow the row's scope is, 0 to 4;
`similarity` is empty where there is no vector. A rank in a leg follows from the numbers: by falling value, equal ones
sharing the best. `leg` says which legs brought the row: a row may have a cosine that the dense leg had no room for.

Around a row: `nearby`, the share of the question's idf that only the turns beside it hold; `session`, the greatest BM25
of its session; `spoken`, 1 where one of those asked about speaks; `marks`, what it holds of what questions ask for.
`signs`: how many of the 64 signs of its one word are those of the question's one word; empty where no vectors of words
are kept. `stream`: of which session it is a turn; empty for none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from decimal import Decimal
from itertools import pairwise

from plain import exact, table

BOUND = Decimal(8)
"""What BM25 could reach at most for this question."""
SIGNS = 64
"""Components of the vector of a word."""


@dataclass(frozen=True)
class Candidate:
    name: str
    id: int
    text: str
    similarity: str
    bm25: str
    coverage: str
    leg: str = "dense lexical"
    days: str = "60"
    importance: str = "0.5"
    importance_floor: str = "0"
    confidence: str = "0.5"
    priority: str = "5"
    stability: str = "2.3065"
    reviewed: str = ""
    level: str = "3"
    retrieved: str = "0"
    retrieved_days: str = ""
    shown: str = "0"
    shown_days: str = ""
    used: str = "0"
    used_days: str = ""
    nearby: str = "0"
    session: str = "0"
    spoken: str = "0"
    marks: str = ""
    signs: str = ""
    stream: str = ""

    @property
    def dense(self) -> bool:
        return "dense" in self.leg

    @property
    def lexical(self) -> bool:
        return "lexical" in self.leg

    def since(self, *moments: str) -> Decimal:
        """Days since the last of what happened, the birth included; never below 0."""
        return max(Decimal(0), min(exact(moment) for moment in (self.days, *moments) if moment))


CANDIDATES = (
    Candidate(
        "both",
        31,
        "deploy of checkout failed with too little memory",
        "0.8125",
        "5",
        "0.75",
        days="3",
        level="2",
        nearby="0.125",
        session="6.5",
        spoken="1",
        marks="number",
        signs="56",
        stream="1",
    ),
    Candidate(
        "meaning alone",
        22,
        "the release ran out of room",
        "0.9375",
        "0",
        "0",
        "dense",
        days="10",
        importance="0.625",
        level="1",
        nearby="0.75",
        session="6.5",
        signs="60",
        stream="2",
    ),
    Candidate(
        "words alone",
        13,
        "memory of the checkout deploy",
        "0.125",
        "6.5",
        "0.9375",
        "lexical",
        days="20",
        session="6.5",
        marks="question",
        signs="40",
        stream="1",
    ),
    Candidate(
        "no vector yet",
        4,
        "checkout deploy just now",
        "",
        "5.5",
        "0.8125",
        "lexical",
        days="0.25",
        level="0",
        nearby="0.0625",
        session="5.5",
        spoken="1",
        marks="time number name",
    ),
    Candidate(
        "permanent",
        35,
        "never deploy checkout on a Friday",
        "0.5",
        "2",
        "0.3125",
        days="400",
        importance="0.95",
        importance_floor="0.95",
        confidence="0.75",
        priority="10",
        level="2",
        nearby="0.25",
        session="2",
        marks="time",
        signs="44",
    ),
    Candidate(
        "popular",
        26,
        "the daily greeting of the deploy bot",
        "0.375",
        "1",
        "0.125",
        days="30",
        confidence="1",
        retrieved="1000000",
        retrieved_days="1",
        shown="1000000",
        shown_days="1",
        used="1000000",
        used_days="1",
        session="1",
        spoken="1",
        marks="question",
        signs="36",
    ),
    Candidate(
        "ancient",
        17,
        "how the first checkout was deployed",
        "0.875",
        "4",
        "0.625",
        days="36525",
        importance="1",
        stability="36500",
        nearby="0.125",
        session="4",
        spoken="1",
        marks="number name",
        signs="52",
    ),
    Candidate(
        "tied, higher id",
        9,
        "memory limit of checkout raised to four",
        "0.71875",
        "3",
        "0.5",
        nearby="0.25",
        session="3",
        marks="number",
        signs="48",
    ),
    Candidate(
        "tied, lower id",
        8,
        "memory limit of checkout raised to two",
        "0.71875",
        "3",
        "0.5",
        nearby="0.25",
        session="3",
        marks="number",
        signs="48",
    ),
    Candidate(
        "settled, newer",
        30,
        "old note on checkout workers",
        "0.609375",
        "2.75",
        "0.4375",
        days="300",
        session="2.75",
        signs="45",
    ),
    Candidate(
        "settled, older",
        1,
        "old note on checkout queues",
        "0.609375",
        "2.75",
        "0.4375",
        days="500",
        session="2.75",
        signs="45",
    ),
    Candidate(
        "foreseen, nearer",
        2,
        "deploy freeze begins",
        "0.4375",
        "1.5",
        "0.25",
        days="-1",
        session="1.5",
        spoken="1",
        marks="time",
        signs="34",
    ),
    Candidate(
        "foreseen, farther",
        33,
        "deploy freeze ends",
        "0.4375",
        "1.5",
        "0.25",
        days="-2",
        session="1.5",
        spoken="1",
        marks="time",
        signs="34",
    ),
    Candidate(
        "opposite",
        14,
        "checkout is a kind of shop",
        "-0.5",
        "0.5",
        "0.0625",
        days="5",
        session="0.5",
        signs="16",
    ),
    Candidate(
        "fragile",
        25,
        "a checkout password seen once",
        "0.6875",
        "2.5",
        "0.375",
        days="5",
        stability="0.001",
        reviewed="1",
        nearby="0.5",
        session="2.5",
        spoken="1",
        marks="number",
        signs="47",
    ),
    Candidate(
        "worthless",
        6,
        "checkout deploy lorem ipsum",
        "0.75",
        "3.5",
        "0.5625",
        days="45",
        importance="0",
        confidence="0",
        priority="1",
        session="3.5",
        marks="question",
        signs="50",
    ),
    Candidate(
        "reviewed",
        27,
        "checkout deploys need two reviews",
        "0.5625",
        "3.25",
        "0.53125",
        days="200",
        stability="40",
        reviewed="2",
        confidence="0.875",
        priority="8",
        retrieved="3",
        retrieved_days="2",
        shown="7",
        shown_days="150",
        used="1",
        used_days="20",
        level="4",
        nearby="0.125",
        session="3.25",
        marks="number",
        signs="49",
    ),
)


def newest_first(one: Candidate) -> tuple[Decimal, int]:
    return exact(one.days), one.id


def ranks(found: list[Candidate], value: Callable[[Candidate], str]) -> dict[str, int]:
    """Rank from 1 by name: by falling value; equal values share the best rank."""
    return {one.name: 1 + sum(exact(value(other)) > exact(value(one)) for other in found) for one in found}


def dense_ranks() -> dict[str, int]:
    return ranks([one for one in CANDIDATES if one.dense], lambda one: one.similarity)


def lexical_ranks() -> dict[str, int]:
    return ranks([one for one in CANDIDATES if one.lexical], lambda one: one.bm25)


COLUMNS = ("ranking", "words_alone", "rank", "name", "score")


def ranked(
    ranking: str,
    score: Callable[[Candidate], Decimal],
    *,
    words_alone: bool = False,
    keep: Callable[[Candidate], bool] = lambda _: True,
) -> list[dict[str, str]]:
    """The kept candidates in order: by falling score, ties newest first, then by id."""
    found = [one for one in CANDIDATES if (one.lexical or not words_alone) and keep(one)]
    scores = {one.name: score(one) for one in found}
    found.sort(key=lambda one: (-scores[one.name], *newest_first(one)))
    return placed(ranking, [(one.name, scores[one.name]) for one in found], words_alone=words_alone)


def placed(ranking: str, order: list[tuple[str, Decimal]], *, words_alone: bool) -> list[dict[str, str]]:
    """Rows of a ranking table. Scores are equal to a double, or further apart than the float32 of a state can blur."""
    for (_, one), (_, other) in pairwise(order):
        assert not Decimal("1e-16") < one - other < Decimal("1e-6"), (ranking, one, other)
    return [
        {
            "ranking": ranking,
            "words_alone": "yes" if words_alone else "no",
            "rank": str(rank),
            "name": name,
            "score": f"{score:.12f}",
        }
        for rank, (name, score) in enumerate(order, start=1)
    ]


if __name__ == "__main__":
    names = [field.name for field in fields(Candidate)]
    table(names, (dict(zip(names, map(str, astuple(one)), strict=True)) for one in CANDIDATES))
