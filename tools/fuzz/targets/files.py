"""Targets: the product's own files: settings, presets, vaults, exports and the index."""

from __future__ import annotations

import asyncio
import json
import struct
import tempfile
import tomllib
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import tomli_w

from fuzz.target import Check, Target, pure
from fuzz.targets.language import FIELD, texts
from remembrancer import AsyncRemembrancer, Settings
from remembrancer.config import load, read_toml
from remembrancer.domain.front_matter import blocks, escaped, normalised, unescaped
from remembrancer.index import file as index_file
from remembrancer.index.file import BadIndexFile
from remembrancer.index.growing import GrowingArray
from remembrancer.interfaces.cli.import_config import read as read_engram_config
from remembrancer.interfaces.cli.import_config import settings_of
from remembrancer.policies.ranking.expressions import FUNCTIONS, parse, printed
from remembrancer.policies.ranking.signals import SCALES
from remembrancer.policies.vault.chunks import chunks
from remembrancer.policies.vault.files import Edit, FileProblem, new_entry, parsed, with_edits
from remembrancer.policies.vault.index import VaultIndex, index_of, index_text
from remembrancer.policies.vault.places import path_of, place_of
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.text import preset_of, table_of, text_of
from remembrancer.testing.doubles import FixedClock, HashEmbedder

_AN_ID: Final = "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"


@contextmanager
def _a_file(name: str) -> Generator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder, name)


@contextmanager
def preset() -> Generator[Check]:
    with _a_file("preset.toml") as path:

        def check(data: bytes) -> None:
            path.write_bytes(data)
            found = preset_of(read_toml("preset", path))
            assert preset_of(tomllib.loads(text_of(found))) == found
            assert table_of(preset_of(table_of(found))) == table_of(found)

        yield check


@contextmanager
def settings() -> Generator[Check]:
    """The first part of an input is a file of settings, the second one the environment."""
    with _a_file("settings.toml") as path:

        def check(data: bytes) -> None:
            content, _, environment = data.partition(FIELD.encode())
            path.write_bytes(content)
            lines = environment.decode("utf-8", "surrogateescape").replace("\x00", "").split("\n")
            given = dict(line.split("=", 1) for line in lines if "=" in line)
            load(environment={name: value for name, value in given.items() if name != "REMEMBRANCER_CONFIG"})
            load(environment={}, file=path)

        yield check


@contextmanager
def engram_config() -> Generator[Check]:
    with _a_file("config.yaml") as path:

        def check(data: bytes) -> None:
            path.write_bytes(data)
            found, _ = settings_of(read_engram_config(path))
            load(found, environment={})
            tomli_w.dumps(found)

        yield check


def expression(data: bytes) -> None:
    (text,) = texts(data, 1)
    found = parse("score", text)
    assert parse("score", printed(found)) == found


def vault(data: bytes) -> None:
    """A file of a vault; after an edit it says what was meant, or is refused."""
    text, path, more = texts(data, 3)
    path = path or "MEMORY.md"
    found = parsed(path, text)
    for span in found.prose:
        tuple(chunks(text, span))
    place = place_of(path)
    path_of(place, known=[path])
    for block in blocks(text):
        body = text[block.body.start : block.body.end]
        assert unescaped(escaped(unescaped(body))) == unescaped(body)
    if found.findings or not found.entries:
        return
    learning = found.entries[-1].learning
    assert with_edits(found, []) == text
    changed = replace(learning, text=normalised(more) or "x", importance=0.25)
    after = with_edits(found, [Edit(len(found.entries) - 1, changed)])
    assert isinstance(after, FileProblem) or parsed(path, after).entries[-1].learning.importance == 0.25
    alone = replace(learning, text=normalised(learning.text))
    (again,) = parsed("MEMORY.md", new_entry(alone)).entries
    assert again.learning == alone, new_entry(alone)


def vault_index(data: bytes) -> None:
    """Whatever the file has, an index comes out: an empty one, if it cannot be read."""
    (text,) = texts(data, 1)
    found = index_of(text)
    assert isinstance(found, VaultIndex)
    assert index_of(index_text(found)) == found or not found.files


