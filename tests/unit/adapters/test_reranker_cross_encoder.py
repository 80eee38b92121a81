"""The local cross-encoder on a real graph and a real tokenizer, both built here: more shared words, a higher score."""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from overlap_model import write_model

from remembrancer.adapters.embedders.local.exported import GraphValue
from remembrancer.adapters.rerankers.classifier import Classifier
from remembrancer.adapters.rerankers.cross_encoder import CrossEncoder, cross_encoder_id
from remembrancer.errors import InvalidInput, ModelUnavailable

T = TypeVar("T")

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("onnxruntime", "onnx", "tokenizers")), reason="extra local not installed"
)

QUESTION = "kestrel nest river"
TEXTS = ("an owl at dusk", "the kestrel left the nest by the river", "a field by the river", "")
SHARED = (0, 3, 1, 0)


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


EXPECTED = [sigmoid(shared - 1.0) for shared in SHARED]


def with_encoder(encoder: CrossEncoder, work: Callable[[CrossEncoder], Coroutine[Any, Any, T]]) -> T:
    async def run() -> T:
        try:
            return await work(encoder)
        finally:
            await encoder.close()

    return asyncio.run(run())


def scores(folder: Path, question: str = QUESTION, texts: Sequence[str] = TEXTS, **options: Any) -> list[float]:
    encoder = CrossEncoder.open(folder, **options)
    return with_encoder(encoder, lambda opened: opened.scores(question, texts)).tolist()


class WatchedSession:
    """A real session that keeps what it was fed, and on which thread."""

    def __init__(self, folder: Path, before: Callable[[], object] = lambda: None) -> None:
        self.real = Classifier.open(folder, max_pieces=512, threads=1)
        self.fed: list[tuple[int, ...]] = []
        self.threads: set[str] = set()
        self._before = before

    def run(self, outputs: Sequence[str] | None, feed: Mapping[str, NDArray[Any]], /) -> Sequence[NDArray[np.float32]]:
        self.fed.append(feed["input_ids"].shape)
        self.threads.add(threading.current_thread().name)
        self._before()
        return self.real.session.run(outputs, feed)

    def get_inputs(self) -> Sequence[GraphValue]:
        return self.real.session.get_inputs()

    def get_outputs(self) -> Sequence[GraphValue]:
        return self.real.session.get_outputs()

    def encoder(self, timeout: float | None = None) -> CrossEncoder:
        return CrossEncoder(replace(self.real, session=self), name="watched", timeout=timeout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "overlap")


# -- scores ---------------------------------------------------------------------------------------


def test_the_text_that_shares_most_with_the_question_scores_highest(folder: Path) -> None:
    assert scores(folder) == pytest.approx(EXPECTED)


def test_the_order_of_the_texts_is_the_order_of_the_scores(folder: Path) -> None:
    assert scores(folder, texts=TEXTS[::-1]) == pytest.approx(EXPECTED[::-1])


def test_another_question_gives_other_scores(folder: Path) -> None:
    assert scores(folder, "owl dusk") == pytest.approx([sigmoid(1), sigmoid(-1), sigmoid(-1), sigmoid(-1)])


def test_a_graph_without_segments_is_not_given_any(tmp_path: Path) -> None:
    assert scores(write_model(tmp_path, segments=False)) == pytest.approx(EXPECTED)


def test_a_graph_of_smaller_integers_is_given_those(tmp_path: Path) -> None:
    assert scores(write_model(tmp_path, integers=6)) == pytest.approx(EXPECTED)


def test_of_two_logits_the_second_counts_by_softmax(tmp_path: Path) -> None:
    assert scores(write_model(tmp_path, labels=2)) == pytest.approx(EXPECTED)


def test_a_graph_whose_only_output_has_another_name_is_read(tmp_path: Path) -> None:
    assert scores(write_model(tmp_path, rename={"logits": "output_0"})) == pytest.approx(EXPECTED)


def test_a_graph_in_the_subfolder_of_published_models_is_found(tmp_path: Path) -> None:
    write_model(tmp_path)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.onnx").rename(tmp_path / "onnx" / "model.onnx")
    assert scores(tmp_path) == pytest.approx(EXPECTED)


def test_scores_are_float32_in_zero_to_one(tmp_path: Path) -> None:
    encoder = CrossEncoder.open(write_model(tmp_path, bias=1000.0))
    found = with_encoder(encoder, lambda opened: opened.scores(QUESTION, TEXTS))
    assert found.dtype == np.float32
    assert np.all((found >= 0) & (found < 1e-9))


def test_no_texts_give_no_scores(folder: Path) -> None:
    found = with_encoder(CrossEncoder.open(folder), lambda opened: opened.scores(QUESTION, []))
    assert (found.shape, found.dtype) == ((0,), np.float32)


def test_many_texts_of_all_lengths_score_as_each_does_alone(folder: Path) -> None:
    texts = [f"{'filler ' * (7 * number % 400)}{TEXTS[number % 4]}" for number in range(60)]
    assert scores(folder, texts=texts) == pytest.approx([EXPECTED[number % 4] for number in range(60)])


