"""The two kinds of graphs that `LocalEmbedder` runs: the released one of MiniLM, and those that Optimum exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self, TypeVar, cast

import numpy as np

from remembrancer.adapters.embedders.local import bindings, exported
from remembrancer.errors import ModelUnavailable
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pooling = Literal["mean", "cls"]
"""The way from token embeddings to a text's vector: their mean, or the embedding of the first token."""

_TOKENS: Final = ("last_hidden_state", "token_embeddings")
"""The outputs of token embeddings, as Optimum names them for a transformer and for a sentence transformer."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A tokenized text: the ids with the first and last special token.

    `own`: slice of the text's own pieces, without special tokens, prompt and context. `pooled`: slice of the pieces
    whose mean is the text's vector. `spelled`: for each own piece, the word that it is part of.
    """

    ids: NDArray[np.int64]
    truncated: bool
    own: slice
    pooled: slice
    spelled: tuple[str, ...]


class TokenGraph(Protocol):
    """A loaded graph that embeds tokenized texts."""

    def vectors(self, rows: Sequence[Pieces]) -> NDArray[np.float32]:
        """The texts' vectors, shape (texts, dim), unit rows. Raises ModelUnavailable."""
        ...

    def vectors_and_tokens(self, rows: Sequence[Pieces]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The same, and the token embeddings: shape (texts, pieces, dim), unit rows. Raises ModelUnavailable."""
        ...


STATES: Final = ("state_4", "state_5")
"""The outputs that the graph for texts in context reads: the inputs of the last two layers."""


@dataclass(frozen=True, slots=True)
class ReadAlone:
    """A text embedded alone: `vector` (dim,) and `words` (pieces, dim), of unit length, and `states` (layers, pieces,
    dim), which the graph for texts in context reads; float32.
    """

    pieces: Pieces
    vector: NDArray[np.float32]
    words: NDArray[np.float32]
    states: NDArray[np.float32]


@dataclass(slots=True)
class ReleasedGraph:
    """The graphs of remembrancer-minilm, which pool and scale by themselves: one for texts alone, and one for texts in
    the context of others, which `open_second` loads on first use.
    """

    session: bindings.ModelSession
    failures: tuple[type[Exception], ...]
    open_second: Callable[[], bindings.ModelSession]
    _second: bindings.ModelSession | None = None

    def vectors(self, rows: Sequence[Pieces]) -> NDArray[np.float32]:
        return self._run(self.session, rows, ["vectors"], {"ids": _padded([row.ids for row in rows])})[0]

    def vectors_and_tokens(self, rows: Sequence[Pieces]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        feed = {"ids": _padded([row.ids for row in rows])}
        vectors, words = self._run(self.session, rows, ["vectors", "words"], feed)
        return vectors, words

    def alone(self, rows: Sequence[Pieces]) -> list[ReadAlone]:
        """The texts embedded alone, for `in_context`. Raises ModelUnavailable."""
        feed = {"ids": _padded([row.ids for row in rows])}
        vectors, words, *states = self._run(self.session, rows, ["vectors", "words", *STATES], feed)
        return [
            # Copied, because a view would keep the whole batch in memory.
            ReadAlone(row, vector, found[: len(row.ids)].copy(), np.stack([state[: len(row.ids)] for state in several]))
            for row, vector, found, *several in zip(rows, vectors, words, *states, strict=True)
        ]

    def in_context(
        self, texts: Sequence[ReadAlone], before: Sequence[NDArray[np.float32]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Vectors (texts, dim) and token embeddings (texts, pieces, dim) of texts, each of which attends to the states
        (layers, read, dim) of its context. The vector is the mean of the text's own pieces. Raises ModelUnavailable.
        """
        if self._second is None:
            self._second = self.open_second()
        feed: dict[str, NDArray[Any]] = {
            "own": _padded([text.states[0] for text in texts]),
            "before": np.stack([_padded([each[layer] for each in before]) for layer in range(len(STATES))]),
            "read": _mask([each.shape[1] for each in before]),
        }
        rows = [replace(text.pieces, pooled=text.pieces.own) for text in texts]
        vectors, words = self._run(self._second, rows, ["vectors", "words"], feed)
        return vectors, words

    def _run(
        self,
        session: bindings.ModelSession,
        rows: Sequence[Pieces],
        outputs: Sequence[str],
        feed: Mapping[str, NDArray[Any]],
    ) -> Sequence[NDArray[np.float32]]:
        mask = _mask([len(row.ids) for row in rows])
        pooled = np.zeros_like(mask)
        for index, row in enumerate(rows):
            pooled[index, row.pooled] = 1
        try:
            return session.run(outputs, {**feed, "mask": mask, "pooled": pooled})
        except self.failures as error:
            raise ModelUnavailable(f"onnxruntime could not embed {len(rows)} texts: {error}") from error


def _mask(lengths: Sequence[int]) -> NDArray[np.int32]:
    """int32 (texts, pieces): 1 for a piece, 0 for padding."""
    return (np.arange(max(lengths)) < np.array(lengths)[:, np.newaxis]).astype(np.int32)


_Array = TypeVar("_Array", bound=np.generic)


def _padded(rows: Sequence[NDArray[_Array]]) -> NDArray[_Array]:
    """The rows, of different lengths, as one array with zeros after the end of each."""
    padded = np.zeros((len(rows), max(map(len, rows)), *rows[0].shape[1:]), rows[0].dtype)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = row
    return padded


@dataclass(frozen=True, slots=True)
class ExportedGraph:
    """An exported graph, which gives token embeddings. They are pooled and scaled here.

    `padding`: the id of the padding token. `inputs`: the graph's input names, with their integer types.
    """

    session: exported.DescribedSession
    failures: tuple[type[Exception], ...]
    inputs: Mapping[str, exported.Integers]
    output: str
    pooling: Pooling
    padding: int
    dim: int

    @classmethod
    def open(
        cls, path: Path, *, pooling: Pooling, padding: int, dim: int, threads: int, precise: bool, expected: str
    ) -> Self:
        """Load the graph. Raises ModelUnavailable if it is of another kind."""
        # Open by path, because a graph beyond 2 GB stores its weights in a second file beside it.
        session = cast("exported.DescribedSession", bindings.open_session(str(path), threads=threads, precise=precise))
        inputs = exported.inputs(session, path, expected)
        outputs = session.get_outputs()
        named = [one.name for one in outputs if one.name in _TOKENS]
        found = named or [one.name for one in outputs if len(one.shape) == 3]
        if not found:
            raise ModelUnavailable(
                f"{path} gives {exported.described(outputs)}; expected {_TOKENS[0]} of shape (texts, pieces, {dim}): "
                f"{expected}"
            )
        return cls(session, bindings.session_errors(), inputs, found[0], pooling, padding, dim)

    def vectors(self, rows: Sequence[Pieces]) -> NDArray[np.float32]:
        return self._pooled(rows, self._hidden(rows))

    def vectors_and_tokens(self, rows: Sequence[Pieces]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        hidden = self._hidden(rows)
        return self._pooled(rows, hidden), _unit(hidden)

    def _pooled(self, rows: Sequence[Pieces], hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.pooling == "cls":
            return _unit(hidden[:, 0])
        return _unit(np.array([found[row.pooled].mean(axis=0) for found, row in zip(hidden, rows, strict=True)]))

    def _hidden(self, rows: Sequence[Pieces]) -> NDArray[np.float32]:
        feed = exported.feed(self.inputs, [row.ids for row in rows], padding=self.padding)
        try:
            hidden = self.session.run([self.output], feed)[0]
        except self.failures as error:
            raise ModelUnavailable(f"onnxruntime could not embed {len(rows)} texts: {error}") from error
        shape = (*feed[exported.IDS].shape, self.dim)
        if hidden.shape != shape:
            raise ModelUnavailable(f"the model gave {self.output} of shape {hidden.shape}; expected {shape}")
        if not np.isfinite(hidden).all():
            raise ModelUnavailable(f"the model gave {self.output} that are infinite or not a number")
        return hidden.astype(np.float32, copy=False)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows scaled to unit length; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.maximum(lengths, np.finfo(np.float32).tiny)
