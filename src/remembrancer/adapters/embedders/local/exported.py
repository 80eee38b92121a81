"""The files and graphs of models as Optimum and sentence-transformers export them, for embedders and cross-encoders.

The files are checked when a folder is opened, so that an unsuitable model is rejected before any text is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import numpy as np

from remembrancer.adapters.embedders.local import bindings
from remembrancer.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
CONFIG: Final = "config.json"

IDS: Final = "input_ids"
MASK: Final = "attention_mask"
SEGMENTS: Final = "token_type_ids"
_INTEGERS: Final = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}

MIN_PIECES: Final = 8
"""With fewer pieces, the special tokens leave no room for a text."""

# Positions of these model types start after the padding id: 514 positions hold 512 pieces.
_POSITIONS_AFTER_PADDING: Final = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "mpnet")

Integers = type[np.int64 | np.int32]


class GraphValue(Protocol):
    """The description of an input or output of a graph."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def shape(self) -> Sequence[int | str | None]: ...


class DescribedSession(bindings.ModelSession, Protocol):
    """A loaded graph with the descriptions of its inputs and outputs."""

    def get_inputs(self) -> Sequence[GraphValue]: ...

    def get_outputs(self) -> Sequence[GraphValue]: ...


def file_in(folder: Path, *names: str, expected: str) -> Path:
    """The first of the files `names` that is in the folder, or in its subfolder onnx/, where published models keep
    their graphs. Raises ModelUnavailable naming the files.
    """
    for name in names:
        for path in (folder / name, folder / "onnx" / name):
            if path.is_file():
                return path
    raise ModelUnavailable(f"there is no {' or '.join(names)} in {folder}: {expected}")


def json_object(path: Path, expected: str) -> dict[str, object]:
    """The JSON object of a file. Raises ModelUnavailable."""
    try:
        found: object = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ModelUnavailable(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(found, dict):
        raise ModelUnavailable(f"{path} holds no JSON object: {expected}")
    return cast("dict[str, object]", found)


def positions(config: Path, expected: str) -> int:
    """The number of pieces that the model has positions for; the largest int32 if its configuration sets none.

    Raises ModelUnavailable.
    """
    settings = json_object(config, expected)
    found = settings.get("max_position_embeddings")
    if found is None:
        return np.iinfo(np.int32).max
    if settings.get("model_type") in _POSITIONS_AFTER_PADDING and isinstance(found, int):
        padding = settings.get("pad_token_id")
        found -= 1 + (padding if isinstance(padding, int) else 1)
    if not isinstance(found, int) or found < MIN_PIECES:
        raise ModelUnavailable(
            f"{config}: {found!r} positions by max_position_embeddings; expected {MIN_PIECES} or more"
        )
    return found


def tokenizer(definition: Path) -> bindings.Tokenizer:
    """The tokenizer of a file, without padding and truncation. Raises ModelUnavailable."""
    try:
        found = bindings.tokenizer(definition.read_text(encoding="utf-8"))
        found.no_padding()
        found.no_truncation()
    except ModelUnavailable:
        raise
    except Exception as error:  # tokenizers raises plain Exception
        raise ModelUnavailable(f"{definition} does not describe a tokenizer: {error}") from error
    return found


def inputs(session: DescribedSession, model: Path, expected: str) -> dict[str, Integers]:
    """The names of the graph's inputs, with their integer types. Raises ModelUnavailable if there are others."""
    given = {one.name: one.type for one in session.get_inputs()}
    known = all(name in (IDS, MASK, SEGMENTS) and kind in _INTEGERS for name, kind in given.items())
    if not known or not {IDS, MASK} <= given.keys():
        raise ModelUnavailable(
            f"{model} takes {described(session.get_inputs())}; expected {IDS}, {MASK} and perhaps {SEGMENTS}, "
            f"of int64 or int32: {expected}"
        )
    return {name: _INTEGERS[kind] for name, kind in given.items()}


def feed(
    wanted: Mapping[str, Integers],
    ids: Sequence[Sequence[int] | NDArray[np.int64]],
    segments: Sequence[Sequence[int]] = (),
    *,
    padding: int = 0,
) -> dict[str, NDArray[Any]]:
    """The inputs of one run: the ids of each text, padded to the longest. `segments`: parallel to `ids`; empty: 0."""
    padded = np.full((len(ids), max(len(row) for row in ids)), padding, np.int64)
    mask, parts = np.zeros_like(padded), np.zeros_like(padded)
    for row, found in enumerate(ids):
        padded[row, : len(found)] = found
        mask[row, : len(found)] = 1
        if segments:
            parts[row, : len(found)] = segments[row]
    filled = {IDS: padded, MASK: mask, SEGMENTS: parts}
    return {name: filled[name].astype(kind) for name, kind in wanted.items()}


def described(values: Sequence[GraphValue]) -> str:
    """The name, type and shape of each input, for example "input_ids tensor(int64) (batch, pieces)"."""
    return "; ".join(f"{one.name} {one.type} ({', '.join(map(str, one.shape))})" for one in values) or "nothing"
