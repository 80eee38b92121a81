from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from remembrancer.language.lexical import stem
from remembrancer.policies.ranking.late_interaction import (
    ASKING_IDF,
    HALF,
    LONG,
    QuestionTokens,
    compared,
    packed,
    sum_of_bits,
    weighted,
)
from remembrancer.testing.doubles import a_vector

DIM = 384
LEVELS = 5e-3
"""How far a vector in 8 bits may be off."""


def words(*rows: Sequence[float]) -> NDArray[np.float32]:
    return np.array([a_vector(*row) for row in rows], dtype=np.float32)


def asking(vectors: NDArray[np.float32], *weights: float) -> QuestionTokens:
    return QuestionTokens(vectors, np.array(weights or [1.0], dtype=np.float32), sum_of_bits)


def random_words(seed: int, count: int, dim: int = DIM) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


# ── what each word of a question weighs ──────────────────────────────────────────────────────────────────────────────


def weights_of(spelled: Sequence[str], idf: dict[str, float]) -> list[float] | None:
    found = weighted(random_words(1, len(spelled)), spelled, idf)
    return None if found is None else found.weights.tolist()


def test_words_weigh_by_the_idf_of_their_terms() -> None:
    idf = {stem("deploys"): 3.0, stem("checkout"): 1.0}
    assert weights_of(["deploys", "Checkout"], idf) == pytest.approx([0.75, 0.25])


def test_tokens_of_one_word_share_its_weight() -> None:
    idf = {stem("checkout"): 3.0, stem("barn"): 1.0}
    assert weights_of(["checkout", "checkout", "barn"], idf) == pytest.approx([0.375, 0.375, 0.25])


def test_a_word_that_asks_weighs_although_it_is_a_stop_word() -> None:
    idf = {stem("barn"): ASKING_IDF}
    assert weights_of(["When", "the", "barn"], idf) == pytest.approx([0.5, 0.5])


def test_a_word_without_a_weight_is_left_out_with_its_vector() -> None:
    vectors = random_words(2, 3)
    found = weighted(vectors, ["the", "barn", ""], {stem("barn"): 2.0})
    assert found is not None
    np.testing.assert_array_equal(found.vectors, vectors[1:2])
    assert found.weights.tolist() == [1.0]


@pytest.mark.parametrize("spelled", [[], ["the", "of"], ["walrus"], [""]])
def test_where_no_word_counts_there_is_nothing_to_compare(spelled: list[str]) -> None:
    assert weights_of(spelled, {stem("barn"): 2.0}) is None


def test_a_word_of_several_terms_weighs_as_its_heaviest() -> None:
    idf = {stem("payment"): 1.0, stem("worker"): 3.0, stem("barn"): 3.0}
    assert weights_of(["payment-worker", "barn"], idf) == pytest.approx([0.5, 0.5])


# ── signs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_signs_are_packed_a_bit_a_component_the_first_one_highest() -> None:
    signs = packed(np.array([[1, -1, 1, 1, -1, -1, -1, -1, 1], [0, 0, 0, 0, 0, 0, 0, 1, 0]], dtype=np.float32))
    assert signs.tolist() == [[0b10110000, 0b10000000], [0b00000001, 0]]
    assert signs.dtype == np.uint8


