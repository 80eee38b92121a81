"""The formula of each system's text, computed through its preset."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from found import Match, ask, found
from golden_tables import cells, column, every_row, number, numbers, table

from remembrancer.domain.event import Severity
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Scope
from remembrancer.domain.strength import Exposure, Strength, Usage
from remembrancer.policies.ranking import signals
from remembrancer.policies.ranking.scoring import Product, evaluate
from remembrancer.policies.ranking.signals import EvaluationTime
from remembrancer.ports.states import states_of
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.presets.engram import ENGRAM
from remembrancer.presets.mnemosyne import MNEMOSYNE
from remembrancer.presets.plastmem import PLASTMEM
from remembrancer.presets.spec import Preset
from remembrancer.presets.teaparty import PROMINENCE, TEAPARTY
from remembrancer.testing.doubles import NOW, a_memory

Row = dict[str, str]
RELATIVE = 2e-7
"""States are kept as float32."""
SCOPE = Scope(workspace="acme")


def ago(days: str) -> datetime:
    return NOW - timedelta(days=float(days))


def optional_ago(days: str) -> datetime | None:
    return ago(days) if days else None


def used(exposure: Exposure, count: str, days: str = "") -> Usage:
    times = {f"last_{exposure}_at": optional_ago(days)}
    return replace(Usage(), **{exposure.value: int(count)}, **times)


def a(row: Row, strength: Strength, *, days: str) -> Memory:
    return replace(a_memory(str(row), at=ago(days), scope=SCOPE), strength=strength)


def fading(preset: Preset, *memories: Memory) -> list[float]:
    table = signals.compute_states(states_of(memories), EvaluationTime(NOW, preset.dynamics))
    return evaluate(preset.fading.strength, table, len(memories)).values.tolist()


def score(preset: Preset, memory: Memory, match: Match, *, bound: float = 8.0) -> float:
    """Its score beside a stranger that has a vector: there is meaning to compare, also where this one has none."""
    stranger = a_memory("a stranger", scope=SCOPE)
    candidates = found([memory, stranger], [match, Match(similarity=-1.0)], bound=bound)
    answer = ask(preset, [memory, stranger], candidates, limit=2)
    return next(hit.score for hit in answer if hit.id == memory.id)


# ── Crewship ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def crewship_memories() -> list[Memory]:
    return [
        a(
            row,
            Strength(
                importance=number(row["base"]),
                importance_floor=number(row["floor"]),
                usage=used(Exposure.SHOWN, row["references"]),
            ),
            days=row["days"],
        )
        for row in table("importance_now_crewship")
    ]


def test_crewship_s_importance_fades_and_lifts_as_worked_out() -> None:
    expected = column(table("importance_now_crewship"), "expected")
    np.testing.assert_allclose(fading(CREWSHIP, *crewship_memories()), expected, rtol=RELATIVE, atol=1e-9)


def test_crewship_ranks_by_cosine_times_that_importance() -> None:
    for row, memory in list(zip(table("importance_now_crewship"), crewship_memories(), strict=True))[::7]:
        expected = 0.75 * number(row["expected"])
        assert score(CREWSHIP, memory, Match(similarity=0.75)) == pytest.approx(expected, rel=RELATIVE)


def test_without_an_importance_floor_after_decay_a_pinned_entry_would_fade_as_in_the_original() -> None:
    rows = {(row["base"], row["days"], row["references"]): row for row in table("importance_now_crewship")}
    permanent = rows["0.95", "365", "0"]
    assert (number(permanent["expected"]), number(permanent["original"])) == (0.95, 0.095)


# ── TeaParty ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_teaparty_s_prominence_is_as_worked_out() -> None:
    rows = table("prominence_teaparty")
    memories = [
        a(
            row,
            Strength(
                importance=number(row["importance"]), usage=used(Exposure.RETRIEVED, row["reinforcements"], row["age"])
            ),
            # Older than its last retrieval, from which the age counts.
            days=str(float(row["age"]) + 1000),
        )
        for row in rows
    ]
    known = signals.compute_states(states_of(memories), EvaluationTime(NOW, TEAPARTY.dynamics))
    found_values = evaluate(Product(PROMINENCE), known, len(memories)).values
    np.testing.assert_allclose(found_values, column(rows, "expected"), rtol=RELATIVE)


@every_row(table("blend_teaparty"), cells)
def test_teaparty_blends_meaning_and_words_as_worked_out(row: Row) -> None:
    memories = [
        replace(a_memory(f"{place} alpha{place}", at=NOW, scope=SCOPE), strength=Strength(importance=1.0))
        for place in range(len(row["bm25"].split()))
    ]
    similarity, bm25 = numbers(row["similarity"]).tolist(), numbers(row["bm25"]).tolist()
    matches = [Match(similarity=near, bm25=words) for near, words in zip(similarity, bm25, strict=True)]
    with_vector = not np.isnan(similarity).all()
    undiversified = replace(TEAPARTY, ranking=replace(TEAPARTY.ranking, diversity=None))
    answer = ask(undiversified, memories, found(memories, matches), with_vector=with_vector)
    scores = {hit.memory.text: hit.score / (1 - hit.score) for hit in answer}
    assert [scores[memory.text] for memory in memories] == pytest.approx(numbers(row["expected"]), rel=1e-6)


# ── PlastMem ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_row(table("score_plastmem"), cells)
def test_plastmem_ranks_by_both_searches_and_retrievability(row: Row) -> None:
    """The row is one of a hundred others that rank before it."""
    strength = Strength(stability=number(row["stability"]), last_reviewed_at=optional_ago(row["reviewed"]))
    memory = a(row, strength, days=row["days"])
    lexical, dense = (int(row[leg] or 0) for leg in ("lexical_rank", "dense_rank"))
    others = [a_memory(f"other {place}", scope=SCOPE) for place in range(1, 101)]
    matches = [
        Match(similarity=1 - place / 200 + (0.0025 if place < dense else -0.0025), bm25=8 - place / 20)
        for place in range(1, 101)
    ]
    mine = Match(
        similarity=1 - (dense - 0.5) / 200 if dense else float("nan"),
        bm25=8 - (lexical - 0.5) / 20 if lexical else 0.0,
    )
    everything = replace(PLASTMEM, limits=replace(PLASTMEM.limits, usual=101))
    answer = ask(everything, [memory, *others], found([memory, *others], [mine, *matches]), limit=101)
    hit = next(hit for hit in answer if hit.id == memory.id)
    assert hit.explanation.ranks == {leg: rank for leg, rank in (("dense", dense), ("lexical", lexical)) if rank}
    assert hit.score == pytest.approx(number(row["expected"]), rel=1e-6)
    assert hit.score == pytest.approx(number(row["original"]) * 61 / 2, rel=1e-6)


# ── Engram ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_row(table("score_engram"), cells)
def test_engram_s_activation_and_score_are_as_worked_out(row: Row) -> None:
    strength = Strength(
        priority=int(row["priority"]),
        confidence=number(row["confidence"]),
        usage=used(Exposure.RETRIEVED, row["accesses"], row["accessed"]),
    )
    memory = a(row, strength, days=row["born"])
    assert fading(ENGRAM, memory) == pytest.approx([number(row["activation"])], rel=1e-9, abs=1e-300)
    match = Match(similarity=number(row["similarity"]), bm25=1.0)
    assert score(ENGRAM, memory, match) == pytest.approx(number(row["expected"]), rel=RELATIVE)


def test_engram_s_old_near_match_comes_before_a_new_stranger_as_the_original_s_did_not() -> None:
    rows = {(row["similarity"], row["born"], row["accesses"]): row for row in table("score_engram")}
    old, new = rows["0.9", "365", "0"], rows["0.5", "0", "0"]
    assert number(old["original"]) < number(new["original"])
    assert number(old["expected"]) > number(new["expected"])


# ── Mnemosyne ────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_row(table("score_mnemosyne"), cells)
def test_mnemosyne_s_score_is_as_worked_out(row: Row) -> None:
    memory = a(row, Strength(importance=1.0), days=str(float(row["hours"]) / 24))
    match = Match(similarity=number(row["similarity"]), bm25=8 * number(row["text"]), dense=True)
    assert score(MNEMOSYNE, memory, match) == pytest.approx(number(row["expected"]), rel=RELATIVE)


# ── what the presets take from their texts ───────────────────────────────────────────────────────────────────────────


def test_each_preset_counts_the_exposures_that_its_text_counts() -> None:
    assert {name: preset.dynamics.counted for name, preset in PRESETS.items()} == {
        "default": Exposure.USED,
        "crewship": Exposure.SHOWN,
        "teaparty": Exposure.RETRIEVED,
        "plastmem": Exposure.RETRIEVED,
        "engram": Exposure.RETRIEVED,
        "mnemosyne": Exposure.RETRIEVED,
    }


@pytest.mark.parametrize("severity", list(Severity))
def test_only_crewship_and_the_default_grade_events_by_severity(severity: Severity) -> None:
    graded = {name for name, preset in PRESETS.items() if severity in preset.formation.importance.by_severity}
    assert graded == (set[str]() if severity is Severity.INFO else {"crewship", "default"})