@contextmanager
def exported() -> Generator[Check]:
    """An export with further rows, as another version or another program might write it."""

    async def opened() -> AsyncRemembrancer:
        return await AsyncRemembrancer.open(
            settings=Settings(db=":memory:", background_index=False), embedder=HashEmbedder(8), clock=FixedClock()
        )

    with _a_file("export.jsonl") as path, asyncio.Runner() as runner:
        memory = runner.run(opened())
        try:

            def check(data: bytes) -> None:
                rows = [*_ROWS, *(line for line in data.split(b"\n") if line)]
                head, foot = _HEAD.encode(), json.dumps({"record": "end", "rows": len(rows)}).encode()
                # Most inputs are rows; now and then the whole file.
                whole = data[:1] == b"#"
                path.write_bytes(data[1:] if whole else b"\n".join((head, *rows, foot, b"")))
                runner.run(memory.import_(path, dry_run=True))

            yield check
        finally:
            runner.run(memory.close())


_HEAD: Final = '{"record": "remembrancer-export", "version": 1}'


def _rows() -> list[bytes]:
    """Every kind of row, as an export of a small memory has them."""

    async def made(path: Path) -> None:
        async with AsyncRemembrancer.open(
            settings=Settings(db=":memory:", background_index=False), embedder=HashEmbedder(8), clock=FixedClock()
        ) as memory:
            monday = memory.scoped(project="shop", crew="platform", agent="coder", session="monday")
            await monday.observe("The deploy of checkout failed", payload={"mission": "checkout"}, severity="error")
            first = await memory.remember("Checkout needs 2 GiB", kind="decision", tags=["a"], topic_key="checkout")
            second = await memory.remember("Checkout needs 3 GiB", importance=0.9)
            await memory.link(second.id, first.id, "contradicts")
            await memory.supersede(first.id, second.id)
            await memory.feedback(second.id, "helpful")
            await memory.update(second.id, text="Checkout needs 4 GiB")
            await memory.mark([second.id], "shown", query="how much memory?")
            await monday.end_session()
            await memory.jobs.index_now()
            await memory.maintain(["health"], force=True)
            await memory.export(path)

    with _a_file("export.jsonl") as path:
        asyncio.run(made(path))
        return path.read_bytes().split(b"\n")[1:-2]


_PREFIX: Final = struct.Struct("<8sQI")


@contextmanager
def index() -> Generator[Check]:
    """The file of an index with changes: it is read as it was written, or refused. An input is a list of changes, each
    a place and a value; if it begins with `{`, it is the header, with a valid checksum.
    """
    with _a_file("notes.index") as path, _a_file("changed.index") as changed:
        index_file.write(path, _ARRAYS, {"change": 7, "texts": ["a", "b"]})
        whole = path.read_bytes()
        header = len(whole[_PREFIX.size :].split(b"\x00", 1)[0])

        def check(data: bytes) -> None:
            content = bytearray(whole)
            if data[:1] == b"{":
                content[: _PREFIX.size + header] = _PREFIX.pack(b"RMBR-IDX", len(data), zlib.crc32(data)) + data
                changed.write_bytes(content)
                with suppress(BadIndexFile):
                    index_file.read(changed)
                return
            for start in range(0, len(data) - 3, 4):
                place = int.from_bytes(data[start : start + 3], "big") % len(content)
                content[place] ^= data[start + 3]
            if len(data) % 4 == 3:
                del content[int.from_bytes(data[-3:], "big") % len(content) :]
            changed.write_bytes(content)
            try:
                found = index_file.read(changed)
            except BadIndexFile:
                return
            for name, array in _ARRAYS.items():
                assert (found.arrays[name].values == array.values).all(), f"{name} was changed, and is read"
            assert found.table == {"change": 7, "texts": ["a", "b"]}

        yield check


def _arrays() -> dict[str, GrowingArray[Any]]:
    return {
        "ids": GrowingArray.over(np.arange(40, dtype=np.uint64), 40),
        "vectors": GrowingArray.over(np.arange(120, dtype=np.int8).reshape(40, 3), 33),
        "times": GrowingArray.over(np.arange(17, dtype=np.int64), 17),
    }


