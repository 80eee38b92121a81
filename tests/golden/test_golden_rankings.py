"""Every preset's order of the same candidates, through the engine that ranks them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import pytest
from found import Around, Match, ask, found
from golden_tables import number, table

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import CueFlag, Memory
from remembrancer.domain.recall import Recall, Stage
from remembrancer.domain.scope import Scope
from remembrancer.domain.strength import Strength, Usage
from remembrancer.language.lexical import lexical_query
from remembrancer.policies.ranking.late_interaction import packed
from remembrancer.ports.embedder import EmbeddedQuestion
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import NOW, HashEmbedder, WordHashEmbedder, a_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

Row = dict[str, str]
QUESTION = "How often did I see deploys of checkout in January?"
BOUND = 8.0
SIGNS = 64
"""Components of the vector of a word."""
ABSOLUTE = 5e-7
"""States are kept as float32."""
PARTS = ("project", "crew", "agent", "session")


class By(StrEnum):
    """The signals available for a question."""

    WORDS_AND_VECTORS_OF_WORDS = "words, vectors and vectors of words"
    WORDS_AND_VECTORS = "words and vectors"
    WORDS = "words alone"


class OneWord(WordHashEmbedder):
    """Gives a question the vector of one word, with equal components."""

    def question_now(self, text: str) -> EmbeddedQuestion:
        word = np.full((1, SIGNS), SIGNS**-0.5, dtype=np.float32)
        return EmbeddedQuestion(self.query_now(text), word, ("checkout",))


def cases_of(name: str, file: str, with_vectors: By) -> list[pytest.ParameterSet]:
    """A table's rows, grouped by ranking and by whether there are vectors."""
    parts = groupby(table(file), key=lambda row: (row["ranking"], row["words_alone"]))
    by = {"no": with_vectors, "yes": By.WORDS}
    return [
        pytest.param(name, ranking, by[lexical_only], list(rows), id=f"{name} {ranking} by {by[lexical_only]}")
        for (ranking, lexical_only), rows in parts
    ]


CASES = [
    *(case for name in PRESETS for case in cases_of(name, f"ranking_{name}", By.WORDS_AND_VECTORS_OF_WORDS)),
    *cases_of("default", "ranking_default_unread", By.WORDS_AND_VECTORS),
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


@cache
def around() -> tuple[Around, ...]:
    return tuple(
        Around(
            nearby=number(row["nearby"]),
            session=number(row["session"]),
            spoken=row["spoken"] == "1",
            marks=CueFlag(sum(CueFlag[mark.upper()] for mark in row["marks"].split())),
            stream=int(row["stream"] or -1),
        )
        for row in table("candidates")
    )


@cache
def words() -> dict[UUID, NDArray[np.uint8]]:
    """Of each candidate that has any the signs of one word, of which so many are as the question's."""
    return {
        UUID(int=int(row["id"])): packed(np.where(np.arange(SIGNS) < int(row["signs"]), 1, -1)[np.newaxis])
        for row in table("candidates")
        if row["signs"]
    }


def searched(by: By) -> Candidates:
    kept = list(zip(*candidates(), around(), strict=True))
    if by is By.WORDS:
        kept = [
            (memory, replace(match, similarity=float("nan"), dense=False), one)
            for memory, match, one in kept
            if match.lexical
        ]
    memories, matches, beside = zip(*kept, strict=True)
    return found(memories, matches, bound=BOUND, around=beside, idf=[1.0] * len(lexical_query(QUESTION).terms))


def answer(name: str, ranking: str, by: By, *, limit: int = 50) -> Recall:
    return ask(
        PRESETS[name],
        candidates()[0],
        searched(by),
        text=QUESTION,
        ranking=ranking or None,
        embedder=OneWord() if by is By.WORDS_AND_VECTORS_OF_WORDS else HashEmbedder(),
        words=words(),
        with_vector=by is not By.WORDS,
        limit=limit,
    )


@pytest.mark.parametrize(("name", "ranking", "by", "rows"), CASES)
def test_the_order_and_the_scores_are_as_worked_out(name: str, ranking: str, by: By, rows: list[Row]) -> None:
    hits = answer(name, ranking, by)
    assert [hit.memory.title for hit in hits] == [row["name"] for row in rows]
    assert [hit.score for hit in hits] == pytest.approx([number(row["score"]) for row in rows], abs=ABSOLUTE)


@pytest.mark.parametrize(("name", "ranking", "by", "rows"), CASES)
def test_a_smaller_limit_gives_the_beginning(name: str, ranking: str, by: By, rows: list[Row]) -> None:
    for limit in (1, 5, 12):
        hits = answer(name, ranking, by, limit=limit)
        assert [hit.memory.title for hit in hits] == [row["name"] for row in rows[:limit]]


@pytest.mark.parametrize(("name", "ranking", "by", "rows"), CASES)
def test_a_candidate_that_is_not_ranked_is_below_the_relevance_threshold(
    name: str, ranking: str, by: By, rows: list[Row]
) -> None:
    hits = answer(name, ranking, by)
    outcomes = hits.trace.outcomes
    assert {outcome.stage for key, outcome in outcomes.items() if key not in {hit.id for hit in hits}} <= {
        Stage.THRESHOLD
    }
    assert len(outcomes) == len(searched(by).ids)


@pytest.mark.parametrize(("name", "ranking", "by", "rows"), CASES)
def test_a_degraded_answer_says_so(name: str, ranking: str, by: By, rows: list[Row]) -> None:
    assert answer(name, ranking, by).degraded == ({"dense": "none here"} if by is By.WORDS else {})


def test_every_ranking_of_every_preset_has_its_tables() -> None:
    known = {
        (name, ranking, by)
        for name, preset in PRESETS.items()
        for ranking in ("", *preset.rankings)
        for by in By
        if by is not By.WORDS_AND_VECTORS or preset.ranking_named(ranking or None).first_stage is not None
    }
    assert {case.values[:3] for case in CASES} == known
