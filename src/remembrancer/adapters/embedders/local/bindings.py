"""Typed access to the packages of the extra `local`, which are imported on first use.

onnxruntime has no type stubs and those of tokenizers are partial, so the parts used are described by Protocols. Each
import takes 0.1 s, which a process that never embeds locally should not pay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from remembrancer.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

INSTALL: Final = "pip install 'remembrancer[local]'"
REINSTALL: Final = "pip install --force-reinstall remembrancer-minilm"


class ModelSession(Protocol):
    """A loaded graph."""

    def run(self, outputs: Sequence[str] | None, feed: Mapping[str, NDArray[Any]], /) -> Sequence[NDArray[Any]]: ...


class TokenizedText(Protocol):
    """A tokenized text, or pair of texts."""

    @property
    def ids(self) -> list[int]: ...

    @property
    def type_ids(self) -> list[int]:
        """For each piece, 0 in the first text and 1 in the second."""
        ...

    @property
    def word_ids(self) -> list[int | None]:
        """For each piece, the index of the word it is part of; None for special tokens."""
        ...

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """For each piece, its start and end in the text, in characters; (0, 0) for special tokens."""
        ...


class Tokenizer(Protocol):
    """Splits a text, or a pair of texts, into word pieces."""

    def encode(self, sequence: str, pair: str | None = None, /) -> TokenizedText: ...

    def no_padding(self) -> None: ...

    def enable_truncation(self, max_length: int, *, strategy: str) -> None: ...

    def no_truncation(self) -> None: ...


class _SessionOptions(Protocol):
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int

    def add_session_config_entry(self, key: str, value: str, /) -> None: ...


class _SessionType(Protocol):
    def __call__(
        self, model: bytes | str, options: _SessionOptions, /, *, providers: Sequence[str]
    ) -> ModelSession: ...


class _OnnxRuntime(Protocol):
    SessionOptions: Callable[[], _SessionOptions]
    InferenceSession: _SessionType


class _TokenizerType(Protocol):
    def from_str(self, json: str, /) -> Tokenizer: ...


class _Tokenizers(Protocol):
    Tokenizer: _TokenizerType


def tokenizer(definition: str) -> Tokenizer:
    """The tokenizer that a tokenizer.json defines. Raises ModelUnavailable when tokenizers is not installed."""
    return cast("_Tokenizers", imported("tokenizers")).Tokenizer.from_str(definition)


def open_session(graph: bytes | str, *, threads: int, precise: bool = False) -> ModelSession:
    """Load `graph`: its bytes, or the path of its file.

    `precise`: on x86-64 without VNNI, compute 8-bit products with slower kernels that sum them exactly. This applies to
    products whose weights and weight zero point are constants of the graph. Other processors ignore the option or lose
    their fastest kernels.

    Raises ModelUnavailable when onnxruntime is missing or rejects the graph.
    """
    runtime = cast("_OnnxRuntime", imported("onnxruntime"))
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: warnings about optimisation do not help a caller
    # Worker threads must not spin: they would use a core while waiting for the next query.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if precise:
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except session_errors() as error:
        raise ModelUnavailable(
            f"onnxruntime could not load the model: {error}. Version 1.23 or newer is needed: "
            "pip install --upgrade 'remembrancer[local]'"
        ) from error


def session_errors() -> tuple[type[Exception], ...]:
    """The exceptions that onnxruntime raises; their only common base is Exception."""
    state = imported("onnxruntime.capi.onnxruntime_pybind11_state")
    return tuple(value for value in vars(state).values() if isinstance(value, type) and issubclass(value, Exception))


def imported(name: str) -> ModuleType:
    """The module. Raises ModelUnavailable when it cannot be imported."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelUnavailable(
            f"a model in this process needs {name.partition('.')[0]}, which cannot be imported ({error}): {INSTALL}"
        ) from error
