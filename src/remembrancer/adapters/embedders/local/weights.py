"""Find the model's files, and verify that they are the ones that remembrancer-minilm was released with."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, cast

from remembrancer.adapters.embedders.local import bindings
from remembrancer.errors import ModelUnavailable

Precision = Literal["fp32", "int8"]

PACKAGE: Final = "remembrancer_minilm"
GRAPHS: Final[Mapping[Precision, str]] = {
    "fp32": "all-MiniLM-L6-v2-fp32.onnx",
    "int8": "all-MiniLM-L6-v2-int8.onnx",
}
IN_CONTEXT: Final[Mapping[Precision, str]] = {
    "fp32": "all-MiniLM-L6-v2-fp32-in-context.onnx",
    "int8": "all-MiniLM-L6-v2-int8-in-context.onnx",
}
"""The graphs for texts in context. Most of their weights are in the file of GRAPHS, beside them."""
BIT_SUMS: Final = "bit-sums.onnx"
TOKENIZER: Final = "tokenizer.json"
SHA256: Final[Mapping[str, str]] = {
    GRAPHS["fp32"]: "0b80c89c65c0ae5b6bc8635794314935cd234cc8d1dceca8b86c2fe1b770146f",
    GRAPHS["int8"]: "76b48e6e78ff66034e380244b3d981e743a8923b4bc01efe59ab4625273cf709",
    IN_CONTEXT["fp32"]: "f51cbed1d80801ddf0b2cfe3a58afdf5c99ce94c7c181cbedd5eabbc7bc0ce81",
    IN_CONTEXT["int8"]: "0bd7265fdb07f646f39cf610c3913014a045324cb523b059bc98a7c81d2ea5e1",
    BIT_SUMS: "ba5281cd4ba33241850e3ed5b81c9c5097fcdd9b9db00dd6631199dd07853349",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

_FORMER: Final = "model.safetensors"
"""The same model as published, in a folder for an older version."""
_HOW_TO_GET_THEM: Final = f"Leave out the setting `weights` to use the files that {bindings.INSTALL} installs"

_log = logging.getLogger("remembrancer")


def located(source: str | Path | None, precision: Precision) -> Path:
    """The folder with the files of this precision. `source`: None for the installed package, otherwise that folder.

    A folder of the published model.safetensors, as it was used before, means the installed package, with a warning.
    Raises ModelUnavailable when the package or a file is missing.
    """
    folder = None if source is None else Path(source)
    if folder is not None and (folder / _FORMER).is_file() and not (folder / GRAPHS[precision]).is_file():
        _log.warning("`weights` names %s with a %s, which is not needed: %s has the model", folder, _FORMER, PACKAGE)
        folder = None
    folder = folder or cast("Path", bindings.imported(PACKAGE).FOLDER)
    for name in (GRAPHS[precision], IN_CONTEXT[precision], BIT_SUMS, TOKENIZER):
        if not (folder / name).is_file():
            raise ModelUnavailable(f"there is no {name} in {folder}. {_HOW_TO_GET_THEM}")
    return folder


def read_verified(path: Path) -> bytes:
    """The bytes of a model file. Raises ModelUnavailable when they are not those of the released file of that name."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelUnavailable(f"{path} cannot be read: {error}. {_HOW_TO_GET_THEM}") from error
    # Hash the bytes that were read, not the file, which could change between check and use.
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[path.name]:
        raise ModelUnavailable(
            f"{path} is damaged or another file: SHA-256 {SHA256[path.name]} expected, {found} found. "
            f"Get it again: {bindings.REINSTALL}"
        )
    return content
