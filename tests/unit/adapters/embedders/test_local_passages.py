"""Passages embedded with preceding text, and token embeddings of questions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.adapters.embedders.local import LocalEmbedder, bindings
from remembrancer.adapters.embedders.local.graphs import Pieces, ReadAlone, ReleasedGraph
from remembrancer.adapters.embedders.local.in_context import planned
from remembrancer.adapters.embedders.local.weights import TOKENIZER, located, read_verified
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import EmbeddedPassages, EmbeddedQuestion, Passage

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("remembrancer_minilm", "onnxruntime", "tokenizers")),
    reason="extra local not installed",
)


def after(before: str, text: str, speaker: str = "") -> Passage:
    """A text after one turn."""
    return Passage(text, speaker, (("Ana", before),))


LAKE = after("What happened to the blue door?", "She painted it at the lake.", speaker="Ben")
MANY = [
    LAKE,
    Passage("no"),
    after("bank", "river " * 300),
    after("Is anybody there?", ""),
    after("Did they ship? " * 30, "Yes, on Tuesday with the whole team."),
    Passage("She painted it at the lake."),
    after("dull " * 200, "bright " * 120),
]


@pytest.fixture(scope="module")
def tokenizer() -> bindings.Tokenizer:
    tokenizer = bindings.tokenizer(read_verified(located(None, "int8") / TOKENIZER).decode())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@pytest.fixture(scope="module")
def fp32() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder.open(precision="fp32")
    yield embedder
    asyncio.run(embedder.close())


@pytest.fixture(scope="module")
def int8() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder.open(precision="int8")
    yield embedder
    asyncio.run(embedder.close())


def passages(embedder: LocalEmbedder, *given: Passage) -> EmbeddedPassages:
    return asyncio.run(embedder.embed_passages(given))


def question(embedder: LocalEmbedder, text: str) -> EmbeddedQuestion:
    return asyncio.run(embedder.embed_question(text))


def documents(embedder: LocalEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
    return asyncio.run(embedder.embed_documents(texts)).vectors


# -- passages -------------------------------------------------------------------------------------


def test_a_passage_after_nothing_has_its_documents_vector(fp32: LocalEmbedder) -> None:
    assert np.array_equal(passages(fp32, Passage(LAKE.text)).vectors, documents(fp32, [LAKE.text]))


@pytest.mark.parametrize("before", ["", " ", "\n\t "])
def test_blanks_before_a_passage_are_nothing(before: str, fp32: LocalEmbedder) -> None:
    assert np.array_equal(passages(fp32, after(before, LAKE.text)).vectors, documents(fp32, [LAKE.text]))


def test_words_are_of_the_texts_own_pieces(fp32: LocalEmbedder, tokenizer: bindings.Tokenizer) -> None:
    embedded = passages(fp32, *MANY)
    own = [len(tokenizer.encode(passage.text).ids) - 2 for passage in MANY]
    assert [len(words) for words in embedded.token_embeddings] == [min(pieces, 254) for pieces in own]


def test_each_token_of_a_passage_has_the_word_that_contains_it(int8: LocalEmbedder) -> None:
    embedded = passages(int8, after("Where did they nest?", "Kestrels nested, it's said."), *MANY)
    assert embedded.spelled[0] == ("Kestrels",) * 3 + ("nested",) * 2 + (",", "it", "'", "s", "said", ".")
    assert [len(words) for words in embedded.spelled] == [len(tokens) for tokens in embedded.token_embeddings]


def test_passages_that_are_equal_for_the_model_keep_their_own_words(int8: LocalEmbedder) -> None:
    long = "river " * 300
    embedded = passages(int8, Passage("Yes"), Passage("yes"), Passage(long), Passage("river " * 254))
    assert embedded.spelled[:2] == (("Yes",), ("yes",))
    assert embedded.truncated.tolist() == [False, False, True, False]


def test_preceding_text_changes_the_token_embeddings(fp32: LocalEmbedder) -> None:
    money, water = passages(
        fp32, after("He owed a lot of money to", "the bank"), after("The river rose over", "the bank")
    ).token_embeddings
    (alone,) = passages(fp32, Passage("the bank")).token_embeddings
    likeness = [float(np.sum(one[1] * other[1])) for one, other in ((money, water), (money, alone), (water, alone))]
    assert max(likeness) < 0.99


def test_the_speaker_changes_the_token_embeddings(fp32: LocalEmbedder) -> None:
    said = [Passage("I painted the door", who) for who in ("Ana", "Ben", "")]
    ana, ben, nobody = passages(fp32, *said).token_embeddings
    likeness = [float(np.min(np.sum(one * other, axis=1))) for one, other in ((ana, ben), (ana, nobody), (ben, nobody))]
    assert max(likeness) < 0.999


def test_only_the_characters_that_count_are_context(fp32: LocalEmbedder) -> None:
    turns = (("Ana", "Where is the ladder?"), ("Ben", "Behind the blue door"))
    cut = Passage(LAKE.text, "Ana", turns, chars=9)
    (found,) = passages(fp32, cut).vectors
    assert next(cut.turns()) == ("Ben", "Behind the blue door", 9)
    assert np.allclose(found, passages(fp32, Passage(LAKE.text, "Ana", turns[1:], chars=9)).vectors[0], atol=1e-5)
    assert not np.allclose(found, passages(fp32, Passage(LAKE.text, "Ana", turns)).vectors[0], atol=1e-2)


def test_a_vector_in_context_is_the_mean_of_the_texts_own_pieces(fp32: LocalEmbedder) -> None:
    # Tokens of unit length have lost their lengths, which differ little in the last layer.
    embedded = passages(fp32, LAKE)
    mean = embedded.token_embeddings[0].mean(axis=0)
    assert embedded.vectors[0] @ mean / np.linalg.norm(mean) > 0.99


def test_vectors_without_context_are_those_of_documents(int8: LocalEmbedder) -> None:
    embedded = passages(int8, *MANY)
    assert embedded.alone is not None
    assert np.allclose(embedded.alone, documents(int8, [passage.text for passage in MANY]), atol=1e-3)


def test_each_turn_of_a_conversation_is_read_once(int8: LocalEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [("Ana", f"Question {number} about the blue door?") for number in range(80)]
    given = [Passage(text, who, tuple(turns[max(0, place - 3) : place])) for place, (who, text) in enumerate(turns)]
    read: list[int] = []
    alone = ReleasedGraph.alone

    def counted(graph: ReleasedGraph, rows: Sequence[Pieces]) -> list[ReadAlone]:
        read.append(len(rows))
        return alone(graph, rows)

    monkeypatch.setattr(ReleasedGraph, "alone", counted)
    passages(int8, *given)
    # The second group of 64 reads the three turns before it again, and both read the speaker's name.
    assert sum(read) == 80 + 3 + 2


def test_a_long_text_leaves_room_for_the_speaker_and_the_end_of_the_last_turn() -> None:
    def words(text: str) -> Pieces:
        count = len(text.split())
        ids = np.array([0, *map(len, text.split()), 0], np.int64)
        return Pieces(ids, truncated=False, own=slice(1, 1 + count), pooled=slice(0, 2 + count), spelled=())

    turns = (("Ana", "never read"), ("Ben", "one three eleven"))
    plan = planned([Passage("river " * 250, "Ana Lee", turns)], words, words, 256)
    parts = [plan.texts[text].ids[part].tolist() for text, part in plan.context[0]]
    assert parts == [[3, 4], [5, 6, 0]]


def test_a_text_that_fills_the_model_leaves_no_room_for_preceding_text(fp32: LocalEmbedder) -> None:
    text = "river " * 254
    embedded = passages(fp32, after("bank", text))
    assert np.array_equal(embedded.vectors, documents(fp32, [text]))
    assert embedded.truncated.tolist() == [False]


def test_a_text_of_200_words_is_not_truncated_by_preceding_text(fp32: LocalEmbedder) -> None:
    embedded = passages(fp32, after("bank " * 300, "river " * 200))
    assert embedded.truncated.tolist() == [False]
    assert len(embedded.token_embeddings[0]) == 200


def test_a_text_of_300_words_is_read_to_its_254th_piece(fp32: LocalEmbedder) -> None:
    embedded = passages(fp32, after("bank", "river " * 300))
    assert embedded.truncated.tolist() == [True]
    assert len(embedded.token_embeddings[0]) == 254


def test_only_the_end_of_a_megabyte_before_is_read(fp32: LocalEmbedder) -> None:
    end = "They met at the harbour and spoke of the storm. " * 60
    long, short = passages(fp32, after("x" * 1_000_000 + end, "ok then"), after(end, "ok then")).vectors
    assert np.array_equal(long, short)


def test_an_empty_text_has_a_vector_and_no_words(fp32: LocalEmbedder) -> None:
    embedded = passages(fp32, after("Is anybody there?", ""))
    assert np.array_equal(embedded.vectors, documents(fp32, [""]))
    assert embedded.token_embeddings[0].shape == (0, 384)


def test_lone_surrogates_are_read_as_question_marks(fp32: LocalEmbedder) -> None:
    broken, marked = passages(fp32, after("c \udc00", "a\ud83d b"), after("c ?", "a? b")).vectors
    assert np.array_equal(broken, marked)


def test_no_passages_give_no_vectors(fp32: LocalEmbedder) -> None:
    embedded = passages(fp32)
    assert embedded.vectors.shape == (0, 384)
    assert embedded.token_embeddings == ()


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-5), ("int8", 1e-3)])
def test_neither_vectors_nor_words_of_a_passage_depend_on_its_neighbours(
    precision: str, tolerance: float, request: pytest.FixtureRequest
) -> None:
    embedder = cast("LocalEmbedder", request.getfixturevalue(precision))
    together = passages(embedder, *MANY)
    for index, passage in enumerate(MANY):
        alone = passages(embedder, passage)
        assert np.abs(together.vectors[index] - alone.vectors[0]).max() < tolerance
        assert np.allclose(together.token_embeddings[index], alone.token_embeddings[0], atol=tolerance)


def test_passages_come_back_in_their_order(fp32: LocalEmbedder) -> None:
    given = [after("then", f"{number} " + "and more " * (number * 37 % 50)) for number in range(60)]
    embedded = passages(fp32, *given)
    for index in (0, 17, 41, 59):
        alone = passages(fp32, given[index])
        assert np.allclose(embedded.vectors[index], alone.vectors[0], atol=1e-5)
        assert np.allclose(embedded.token_embeddings[index], alone.token_embeddings[0], atol=1e-5)


def test_words_of_a_passage_do_not_keep_its_batch_in_memory(fp32: LocalEmbedder) -> None:
    assert all(words.base is None for words in passages(fp32, *MANY).token_embeddings)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_every_vector_and_word_of_a_passage_has_unit_length(precision: str, request: pytest.FixtureRequest) -> None:
    embedded = passages(cast("LocalEmbedder", request.getfixturevalue(precision)), *MANY)
    lengths = np.linalg.norm(np.concatenate([embedded.vectors, *embedded.token_embeddings]), axis=1)
    assert np.allclose(lengths, 1, atol=1e-5)


def test_int8_words_are_near_those_of_fp32(fp32: LocalEmbedder, int8: LocalEmbedder) -> None:
    exact, near = (np.concatenate(passages(embedder, *MANY).token_embeddings) for embedder in (fp32, int8))
    assert np.mean(np.sum(exact * near, axis=1)) > 0.99


# -- questions ------------------------------------------------------------------------------------


def test_a_questions_vector_is_its_querys(fp32: LocalEmbedder) -> None:
    text = "Where did she paint the lake?"
    assert np.array_equal(question(fp32, text).vector, asyncio.run(fp32.embed_query(text)))


def test_a_question_has_a_vector_for_each_of_its_pieces(fp32: LocalEmbedder, tokenizer: bindings.Tokenizer) -> None:
    text = "Where did Melanie buy the xylophone?"
    embedded = question(fp32, text)
    assert embedded.token_embeddings.shape == (len(tokenizer.encode(text).ids) - 2, 384)
    assert np.allclose(np.linalg.norm(embedded.token_embeddings, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("Where is it?", ["Where", "is", "it", "?"]),
        ("unbelievably so", ["unbelievably"] * 5 + ["so"]),
        ("Zoë's café", ["Zoë", "'", "s", "café"]),
        ("Zoe\u0308 left", ["Zoe\u0308", "left"]),
        ("so 🎉 good", ["so", "🎉", "good"]),
        ("a \ud83d b", ["a", "?", "b"]),
        ("  wide   gaps ", ["wide", "gaps"]),
        ("", []),
        ("日本 x", ["日", "本", "x"]),
    ],
    ids=["plain", "pieces", "accents", "combining", "emoji", "surrogate", "blanks", "empty", "characters"],
)
def test_each_token_names_its_word_as_written_in_the_question(
    text: str, spelled: list[str], fp32: LocalEmbedder
) -> None:
    embedded = question(fp32, text)
    assert list(embedded.spelled) == spelled
    assert len(embedded.token_embeddings) == len(spelled)


def test_a_closed_embedder_has_no_passages_and_no_questions() -> None:
    embedder = LocalEmbedder.open()
    asyncio.run(embedder.close())
    with pytest.raises(ModelUnavailable, match="closed"):
        passages(embedder, LAKE)
    with pytest.raises(ModelUnavailable, match="closed"):
        question(embedder, "Where?")
