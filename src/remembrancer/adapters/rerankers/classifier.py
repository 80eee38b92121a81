"""A sequence classifier as Optimum exports it: a folder with model.onnx, tokenizer.json and config.json.

The files are checked when the folder is opened, so that an unsuitable model is rejected before any text is scored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, cast

import numpy as np

from remembrancer.adapters.embedders.local import bindings
from remembrancer.errors import ModelUnavailable
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
CONFIG: Final = "config.json"

_IDS: Final = "input_ids"
_MASK: Final = "attention_mask"
_SEGMENTS: Final = "token_type_ids"
_LOGITS: Final = "logits"

_INTEGERS: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_LABELS: Final = (1, 2)
"""Accepted numbers of logits: one, or two for "not relevant" and "relevant". More belong to another task, such as
entailment.
"""

MIN_PIECES: Final = 8
"""With fewer pieces, the special tokens leave no room for a piece of each text."""

# Positions of these model types start after the padding id: 514 positions hold 512 pieces.
_POSITIONS_AFTER_PADDING: Final = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl")

_EXPORTED: Final = "a sequence classifier as `optimum-cli export onnx --task text-classification` writes it"


class GraphValue(Protocol):
    """The description of an input or output of a graph."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def shape(self) -> Sequence[int | str | None]: ...


class ClassifierSession(bindings.ModelSession, Protocol):
    """A loaded graph with the descriptions of its inputs and outputs."""

    def get_inputs(self) -> Sequence[GraphValue]: ...

    def get_outputs(self) -> Sequence[GraphValue]: ...


@dataclass(frozen=True, slots=True)
class Classifier:
    """A checked graph with its tokenizer.

    `max_pieces`: maximum number of word pieces of a pair. `inputs`: the graph's input names, with their integer types.
    """

    session: ClassifierSession
    tokenizer: bindings.Tokenizer
    max_pieces: int
    inputs: Mapping[str, type[np.int64 | np.int32]]
    output: str

    @classmethod
    def open(cls, folder: Path, *, max_pieces: int, threads: int) -> Self:
        """Load the folder. Raises ModelUnavailable naming the file that is missing or invalid."""
        model, definition, config = model_files(folder)
        limit = min(max_pieces, _positions(config))
        tokenizer = _tokenizer(definition, limit)
        # Open by path, because a graph beyond 2 GB stores its weights in a second file beside it.
        session = cast("ClassifierSession", bindings.open_session(str(model), threads=threads))
        return cls(session, tokenizer, limit, _inputs(session, model), _output(session, model))

    def logits(self, pairs: Sequence[bindings.TokenizedText]) -> NDArray[np.float64]:
        """Shape (pairs, 1) or (pairs, 2). Raises ModelUnavailable when the graph fails or returns another shape."""
        ids = np.zeros((len(pairs), max(len(pair.ids) for pair in pairs)), np.int64)
        mask, segments = np.zeros_like(ids), np.zeros_like(ids)
        for row, pair in enumerate(pairs):
            ids[row, : len(pair.ids)] = pair.ids
            mask[row, : len(pair.ids)] = 1
            segments[row, : len(pair.ids)] = pair.type_ids
        filled = {_IDS: ids, _MASK: mask, _SEGMENTS: segments}
        feed: dict[str, NDArray[Any]] = {name: filled[name].astype(kind) for name, kind in self.inputs.items()}
        try:
            found = self.session.run([self.output], feed)[0].astype(np.float64)
        except bindings.session_errors() as error:
            raise ModelUnavailable(f"onnxruntime could not score {len(pairs)} texts: {error}") from error
        found = found.reshape(-1, 1) if found.ndim == 1 else found
        if found.ndim != 2 or found.shape[0] != len(pairs) or found.shape[1] not in _LABELS:
            raise ModelUnavailable(f"the model gave {self.output} of shape {found.shape} for {len(pairs)} pairs")
        if not np.all(np.isfinite(found)):
            raise ModelUnavailable(f"the model gave {self.output} that are infinite or not a number")
        return found


def model_files(folder: Path) -> tuple[Path, Path, Path]:
    """The paths of the model, its tokenizer and its configuration. Raises ModelUnavailable naming a missing file."""
    return _file(folder, MODEL), _file(folder, TOKENIZER), _file(folder, CONFIG)


def _file(folder: Path, name: str) -> Path:
    """The file in the folder, or in its subfolder onnx/, where published models keep their graphs."""
    for path in (folder / name, folder / "onnx" / name):
        if path.is_file():
            return path
    raise ModelUnavailable(f"there is no {name} in {folder}: a cross-encoder's folder holds {_EXPORTED}")


def _positions(config: Path) -> int:
    """The number of pieces that the model has positions for; the largest int32 if its configuration sets none."""
    try:
        found: object = json.loads(config.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ModelUnavailable(f"{config} cannot be read as JSON: {error}") from error
    if not isinstance(found, dict):
        raise ModelUnavailable(f"{config} holds no JSON object: {_EXPORTED} was expected")
    settings = cast("dict[str, object]", found)
    positions = settings.get("max_position_embeddings")
    if positions is None:
        return np.iinfo(np.int32).max
    if settings.get("model_type") in _POSITIONS_AFTER_PADDING and isinstance(positions, int):
        padding = settings.get("pad_token_id")
        positions -= 1 + (padding if isinstance(padding, int) else 1)
    if not isinstance(positions, int) or positions < MIN_PIECES:
        raise ModelUnavailable(
            f"{config}: {positions!r} positions by max_position_embeddings; expected {MIN_PIECES} or more"
        )
    return positions


def _tokenizer(definition: Path, limit: int) -> bindings.Tokenizer:
    try:
        tokenizer = bindings.tokenizer(definition.read_text(encoding="utf-8"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(limit, strategy="longest_first")
    except ModelUnavailable:
        raise
    except Exception as error:  # tokenizers raises plain Exception
        raise ModelUnavailable(f"{definition} does not describe a tokenizer: {error}") from error
    return tokenizer


def _inputs(session: ClassifierSession, model: Path) -> dict[str, type[np.int64 | np.int32]]:
    given = {one.name: one.type for one in session.get_inputs()}
    known = all(name in (_IDS, _MASK, _SEGMENTS) and kind in _INTEGERS for name, kind in given.items())
    if not known or not {_IDS, _MASK} <= given.keys():
        raise ModelUnavailable(
            f"{model} takes {_described(session.get_inputs())}; expected {_IDS}, {_MASK} and perhaps {_SEGMENTS}, "
            f"of int64 or int32: {_EXPORTED}"
        )
    return {name: _INTEGERS[kind] for name, kind in given.items()}


def _output(session: ClassifierSession, model: Path) -> str:
    outputs = session.get_outputs()
    named = [one for one in outputs if one.name == _LOGITS] or list(outputs[:1])
    for one in named:
        labels = one.shape[-1] if len(one.shape) == 2 else None
        fits = len(one.shape) in (1, 2) and (not isinstance(labels, int) or labels in _LABELS)
        if fits and one.type.startswith("tensor(float"):
            return one.name
    raise ModelUnavailable(
        f"{model} gives {_described(outputs)}; expected {_LOGITS} of shape (pairs, 1) or (pairs, 2): {_EXPORTED}"
    )


def _described(values: Sequence[GraphValue]) -> str:
    """The name, type and shape of each input, for example "input_ids tensor(int64) (batch, pieces)"."""
    return "; ".join(f"{one.name} {one.type} ({', '.join(map(str, one.shape))})" for one in values) or "nothing"
