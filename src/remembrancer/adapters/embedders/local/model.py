"""The embedder: all-MiniLM-L6-v2 on the CPU."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar, get_args

import numpy as np

from remembrancer.adapters.batching import padded_batches
from remembrancer.adapters.embedders.local import bindings, bit_sums, weights
from remembrancer.adapters.embedders.local.weights import Precision
from remembrancer.domain.arithmetic import SumOfBits
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.ports.embedder import Embedded, EmbeddedPassages, EmbeddedQuestion, Passage
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Result = TypeVar("_Result")

_MODEL = "all-MiniLM-L6-v2"
DIM: Final = 384
MAX_PIECES: Final = 256

# Basic Latin to Latin Extended-B, and Latin Extended Additional (Vietnamese).
_AFTER_LATIN = "\u0250"
_LATIN_ADDITIONAL = ("\u1e00", "\u1eff")

# Padded pieces per run. The intermediate values of this many fit a core's own cache; four times as many take an eighth
# to a quarter more time per piece.
_BATCH_PIECES = 256

# Numbers of characters to tokenize, tried in order until the first 256 pieces are certain. Nearly every text fits the
# first; the last limits memory for one very long word or megabytes of blanks.
_CHARACTERS_READ = (2_048, 16_384, 131_072)


def local_model_id(precision: Precision) -> str:
    """The id stored with each vector: model name and precision."""
    return _MODEL if precision == "fp32" else f"{_MODEL}/{precision}"


EXACT: Final = "8-bit products: exact"
PRECISE: Final = "8-bit products: precise kernels, because the fast ones saturate on this processor"
"""Values of `LocalEmbedder.arithmetic` for int8."""


def reads_latin(text: str) -> bool:
    """Whether at least half of the letters and digits are Latin; the model was trained on English.

    It splits other scripts into letters or unknown tokens, so that any two texts of one script look alike.
    """
    counted = [character for character in text if character.isalnum()]
    latin = sum(
        character < _AFTER_LATIN or _LATIN_ADDITIONAL[0] <= character <= _LATIN_ADDITIONAL[1] for character in counted
    )
    return 2 * latin >= len(counted) > 0


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A tokenized text: at most 256 ids, including the first and last special token.

    `own`: slice of the text's own pieces, without special tokens and context. `pooled`: slice of the pieces whose mean
    is the text's vector. `spelled`: for each own piece, the word that it is part of.
    """

    ids: NDArray[np.int64]
    truncated: bool
    own: slice
    pooled: slice
    spelled: tuple[str, ...]


