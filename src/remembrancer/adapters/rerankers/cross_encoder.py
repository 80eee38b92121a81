"""A cross-encoder from a local folder, in this process, on the CPU; nothing is downloaded.

Importing this module imports neither onnxruntime nor tokenizers, of the extra `local`; opening a model does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

import numpy as np

from remembrancer.adapters.batching import padded_batches
from remembrancer.adapters.embedders.local.bindings import TokenizedText
from remembrancer.adapters.rerankers.classifier import MIN_PIECES, Classifier
from remembrancer.errors import InvalidInput, ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Result = TypeVar("_Result")

MAX_PIECES: Final = 512
"""The usual maximum length of question and text together, in word pieces, of published cross-encoders."""

# Padded pieces per run: a quarter of a second for a small model on one core, which bounds the delay of a cancellation.
_BATCH_PIECES: Final = 2_048

# Characters given to the tokenizer per piece. No language has longer pieces, and very long texts would take seconds.
_CHARACTERS_A_PIECE: Final = 32


class CrossEncoder:
    """Scores by a sequence classifier such as ms-marco-MiniLM: the sigmoid of its one logit, or the softmax of two.

    A pair that exceeds the model's length loses pieces of its longer text. Pairs are scored in this object's own
    thread, so the event loop is not blocked.
    """

    def __init__(self, classifier: Classifier, *, name: str, timeout: float | None) -> None:
        """Use `open`, which reads the folder."""
        self._classifier: Classifier | None = classifier
        self._model_id = cross_encoder_id(name)
        self._timeout = timeout
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rerank")

    @classmethod
    def open(
        cls, folder: str | Path, *, max_pieces: int = MAX_PIECES, threads: int = 1, timeout: float | None = None
    ) -> Self:
        """Load the model. Blocks for 0.1 seconds to several seconds, so call it outside of the event loop.

        `folder`: with model.onnx, tokenizer.json and config.json, as Optimum exports a sequence classifier; the graph
        may be in the subfolder onnx. `max_pieces`: the longest pair, capped by the model's positions. `threads`: number
        of threads that compute one batch. `timeout`: seconds for all texts of one question; None: no limit.

        Raises InvalidInput for a number out of range, ModelUnavailable when a package or file is missing or the model
        is of another kind.
        """
        if max_pieces < MIN_PIECES:
            raise InvalidInput("max_pieces", max_pieces, f"{MIN_PIECES} or more")
        if threads < 1:
            raise InvalidInput("threads", threads, "1 or more")
        if timeout is not None and not timeout > 0:
            raise InvalidInput("timeout", timeout, "a number of seconds greater than 0, or None")
        where = Path(folder)
        classifier = Classifier.open(where, max_pieces=max_pieces, threads=threads)
        return cls(classifier, name=where.resolve().name, timeout=timeout)

    @property
    def model_id(self) -> str:
        """The model's name, for example "cross-encoder/ms-marco-MiniLM-L6-v2", from the folder's name."""
        return self._model_id

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Reranker.scores`. Cancellation and the timeout take effect at once; the running batch ends in its
        thread.

        Raises ModelUnavailable when closed, when onnxruntime fails, or after the timeout.
        """
        try:
            async with asyncio.timeout(self._timeout):
                return await self._scores(question, texts)
        except TimeoutError as error:
            raise ModelUnavailable(f"{self._model_id} did not score {len(texts)} texts in {self._timeout} s") from error

    async def close(self) -> None:
        """Wait for the running batch, then release the model. Closing again does nothing."""
        self._classifier = None
        await asyncio.to_thread(self._thread.shutdown)

    async def _scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        found = np.empty(len(texts), np.float32)
        pairs: list[TokenizedText] = []
        for text in texts:
            pairs.append(await self._on_thread(lambda model, text=text: _pieces(model, question, text)))
        for batch in padded_batches([len(pair.ids) for pair in pairs], _BATCH_PIECES):
            rows = [pairs[index] for index in batch]
            found[batch] = relevance(await self._on_thread(lambda model, rows=rows: model.logits(rows)))
        return found

    async def _on_thread(self, work: Callable[[Classifier], _Result]) -> _Result:
        classifier = self._classifier
        if classifier is None:
            raise ModelUnavailable("this reranker is closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, classifier)


def cross_encoder_id(name: str) -> str:
    """The model's id, from the name of its folder."""
    return f"cross-encoder/{name}"


def relevance(logits: NDArray[np.float64]) -> NDArray[np.float32]:
    """Probabilities, shape (n,), from logits of shape (n, 1) or (n, 2).

    Two logits: the softmax of the second, which equals the sigmoid of their difference.

    >>> relevance(np.array([[0.0], [2.0]])).round(3).tolist()
    [0.5, 0.8809999823570251]
    """
    margin = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
    # Avoids overflow in exp; beyond 60, a float32 probability is 0 or 1 anyway.
    return (1 / (1 + np.exp(-np.clip(margin, -60, 60)))).astype(np.float32)


def _pieces(model: Classifier, question: str, text: str) -> TokenizedText:
    """The tokenized pair, at most `max_pieces` pieces."""
    characters = model.max_pieces * _CHARACTERS_A_PIECE
    # Replaces lone surrogates, which JSON can carry: they have no UTF-8 form, and the tokenizer rejects them.
    first, second = (whole[:characters].encode("utf-8", "replace").decode() for whole in (question, text))
    return model.tokenizer.encode(first, second)