def test_of_no_word_no_sign_is_packed() -> None:
    assert packed(np.zeros((0, DIM), dtype=np.float32)).shape == (0, DIM // 8)


# ── which tokens are stored ──────────────────────────────────────────────────────────────────────────────────────────


def a_text(tokens: int) -> list[str]:
    """The words of the tokens of a text, of which "barn", both tokens of "walrus", and "nested" have terms."""
    return (["The", "barn", ",", "where", "walrus", "walrus", "had", "nested", "."] * tokens)[:tokens]


def test_of_a_long_text_the_first_tokens_of_words_with_a_term_are_stored() -> None:
    spelled = [*a_text(LONG + 8), "Barn", "owl"]
    vectors = random_words(1, len(spelled))
    kept = [spelled.index("barn"), spelled.index("walrus"), spelled.index("walrus") + 1, spelled.index("nested"), -1]
    np.testing.assert_array_equal(packed(vectors, spelled), packed(vectors[kept]))


def test_every_token_of_a_short_text_is_stored() -> None:
    vectors = random_words(1, LONG)
    np.testing.assert_array_equal(packed(vectors, a_text(LONG)), packed(vectors))


@pytest.mark.parametrize("spelled", [(), ("the", ",") * LONG])
def test_every_token_is_stored_if_no_word_is_known_or_none_has_a_term(spelled: Sequence[str]) -> None:
    vectors = random_words(1, 2 * LONG)
    np.testing.assert_array_equal(packed(vectors, spelled), packed(vectors))


@given(st.integers(0, 20))
def test_a_row_of_every_token_and_one_of_fewer_compare_alike(seed: int) -> None:
    """Rows of older versions have every token, and nothing marks them."""
    spelled = a_text(LONG + 30)
    vectors = random_words(seed, len(spelled))
    asked = vectors[[spelled.index("barn"), spelled.index("nested")]]  # the first of each
    every, fewer = closeness(asking(asked, 0.5, 0.5), [packed(vectors), packed(vectors, spelled)])
    assert fewer == pytest.approx(every)


def closeness(question: QuestionTokens, texts: Sequence[NDArray[np.uint8]]) -> NDArray[np.float64]:
    return compared(question, texts).closeness()


# ── how close ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_cosine_is_estimated_from_the_signs() -> None:
    # q = (3, 4) / 5 and signs (+, -): (0.6 - 0.8) / (sqrt 2 sqrt(2 / pi)), below 0; signs (-, +): its opposite.
    question = asking(words([3, 4]))
    estimated = 0.2 / (math.sqrt(2) * math.sqrt(2 / math.pi))
    close = closeness(question, [packed(words([1, -1])), packed(words([-1, 1]))])
    assert close.tolist() == pytest.approx([0.0, estimated], abs=LEVELS)


def test_of_a_text_s_words_the_closest_counts() -> None:
    question = asking(words([3, 4]))
    alone = closeness(question, [packed(words([-1, 1]))])
    assert closeness(question, [packed(words([1, -1], [-1, 1], [-1, -1]))]) == pytest.approx(alone)


def test_each_word_of_the_question_counts_by_its_weight() -> None:
    first, second = random_words(3, 2)
    texts = [packed(first[None]), packed(second[None])]
    one, other = (closeness(asking(row[None]), texts) for row in (first, second))
    both = closeness(asking(np.array([first, second]), 0.25, 0.75), texts)
    # Neither text is so far from either word that a part of the sum would be below 0, or what is is near it.
    assert both == pytest.approx(0.25 * one + 0.75 * other, abs=0.05)


@pytest.mark.parametrize("empty", [[0], [1], [0, 2]])
def test_a_text_without_words_is_not_compared(empty: list[int]) -> None:
    texts = [packed(random_words(seed, 0 if seed in empty else 2)) for seed in range(3)]
    close = closeness(asking(random_words(9, 1)), texts)
    assert np.flatnonzero(np.isnan(close)).tolist() == empty


def test_of_texts_without_any_words_none_is_compared() -> None:
    nothing = packed(random_words(1, 0))
    assert np.isnan(closeness(asking(random_words(9, 1)), [nothing, nothing])).tolist() == [True, True]
    assert closeness(asking(random_words(9, 1)), []).shape == (0,)


@given(seed=st.integers(0, 2**32), cosine=st.floats(-1, 1))
def test_the_estimate_is_near_the_cosine_of_normal_components(seed: int, cosine: float) -> None:
    one, other = random_words(seed, 2)
    across = other - (other @ one) * one
    text = cosine * one + math.sqrt(1 - cosine**2) * across / np.linalg.norm(across)
    (close,) = closeness(asking(one[None]), [packed(text[None].astype(np.float32))])
    # Its standard deviation is at most sqrt(pi / 2 / 384) = 0.064.
    assert close == pytest.approx(max(0.0, cosine), abs=0.064 * 6)


@given(
    seed=st.integers(0, 2**32),
    asked=st.integers(1, 6),
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=6),
    dim=st.integers(1, 70),
)
def test_late_interaction_is_in_the_unit_interval_for_any_tokens(
    seed: int, asked: int, sizes: list[int], dim: int
) -> None:
    weights = np.random.default_rng(seed).random(asked) + 0.01
    question = asking(random_words(seed, asked, dim), *(weights / weights.sum()))
    close = closeness(question, [packed(random_words(seed + 1 + n, size, dim)) for n, size in enumerate(sizes)])
    assert np.isnan(close).tolist() == [size == 0 for size in sizes]
    assert ((close >= 0) & (close <= 1))[~np.isnan(close)].all()


@given(seed=st.integers(0, 2**32), order=st.permutations(range(6)))
def test_the_score_of_a_text_does_not_depend_on_its_position(seed: int, order: list[int]) -> None:
    texts = [packed(random_words(seed + n, n % 4)) for n in range(6)]
    question = asking(random_words(seed + 9, 3), 0.5, 0.25, 0.25)
    close = closeness(question, texts)
    np.testing.assert_allclose(closeness(question, [texts[place] for place in order]), close[order], rtol=1e-6)


def test_a_text_that_answers_scores_higher_than_one_that_does_not() -> None:
    asked = random_words(4, 3)
    question = asking(asked, 0.5, 0.3, 0.2)
    same, half, other = (
        packed(asked),
        packed(np.concatenate([asked[:1], random_words(5, 2)])),
        packed(random_words(6, 3)),
    )
    close = closeness(question, [other, half, same])
    assert close[0] < close[1] < close[2]