class LocalEmbedder:
    """all-MiniLM-L6-v2 in this process: 384 dimensions; reads the first 256 word pieces of a text (about 200 words).

    The object has two threads, one for queries and one for documents, so that neither the event loop nor a query waits
    for a long list of documents. fp32 gives the vectors of the reference implementation; int8 takes less than half the
    time and ranks alike (docs/decisions/0003-local-embedder.md).
    """

    def __init__(
        self,
        session: bindings.ModelSession,
        tokenizer: bindings.Tokenizer,
        precision: Precision,
        sum_of_bits: SumOfBits | None = None,
        arithmetic: str = "",
    ) -> None:
        """Use `open`, which verifies the weights."""
        self._arithmetic = arithmetic
        self._session: bindings.ModelSession | None = session
        self._sum_of_bits = sum_of_bits
        self._tokenizer = tokenizer
        self._model_id = local_model_id(precision)
        self._failures = bindings.session_errors()
        self._queries = ThreadPoolExecutor(1, thread_name_prefix="embed-query")
        self._documents = ThreadPoolExecutor(1, thread_name_prefix="embed-documents")

    @classmethod
    def open(cls, *, source: str | Path | None = None, precision: Precision = "int8", threads: int = 1) -> Self:
        """Load the model. Blocks for 0.1 to 0.4 seconds, so call it outside of the event loop.

        `source`: None for the installed package remembrancer-minilm, otherwise a folder with its files. `threads`:
        number of threads that compute one batch.

        Raises InvalidInput for `precision` or `threads`, ModelUnavailable when a package or a file is missing or when a
        file is not the released one.
        """
        if precision not in get_args(Precision):
            raise InvalidInput("precision", precision, "fp32 or int8")
        if threads < 1:
            raise InvalidInput("threads", threads, "1 or more")
        folder = weights.located(source, precision)
        tokenizer = bindings.tokenizer(weights.read_verified(folder / weights.TOKENIZER).decode())
        # The published tokenizer file pads and truncates to 128 pieces; the published model reads 256.
        tokenizer.no_padding()
        tokenizer.no_truncation()
        sum_of_bits = bit_sums.BitSums(
            bindings.open_session(weights.read_verified(folder / weights.BIT_SUMS), threads=1)
        )
        # Every processor must compute the same integers: vectors made on different machines share one model id.
        precise = precision == "int8" and not sum_of_bits.products_are_exact()
        arithmetic = "" if precision == "fp32" else PRECISE if precise else EXACT
        graph = weights.read_verified(folder / weights.GRAPHS[precision])
        session = bindings.open_session(graph, threads=threads, precise=precise)
        return cls(session, tokenizer, precision, sum_of_bits, arithmetic)

    @property
    def model_id(self) -> str:
        """Either "all-MiniLM-L6-v2" (fp32) or "all-MiniLM-L6-v2/int8"."""
        return self._model_id

    @property
    def dim(self) -> int:
        return DIM

    @property
    def computes(self) -> bool:
        return True

    @property
    def arithmetic(self) -> str:
        """The exactness of int8 products on this processor: EXACT or PRECISE; "" for fp32."""
        return self._arithmetic

    def reads(self, text: str) -> bool:
        return reads_latin(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Vectors float32 (n, 384) and truncated bool (n,), in the order of `texts`; "" has a vector too.

        Raises ModelUnavailable when closed or when onnxruntime fails. Cancellation takes effect between batches.
        """
        pieces = await self._on(self._documents, lambda: [self._pieces(text) for text in texts])
        vectors = np.empty((len(pieces), DIM), np.float32)
        for batch in padded_batches([len(text.ids) for text in pieces], _BATCH_PIECES):
            rows = [pieces[index] for index in batch]
            vectors[batch] = (await self._on(self._documents, lambda rows=rows: self._run(rows, ["vectors"])))[0]
        return Embedded(vectors, _truncated(pieces))

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        """Like `embed_documents`, but each text is embedded with the context before it, and token embeddings are
        returned too.

        Text and context share the model's 256 pieces: a long text leaves less room for the context, whose end is kept.
        With context, the vector is the mean of the text's own pieces.
        """
        pieces = await self._on(self._documents, lambda: [self._in_context(passage) for passage in passages])
        vectors = np.empty((len(pieces), DIM), np.float32)
        words = [np.empty((0, DIM), np.float32)] * len(pieces)
        for batch in padded_batches([len(text.ids) for text in pieces], _BATCH_PIECES):
            rows = [pieces[index] for index in batch]
            vectors[batch], hidden = await self._on(
                self._documents, lambda rows=rows: self._run(rows, ["vectors", "words"])
            )
            for index, row in zip(batch, hidden, strict=True):
                words[index] = row[pieces[index].own].copy()  # a view would keep the whole batch in memory
        return EmbeddedPassages(vectors, _truncated(pieces), tuple(words))

    def query_now(self, text: str) -> NDArray[np.float32]:
        """A unit vector, float32 (384,). Raises ModelUnavailable when closed or when onnxruntime fails."""
        return self._run([self._pieces(text)], ["vectors"])[0][0]

    def question_now(self, text: str) -> EmbeddedQuestion:
        """The question's vector and token embeddings. Raises ModelUnavailable when closed or when onnxruntime fails."""
        pieces = self._pieces(text)
        vectors, words = self._run([pieces], ["vectors", "words"])
        return EmbeddedQuestion(vectors[0], words[0][pieces.own], pieces.spelled, self._sum_of_bits)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Like `query_now`, in this object's query thread."""
        return await self._on(self._queries, lambda: self.query_now(text))

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        """Like `question_now`, in this object's query thread."""
        return await self._on(self._queries, lambda: self.question_now(text))

    async def close(self) -> None:
        """Wait for running batches, then release the model. Closing again does nothing."""
        self._session = None
        for threads in (self._queries, self._documents):
            await asyncio.to_thread(threads.shutdown)

    async def _on(self, threads: ThreadPoolExecutor, work: Callable[[], _Result]) -> _Result:
        if self._session is None:
            raise ModelUnavailable("this embedder is closed")
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def _pieces(self, text: str) -> _Pieces:
        """The first 256 pieces of `text`, the same as if all of it had been tokenized."""
        start, encoding = self._tokenised(text)
        ids = encoding.ids
        truncated = len(ids) > MAX_PIECES or len(text) > _CHARACTERS_READ[-1]
        kept = ids if len(ids) <= MAX_PIECES else [*ids[: MAX_PIECES - 1], ids[-1]]
        spans: dict[int, tuple[int, int]] = {}
        places = list(zip(encoding.word_ids, encoding.offsets, strict=True))[1 : len(kept) - 1]
        for word, (begin, end) in places:
            if word is not None:
                spans[word] = (spans.get(word, (begin, end))[0], end)
        return _Pieces(
            ids=np.array(kept, np.int64),
            truncated=truncated,
            own=slice(1, len(kept) - 1),
            pooled=slice(0, len(kept)),
            spelled=tuple("" if word is None else _with_marks(start, *spans[word]) for word, _ in places),
        )

    def _tokenised(self, text: str) -> tuple[str, bindings.TokenizedText]:
        """The beginning of the text that determines its first 256 pieces, and its encoding."""
        characters = 0
        while True:
            characters = next(size for size in _CHARACTERS_READ if size > characters)
            # Replaces lone surrogates, which JSON can carry: they have no UTF-8 form, and the tokenizer rejects them.
            start = text[:characters].encode("utf-8", "replace").decode()
            encoding = self._tokenizer.encode(start)
            ids, words = encoding.ids, encoding.word_ids
            # Cutting the text may change the pieces of its last word, but of no earlier word.
            certain = len(ids) > MAX_PIECES and words[MAX_PIECES - 2] != words[-2]
            if len(text) <= characters or certain or characters == _CHARACTERS_READ[-1]:
                return start, encoding

    def _in_context(self, passage: Passage) -> _Pieces:
        """The text's pieces, preceded by as many pieces of its context as fit."""
        text = self._pieces(passage.text)
        room = MAX_PIECES - len(text.ids)
        own = len(text.ids) - 2
        if not passage.before or not room or not own:
            return text
        before = self._tokenizer.encode(passage.before[-_CHARACTERS_READ[0] :].encode("utf-8", "replace").decode())
        kept = before.ids[1:-1][-room:]
        if not kept:  # the context is blank
            return text
        place = slice(1 + len(kept), 1 + len(kept) + own)
        ids = np.concatenate([text.ids[:1], np.array(kept, np.int64), text.ids[1:]])
        return _Pieces(ids, text.truncated, own=place, pooled=place, spelled=text.spelled)

    def _run(self, rows: Sequence[_Pieces], outputs: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        session = self._session
        if session is None:
            raise ModelUnavailable("this embedder is closed")
        ids = np.zeros((len(rows), max(len(row.ids) for row in rows)), np.int64)
        mask = np.zeros(ids.shape, np.int32)
        pooled = np.zeros(ids.shape, np.int32)
        for index, row in enumerate(rows):
            ids[index, : len(row.ids)] = row.ids
            mask[index, : len(row.ids)] = 1
            pooled[index, row.pooled] = 1
        try:
            return session.run(outputs, {"ids": ids, "mask": mask, "pooled": pooled})
        except self._failures as error:
            raise ModelUnavailable(f"onnxruntime could not embed {len(rows)} texts: {error}") from error


def _with_marks(text: str, begin: int, end: int) -> str:
    """The word with the combining marks after it: the tokenizer drops accents, so its offsets end before them."""
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return text[begin:end]


def _truncated(pieces: Sequence[_Pieces]) -> NDArray[np.bool_]:
    return np.array([text.truncated for text in pieces], np.bool_)
