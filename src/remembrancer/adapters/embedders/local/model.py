"""The local embedder: all-MiniLM-L6-v2, or another sentence transformer from a folder, on the CPU."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar, cast, get_args

import numpy as np

from remembrancer.adapters.batching import padded_batches
from remembrancer.adapters.embedders.local import bindings, bit_sums, exported, weights
from remembrancer.adapters.embedders.local.graphs import ExportedGraph, Pieces, ReadAlone, ReleasedGraph, TokenGraph
from remembrancer.adapters.embedders.local.in_context import ReadingPlan, planned
from remembrancer.adapters.embedders.local.sentence_model import EXPECTED, SentenceModel
from remembrancer.adapters.embedders.local.weights import Precision
from remembrancer.domain.arithmetic import SumOfBits
from remembrancer.domain.calibration import REFERENCE, CosineScale
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.ports.embedder import Embedded, EmbeddedPassages, EmbeddedQuestion, Passage
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Result = TypeVar("_Result")

_MODEL = "all-MiniLM-L6-v2"
DIM: Final = 384
LANGUAGES: Final = frozenset({"en"})
MAX_PIECES: Final = 256

# Basic Latin to Latin Extended-B, and Latin Extended Additional (Vietnamese).
_AFTER_LATIN = "\u0250"
_LATIN_ADDITIONAL = ("\u1e00", "\u1eff")

IN_LATIN: Final = frozenset(
    "af ca cs cy da de en es et eu fi fr ga gl hr hu id is it lt lv ms mt nl no pl pt ro sk sl sq sv sw tr vi".split()
)
"""Codes of languages that are written in Latin script."""

# Padded pieces per run. The intermediate values of this many fit a core's own cache; four times as many take an eighth
# to a quarter more time per piece.
_BATCH_PIECES = 256

# Passages in context of which all texts are in memory: 120 kB each.
_GROUP = 64

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


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRules:
    """The rules by which a model's input is made from texts.

    `max_pieces`: the longest text, with its two special tokens. `query_prefix`, `document_prefix`: prompts, which are
    written before texts; `pooled_prompt`: whether their pieces count in the mean. `in_context`: whether a passage may
    be embedded after its context, which needs a vector that is the mean of the text's own pieces. `together`: whether
    texts may share a run; the vectors of a graph with one scale for the whole run would depend on the others.
    """

    model_id: str
    dim: int
    max_pieces: int
    query_prefix: str = ""
    document_prefix: str = ""
    pooled_prompt: bool = True
    lowers: bool = False
    languages: frozenset[str] | None = LANGUAGES
    calibration: CosineScale | None = REFERENCE
    in_context: bool = True
    together: bool = True


class LocalEmbedder:
    """A sentence transformer in this process. all-MiniLM-L6-v2 (`open`) has 384 dimensions and reads the first 256 word
    pieces of a text (about 200 words); `open_folder` reads another model's folder.

    The object has two threads, one for queries and one for documents, so that neither the event loop nor a query waits
    for a long list of documents. fp32 gives the vectors of the reference implementation; int8 takes less than half the
    time and ranks alike (docs/decisions/0003-local-embedder.md).
    """

    def __init__(
        self,
        graph: TokenGraph,
        tokenizer: bindings.Tokenizer,
        rules: InputRules,
        reads: Callable[[str], bool],
        sum_of_bits: SumOfBits | None = None,
        arithmetic: str = "",
    ) -> None:
        """Use `open` or `open_folder`, which check the files."""
        self._arithmetic = arithmetic
        self._graph: TokenGraph | None = graph
        self._sum_of_bits = sum_of_bits
        self._tokenizer = tokenizer
        self._rules = rules
        self._reads = reads
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
        content = weights.read_verified(folder / weights.GRAPHS[precision])
        session = bindings.open_session(content, threads=threads, precise=precise)
        second = folder / weights.IN_CONTEXT[precision]
        weights.read_verified(second)

        def open_second() -> bindings.ModelSession:
            # Opened by path, because most of its weights are in the file of the first graph.
            for file in (second, folder / weights.GRAPHS[precision]):
                weights.read_verified(file)
            return bindings.open_session(str(second), threads=threads, precise=precise)

        graph = ReleasedGraph(session, bindings.session_errors(), open_second)
        return cls(graph, tokenizer, minilm(precision), reads_latin, sum_of_bits, arithmetic)

    @classmethod
    def open_folder(cls, model: SentenceModel, *, threads: int = 1) -> Self:
        """Load a model of `sentence_model`, and embed one text with it. Blocks for 0.2 seconds to several seconds.

        Raises InvalidInput for `threads`, ModelUnavailable when a package is missing or the model is of another kind.
        """
        if threads < 1:
            raise InvalidInput("threads", threads, "1 or more")
        tokenizer = exported.tokenizer(model.tokenizer)
        if [word is None for word in tokenizer.encode("a").word_ids] != [True, False, True]:
            raise ModelUnavailable(
                f"{model.tokenizer} does not put one special token before a text and one after it: BERT, MPNet and "
                "XLM-RoBERTa do"
            )
        sums = _sums_of_bits()
        precise = model.precision == "int8" and not (sums is not None and sums.products_are_exact())
        graph = ExportedGraph.open(
            model.graph,
            pooling=model.pooling,
            padding=model.padding,
            dim=model.dim,
            threads=threads,
            precise=precise,
            expected=EXPECTED,
        )
        arithmetic = "" if model.precision == "fp32" else PRECISE if precise else EXACT
        opened = cls(graph, tokenizer, rules_of(model), reads_script(model), sums, arithmetic)
        opened.query_now("Does the model answer?")
        return opened

    @property
    def model_id(self) -> str:
        """For MiniLM "all-MiniLM-L6-v2" (fp32) or "all-MiniLM-L6-v2/int8"; for a folder as `SentenceModel.model_id`."""
        return self._rules.model_id

    @property
    def dim(self) -> int:
        return self._rules.dim

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages that the model was trained in; None if its folder does not say."""
        return self._rules.languages

    @property
    def calibration(self) -> CosineScale | None:
        """The measured cosines of the model; None if its folder has none."""
        return self._rules.calibration

    @property
    def computes(self) -> bool:
        return True

    @property
    def arithmetic(self) -> str:
        """The exactness of int8 products on this processor: EXACT or PRECISE; "" for fp32."""
        return self._arithmetic

    def reads(self, text: str) -> bool:
        return self._reads(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Vectors float32 (n, dim) and truncated bool (n,), in the order of `texts`; "" has a vector too.

        Raises ModelUnavailable when closed or when onnxruntime fails. Cancellation takes effect between batches.
        """
        prefix = self._rules.document_prefix
        pieces = await self._on(self._documents, lambda: [self._pieces(text, prefix) for text in texts])
        vectors = np.empty((len(pieces), self.dim), np.float32)
        for batch in self._batches(pieces):
            rows = [pieces[index] for index in batch]
            vectors[batch] = await self._on(self._documents, lambda rows=rows: self._opened().vectors(rows))
        return Embedded(vectors, _truncated(pieces))

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        """Like `embed_documents`, but each text is embedded in its context, and token embeddings are returned too.

        Text and context share the model's pieces: a long text leaves less room for the context, whose end is kept. With
        context, the vector is the mean of the text's own pieces. MiniLM reads each text alone in its first four layers;
        in the last two, the text's pieces also attend to its speaker's name and to the turns before it. So each text is
        read once, also if it is the context of others. Another model reads text and context as one text. A model whose
        vector is the embedding of its first token gets no context, because that token would embed the context too.
        """
        if isinstance(self._opened(), ReleasedGraph):
            return await self._read_once(passages)
        pieces = await self._on(self._documents, lambda: [self._in_context(passage) for passage in passages])
        vectors = np.empty((len(pieces), self.dim), np.float32)
        words = [np.empty((0, self.dim), np.float32)] * len(pieces)
        for batch in self._batches(pieces):
            rows = [pieces[index] for index in batch]
            vectors[batch], hidden = await self._on(
                self._documents, lambda rows=rows: self._opened().vectors_and_tokens(rows)
            )
            for index, row in zip(batch, hidden, strict=True):
                words[index] = row[pieces[index].own].copy()  # a view would keep the whole batch in memory
        return EmbeddedPassages(vectors, _truncated(pieces), tuple(words), tuple(text.spelled for text in pieces))

    async def _read_once(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        """`embed_passages` with the graphs of remembrancer-minilm."""
        count = len(passages)
        vectors, alone = np.empty((2, count, self.dim), np.float32)
        words: list[NDArray[np.float32]] = []
        texts: list[Pieces] = []
        # In groups, because the states of all texts of a group are in memory.
        for start in range(0, count, _GROUP):
            group = passages[start : start + _GROUP]
            plan = await self._on(self._documents, lambda group=group: self._planned(group))
            read = await self._alone(plan)
            place = slice(start, start + len(group))
            alone[place] = [read[index].vector for index in plan.own]
            vectors[place] = alone[place]
            words += [read[index].words[text.own].copy() for index, text in zip(plan.own, plan.passages, strict=True)]
            texts += plan.passages
            inside = [index for index, parts in enumerate(plan.context) if parts]
            for batch in self._batches([texts[start + index] for index in inside]):
                chosen = [inside[index] for index in batch]
                found = await self._on(
                    self._documents, lambda plan=plan, read=read, chosen=chosen: self._in_context_of(plan, read, chosen)
                )
                for index, vector, row in zip(chosen, *found, strict=True):
                    vectors[start + index] = vector
                    words[start + index] = row[texts[start + index].own].copy()
        return EmbeddedPassages(vectors, _truncated(texts), tuple(words), tuple(text.spelled for text in texts), alone)

    def _planned(self, passages: Sequence[Passage]) -> ReadingPlan:
        return planned(passages, lambda text: self._pieces(text, ""), self._last_pieces, self._rules.max_pieces)

    async def _alone(self, plan: ReadingPlan) -> list[ReadAlone]:
        found: dict[int, ReadAlone] = {}
        for batch in self._batches(plan.texts):
            rows = [plan.texts[index] for index in batch]
            found |= zip(
                batch, await self._on(self._documents, lambda rows=rows: self._released().alone(rows)), strict=True
            )
        return [found[index] for index in range(len(plan.texts))]

    def _in_context_of(
        self, plan: ReadingPlan, read: Sequence[ReadAlone], passages: Sequence[int]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self._released().in_context(
            [read[plan.own[index]] for index in passages], [plan.states(read, index) for index in passages]
        )

    def _released(self) -> ReleasedGraph:
        return cast("ReleasedGraph", self._opened())

    def _last_pieces(self, text: str) -> Pieces:
        """The last pieces of a text, between the special tokens."""
        ids = self._tokenizer.encode(self._end_of(text)).ids
        kept = [ids[0], *ids[1:][-(self._rules.max_pieces - 1) :]]
        whole = slice(0, len(kept))
        return Pieces(np.array(kept, np.int64), truncated=False, own=slice(1, len(kept) - 1), pooled=whole, spelled=())

    def _end_of(self, text: str) -> str:
        """The end of a text, which determines its last pieces, as the tokenizer reads it."""
        end = text[-self._characters_read()[0] :].encode("utf-8", "replace").decode()
        return end.lower() if self._rules.lowers else end

    def query_now(self, text: str) -> NDArray[np.float32]:
        """A unit vector, float32 (dim,). Raises ModelUnavailable when closed or when onnxruntime fails."""
        return self._opened().vectors([self._pieces(text, self._rules.query_prefix)])[0]

    def question_now(self, text: str) -> EmbeddedQuestion:
        """The question's vector and token embeddings. Raises ModelUnavailable when closed or when onnxruntime fails."""
        pieces = self._pieces(text, self._rules.query_prefix)
        vectors, words = self._opened().vectors_and_tokens([pieces])
        return EmbeddedQuestion(vectors[0], words[0][pieces.own], pieces.spelled, self._sum_of_bits)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Like `query_now`, in this object's query thread."""
        return await self._on(self._queries, lambda: self.query_now(text))

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        """Like `question_now`, in this object's query thread."""
        return await self._on(self._queries, lambda: self.question_now(text))

    async def close(self) -> None:
        """Wait for running batches, then release the model. Closing again does nothing."""
        self._graph = None
        for threads in (self._queries, self._documents):
            await asyncio.to_thread(threads.shutdown)

    async def _on(self, threads: ThreadPoolExecutor, work: Callable[[], _Result]) -> _Result:
        self._opened()
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def _opened(self) -> TokenGraph:
        if self._graph is None:
            raise ModelUnavailable("this embedder is closed")
        return self._graph

    def _batches(self, pieces: Sequence[Pieces]) -> Iterator[list[int]]:
        return padded_batches([len(text.ids) for text in pieces], _BATCH_PIECES if self._rules.together else 1)

    def _pieces(self, text: str, prefix: str) -> Pieces:
        """The first pieces of prefix and text, the same as if all of it had been tokenized."""
        most = self._rules.max_pieces
        start, encoding = self._tokenised(prefix + text if prefix else text)
        ids = encoding.ids
        truncated = len(ids) > most or len(text) > self._characters_read()[-1]
        kept = ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]
        spans: dict[int, tuple[int, int]] = {}
        places = list(zip(encoding.word_ids, encoding.offsets, strict=True))[1 : len(kept) - 1]
        prompt = sum(end <= len(prefix) for _, (_, end) in places) if prefix else 0
        for word, (begin, end) in places:
            if word is not None:
                spans[word] = (spans.get(word, (begin, end))[0], end)
        return Pieces(
            ids=np.array(kept, np.int64),
            truncated=truncated,
            own=slice(1 + prompt, len(kept) - 1),
            pooled=slice(0 if self._rules.pooled_prompt or not prompt else 1 + prompt, len(kept)),
            spelled=tuple("" if word is None else _with_marks(start, *spans[word]) for word, _ in places[prompt:]),
        )

    def _characters_read(self) -> Sequence[int]:
        return [size * max(1, self._rules.max_pieces // MAX_PIECES) for size in _CHARACTERS_READ]

    def _tokenised(self, text: str) -> tuple[str, bindings.TokenizedText]:
        """The beginning of the text that determines its first pieces, and its encoding."""
        most, sizes = self._rules.max_pieces, self._characters_read()
        characters = 0
        while True:
            characters = next(size for size in sizes if size > characters)
            # Replaces lone surrogates, which JSON can carry: they have no UTF-8 form, and the tokenizer rejects them.
            start = text[:characters].encode("utf-8", "replace").decode()
            start = start.lower() if self._rules.lowers else start
            encoding = self._tokenizer.encode(start)
            ids, words = encoding.ids, encoding.word_ids
            # Cutting the text may change the pieces of its last word, but of no earlier word.
            certain = len(ids) > most and words[most - 2] != words[-2]
            if len(text) <= characters or certain or characters == sizes[-1]:
                return start, encoding

    def _in_context(self, passage: Passage) -> Pieces:
        """The text's pieces, preceded by as many pieces of its context as fit."""
        text = self._pieces(passage.text, self._rules.document_prefix)
        room = self._rules.max_pieces - len(text.ids)
        own = text.own.stop - text.own.start
        if not passage.context or not room or not own or not self._rules.in_context:
            return text
        kept = self._tokenizer.encode(self._end_of(passage.context)).ids[1:-1][-room:]
        if not kept:  # the context is blank
            return text
        first = text.own.start
        place = slice(first + len(kept), first + len(kept) + own)
        ids = np.concatenate([text.ids[:first], np.array(kept, np.int64), text.ids[first:]])
        return Pieces(ids, text.truncated, own=place, pooled=place, spelled=text.spelled)


def minilm(precision: Precision) -> InputRules:
    """The rules of all-MiniLM-L6-v2."""
    return InputRules(model_id=local_model_id(precision), dim=DIM, max_pieces=MAX_PIECES)


def rules_of(model: SentenceModel) -> InputRules:
    """The rules of a folder's model."""
    return InputRules(
        model_id=model.model_id,
        dim=model.dim,
        max_pieces=model.max_pieces,
        query_prefix=model.query_prefix,
        document_prefix=model.document_prefix,
        pooled_prompt=model.pooled_prompt,
        lowers=model.lowers,
        languages=model.languages,
        calibration=model.calibration,
        in_context=model.pooling == "mean",
        together=model.precision == "fp32",
    )


def reads_script(model: SentenceModel) -> Callable[[str], bool]:
    """The model's `reads`: Latin script, if all of its languages are written in it; any script, if they are unknown."""
    return reads_latin if model.languages and model.languages <= IN_LATIN else _reads_all


def _reads_all(_: str) -> bool:
    return True


def _sums_of_bits() -> bit_sums.BitSums | None:
    """The graph that sums bits, of remembrancer-minilm; None if that is not installed."""
    if find_spec(weights.PACKAGE) is None:
        return None
    content = weights.read_verified(weights.located(None, "int8") / weights.BIT_SUMS)
    return bit_sums.BitSums(bindings.open_session(content, threads=1))


def _with_marks(text: str, begin: int, end: int) -> str:
    """The word with the combining marks after it: the tokenizer drops accents, so its offsets end before them."""
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return text[begin:end]


def _truncated(pieces: Sequence[Pieces]) -> NDArray[np.bool_]:
    return np.array([text.truncated for text in pieces], np.bool_)