def test_a_lone_surrogate_is_read_as_a_question_mark(folder: Path) -> None:
    assert scores(folder, "kestrel \ud83d", ["\ud83d kestrel"]) == pytest.approx([0.5])


def test_the_model_is_named_by_its_folder(folder: Path) -> None:
    assert CrossEncoder.open(folder).model_id == cross_encoder_id("overlap") == "cross-encoder/overlap"


# -- what is longer than the model reads ----------------------------------------------------------

NOT_FOUND, FOUND = pytest.approx([sigmoid(-1)]), pytest.approx([sigmoid(0)])


def test_text_beyond_the_models_limit_does_not_count(folder: Path) -> None:
    assert scores(folder, "kestrel", ["filler " * 600 + "kestrel"]) == NOT_FOUND


def test_the_last_piece_within_reach_counts(folder: Path) -> None:
    # [CLS] kestrel [SEP] ... [SEP] leaves 508 of 512 pieces to the text.
    reached = [scores(folder, "kestrel", ["filler " * before + "kestrel"]) for before in (507, 508)]
    assert reached == [FOUND, NOT_FOUND]


def test_a_long_text_takes_nothing_from_a_short_question(folder: Path) -> None:
    assert scores(folder, "owl other kestrel", ["kestrel " + "filler " * 2000]) == FOUND


def test_a_long_question_takes_nothing_from_a_short_text(folder: Path) -> None:
    assert scores(folder, "kestrel " + "filler " * 2000, ["owl other kestrel"]) == FOUND


def test_the_token_limit_can_be_lowered(folder: Path) -> None:
    assert scores(folder, "kestrel", ["filler " * 12 + "kestrel"], max_pieces=16) == NOT_FOUND


@pytest.mark.parametrize(
    ("config", "pieces"),
    [
        ({"max_position_embeddings": 16}, 16),
        ({"max_position_embeddings": 18, "model_type": "xlm-roberta", "pad_token_id": 1}, 16),
        ({"max_position_embeddings": 18, "model_type": "roberta"}, 16),
        ({"max_position_embeddings": 100_000}, 512),
        ({"model_type": "without positions"}, 512),
    ],
    ids=["BERT", "after the padding", "after the usual padding", "more than asked for", "none"],
)
def test_no_more_pieces_are_read_than_the_model_has_positions_for(
    tmp_path: Path, config: dict[str, object], pieces: int
) -> None:
    write_model(tmp_path, config=config)
    reached = [scores(tmp_path, "kestrel", ["filler " * (pieces - more) + "kestrel"]) for more in (5, 4)]
    assert reached == [FOUND, NOT_FOUND]


def test_a_text_of_megabytes_is_not_tokenised_to_its_end(folder: Path) -> None:
    lengths: list[int] = []

    class Measuring:
        def __init__(self, real: Any) -> None:
            self._real = real

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

        def encode(self, sequence: str, pair: str, /) -> Any:
            lengths.append(len(pair))
            return self._real.encode(sequence, pair)

    classifier = Classifier.open(folder, max_pieces=512, threads=1)
    measuring: Any = Measuring(classifier.tokenizer)
    encoder = CrossEncoder(replace(classifier, tokenizer=measuring), name="m", timeout=None)
    with_encoder(encoder, lambda opened: opened.scores("kestrel", ["filler " * 1_000_000]))
    assert lengths == [32 * 512]


# -- threads, batches, time -----------------------------------------------------------------------


def test_a_batch_holds_at_most_2048_padded_pieces(folder: Path) -> None:
    watched = WatchedSession(folder)
    texts = ["filler " * words for words in (400, 3, 500, 3, 450, 3, 480, 3, 490)]
    with_encoder(watched.encoder(), lambda opened: opened.scores("kestrel", texts))
    assert sum(rows for rows, _ in watched.fed) == len(texts)
    assert len(watched.fed) > 1
    assert max(rows * pieces for rows, pieces in watched.fed) <= 2048


def test_short_texts_are_not_padded_to_the_longest_of_all(folder: Path) -> None:
    watched = WatchedSession(folder)
    with_encoder(watched.encoder(), lambda opened: opened.scores("kestrel", ["owl"] * 100 + ["filler " * 500]))
    assert (100, 5) in watched.fed


def test_texts_are_scored_on_a_thread_of_its_own(folder: Path) -> None:
    watched = WatchedSession(folder)
    with_encoder(watched.encoder(), lambda opened: opened.scores(QUESTION, TEXTS))
    assert [name.startswith("rerank") for name in watched.threads] == [True]


def test_a_call_that_takes_too_long_is_unavailable(folder: Path) -> None:
    release = threading.Event()
    watched = WatchedSession(folder, release.wait)

    async def ask(encoder: CrossEncoder) -> str:
        try:
            with pytest.raises(ModelUnavailable) as failed:
                await encoder.scores(QUESTION, TEXTS)
        finally:
            release.set()
        return str(failed.value)

    assert with_encoder(watched.encoder(0.05), ask) == "cross-encoder/watched did not score 4 texts in 0.05 s"