_ARRAYS: Final = _arrays()


def _index_header() -> bytes:
    with _a_file("notes.index") as path:
        index_file.write(path, _ARRAYS, {"change": 7, "texts": ["a", "b"]})
        return path.read_bytes()[_PREFIX.size :].split(b"\x00", 1)[0]


_PRESET_WORDS: Final = (
    *("[fading]", "[ranking]", "based_on = 'default'\n", "name = 'x'\n", "score = 'similarity'\n", "limits", "= 1e400"),
    *(
        "= nan",
        "= -inf",
        "= [",
        "= {",
        "]",
        "}",
        "'''",
        '"""',
        "= 1979-05-27T07:32:00Z",
        "= 9" + "9" * 50,
        "true",
        "\n",
    ),
    *("similarity", "0.7*", "+", "max(", "rrf(", "*", "(", ")", ",", "k=60", "[[", "a.b.c = 1\n"),
)
_SETTINGS: Final = b"""db = "notes.db"
workspace = "shop"
embedder = "openai:text-embedding-3-small"
embedder_url = "http://127.0.0.1:9000/v1"
llm = "anthropic:claude"
rate_limit = 10
host = "127.0.0.1"
port = 8765
index = "qdrant+http://localhost:6333/notes?api_key=k&timeout=2"
\x1fREMEMBRANCER_DB=notes.db
REMEMBRANCER_EMBEDDER=ollama:nomic
REMEMBRANCER_INDEX=qdrant:///srv/index
REMEMBRANCER_OAUTH_ISSUER=https://issuer.example
REMEMBRANCER_PORT=8765
"""
_SETTINGS_WORDS: Final = (
    *(f"{name} = " for name in Settings.__dataclass_fields__),
    *(f"\nREMEMBRANCER_{name.upper()}=" for name in Settings.__dataclass_fields__),
    *(
        '"',
        "true",
        "1e400",
        "-1",
        "[",
        "]",
        "local",
        "local:int8",
        "folder:/x",
        "none",
        "auto",
        "http://[::1",
        "https://u:p@h:0/",
    ),
    *(
        "postgresql://u:p@h:99999/d",
        "resident",
        "pgvector",
        "UTC",
        "../x",
        "\n",
        FIELD,
        "*",
        "127.0.0.0/33",
        "::/0",
        "~",
        "'",
    ),
)
_CONFIG: Final = b"""episodic:
  mode: embedded
  namespace: shop
embedding:
  provider: gemini
  model: gemini-embedding-001
  dimensions: 768
  key_strategy: failover
serve: {host: 127.0.0.1, port: 8765}
llm: {provider: anthropic, model: claude-x}
"""
_YAML_WORDS: Final = (
    *(
        "episodic:",
        "embedding:",
        "llm:",
        "serve:",
        "\n  ",
        ": ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        "&a ",
        "*a",
        "<<: *a",
        "!!map ",
        "? ",
    ),
    *(
        "!!python/object:os.system ",
        "2001-13-45",
        "2001-01-01 99:99:99",
        "!!timestamp 0",
        ".inf",
        ".nan",
        "0o9",
        "1:99:99",
    ),
    *(
        "|\n",
        ">\n",
        "%YAML 9\n",
        "---\n",
        "...\n",
        "\t",
        "!!binary ===",
        "!!set {a}",
        "!!omap [a: 1]",
        "!!int ",
        "=",
        "null",
    ),
)
_TWO_LEARNINGS: Final = f"""---
id: {_AN_ID}
type: procedural
importance: 0.7
reinforcement_count: 3
last_reinforced: '2026-03-01'
status: active
tags: [deploys, 'a b']
created_at: 2026-03-01T09:00:00Z
---
Never deploy on Fridays.

\\---
note: x

---
id: 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e60
type: corrective
---
Ask first.
"""
_VAULT: Final = (
    _TWO_LEARNINGS,
    "# Notes\n\nSome text.\n\n---\nWith a line.\n",
    f"\ufeff---\r\nid: {_AN_ID}\r\ntype: directive\r\nvalid_until: 2027-01-01\r\n---\r\nKeep logs.\r\n",
)
_VAULT_WORDS: Final = (
    *(
        "---\n",
        "\n\n---\n",
        "\\---",
        "\\\\---\n",
        "id: ",
        "type: task\n",
        "importance: 1e-05\n",
        "status: retired\n",
        "\r",
    ),
    *(
        "merged_from: []\n",
        "tags: [",
        "created_at: ",
        "valid_from: 2026-01-01\n",
        "origin: web\n",
        "title: ",
        "typ: task\n",
    ),
    *(
        _AN_ID,
        FIELD,
        "projects/a/.teaparty/jobs/j/tasks/t/MEMORY.md",
        "institutional.md",
        "tasks/x.md",
        "../",
        "\x85",
        "\ufeff",
    ),
    *_YAML_WORDS,
)
_KNOWN: Final[dict[str, Any]] = {
    "version": 1,
    "files": {
        "MEMORY.md": {
            "modified": 1,
            "size": 2,
            "sha256": "ab",
            "entries": {_AN_ID: {"recorded_at": "2026-03-01T09:00:00+00:00", "agreed": {"text": "x", "tags": []}}},
            "chunks": [_AN_ID],
        }
    },
}
_EXPRESSIONS: Final = (
    b"0.7*similarity + 0.3*lexical",
    b"0.5*greatest(recency, importance) + 0.5*rrf(similarity, lexical, k=60)",
    b"clamp(similarity * (0.5 * strength))",
)
_EXPRESSION_WORDS: Final = (
    *(f"{name}(" for name in FUNCTIONS), *SCALES, "+", "*", "-", "(", ")", ",", "k=60", "0.5*", "1e308", "1e-400", ".", "=", "_"
)  # fmt: skip
_ROWS: Final = _rows()
_PRESET_SEEDS: Final = [
    text_of(PRESETS["engram"]).encode(),
    text_of(PRESETS["default"]).encode(),
    b'name = "mine"\nbased_on = "default"\n[limits]\nlisted = 30\n',
]
_INDEX_SEEDS: Final = [bytes(4), b"\x00\x10\x00\x01", b"\x00\x00\x10\xff", bytes(3), _index_header()]
_INDEX_WORDS: Final = (
    '"<u8"',
    '"|O"',
    '"<f2"',
    '"at": -4096',
    '"room": 0',
    '"shape": [-1]',
    '"size"',
    "[]",
    '"V9"',
    "1e30",
)
_ROW_WORDS: Final = (
    *(
        "record",
        "event",
        "memory",
        "cue",
        "vector",
        "relation",
        "audit",
        "review",
        "exposed",
        "stream",
        "revision",
        "health",
    ),
    *(
        _AN_ID,
        "2026-03-04T09:00:00+00:00",
        "supports",
        "retired",
        "superseded",
        "#",
        _HEAD,
        "importance",
        "metadata",
        "tags",
    ),
)

TARGETS: Final = (
    Target("preset", preset, _PRESET_SEEDS, _PRESET_WORDS, 5_000, 5, max_bytes=8192),
    Target("settings", settings, [_SETTINGS], _SETTINGS_WORDS, 20_000, 100),
    Target("engram-config", engram_config, [_CONFIG], _YAML_WORDS, 15_000, 50),
    Target("expression", pure(expression), _EXPRESSIONS, _EXPRESSION_WORDS, 150_000, 1000, max_bytes=512),
    Target("vault", pure(vault), [text.encode() for text in _VAULT], _VAULT_WORDS, 20_000, 100, max_bytes=1024),
    Target("vault-index", pure(vault_index), [json.dumps(_KNOWN).encode()], (), 80_000, 500, max_bytes=1024),
    Target("export", exported, _ROWS[::2], _ROW_WORDS, 3_000, 5),
    Target("index", index, _INDEX_SEEDS, _INDEX_WORDS, 40_000, 100, max_bytes=1024),
)
