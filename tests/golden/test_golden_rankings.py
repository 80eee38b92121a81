"""Every preset's order of the same candidates, through the engine that ranks them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from itertools import groupby
from uuid import UUID

import pytest
from found import Match, ask, found
from golden_tables import number, table

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import Memory
from remembrancer.domain.recall import Recall, Stage
from remembrancer.domain.scope import Scope
from remembrancer.domain.strength import Strength, Usage
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import NOW, a_memory

Row = dict[str, str]
BOUND = 8.0
ABSOLUTE = 5e-7
"""States are kept as float32."""
PARTS = ("project", "crew", "agent", "session")
CASES = [
    pytest.param(name, ranking, words_alone == "yes", list(rows), id=f"{name} {ranking} words alone: {words_alone}")
    for name in PRESETS
    for (ranking, words_alone), rows in groupby(
        table(f"ranking_{name}"), key=lambda row: (row["ranking"], row["words_alone"])
    )
]


def ago(days: str) -> datetime | None:
    return NOW - timedelta(days=float(days)) if days else None


@cache
def candidates() -> tuple[tuple[Memory, ...], tuple[Match, ...]]:
    rows = table("candidates")
    return tuple(map(_memory, rows)), tuple(map(_match, rows))


def _memory(row: Row) -> Memory:
    scope = Scope(workspace="acme").narrowed(**{PARTS[int(row["level"]) - 1]: "x"} if row["level"] != "0" else {})
    strength = Strength(
        importance=number(row["importance"]),
        importance_floor=number(row["importance_floor"]),
        priority=int(row["priority"]),
        confidence=number(row["confidence"]),
        stability=number(row["stability"]),
        last_reviewed_at=ago(row["reviewed"]),
        usage=Usage(
            retrieved=int(row["retrieved"]),
            shown=int(row["shown"]),
            used=int(row["used"]),
            last_retrieved_at=ago(row["retrieved_days"]),
            last_shown_at=ago(row["shown_days"]),
            last_used_at=ago(row["used_days"]),
        ),
    )
    occurred = ago(row["days"])
    assert occurred is not None
    memory = a_memory(row["text"], memory_id=UUID(int=int(row["id"])), scope=scope, at=occurred)
    return replace(memory, title=row["name"], strength=strength)


def _match(row: Row) -> Match:
    return Match(
        similarity=number(row["similarity"]),
        bm25=number(row["bm25"]),
        coverage=number(row["coverage"]),
        dense="dense" in row["leg"],
        lexical="lexical" in row["leg"],
    )


def searched(*, words_alone: bool) -> Candidates:
    memories, matches = candidates()
    if not words_alone:
        return found(memories, matches, bound=BOUND)
    worded = [
        (memory, replace(match, similarity=float("nan"), dense=False))
        for memory, match in zip(memories, matches, strict=True)
        if match.lexical
    ]
    return found([memory for memory, _ in worded], [match for _, match in worded], bound=BOUND)


def answer(name: str, ranking: str, *, words_alone: bool, limit: int = 50) -> Recall:
    return ask(
        PRESETS[name],
        candidates()[0],
        searched(words_alone=words_alone),
        ranking=ranking or None,
        with_vector=not words_alone,
        limit=limit,
    )


@pytest.mark.parametrize(("name", "ranking", "words_alone", "rows"), CASES)
def test_the_order_and_the_scores_are_as_worked_out(
    name: str, ranking: str, words_alone: bool, rows: list[Row]
) -> None:
    hits = answer(name, ranking, words_alone=words_alone)
    assert [hit.memory.title for hit in hits] == [row["name"] for row in rows]
    assert [hit.score for hit in hits] == pytest.approx([number(row["score"]) for row in rows], abs=ABSOLUTE)


@pytest.mark.parametrize(("name", "ranking", "words_alone", "rows"), CASES)
def test_a_smaller_limit_gives_the_beginning(name: str, ranking: str, words_alone: bool, rows: list[Row]) -> None:
    for limit in (1, 5, 12):
        hits = answer(name, ranking, words_alone=words_alone, limit=limit)
        assert [hit.memory.title for hit in hits] == [row["name"] for row in rows[:limit]]


@pytest.mark.parametrize(("name", "ranking", "words_alone", "rows"), CASES)
def test_what_is_not_in_the_order_fell_below_the_floor(
    name: str, ranking: str, words_alone: bool, rows: list[Row]
) -> None:
    hits = answer(name, ranking, words_alone=words_alone)
    fates = hits.trace.fates
    assert {fate.stage for key, fate in fates.items() if key not in {hit.id for hit in hits}} <= {Stage.FLOOR}
    assert len(fates) == len(searched(words_alone=words_alone).ids)


@pytest.mark.parametrize(("name", "ranking", "words_alone", "rows"), CASES)
def test_a_degraded_answer_says_so(name: str, ranking: str, words_alone: bool, rows: list[Row]) -> None:
    hits = answer(name, ranking, words_alone=words_alone)
    assert hits.degraded == ({"dense": "none here"} if words_alone else {})


def test_every_ranking_of_every_preset_has_its_table() -> None:
    known = {
        (name, ranking, words_alone)
        for name, preset in PRESETS.items()
        for ranking in ("", *preset.rankings)
        for words_alone in (False, True)
    }
    assert {case.values[:3] for case in CASES} == known
