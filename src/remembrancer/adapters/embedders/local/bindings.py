"""The few names used of the packages of the extra `local`, with types, imported on first use.

onnxruntime has no type stubs and onnx's are partial, so each is described here by a Protocol. Importing them
costs 0.1 s each, which a process that never embeds locally must not pay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from remembrancer.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Session(Protocol):
    """A loaded graph."""

    def run(self, outputs: Sequence[str] | None, feed: Mapping[str, NDArray[Any]], /) -> Sequence[NDArray[Any]]: ...


class Encoding(Protocol):
    """A text as word pieces."""

    @property
    def ids(self) -> list[int]: ...

    @property
    def word_ids(self) -> list[int | None]:
        """Per piece, which word of the text it is part of; None for pieces the tokenizer added."""
        ...

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Per piece, where it begins and ends in the text, in characters; (0, 0) for pieces the tokenizer added."""
        ...


class Tokenizer(Protocol):
    """Text to word pieces."""

    def encode(self, sequence: str, /) -> Encoding: ...

    def no_padding(self) -> None: ...

    def no_truncation(self) -> None: ...


class _SessionOptions(Protocol):
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int

    def add_session_config_entry(self, key: str, value: str, /) -> None: ...


class _SessionType(Protocol):
    def __call__(self, model: bytes | str, options: _SessionOptions, /, *, providers: Sequence[str]) -> Session: ...


class _OnnxRuntime(Protocol):
    SessionOptions: Callable[[], _SessionOptions]
    InferenceSession: _SessionType


class _TokenizerType(Protocol):
    def from_str(self, json: str, /) -> Tokenizer: ...


class _Tokenizers(Protocol):
    Tokenizer: _TokenizerType


class _Hub(Protocol):
    def hf_hub_download(
        self,
        repo_id: str,
        filename: str,
        *,
        revision: str,
        etag_timeout: float,
        cache_dir: str | None,
        endpoint: str | None,
    ) -> str: ...


class _OnnxHelper(Protocol):
    def make_node(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        /,
        *,
        domain: str,
        **attributes: object,
    ) -> object: ...

    def make_tensor_value_info(self, name: str, elem_type: int, shape: Sequence[str | int], /) -> object: ...

    def make_graph(
        self,
        nodes: Sequence[object],
        name: str,
        inputs: Sequence[object],
        outputs: Sequence[object],
        initializer: Sequence[object],
        /,
    ) -> object: ...

    def make_opsetid(self, domain: str, version: int, /) -> object: ...

    def make_model(self, graph: object, /, *, opset_imports: Sequence[object], ir_version: int) -> OnnxModel: ...


class _OnnxNumpy(Protocol):
    def from_array(self, array: NDArray[Any], name: str, /) -> object: ...


class _OnnxTypes(Protocol):
    FLOAT: int
    INT8: int
    INT32: int
    INT64: int
    UINT8: int


class OnnxModel(Protocol):
    """A graph in memory."""

    SerializeToString: Callable[[], bytes]


class Onnx(Protocol):
    """The part of the onnx package that builds graphs."""

    helper: _OnnxHelper
    numpy_helper: _OnnxNumpy
    TensorProto: _OnnxTypes


def onnx() -> Onnx:
    """Raises ModelUnavailable when the package is not installed."""
    return cast("Onnx", _imported("onnx"))


def tokenizer(definition: str) -> Tokenizer:
    """The one a tokenizer.json describes. Raises ModelUnavailable when tokenizers is not installed."""
    return cast("_Tokenizers", _imported("tokenizers")).Tokenizer.from_str(definition)


def hub() -> _Hub:
    """Raises ModelUnavailable when huggingface_hub is not installed."""
    return cast("_Hub", _imported("huggingface_hub"))


def hub_failures() -> tuple[type[Exception], ...]:
    """What a download may raise: the hub's own errors are OSErrors, its HTTP client's are not."""
    client = cast("Any", _imported("huggingface_hub.errors"))
    # HfHubHTTPError derives from its HTTP client's base error, whichever client this version of the hub uses;
    # a connection that breaks in the middle of a file surfaces as another child of that base.
    bases = cast("tuple[type[Exception], ...]", client.HfHubHTTPError.__bases__)
    return (OSError, ValueError, *bases)


def open_session(graph: bytes | str, *, threads: int, precise: bool = False) -> Session:
    """Load `graph`, or the file of that path.

    `precise`: on x86-64 without VNNI, compute 8-bit products with the slower kernels that sum them exactly. It applies
    to products whose weights and weights' zero point are constants of the graph; other processors ignore it or lose
    their fastest kernels.

    Raises ModelUnavailable when onnxruntime is missing or refuses the graph.
    """
    runtime = cast("_OnnxRuntime", _imported("onnxruntime"))
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors: its warnings about optimisation are no use to a caller
    # A spinning worker thread would burn a core between queries, which come far apart.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if precise:
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except session_failures() as error:
        raise ModelUnavailable(
            f"onnxruntime could not load the model: {error}. Version 1.23 or newer is needed: "
            'pip install --upgrade "remembrancer[local]"'
        ) from error


def session_failures() -> tuple[type[Exception], ...]:
    """The errors onnxruntime raises; they share no base but Exception."""
    state = _imported("onnxruntime.capi.onnxruntime_pybind11_state")
    return tuple(value for value in vars(state).values() if isinstance(value, type) and issubclass(value, Exception))


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelUnavailable(
            f"a model in this process needs {name.partition('.')[0]}, which cannot be imported ({error}): "
            'pip install "remembrancer[local]"'
        ) from error
