"""The parts of the resident index, each compared with a plain implementation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from remembrancer.errors import EmbedderMismatch
from remembrancer.index.context import RULES
from remembrancer.index.growing import GrowingArray
from remembrancer.index.order import best, ordered
from remembrancer.index.postings import BM25, Postings
from remembrancer.index.vectors import VectorTable
from remembrancer.index.workspace import LIKELY, LIKELY_SHARE, SCANNED
from remembrancer.ports.changes import packed_terms, term_hash, unpacked_terms
from remembrancer.ports.index import Bm25, ContextRules

WORDS = ("kestrel", "owl", "barn", "roof", "nest")
texts = st.lists(st.sampled_from(WORDS), max_size=8)
batches = st.lists(st.lists(texts, min_size=1, max_size=5), min_size=1, max_size=6)

# ── what is declared ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_numbers_of_the_lexical_score_are_those_that_were_measured() -> None:
    assert Bm25(k1=0.9, b=0.4, background=100) == BM25


def test_context_reaches_two_brief_turns_within_an_hour() -> None:
    assert ContextRules(gap=timedelta(hours=1), next_but_one=0.75, brief_terms=40, most_holding=65_536) == RULES


# ── postings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def filled(given_batches: Sequence[Sequence[Sequence[str]]]) -> Postings:
    postings = Postings()
    for batch in given_batches:
        postings.extend([packed_terms(text) for text in batch], [len(text) for text in batch])
    return postings


def plain_bm25(
    cues: Sequence[Sequence[str]], visible: Sequence[bool], question: Sequence[str]
) -> tuple[list[float], list[float], float]:
    """BM25 and coverage of each cue, and the bound, by their definition: only visible cues count."""
    seen = [text for text, shown in zip(cues, visible, strict=True) if shown]
    if not seen:
        return [0.0] * len(cues), [0.0] * len(cues), 0.0
    mean = max(sum(map(len, seen)) / len(seen), 1e-9)
    idf: dict[str, float] = {}
    for word in question:
        holding = sum(word in text for text in seen)
        idf[word] = math.log(1 + (len(seen) + BM25.background - holding + 0.5) / (holding + 0.5))
    scores: list[float] = []
    coverage: list[float] = []
    for text, shown in zip(cues, visible, strict=True):
        present = [word for word in question if shown and word in text]
        length = BM25.k1 * (1 - BM25.b + BM25.b * len(text) / mean)
        scores.append(sum(idf[w] * text.count(w) * (BM25.k1 + 1) / (text.count(w) + length) for w in present))
        coverage.append(sum(idf[w] for w in present) / sum(idf.values()) if present else 0.0)
    return scores, coverage, sum(idf.values()) * (BM25.k1 + 1)


@settings(max_examples=200, deadline=None)
@given(batches, st.data())
def test_bm25_equals_its_definition_for_any_visible_cues(
    given_batches: list[list[list[str]]], data: st.DataObject
) -> None:
    cues = [text for batch in given_batches for text in batch]
    visible = data.draw(st.lists(st.booleans(), min_size=len(cues), max_size=len(cues)).filter(any))
    question = data.draw(st.lists(st.sampled_from((*WORDS, "absent")), unique=True, min_size=1))
    scores = filled(given_batches).score([term_hash(word) for word in question], np.array(visible))
    expected = plain_bm25(cues, visible, question)
    np.testing.assert_allclose(scores.bm25, expected[0], rtol=1e-5)
    np.testing.assert_allclose(scores.coverage, expected[1], rtol=1e-5)
    assert scores.bound == pytest.approx(expected[2], rel=1e-6)


@settings(max_examples=100, deadline=None)
@given(batches, st.lists(st.sampled_from(WORDS), unique=True, min_size=1))
def test_no_mask_is_a_mask_of_all(given_batches: list[list[list[str]]], question: list[str]) -> None:
    postings = filled(given_batches)
    hashes = [term_hash(word) for word in question]
    count = sum(map(len, given_batches))
    whole, masked = postings.score(hashes, None), postings.score(hashes, np.ones(count, dtype=np.bool_))
    np.testing.assert_array_equal(whole.bm25, masked.bm25)


@settings(max_examples=100, deadline=None)
@given(batches, st.lists(st.sampled_from(WORDS), unique=True, min_size=1))
def test_no_text_exceeds_the_bound(given_batches: list[list[list[str]]], question: list[str]) -> None:
    scores = filled(given_batches).score([term_hash(word) for word in question], None)
    assert scores.bm25.max() <= scores.bound


@settings(max_examples=50, deadline=None)
@given(batches, st.lists(st.sampled_from(WORDS), unique=True, min_size=1))
def test_scores_do_not_depend_on_how_the_cues_came_in(
    given_batches: list[list[list[str]]], question: list[str]
) -> None:
    hashes = [term_hash(word) for word in question]
    at_once = [[text for batch in given_batches for text in batch]]
    np.testing.assert_array_equal(
        filled(given_batches).score(hashes, None).bm25, filled(at_once).score(hashes, None).bm25
    )


def test_appending_one_by_one_takes_no_more_room_than_at_once() -> None:
    cues = [["kestrel", f"word{n}"] for n in range(1000)]
    assert filled([[cue] for cue in cues]).nbytes < 1.2 * filled([cues]).nbytes


def test_empty_postings_score_nothing() -> None:
    scores = Postings().score([term_hash("kestrel")], None)
    assert (len(scores.bm25), scores.bound) == (0, 0.0)


def test_a_word_that_occurs_more_than_255_times_counts_as_255() -> None:
    often, most = filled([[["kestrel"] * 255]]), filled([[["kestrel"] * 400]])
    hashes = [term_hash("kestrel")]
    assert often.score(hashes, None).bm25[0] == pytest.approx(most.score(hashes, None).bm25[0])


# ── vectors ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def unit_rows(seed: int, count: int, dim: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def errors_of(dim: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Of 2,000 cosines: how far each is off, and how far it may be (Cauchy and Schwarz, half a step a component)."""
    rows, (query,) = unit_rows(dim, 2000, dim), unit_rows(dim + 1, 1, dim)
    table = VectorTable(dim)
    table.extend(rows)
    off = [math.sqrt(dim) * np.abs(vectors).max(axis=-1) / 254 for vectors in (rows, query)]
    return np.abs(table.similarities(query) - rows @ query), off[0] + off[1] + off[0] * off[1]