# ── texts of a group ─────────────────────────────────────────────────────────────────────────────────────────────────


@given(seed=st.integers(0, 2**32))
def test_a_group_is_as_close_as_one_text_of_all_its_words(seed: int) -> None:
    texts = [packed(random_words(seed + n, 2)) for n in range(4)]
    question = asking(random_words(seed + 9, 3), 0.5, 0.25, 0.25)
    together = compared(question, texts).together(np.array([7, 3, 7, 3]))
    (first,) = closeness(question, [np.concatenate([texts[0], texts[2]])])
    (second,) = closeness(question, [np.concatenate([texts[1], texts[3]])])
    np.testing.assert_allclose(together, [first, second, first, second], rtol=1e-6)


def test_texts_of_no_group_are_by_themselves() -> None:
    texts = [packed(random_words(n, 2)) for n in range(3)]
    against = compared(asking(random_words(9, 2), 0.5, 0.5), texts)
    np.testing.assert_allclose(against.together(np.array([-1, -1, 0])), against.closeness())


def test_a_text_without_words_is_not_compared_in_its_group_either() -> None:
    texts = [packed(random_words(1, 0)), packed(random_words(2, 2))]
    against = compared(asking(random_words(9, 1)), texts)
    together = against.together(np.array([0, 0]))
    assert np.isnan(together).tolist() == [True, False]
    assert together[1] == against.closeness()[1]


def test_without_texts_there_are_no_groups() -> None:
    assert compared(asking(random_words(9, 1)), []).together(np.zeros(0, dtype=np.int32)).shape == (0,)


# ── its closest passage ──────────────────────────────────────────────────────────────────────────────────────────────


def apart(between: int, before: int = 0) -> NDArray[np.uint8]:
    """A text with the two words of ASKED, and other words before and between them."""
    others = random_words(5, before + between)
    return packed(np.concatenate([others[:before], ASKED[:1], others[before:], ASKED[1:]]))


ASKED = random_words(4, 2)


def in_passages(*texts: NDArray[np.uint8]) -> NDArray[np.float64]:
    return compared(asking(ASKED, 0.5, 0.5), texts).closest_passage()


@pytest.mark.parametrize("between", [0, 2 * HALF - 2])
def test_a_text_of_no_more_than_a_passage_comes_as_close_as_its_passage(between: int) -> None:
    text = apart(between)
    assert in_passages(text) == pytest.approx(closeness(asking(ASKED, 0.5, 0.5), [text]))


def test_no_digit_of_a_similarity_depends_on_the_order_of_the_texts() -> None:
    """An import numbers the rows of a store anew, and its answers are to be those of the original."""
    texts = [packed(random_words(20 + number, 5 + number * 3)) for number in range(37)]
    order: list[int] = np.random.default_rng(5).permutation(len(texts)).tolist()
    question = asking(random_words(9, 11), *[1 / 11] * 11)
    groups = np.arange(len(texts)) % 7
    given, moved = compared(question, texts), compared(question, [texts[place] for place in order])
    np.testing.assert_array_equal(moved.closeness(), given.closeness()[order])
    np.testing.assert_array_equal(moved.closest_passage(), given.closest_passage()[order])
    np.testing.assert_array_equal(moved.together(6 - groups[order]), given.together(groups)[order])


def test_words_far_apart_are_in_no_passage_together() -> None:
    together, far = in_passages(apart(0), apart(3 * HALF))
    assert far < 0.7 * together


@pytest.mark.parametrize("before", [0, HALF - 1, HALF, 2 * HALF - 1, 3 * HALF - 2])
def test_words_less_than_half_a_passage_apart_are_in_one_passage_at_any_position(before: int) -> None:
    assert in_passages(apart(HALF - 2, before)) == pytest.approx(in_passages(apart(0)), abs=0.02)


@given(st.lists(st.integers(0, 5 * HALF), max_size=6), st.integers(0, 10))
def test_the_closest_passage_is_that_of_any_two_halves_side_by_side(sizes: list[int], seed: int) -> None:
    texts = [packed(random_words(seed + place, size)) for place, size in enumerate(sizes)]
    question = asking(ASKED, 0.3, 0.7)
    closest = [
        max(
            (closeness(question, [text[at : at + 2 * HALF]])[0] for at in range(0, max(1, len(text) - HALF), HALF)),
            default=math.nan,
        )
        for text in texts
    ]
    np.testing.assert_allclose(compared(question, texts).closest_passage(), closest, rtol=1e-5)


def test_without_texts_there_is_no_passage() -> None:
    assert in_passages().shape == (0,)
