"""The kept inputs of a target: a file of JSON lines, each a text, or an object with the bytes in base64."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).with_name("corpus")


def kept(name: str) -> list[bytes]:
    """The inputs of a target, shortest first; none if it has no file yet."""
    path = FOLDER / f"{name}.jsonl"
    if not path.exists():
        return []
    return [_read(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def keep(name: str, inputs: Iterable[bytes]) -> None:
    """Write the inputs of a target."""
    lines = [json.dumps(_written(data)) for data in sorted(set(inputs), key=lambda data: (len(data), data))]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _read(value: str | dict[str, str]) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])


def _written(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