@pytest.mark.parametrize("dim", [2, 8, 64, 384, 768])
def test_quantised_cosines_stay_within_half_a_step_a_component(dim: int) -> None:
    errors, bounds = errors_of(dim)
    assert (errors <= bounds + 1e-6).all()


@pytest.mark.parametrize("dim", [384, 768])
def test_quantised_cosines_of_usual_vectors_are_within_three_thousandths(dim: int) -> None:
    assert errors_of(dim)[0].max() < 3e-3


def test_a_vector_is_one_with_itself() -> None:
    rows = unit_rows(1, 100, 384)
    table = VectorTable(384)
    table.extend(rows)
    assert all(table.similarities(row)[place] == pytest.approx(1.0, abs=2e-3) for place, row in enumerate(rows))


@pytest.mark.parametrize("axis", range(4))
def test_vectors_along_an_axis_are_exact(axis: int) -> None:
    table = VectorTable(4)
    table.extend(np.eye(4, dtype=np.float32))
    np.testing.assert_allclose(table.similarities(np.eye(4, dtype=np.float32)[axis]), np.eye(4)[axis], atol=1e-6)


def test_a_cue_without_a_vector_has_no_similarity() -> None:
    table = VectorTable(2)
    table.extend(np.array([[1, 0], [np.nan, np.nan]], dtype=np.float32))
    assert np.isnan(table.similarities(np.array([1, 0], dtype=np.float32))).tolist() == [False, True]