def test_a_cancelled_call_begins_no_further_batch(folder: Path) -> None:
    running, release = threading.Event(), threading.Event()

    def wait() -> None:
        running.set()
        release.wait()

    watched = WatchedSession(folder, wait)

    async def cancel(encoder: CrossEncoder) -> bool:
        asking = asyncio.create_task(encoder.scores("kestrel", ["filler " * 500] * 40))
        await asyncio.to_thread(running.wait)
        asking.cancel()
        await asyncio.wait([asking])
        release.set()
        return asking.cancelled()

    assert with_encoder(watched.encoder(), cancel)
    assert len(watched.fed) == 1


def test_a_closed_reranker_is_unavailable(folder: Path) -> None:
    async def scenario(encoder: CrossEncoder) -> None:
        await encoder.scores(QUESTION, TEXTS)
        await encoder.close()
        await encoder.close()
        with pytest.raises(ModelUnavailable, match="closed"):
            await encoder.scores(QUESTION, TEXTS)

    with_encoder(CrossEncoder.open(folder), scenario)


def test_it_can_be_used_from_one_event_loop_after_another(folder: Path) -> None:
    encoder = CrossEncoder.open(folder)
    found = [asyncio.run(encoder.scores(QUESTION, TEXTS)).tolist() for _ in range(2)]
    asyncio.run(encoder.close())
    assert found[0] == found[1] == pytest.approx(EXPECTED)


# -- what is no cross-encoder ---------------------------------------------------------------------


def refusal(folder: Path) -> str:
    with pytest.raises(ModelUnavailable) as failed:
        CrossEncoder.open(folder)
    return str(failed.value)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (write_model(tmp_path) / name).unlink()
    assert refusal(tmp_path).startswith(f"there is no {name} in {tmp_path}: ")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none").startswith(f"there is no model.onnx in {tmp_path / 'none'}: ")


def test_a_graph_with_other_inputs_is_unavailable_and_its_inputs_are_named(tmp_path: Path) -> None:
    write_model(tmp_path, rename={"attention_mask": "mask"})
    assert "takes input_ids tensor(int64) (batch, length); mask tensor(int64) (batch, length); " in refusal(tmp_path)


def test_a_graph_with_more_than_two_labels_is_unavailable_and_its_output_is_named(tmp_path: Path) -> None:
    write_model(tmp_path, labels=3)
    assert "gives logits tensor(float) (batch, 3); expected logits of shape (pairs, 1) or (" in refusal(tmp_path)


def test_a_graph_that_returns_no_finite_number_is_unavailable(tmp_path: Path) -> None:
    write_model(tmp_path, bias=math.inf)
    with pytest.raises(ModelUnavailable, match="infinite or not a number"):
        scores(tmp_path)


def test_a_file_that_is_no_graph_is_unavailable(tmp_path: Path) -> None:
    (write_model(tmp_path) / "model.onnx").write_bytes(b"no graph")
    assert "onnxruntime could not load the model" in refusal(tmp_path)


@pytest.mark.parametrize("content", ["", "{}", "[]", "nothing", '{"model": {"type": "Unheard"}}'])
def test_a_file_that_is_no_tokenizer_is_unavailable(tmp_path: Path, content: str) -> None:
    (write_model(tmp_path) / "tokenizer.json").write_text(content)
    assert refusal(tmp_path).startswith(f"{tmp_path / 'tokenizer.json'} does not describe a tokenizer: ")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_configuration_that_is_no_json_is_unavailable(tmp_path: Path, content: bytes) -> None:
    (write_model(tmp_path) / "config.json").write_bytes(content)
    assert refusal(tmp_path).startswith(f"{tmp_path / 'config.json'} cannot be read as JSON: ")


@pytest.mark.parametrize("config", [[], "text", 7])
def test_a_configuration_that_is_no_object_is_unavailable(tmp_path: Path, config: object) -> None:
    (write_model(tmp_path) / "config.json").write_text(json.dumps(config))
    assert "holds no JSON object" in refusal(tmp_path)


@pytest.mark.parametrize("positions", [0, 7, -1, "512", 5.5, True])
def test_positions_that_are_no_number_of_pieces_are_unavailable(tmp_path: Path, positions: object) -> None:
    write_model(tmp_path, config={"max_position_embeddings": positions})
    assert "max_position_embeddings; expected 8 or more" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("argument", "options"),
    [("max_pieces", {"max_pieces": 7}), ("threads", {"threads": 0}), ("timeout", {"timeout": 0.0})],
)
def test_a_number_out_of_range_is_refused(folder: Path, argument: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=rf"^{argument}: "):
        CrossEncoder.open(folder, **options)


def test_importing_the_module_loads_no_model_package() -> None:
    program = (
        "import sys, remembrancer.adapters.rerankers.cross_encoder;"
        "print(sorted({'onnx', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
