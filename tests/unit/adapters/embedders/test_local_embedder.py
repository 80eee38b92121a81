"""The local embedder against reference vectors, and its batching, threads and failures against a recording session.

The reference (tests/golden/minilm_reference.json says how it was made) comes from another implementation, so it
also proves that tokenising, pooling and cutting at 256 pieces are the model's.
"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.adapters.embedders.local import LocalEmbedder, bindings, reads_latin
from remembrancer.adapters.embedders.local.graphs import ReleasedGraph
from remembrancer.adapters.embedders.local.model import minilm
from remembrancer.adapters.embedders.local.weights import TOKENIZER, located, read_verified
from remembrancer.errors import ModelUnavailable

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("remembrancer_minilm", "onnxruntime", "tokenizers")),
    reason="extra local not installed",
)

GOLDEN = Path(__file__).parents[3] / "golden" / "minilm_reference.json"
MAX_PIECES = 256


class Reference(TypedDict):
    texts: list[str]
    token_ids: list[list[int]]
    vectors: str


class RecordingSession:
    """Answers each text with its first four ids as a vector, and keeps what it was fed."""

    def __init__(self, before: Callable[[NDArray[np.int64]], None] = lambda ids: None) -> None:
        self.fed: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []
        self._before = before

    def run(self, outputs: Sequence[str] | None, feed: Mapping[str, NDArray[Any]], /) -> Sequence[NDArray[np.float32]]:
        ids, mask = feed["ids"], feed["mask"]
        self._before(ids)
        self.fed.append((ids, mask))
        vectors = np.zeros((len(ids), 384), np.float32)
        shown = min(4, ids.shape[1])
        vectors[:, :shown] = ids[:, :shown]
        return [vectors]

    def texts(self) -> list[list[int]]:
        """The unpadded ids of every text, in the order they were fed."""
        return [row[kept == 1].tolist() for ids, mask in self.fed for row, kept in zip(ids, mask, strict=True)]


@pytest.fixture(scope="module")
def reference() -> Reference:
    return cast("Reference", json.loads(GOLDEN.read_text()))


@pytest.fixture(scope="module")
def reference_vectors(reference: Reference) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(reference["vectors"]), "<f4").reshape(-1, 384)


@pytest.fixture(scope="module")
def definition() -> str:
    return read_verified(located(None, "int8") / TOKENIZER).decode()


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


def plain_tokenizer(definition: str) -> bindings.Tokenizer:
    tokenizer = bindings.tokenizer(definition)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def recorded(definition: str, session: RecordingSession) -> LocalEmbedder:
    graph = ReleasedGraph(session, bindings.session_errors(), lambda: session)
    return LocalEmbedder(graph, plain_tokenizer(definition), minilm("fp32"), reads_latin)


def whole_then_cut(definition: str, text: str) -> list[int]:
    """The ids of all of `text`, cut afterwards."""
    ids = plain_tokenizer(definition).encode(text).ids
    return ids if len(ids) <= MAX_PIECES else [*ids[: MAX_PIECES - 1], ids[-1]]


# -- the model ------------------------------------------------------------------------------------


def test_fp32_equals_the_reference(
    fp32: LocalEmbedder, reference: Reference, reference_vectors: NDArray[np.float32]
) -> None:
    vectors = asyncio.run(fp32.embed_documents(reference["texts"])).vectors
    assert np.min(np.sum(vectors * reference_vectors, axis=1)) > 0.9999


def test_int8_is_near_the_reference_on_the_average(
    int8: LocalEmbedder, reference: Reference, reference_vectors: NDArray[np.float32]
) -> None:
    vectors = asyncio.run(int8.embed_documents(reference["texts"])).vectors
    assert np.mean(np.sum(vectors * reference_vectors, axis=1)) > 0.997


def test_int8_is_near_the_reference_for_every_text(
    int8: LocalEmbedder, reference: Reference, reference_vectors: NDArray[np.float32]
) -> None:
    # Texts of one piece, or none, are furthest off: their markers, which are unlike any word, make up the mean.
    vectors = asyncio.run(int8.embed_documents(reference["texts"])).vectors
    assert np.min(np.sum(vectors * reference_vectors, axis=1)) > 0.99


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-5), ("int8", 1e-3)])
def test_a_vector_does_not_depend_on_its_batch(
    precision: str, tolerance: float, reference: Reference, request: pytest.FixtureRequest
) -> None:
    embedder = cast("LocalEmbedder", request.getfixturevalue(precision))

    async def alone() -> NDArray[np.float32]:
        return np.stack([await embedder.embed_query(text) for text in reference["texts"]])

    together = asyncio.run(embedder.embed_documents(reference["texts"])).vectors
    assert np.max(np.abs(together - asyncio.run(alone()))) < tolerance


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_every_vector_is_float32_of_unit_length(
    precision: str, reference: Reference, request: pytest.FixtureRequest
) -> None:
    embedder = cast("LocalEmbedder", request.getfixturevalue(precision))
    vectors = asyncio.run(embedder.embed_documents(reference["texts"])).vectors
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_model_id_contains_the_precision(fp32: LocalEmbedder, int8: LocalEmbedder) -> None:
    assert (fp32.model_id, int8.model_id) == ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2/int8")


# -- word pieces ----------------------------------------------------------------------------------


def test_the_pieces_are_the_reference_tokenizers(definition: str, reference: Reference) -> None:
    session = RecordingSession()
    embedder = recorded(definition, session)

    async def embed_each() -> None:
        for text in reference["texts"]:
            await embedder.embed_query(text)

    asyncio.run(embed_each())
    assert session.texts() == reference["token_ids"]


@pytest.mark.parametrize(
    "text",
    [
        "unbelievably " * 1_000,
        "a" * 90 + " " + "b" * 3_000 + " tail",
        " " * 5_000 + "late",
        "word\n" * 200 + " " * 20_000 + "late " * 400,
        "é" * 2_047 + "e\u0301 tail",
        "日本語" * 3_000,
        "0123456789abcdef " * 240,
    ],
    ids=["many words", "a word over the cut", "blanks", "a gap", "an accent at the cut", "no blanks", "hex"],
)
def test_reading_only_the_beginning_gives_the_pieces_of_the_whole(definition: str, text: str) -> None:
    session = RecordingSession()
    asyncio.run(recorded(definition, session).embed_query(text))
    assert session.texts() == [whole_then_cut(definition, text)]


def test_a_text_is_truncated_exactly_when_it_has_more_than_254_pieces_of_its_own(definition: str) -> None:
    embedder = recorded(definition, RecordingSession())
    texts = ["", "token", "token " * 254, "token " * 255, "x" * 1_000_000]
    embedded = asyncio.run(embedder.embed_documents(texts))
    assert embedded.truncated.tolist() == [False, False, False, True, True]


def test_a_lone_surrogate_is_read_as_a_question_mark(definition: str) -> None:
    session = RecordingSession()
    asyncio.run(recorded(definition, session).embed_documents(["broken \ud83d text", "broken ? text"]))
    assert session.texts()[0] == session.texts()[1]


# -- batches --------------------------------------------------------------------------------------


def test_no_texts_give_no_vectors(definition: str) -> None:
    embedded = asyncio.run(recorded(definition, RecordingSession()).embed_documents([]))
    assert (embedded.vectors.shape, embedded.vectors.dtype) == ((0, 384), np.float32)
    assert (embedded.truncated.shape, embedded.truncated.dtype) == ((0,), np.bool_)


def test_vectors_come_back_in_the_order_of_the_texts(definition: str) -> None:
    texts = [f"{number} " + "and more " * (number * 37 % 50) for number in range(200)]
    embedded = asyncio.run(recorded(definition, RecordingSession()).embed_documents(texts))
    tokenizer = plain_tokenizer(definition)
    firsts = [tokenizer.encode(str(number)).ids[1] for number in range(200)]
    assert embedded.vectors[:, 1].tolist() == firsts


def test_no_batch_is_larger_than_1024_pieces_with_its_padding(definition: str) -> None:
    session = RecordingSession()
    texts = ["word " * (number * 37 % 400) for number in range(300)]
    asyncio.run(recorded(definition, session).embed_documents(texts))
    assert max(ids.size for ids, _ in session.fed) <= 1024
    assert len(session.texts()) == 300


# -- threads and failures -------------------------------------------------------------------------


def test_a_query_does_not_wait_for_documents(definition: str) -> None:
    release = threading.Event()

    def block_documents(ids: NDArray[np.int64]) -> None:
        if threading.current_thread().name.startswith("embed-documents"):
            assert release.wait(60), "the query waited for the documents"

    embedder = recorded(definition, RecordingSession(block_documents))

    async def scenario() -> None:
        documents = asyncio.create_task(embedder.embed_documents(["document"]))
        await embedder.embed_query("query")
        assert not documents.done()
        release.set()
        await documents

    asyncio.run(scenario())


def test_a_closed_embedder_is_unavailable(definition: str) -> None:
    embedder = recorded(definition, RecordingSession())

    async def scenario() -> None:
        await embedder.embed_query("before")
        await embedder.close()
        await embedder.close()
        with pytest.raises(ModelUnavailable, match="closed"):
            await embedder.embed_query("after")
        with pytest.raises(ModelUnavailable, match="closed"):
            await embedder.embed_documents(["after"])

    asyncio.run(scenario())


def test_a_failure_of_the_runtime_is_unavailable(definition: str) -> None:
    failure = next(error for error in bindings.session_errors() if error.__name__ == "RuntimeException")

    def fail(ids: NDArray[np.int64]) -> None:
        raise failure("out of memory")

    with pytest.raises(ModelUnavailable, match="out of memory"):
        asyncio.run(recorded(definition, RecordingSession(fail)).embed_query("text"))


def test_a_graph_the_runtime_cannot_load_is_unavailable() -> None:
    with pytest.raises(ModelUnavailable, match="could not load the model"):
        bindings.open_session(b"not a graph", threads=1)


@pytest.mark.parametrize("package", ["onnxruntime", "remembrancer_minilm", "tokenizers"])
def test_the_error_of_a_missing_package_names_the_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelUnavailable, match=rf"{package}.*pip install 'remembrancer\[local\]'"):
        LocalEmbedder.open()


def test_importing_the_embedder_imports_no_runtime() -> None:
    assert modules_after("import remembrancer.adapters.embedders.local") == set()


def test_opening_the_embedder_imports_only_what_the_extra_names() -> None:
    opened = "from remembrancer.adapters.embedders.local import LocalEmbedder; LocalEmbedder.open()"
    assert modules_after(opened) == {"onnxruntime", "remembrancer_minilm", "tokenizers"}


def modules_after(statement: str) -> set[str]:
    """Which of the modules in question a fresh process has loaded after `statement`."""
    names = {"onnx", "onnxruntime", "tokenizers", "huggingface_hub", "remembrancer_minilm", "torch"}
    program = f"import sys; {statement}; print(*{names!r} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(answer.stdout.split())
