"""A sequence classifier as Optimum exports it: a folder with model.onnx, tokenizer.json and config.json.

The files are checked when the folder is opened, so that an unsuitable model is rejected before any text is scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, cast

import numpy as np

from remembrancer.adapters.embedders.local import bindings, exported
from remembrancer.adapters.embedders.local.exported import MIN_PIECES, DescribedSession
from remembrancer.errors import ModelUnavailable
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MIN_PIECES", "Classifier", "model_files"]

_LOGITS: Final = "logits"
_LABELS: Final = (1, 2)
"""Accepted numbers of logits: one, or two for "not relevant" and "relevant". More belong to another task, such as
entailment.
"""

_EXPORTED: Final = "a sequence classifier as `optimum-cli export onnx --task text-classification` writes it"
_FOLDER: Final = f"a cross-encoder's folder holds {_EXPORTED}"


@dataclass(frozen=True, slots=True)
class Classifier:
    """A checked graph with its tokenizer.

    `max_pieces`: maximum number of word pieces of a pair. `inputs`: the graph's input names, with their integer types.
    """

    session: DescribedSession
    tokenizer: bindings.Tokenizer
    max_pieces: int
    inputs: Mapping[str, exported.Integers]
    output: str

    @classmethod
    def open(cls, folder: Path, *, max_pieces: int, threads: int) -> Self:
        """Load the folder. Raises ModelUnavailable naming the file that is missing or invalid."""
        model, definition, config = model_files(folder)
        limit = min(max_pieces, exported.positions(config, f"{_EXPORTED} was expected"))
        tokenizer = exported.tokenizer(definition)
        tokenizer.enable_truncation(limit, strategy="longest_first")
        # Open by path, because a graph beyond 2 GB stores its weights in a second file beside it.
        session = cast("DescribedSession", bindings.open_session(str(model), threads=threads))
        return cls(session, tokenizer, limit, exported.inputs(session, model, _EXPORTED), _output(session, model))

    def logits(self, pairs: Sequence[bindings.TokenizedText]) -> NDArray[np.float64]:
        """Shape (pairs, 1) or (pairs, 2). Raises ModelUnavailable when the graph fails or returns another shape."""
        feed = exported.feed(self.inputs, [pair.ids for pair in pairs], [pair.type_ids for pair in pairs])
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
    model, definition, config = (
        exported.file_in(folder, name, expected=_FOLDER)
        for name in (exported.MODEL, exported.TOKENIZER, exported.CONFIG)
    )
    return model, definition, config


def _output(session: DescribedSession, model: Path) -> str:
    outputs = session.get_outputs()
    named = [one for one in outputs if one.name == _LOGITS] or list(outputs[:1])
    for one in named:
        labels = one.shape[-1] if len(one.shape) == 2 else None
        fits = len(one.shape) in (1, 2) and (not isinstance(labels, int) or labels in _LABELS)
        if fits and one.type.startswith("tensor(float"):
            return one.name
    raise ModelUnavailable(
        f"{model} gives {exported.described(outputs)}; expected {_LOGITS} of shape (pairs, 1) or (pairs, 2): "
        f"{_EXPORTED}"
    )