def test_a_cue_without_a_vector_is_not_present() -> None:
    table = VectorTable(2)
    table.extend(np.array([[1, 0], [np.nan, np.nan]], dtype=np.float32))
    assert table.present.tolist() == [True, False]


def test_a_vector_that_comes_later_takes_its_place() -> None:
    table = VectorTable(2)
    table.extend(np.full((2, 2), np.nan, dtype=np.float32))
    table.replace(1, np.array([0, 1], dtype=np.float32))
    assert table.similarities(np.array([0, 1], dtype=np.float32)).tolist() == [pytest.approx(np.nan, nan_ok=True), 1.0]


@cache
def shares_of_the_nearest() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of 40 questions to a workspace that is larger than what is compared entirely: the shares of the nearest 10 and of
    the nearest 200 vectors that the prefilter keeps.
    """
    # Texts on two hundred themes, two hundred of each: vectors around as many centres, at an angle of some 45 degrees.
    themes, rng, count = unit_rows(3, 200, 384), np.random.default_rng(4), 40_000
    assert count > SCANNED
    rows = themes[np.arange(count) % 200] + 0.05 * rng.standard_normal((count, 384), dtype=np.float32)
    table, queries = VectorTable(384), themes[:40] + 0.05 * rng.standard_normal((40, 384), dtype=np.float32)
    table.extend(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    shares: list[tuple[float, float]] = []
    for query in queries / np.linalg.norm(queries, axis=1, keepdims=True):
        nearest = np.argsort(-table.similarities(query))
        kept = np.isin(nearest[:200], table.likely(query, None, max(LIKELY, count // LIKELY_SHARE)))
        shares.append((kept[:10].mean(), kept.mean()))
    ten, two_hundred = np.array(shares).T
    return ten, two_hundred


def test_the_prefilter_keeps_98_of_100_of_the_ten_nearest() -> None:
    assert shares_of_the_nearest()[0].mean() >= 0.98


def test_the_prefilter_keeps_nearly_all_of_the_two_hundred_nearest() -> None:
    assert shares_of_the_nearest()[1].mean() > 0.97


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([2, 64, 100, 384]), st.integers(0, 2**32 - 1))
def test_the_likely_ones_differ_least_in_their_signs(dim: int, seed: int) -> None:
    table, query = VectorTable(dim), unit_rows(seed + 1, 1, dim)[0]
    rows = unit_rows(seed, 300, dim)
    table.extend(rows)
    # Components that are rounded to 0 count as not above 0.
    apart = ((rows / np.abs(rows).max(axis=1, keepdims=True) > 0.5 / 127) != (query > 0)).sum(axis=1)
    likely = table.likely(query, None, 30)
    assert len(likely) >= 30
    assert apart[likely].max() < np.delete(apart, likely).min(initial=dim + 1)


def test_the_likely_ones_are_chosen_of_those_that_may_be() -> None:
    table, query = VectorTable(16), unit_rows(6, 1, 16)[0]
    table.extend(unit_rows(5, 400, 16))
    kept = np.arange(400) % 4 == 0
    likely = table.likely(query, kept, 10)
    assert len(likely) >= 10
    assert kept[likely].all()


def test_where_few_may_be_all_of_them_are_likely() -> None:
    table = VectorTable(2)
    table.extend(np.array([[1, 0], [np.nan, np.nan], [-1, 0], [0, 1]], dtype=np.float32))
    kept = np.array([True, True, True, False])
    assert table.likely(np.array([1, 0], dtype=np.float32), kept, 2).tolist() == [0, 2]


def test_some_cues_are_compared_as_all_would_be() -> None:
    table, query = VectorTable(16), unit_rows(6, 1, 16)[0]
    table.extend(unit_rows(5, 40, 16))
    cues = np.array([3, 0, 17])
    np.testing.assert_array_equal(table.similarities(query, cues), table.similarities(query)[cues])


def test_a_question_of_another_dimension_is_refused() -> None:
    with pytest.raises(EmbedderMismatch, match="3 dimensions, the texts' have 2"):
        VectorTable(2).similarities(np.array([1, 0, 0], dtype=np.float32))


# ── ranking ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 0.75]), st.integers(0, 2), st.booleans()), max_size=30),
    st.integers(1, 10),
)
def test_the_best_are_those_of_a_plain_sort(given_rows: list[tuple[float, int, bool]], depth: int) -> None:
    scores = np.array([score for score, _, _ in given_rows], dtype=np.float32)
    newest = np.array([-at for _, at, _ in given_rows], dtype=np.int64)
    ids = np.array([UUID(int=97 * n % 31).int for n in range(len(given_rows))], dtype=np.uint64)
    eligible = np.array([good for _, _, good in given_rows], dtype=np.bool_)
    plain = sorted(np.flatnonzero(eligible).tolist(), key=lambda n: (-float(scores[n]), int(newest[n]), int(ids[n])))
    assert best(scores, eligible, (newest, ids), depth).tolist() == plain[:depth]


@pytest.mark.parametrize("distinct_scores", [3, 1_000_000])
def test_the_best_of_many_are_those_of_a_plain_sort(distinct_scores: int) -> None:
    rng, count = np.random.default_rng(7), 100_000
    scores = rng.integers(0, distinct_scores, count).astype(np.float32)
    eligible, newest = rng.random(count) < 0.9, rng.permutation(count)
    scores[~eligible] = np.nan
    slots = np.flatnonzero(eligible)
    plain = slots[np.lexsort([newest[slots], -scores[slots]])]
    assert best(scores, eligible, (newest,), 200).tolist() == plain[:200].tolist()


def test_nothing_eligible_leaves_nothing() -> None:
    empty = np.zeros(3, dtype=np.int64)
    assert best(np.ones(3, dtype=np.float32), np.zeros(3, dtype=np.bool_), (empty,), 5).tolist() == []


def test_slots_are_ordered_by_the_first_key_first() -> None:
    first, second = np.array([1, 0, 1, 0]), np.array([0, 1, -1, 0])
    assert ordered(np.array([0, 1, 2, 3]), (first, second)).tolist() == [3, 1, 2, 0]


# ── growing arrays ───────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(-9, 9), max_size=90), max_size=8))
def test_a_growing_array_contains_the_appended_values(parts: list[list[int]]) -> None:
    growing = GrowingArray[np.int64](np.int64)
    for part in parts:
        growing.extend(np.array(part, dtype=np.int64))
    assert growing.values.tolist() == [number for part in parts for number in part]


def test_a_growing_array_of_rows_keeps_its_width() -> None:
    growing = GrowingArray[np.int8](np.int8, 3)
    growing.extend(np.ones((70, 3), dtype=np.int8))
    assert (growing.values.shape, len(growing)) == ((70, 3), 70)


def test_values_can_be_written_in_place() -> None:
    growing = GrowingArray[np.int64](np.int64)
    growing.extend(np.zeros(3, dtype=np.int64))
    growing.values[1] = 7
    assert growing.values.tolist() == [0, 7, 0]


def test_growing_copies_seldom() -> None:
    growing = GrowingArray[np.int64](np.int64)
    copies = 0
    for number in range(10_000):
        before = growing.nbytes
        growing.extend(np.array([number], dtype=np.int64))
        copies += growing.nbytes != before
    assert copies <= 9


# ── packed terms ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_packed_terms_take_five_bytes_a_distinct_term() -> None:
    assert len(packed_terms(["kestrel", "owl", "kestrel"])) == 10


def test_no_terms_pack_to_nothing() -> None:
    assert packed_terms([]) == b""


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_packed_terms_are_unpacked_as_they_were(terms: list[str]) -> None:
    assert unpacked_terms(packed_terms(terms)) == {term_hash(term): terms.count(term) for term in terms}
